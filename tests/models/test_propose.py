"""From texts and the calls in them to a format: for every known way to write calls, and for new ones."""

from __future__ import annotations

import json

import pytest
import toolwire
from hypothesis import given
from hypothesis import strategies as st
from toolwire import constrain
from toolwire.core.samples import Sample
from toolwire.formats.toml_specs import dump_format, load_formats
from toolwire.formats.tools_for import tools_for
from toolwire.models.propose import propose, proven

from ..support import check_all_splits
from ..writers import ALONE, WRITERS, Call, Writer
from .invented import INVENTED

ALL = {name: write for name, write in {**WRITERS, **INVENTED}.items() if name not in ALONE}

ONE: Call = ("get_weather", {"city": "Oslo", "days": 3})
TWO: Call = ("send_mail", {"to": "Ann Lee", "urgent": True, "meta": {"tags": ["a", "b"]}})
#: Not among the samples: a format has to read more than what it was made from.
OTHER: Call = ("read_file", {"path": "notes/a b.txt", "lines": [1, 2], "strict": False})
#: No layout has arguments as JSON in a string, or strings in single quotes.
WITHOUT_LAYOUT = {"text_in_json", "code"}


def sample(write: Writer, *calls: Call, before: str = "", after: str = "") -> Sample:
    return Sample(before + write(list(calls)) + after, calls)


def samples(write: Writer) -> list[Sample]:
    return [sample(write, ONE), sample(write, TWO), sample(write, ONE, TWO)]


@pytest.mark.parametrize("name", ALL)
def test_a_format_is_made_that_reads_more_than_its_samples(name: str) -> None:
    spec = propose(samples(ALL[name]), "mine")
    assert spec is not None
    assert spec.name == "mine"
    for calls in ((OTHER,), (TWO, OTHER), (OTHER, ONE, TWO)):
        assert proven(spec, [sample(ALL[name], *calls)])


@pytest.mark.parametrize("name", ALL)
def test_one_sample_is_enough(name: str) -> None:
    spec = propose([sample(ALL[name], ONE)], "mine")
    assert spec is not None
    assert proven(spec, [sample(ALL[name], OTHER)])


@pytest.mark.parametrize("name", ALL)
def test_it_survives_being_written_down(name: str) -> None:
    spec = propose(samples(ALL[name]), "mine")
    assert spec is not None
    assert load_formats(dump_format(spec), "mine.toml") == [spec]


@pytest.mark.parametrize("name", ALL)
def test_engines_can_hold_a_model_to_it(name: str) -> None:
    """The layout, by which they do, is that of the samples; or there is none, where none could be."""
    spec = propose(samples(ALL[name]), "mine")
    assert spec is not None
    tools = tools_for([ONE, TWO])
    assert tools is not None
    assert constrain(spec, tools, "required").tag is not None
    assert (spec.layout is None) == (name in WITHOUT_LAYOUT)
    if spec.layout is not None:
        ids = ("a0b", "a1b")  # where the format has any
        calls = [
            {"name": name, "arguments": arguments, "id": id}
            for (name, arguments), id in zip((ONE, TWO), ids, strict=True)
        ]
        assert toolwire.write(spec, calls) in sample(ALL[name], ONE, TWO).text


@pytest.mark.parametrize("name", ALL)
def test_a_layout_has_whole_tags(name: str) -> None:
    """What the first call and the others have in common may well be half a tag."""
    spec = propose(samples(ALL[name]), "mine")
    assert spec is not None
    if spec.layout is not None:
        for text in (spec.layout.section_begin, spec.layout.section_end, spec.layout.call_end):
            assert text.count("<") == text.count(">")


@pytest.mark.parametrize("name", INVENTED)
def test_prose_around_calls_stays_prose(name: str) -> None:
    write = INVENTED[name]
    given = [
        sample(write, ONE, before="Let me look that up for you.\n"),
        sample(write, TWO, before="I will tell her.\n", after="\nThat is all."),
        sample(write, ONE, TWO),
        Sample("There is nothing to do.", ()),
    ]
    spec = propose(given, "mine")
    assert spec is not None
    text = f"First the file, please.\n{write([OTHER])}"
    message = toolwire.parse(spec, text, tools_for([OTHER]))
    assert message.content == "First the file, please."
    assert [call.load() for call in message.tool_calls] == [OTHER[1]]


@pytest.mark.parametrize("name", INVENTED)
def test_cutting_the_text_changes_nothing(name: str) -> None:
    spec = propose(samples(INVENTED[name]), "mine")
    assert spec is not None
    check_all_splits(spec, INVENTED[name]([OTHER, ONE]), tools_for([OTHER, ONE]), pairs_under=0)


def test_calls_without_arguments_do_not_stand_in_the_way() -> None:
    bell: Call = ("ring_bell", {})
    for name in ("qwen3_coder", "hermes", "glm45"):
        spec = propose([sample(WRITERS[name], bell), sample(WRITERS[name], ONE)], "mine")
        assert spec is not None
        assert proven(spec, [sample(WRITERS[name], bell)])


@pytest.mark.parametrize(
    "text",
    [
        "It is cold in Oslo, for 3 days at least, says get_weather.",
        "<get_weather><city>Oslo</city><days>3</days></get_weather>",  # tags that are the keys
        "<city>Oslo</city><days>3</days> for get_weather",
        "get_weather",
        "",
    ],
)
def test_what_no_format_can_read_gives_none(text: str) -> None:
    assert propose([Sample(text, (ONE,))], "mine") is None


def test_samples_that_contradict_each_other_give_none() -> None:
    hermes, pythonic = WRITERS["hermes"], WRITERS["pythonic"]
    assert propose([sample(hermes, ONE), sample(pythonic, ONE)], "mine") is None


def test_a_sample_that_says_otherwise_gives_none() -> None:
    """The text looks like a call, and yet it is known to be none."""
    text = WRITERS["hermes"]([ONE])
    assert propose([Sample(text, (ONE,)), Sample(text, ())], "mine") is None


def test_markup_that_would_stay_in_the_text_gives_none() -> None:
    text = WRITERS["hermes"]([ONE]) + "\nSo be it. <unexplained/> Yes."
    assert propose([Sample(text, (ONE,))], "mine") is None


def test_a_brace_in_front_of_the_name_is_no_trouble() -> None:
    """In a key, in a string, or around something else: none of these opens the call."""
    for item in (
        '{"n{ame": "", "name": "f", "arguments": {}}',
        '{"{": {}, "f": 1, "name": "f", "x": {}}',
    ):
        propose([Sample(f"<call>[{item}]</call>", (("f", {}),))], "mine")


def test_no_samples_give_none() -> None:
    assert propose([], "mine") is None
    assert propose([Sample("Hello.", ())], "mine") is None


FRAGMENTS = st.sampled_from(
    [
        *("get_weather", "city", "Oslo", "days", "3", json.dumps(ONE[1]), json.dumps(ONE[0])),
        *(
            "<call>",
            "</call>",
            "<call name=",
            "<k>",
            "</k>",
            "[CALL]",
            "{",
            "}",
            "[",
            "]",
            "(",
            ")",
        ),
        *('"', "'", "`" * 3, ":", "=", ">", ",", "§", "|", "\n", " ", "name: ", "Well.", "<", "#0"),
        *('{"name": "get_weather", "arguments": ', '{"get_weather": ', "get_weather(", "call:"),
        *('city="Oslo"', ", days=3)", "city:<q>Oslo<q>", ",days:3}", "<v>Oslo</v>", "<v>3</v>"),
    ]
)


@st.composite
def spoilt(draw: st.DrawFn) -> list[Sample]:
    """Samples of a format with something put into each, taken out of it, or both."""
    write = ALL[draw(st.sampled_from(sorted(ALL)))]
    found = []
    for calls in draw(st.lists(st.sampled_from([(ONE,), (TWO,), (ONE, TWO)]), min_size=1)):
        text = write(list(calls))
        place, end = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 2)))
        kept = text[end:] if draw(st.booleans()) else text[place:]
        found.append(Sample(text[:place] + draw(FRAGMENTS | st.just("")) + kept, calls))
    return found


@given(given_samples=spoilt())
def test_whatever_the_texts_a_proposal_works(given_samples: list[Sample]) -> None:
    spec = propose(given_samples, "mine")
    if spec is not None:
        assert proven(spec, given_samples)
        tools = tools_for([ONE, TWO])
        assert tools is not None
        assert constrain(spec, tools, "required").tag is not None
