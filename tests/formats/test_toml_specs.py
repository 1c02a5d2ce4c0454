"""Formats as TOML: what is read, what is written, and what is said about mistakes."""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire import Format, Layout, ToolwireError, Wrapper, get_format, list_formats, parse
from toolwire.formats.toml_specs import dump_format, load_formats
from toolwire.shapes import JsonCalls, NamedJson, Pythonic, Tag, Tags

from ..support import check_all_splits, summary
from ..writers import WRITERS

CALLS = [("add", {"a": 1, "b": 2}), ("write_file", {"path": "ä", "content": 'x"y'})]


def load(text: str) -> Format:
    (spec,) = load_formats(text, "my.toml")
    return spec


def complaint(text: str) -> str:
    with pytest.raises(ToolwireError) as caught:
        load_formats(text, "my.toml")
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


# -- there and back -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", list_formats())
def test_every_format_comes_back_the_same(name: str) -> None:
    spec = get_format(name)
    text = dump_format(spec)
    assert load(text) == spec
    reading, _, layout = text.partition("[layout]")
    about = ("models", "model_names", "family", "year")
    lines = [each for each in reading.splitlines() if not each.startswith(about)]
    assert len(lines) <= 31, "a format should be short to write"
    assert len(layout.splitlines()) <= 20
    assert parse(load(text), WRITERS[name](CALLS)).tool_calls[0].name == "add"


def test_a_shape_that_toml_does_not_know() -> None:
    class Own(Pythonic):
        pass

    with pytest.raises(ToolwireError, match="TOML can't describe hermes: its shape, Own, is not"):
        dump_format(replace(get_format("hermes"), shape=Own()))


# -- what may be written --------------------------------------------------------------------------


def test_a_format_in_a_few_lines() -> None:
    spec = load(
        """
        name = "my_model"
        models = "My Model 1"
        example = '''<call>{"tool": "NAME", "arguments": {...}}</call>'''
        wrappers = {open = "<call>", close = ["</call>", "<end>"]}

        [shape]
        kind = "json_calls"
        name_keys = ["tool", "name"]
        """
    )
    assert spec == Format(
        name="my_model",
        models="My Model 1",
        layout=Layout(
            call_begin='<call>{"tool": "', name_end='", "arguments": ', call_end="}</call>"
        ),
        wrappers=(Wrapper(("<call>",), ("</call>", "<end>")),),
        shape=JsonCalls(name_keys=("tool", "name")),
    )
    message = parse(spec, 'Yes.\n<call>{"tool": "add", "arguments": {"a": 1}}<end>')
    assert (message.content, message.tool_calls[0].arguments) == ("Yes.", '{"a": 1}')


def test_tags_are_their_beginnings() -> None:
    spec = load(
        """
        name = "mine"
        bare = true
        [shape]
        kind = "tags"
        call = "<do:"
        parameter = ["<with:", "<with name="]
        parameter_close = "</with>"
        close = "</do>"
        """
    )
    assert spec.shape == Tags(
        call=Tag(("<do:",)),
        parameter=Tag(("<with:", "<with name=")),
        parameter_close=("</with>",),
        close=("</do>",),
    )


def test_keys_and_values_in_tags() -> None:
    spec = load(
        """
        name = "mine"
        wrappers = {open = "<call>", close = "</call>"}
        [shape]
        kind = "tags"
        parameter = {begin = "<k>", key_close = "</k>", end = "<v>"}
        parameter_close = "</v>"
        """
    )
    assert isinstance(spec.shape, Tags)
    assert spec.shape.parameter == Tag(("<k>",), end="<v>", key_close="</k>")
    call = parse(spec, "<call>add <k>a</k> <v>1</v><k>b</k><v>two</v></call>").tool_calls[0]
    assert call.load() == {"a": "1", "b": "two"}


@pytest.mark.parametrize(
    ("newline", "written"), [("", ""), ("\n", ""), ("", "true"), ("", "false"), ("\n", "true")]
)
def test_where_a_value_stands(newline: str, written: str) -> None:
    """If it is not said, the example tells; and what is loaded is written down again."""
    said = f"value_on_own_lines = {written}" if written else ""
    example = f"<do=NAME>\n<with=K>{newline}V{newline}</with>\n</do>"
    spec = load(
        f"""
        name = "mine"
        bare = true
        example = {json.dumps(example)}
        [shape]
        kind = "tags"
        call = "<do="
        parameter = "<with="
        parameter_close = "</with>"
        close = "</do>"
        {said}
        """
    )
    assert isinstance(spec.shape, Tags)
    on_lines = written == "true" if written else bool(newline)
    assert spec.shape.value_on_own_lines is on_lines
    assert load_formats(dump_format(spec), "mine.toml") == [spec]
    call = parse(spec, "<do=add>\n<with=a>\nx\n</with>\n</do>").tool_calls[0]
    assert call.load() == {"a": "x" if on_lines else "\nx\n"}


def test_like_another_format() -> None:
    spec = load('name = "mine"\nlike = "hermes"\nwrappers = {open = "<x>"}')
    assert spec == Format("mine", JsonCalls(), (Wrapper(("<x>",)),))
    coder = get_format("qwen3_coder")
    spec = load('name = "mine"\nlike = "qwen3_coder"\nshape = {close = "</fn>", call = "<fn="}')
    assert isinstance(coder.shape, Tags)
    assert spec.shape == replace(coder.shape, close=("</fn>",), call=Tag(("<fn=",)))
    assert (spec.wrappers, spec.bare) == (coder.wrappers, True)
    assert (spec.aliases, spec.models, spec.example) == ((), "", "")


def test_like_another_format_but_of_another_shape() -> None:
    spec = load('name = "mine"\nlike = "hermes"\nshape = {kind = "named_json", separator = "|"}')
    assert spec == Format("mine", NamedJson(separator=("|",)), get_format("hermes").wrappers)
    spec = load('name = "mine"\nlike = "kimi_k2"\nshape = {kind = "named_json", separator = "|"}')
    kimi = get_format("kimi_k2").shape
    assert isinstance(kimi, NamedJson)
    assert spec.shape == replace(kimi, separator=("|",))


@pytest.mark.parametrize("gap", ["{:…}", "{:SUFFIX}"])
def test_a_delimiter_with_a_gap(gap: str) -> None:
    """In either notation: the second is that of older files."""
    spec = load(
        f'name = "mine"\nwrappers = {{open = "<do{gap}>", close = "</do{gap}>"}}\n'
        'shape = "json_calls"\nexample = \'<do>{"name": "NAME", "arguments": {…}}</do>\''
    )
    for suffix in ("", ":a", ":6124c78e", ":" + 100 * "x"):
        text = f'Yes. <do{suffix}>{{"name": "f", "arguments": {{}}}}</do{suffix}> Done.'
        content, calls = summary(check_all_splits(spec, text, pairs_under=0))
        assert (content, calls) == ("Yes.  Done.", [("f", "{}", True)])
    for suffix in (":", ": a", ":a b", "a", ":" + 101 * "x"):
        text = f'<do{suffix}>{{"name": "f", "arguments": {{}}}}</do>'
        assert summary(check_all_splits(spec, text, pairs_under=0)) == (text, [])


def test_several_formats_in_a_file() -> None:
    first, second = load_formats(
        """
        [[format]]
        name = "one"
        shape = "pythonic"
        wrappers = {open = "<one>"}

        [[format]]
        name = "two"
        like = "one"
        [[format.wrappers]]
        open = "<two>"
        [[format.wrappers]]
        open = "<each>"
        """,
        "my.toml",
    )
    assert first == Format("one", Pythonic(), (Wrapper(("<one>",)),))
    assert second == Format("two", Pythonic(), (Wrapper(("<two>",)), Wrapper(("<each>",))))


# -- mistakes -------------------------------------------------------------------------------------

HEAD = 'name = "mine"\nwrappers = {open = "<x>", close = "</x>"}\n'
SHAPE = HEAD + "[shape]\n"

MISTAKES = {
    # not TOML
    'name = "mine': "my.toml, line 1: this is not TOML: Unterminated string",
    'name = "mine"\n\nshape = tags': "my.toml, line 3: this is not TOML: Invalid value",
    'name = "x"\nexample = """\nmine\n': "my.toml, line 2: this is not TOML: Unterminated string",
    "\n\na = [\n1,\n": "my.toml, line 3: this is not TOML: ",
    "a = " + "[" * 100_000: "my.toml is nested too deeply to be read",
    # missing
    'shape = "pythonic"': "my.toml, line 1: name is missing",
    HEAD: "my.toml, line 1: shape is missing",
    f"{SHAPE}separator = 'x'": "my.toml, line 3: shape.kind is missing: use one of bare_keys, ",
    f"{SHAPE}kind = 'tags'": "my.toml, line 3: shape.parameter is missing",
    f"{SHAPE}kind = 'tags'\nparameter = '<p='": "line 3: shape.parameter_close is missing",
    f"{SHAPE}kind = 'bare_keys'": "my.toml, line 3: shape.quote is missing",
    f"{SHAPE}kind = 'tags'\n\n[shape.parameter]\nend = '>'": (
        "my.toml, line 6: shape.parameter.begin is missing"
    ),
    'name = "mine"\nshape = "pythonic"\n[[wrappers]]\nclose = "x"': (
        "my.toml, line 3: wrappers.open is missing"
    ),
    # unknown
    f"{HEAD}shapes = 'tags'": "my.toml, line 3: there is no key shapes. Did you mean shape?",
    f"{HEAD}shape = 'json_call'": (
        'my.toml, line 3: shape.kind can\'t be "json_call": use one of '
    ),
    f"{SHAPE}kind = 'json_calls'\nname_key = 'x'": (
        "my.toml, line 5: there is no key shape.name_key. Did you mean name_keys?"
    ),
    f"{HEAD}shape = 'pythonic'\nzzz = 1": "my.toml, line 4: there is no key zzz",
    'name = "mine"\nshape = "pythonic"\n[[wrappers]]\nopen = "x"\n\n[[wrappers]]\nopne = "x"': (
        "my.toml, line 7: there is no key wrappers.opne. Did you mean open?"
    ),
    'name = "mine"\nlike = "hermse"': "my.toml, line 2: There is no format named 'hermse'. Did you",
    '[[format]]\nname = "a"\nlike = "hermes"\n[[format]]\nname = "b"\nlikes = "hermes"': (
        "my.toml, line 6: there is no key likes. Did you mean like?"
    ),
    '[[format]]\nname = "a"\nlike = "hermes"\n[shape]\nkind = "tags"': (
        "my.toml, line 4: there is no key shape"
    ),
    # of the wrong kind
    f"{SHAPE}kind = 'json_calls'\nname_keys = 3": (
        "my.toml, line 5: shape.name_keys must be a string or a list of strings, not 3"
    ),
    f"{SHAPE}kind = 'json_calls'\nname_keys = ['a',\n  3]": (
        "my.toml, line 5: shape.name_keys must be a string or a list of strings, not a list with 3"
    ),
    f"{SHAPE}kind = 'json_calls'\nname_is_key = 'yes'": (
        'my.toml, line 5: shape.name_is_key must be true or false, not "yes"'
    ),
    "name = 5\nshape = 'pythonic'": "my.toml, line 1: name must be a string, not 5",
    "name = 'x'\nbare = 'no'\nshape = 'pythonic'": 'line 2: bare must be true or false, not "no"',
    "name = 'x'\nshape = 1979-05-27": 'line 2: shape must be a table, not "1979-05-27"',
    "name = 'x'\nshape = {kind = 3}": "line 2: shape.kind can't be 3: use one of",
    "name = 'x'\nshape = 'pythonic'\nwrappers = '<x>'": (
        'my.toml, line 3: wrappers must be a table, not "<x>"'
    ),
    "name = 'x'\nshape = 'pythonic'\nwrappers = ['<x>']": "line 3: wrappers must be a table",
    "format = 3": "my.toml, line 1: several formats in a file are [[format]] tables",
    f"{SHAPE}kind = 'tags'\nparameter = 3": "line 5: shape.parameter must be a table, not 3",
    # empty
    "name = ''\nshape = 'pythonic'": "my.toml, line 1: name must not be empty",
    "name = 'x'\nshape = 'pythonic'\nwrappers = {open = ''}": (
        "my.toml, line 3: wrappers.open must not be empty"
    ),
    "name = 'x'\nshape = 'pythonic'\n\n[[wrappers]]\nopen = ['<x>', '']": (
        "my.toml, line 5: wrappers.open must not be empty"
    ),
    "name = 'x'\nshape = 'pythonic'\nwrappers = {open = []}": "wrappers.open must not be empty",
    f"{SHAPE}kind = 'bare_keys'\nquote = ''": "line 5: shape.quote must not be empty",
    f"{SHAPE}kind = 'json_calls'\nname_keys = []": "line 5: shape.name_keys must not be empty",
    # patterns
    f"{SHAPE}kind = 'named_json'\nheader = '(?P<name>'": (
        "my.toml, line 5: shape.header is not a regular expression: "
    ),
    f"{SHAPE}kind = 'named_json'\nheader = '\\w+'": (
        "my.toml, line 5: shape.header must say where the name is, with (?P<name>…)"
    ),
    f"{SHAPE}kind = 'named_json'\nheader = ' *(?P<name>.+?) *'": (
        "my.toml, line 5: shape.header takes very long for texts with ' ' many times in a row: two"
    ),
    # tags
    f"{SHAPE}kind = 'tags'\nparameter = {{begin = '<k>', key_close = '</k>'}}": (
        "line 5: shape.parameter.end is missing: what begins the value, behind key_close"
    ),
    f"{SHAPE}kind = 'tags'\nparameter = {{begin = '<k>', end = '<v>', key_close = '</k>', "
    "inner = 'x'}": "line 5: shape.parameter can't have both key_close and inner",
    # calls that can't be found
    "name = 'x'\nshape = 'pythonic'": (
        "my.toml, line 1: nothing marks a call: give wrappers, or bare = true"
    ),
    f"{HEAD}bare = true\nshape = 'labels'": "line 3: bare = true needs a shape that is known by",
    f"{HEAD}shape = 'call_text'": "my.toml, line 2: the shape call_text goes without wrappers",
    "name = 'x'\nshape = 'pythonic'\nwrappers = [{open = '<x>'}, {open = ['<y>', '<x>']}]": (
        'my.toml, line 3: "<x>" opens more than one wrapper'
    ),
    "name = 'x'\nshape = 'pythonic'\nwrappers = {open = '<x>', close = '\"'}": (
        "my.toml, line 3: \"\\\"\" can't be a delimiter: it could be part of a call"
    ),
    "name = 'x'\nshape = 'pythonic'\nwrappers = {open = ' '}": "can't be a delimiter",
    "name = 'x'\nshape = 'pythonic'\nwrappers = {open = '```do', close = '```'}": (
        'my.toml, line 3: "```" begins like "```do": one opens, one closes'
    ),
    "name = 'x'\nshape = 'pythonic'\nwrappers = {open = '<x{:…}'}": (
        "my.toml, line 3: Wrapper.open must have text on both sides of every …"
    ),
    f"{HEAD}[shape]\nkind = 'bare_keys'\nquote = '<q{{:…}}>'": (
        "my.toml, line 3: BareKeys.quote must not have … in it"
    ),
    f"{HEAD}inline = true\nshape = 'pythonic'": (
        "my.toml, line 3: inline = true needs tags with call"
    ),
    # examples
    f"{HEAD}shape = 'json_calls'\nexample = '<y>NAME {{…}}</y>'": (
        "my.toml, line 4: the format does not read its example as a call to NAME"
    ),
    f"{HEAD}shape = 'json_calls'\nexample = '<x>{{\"name\": \"NAME\"}}</x></y>'": (
        "my.toml, line 4: the format leaves some of its example in the text"
    ),
    'name = "x"\nlike = "qwen3_coder"\nexample = "<function=NAME></function>"': (
        "my.toml, line 3: the example does not show how a call with one argument is laid out"
    ),
    'name = "x"\nlike = "kimi_k2"\nexample = "<|tool_call_begin|>NAME{}"': (
        "my.toml, line 3: the example does not show how a call with one argument is laid out"
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "said"), MISTAKES.items(), ids=map(str, range(len(MISTAKES))))
def test_a_mistake_is_one_sentence_with_its_place(text: str, said: str) -> None:
    sentence = complaint(text)
    assert said in sentence
    assert sentence.startswith("my.toml")
    with_windows_newlines = complaint(text.replace("\n", "\r\n"))
    assert with_windows_newlines == sentence


@given(
    st.lists(
        st.one_of(
            st.sampled_from(dump_format(get_format("hy3")).splitlines(keepends=True)),
            st.sampled_from(
                ["[[format]]\n", "name = 3\n", "shape = 'tags'\n", "[shape.call]\n", "wrappers = ["]
            ),
            st.text(max_size=5),
        ),
        max_size=12,
    ).map("".join)
)
def test_any_text_is_read_or_refused_in_a_sentence(text: str) -> None:
    with suppress(ToolwireError):  # any other error fails the test
        for spec in load_formats(text, "my.toml"):
            assert load_formats(dump_format(spec), "my.toml") == [spec]
