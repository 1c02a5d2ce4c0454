"""Values between tags: the newlines at their edges, and the closers inside them."""

from __future__ import annotations

import json

import pytest
from toolwire import Format, Wrapper, get_format
from toolwire.shapes import Tag, Tags

from ..by_shape import TAGGED
from ..support import check_all_splits, filled, summary
from ..writers import GAPS, WRITERS

tagged = pytest.mark.parametrize("format", TAGGED)
ADD = ("add", {"a": 1})
ADD_1 = ("add", '{"a": 1}', True)


def closers(format: str) -> list[str]:
    """What closes a value and all that is around it, the value's own closer first."""
    spec = get_format(format)
    assert isinstance(spec.shape, Tags)
    around = [wrapper.close for wrapper in reversed(spec.wrappers)]
    found = [close[0] for close in (spec.shape.parameter_close, spec.shape.close, *around) if close]
    return [filled(closer, GAPS.get(format, "")) for closer in found]


def written(format: str, value: str) -> tuple[str, str]:
    """A call up to the end of a value, and what comes behind that."""
    before, after = WRITERS[format]([("write_file", {"content": "VALUE"})]).split("VALUE")
    return before + value, after


def read(format: str | Format, text: str) -> tuple[str | None, list[tuple[str, str, bool]]]:
    return summary(check_all_splits(format, text, pairs_under=0))


def wrote(value: str, **more: str) -> tuple[str, str, bool]:
    return "write_file", json.dumps({"content": value, **more}, ensure_ascii=False), True


@tagged
@pytest.mark.parametrize(
    "value",
    ["a\n", "\na", "\n", "\n\na\n\n", "a\r\n", "\r\na", "\r\n", " a\t", "", "a\nb"],
    ids=repr,
)
def test_a_value_comes_back_to_the_last_newline(format: str, value: str) -> None:
    """A newline belongs to a tag only where the model's own template writes one there."""
    before, after = written(format, value)
    assert read(format, before + after) == (None, [wrote(value)])


#: … of which something stands around all values, beside the end of the message's part
wrapped = pytest.mark.parametrize("format", [f for f in TAGGED if f != "beam"])


@wrapped
def test_an_outer_closer_in_a_line_is_text(format: str) -> None:
    """A file that names a closer must not be written half, as if it were whole."""
    outer = closers(format)[1:]
    for named in (*outer, "".join(outer), " ".join(outer), f"{outer[-1]}{outer[-1]}"):
        for value in (
            f"see {named} here",
            f"a\nsee {named}\n\nb",
            f"- {named}.",
            f"see {named}\n.",
        ):
            text = WRITERS[format]([("write_file", {"content": value, "path": "p"})])
            assert read(format, f"{text} Done.") == ("Done.", [wrote(value, path="p")])


@wrapped
def test_an_outer_closer_that_ends_a_call(format: str) -> None:
    """… whose value was never closed: at the start of a line, or where nothing but a call follows."""
    before, _ = written(format, "v")
    outer = closers(format)[1:]
    for chain in ("".join(outer), "\n".join(outer), outer[-1]):
        assert read(format, f"{before}\n{chain} Done.") == ("Done.", [wrote("v")])
        assert read(format, f"{before}{chain}") == (None, [wrote("v")])
        assert read(format, f"{before} {chain}\n") == (None, [wrote("v ")])
        assert read(format, before + chain + WRITERS[format]([ADD])) == (None, [wrote("v"), ADD_1])


@tagged
def test_closers_that_are_too_many(format: str) -> None:
    """Behind the value's own closer they are markup, and pull nothing into the value."""
    before, after = written(format, "v")
    own = closers(format)[0]
    for extra in (own, f"\n{own}", "</function_invocation>", "\n</x>\n", f"{own}</x>{own}"):
        text = before + after.replace(own, own + extra, 1)
        assert read(format, f"{text} Done.") == ("Done.", [wrote("v")])
    text = before + after.replace(own, f"{own}</x>\nno</x>{own}", 1)
    assert f'{own}</x>\\nno</x>"}}' in read(format, text)[1][0][1]


def test_a_call_that_nothing_closes_but_its_parameters() -> None:
    """Whether another parameter follows is known when it does, or when something else comes."""
    shape = Tags(call=None, parameter=Tag(("<k=",)), parameter_close=("</k>",))
    format = Format(name="own", shape=shape, wrappers=(Wrapper(("<call>",)),))
    text = "<call>write_file<k=content>v</k>"
    for rest, found in (
        ("", (None, [wrote("v")])),
        (" Done.", ("Done.", [wrote("v")])),
        ("\n<k", (None, [("write_file", '{"content": "v"', False)])),
        ("\n<kind", ("<kind", [wrote("v")])),
        ("\n<k=path>p</k> Done.", ("Done.", [wrote("v", path="p")])),
        ("<call>add<k=a>1</k>", (None, [wrote("v"), ADD_1])),
    ):
        assert read(format, text + rest) == found


GLM = (
    "<tool_call>get_weather\n<arg_key>city</arg_key>\n<arg_value>Oslo</arg_value>\n%s</tool_call>%s"
)
SUFFIXED = (
    "<tool_calls:x><tool_call:x>get_weather<arg_key:x>city</arg_key:x><arg_value:x>Oslo</arg_value:x>"
    "%s</tool_call:x></tool_calls:x>%s"
)
TYPED = (
    "<ifm|tool_calls>\n<ifm|tool_call>get_weather\n<ifm|arg_key>city</ifm|arg_key>\n"
    "<ifm|arg_value>Oslo</ifm|arg_value>\n%s</ifm|tool_call>\n</ifm|tool_calls>%s"
)


@pytest.mark.parametrize("behind", ["", "\nMore."])
@pytest.mark.parametrize(
    ("format", "around", "key"),
    [
        ("glm45", GLM, "<arg_key>unit</arg_key>\n"),
        ("glm47", GLM, "<arg_key>unit</arg_key>"),
        ("hy3", SUFFIXED, "<arg_key:x>unit</arg_key:x>"),
        ("k2_horizon", TYPED, "<ifm|arg_key>unit</ifm|arg_key>\n"),
        (
            "k2_horizon",
            TYPED,
            "<ifm|arg_key>unit</ifm|arg_key><ifm|arg_type>string</ifm|arg_type>",
        ),
    ],
)
def test_a_key_without_a_value_has_an_empty_one(
    format: str, around: str, key: str, behind: str
) -> None:
    """It is no text of the value before it."""
    arguments = '{"city": "Oslo", "unit": ""}'
    text = around % (key, behind)
    assert read(format, text) == (behind.strip() or None, [("get_weather", arguments, True)])


@pytest.mark.parametrize(
    ("inside", "content", "arguments"),
    [
        (
            "<arg_key>a</arg_key>\n<arg_key>b</arg_key>\n<arg_value>c</arg_value>\n",
            None,
            '{"city": "Oslo", "a": "", "b": "c"}',
        ),
        (
            "<arg_key>a</arg_key><arg_key>b and</arg_key> more",
            "<arg_key>b and</arg_key> more",
            '{"city": "Oslo", "a": ""}',
        ),
        (
            "<arg_key>a</arg_key> is text</arg_value>",
            None,
            r'{"city": "Oslo</arg_value>\n<arg_key>a</arg_key> is text"}',
        ),
    ],
)
def test_what_may_follow_a_key_without_a_value(
    inside: str, content: str | None, arguments: str
) -> None:
    assert read("glm45", GLM % (inside, "")) == (content, [("get_weather", arguments, True)])


def test_the_first_key_has_no_value() -> None:
    text = "<tool_call>get_weather\n<arg_key>unit</arg_key>\n</tool_call>"
    assert read("glm45", text) == (None, [("get_weather", '{"unit": ""}', True)])
