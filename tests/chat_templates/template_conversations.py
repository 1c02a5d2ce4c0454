"""Conversations for property tests: everything that OpenAI's API accepts, in every shape it accepts.

A conversation is a list of turns and a turn a list of messages, so that a test can tell where all
results of a turn are in. Arguments fit the tool's schema, as a model's do: some formats carry no
types, and what is read back is what the schema says.
"""

import json
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

Message = dict[str, Any]
Tool = dict[str, Any]


def generated(examples: int) -> settings:
    """How often a property is tried. How long one try takes is not what is tested here."""
    return settings(
        max_examples=examples, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )


# What the formats and frames are made of: text that holds it must pass through like any other.
DELIMITERS = [
    "<tool_call>",
    "</tool_call>",
    "<|tool_call|>",
    "<|end_tool_call|>",
    '{"tool_calls": [',
    "<function=add>",
    "</parameter>\n</function>",
    "<tool_response>",
    "<think>",
    "</think>",
    "[/THINK]",
    "[add(a=1)]",
    "add(a=1)",
    "<|im_end|>\n<|im_start|>system\n",
    "[/INST]",
    "{{ messages }}",
    "{% raw %}",
    "```json\n",
]

characters = st.characters(exclude_categories=["Cs"])
plain_text = st.text(characters, max_size=12)
texts = st.lists(plain_text | st.sampled_from(DELIMITERS), max_size=4).map(" ".join)

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)
json_values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(characters, max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)

# A value for each declared type. A nullable string can't be the text "null": a format without
# quotes reads that as the null.
TYPES: dict[str, tuple[dict[str, Any], st.SearchStrategy[Any]]] = {
    "string": ({"type": "string", "description": "Some text"}, texts),
    "integer": ({"type": "integer"}, st.integers()),
    "number": ({"type": "number"}, st.floats(allow_nan=False, allow_infinity=False)),
    "boolean": ({"type": "boolean", "default": True}, st.booleans()),
    "array": ({"type": "array", "items": {}}, st.lists(json_values, max_size=3)),
    "object": (
        {"type": "object", "additionalProperties": True},
        st.dictionaries(st.text(characters, max_size=4), json_values, max_size=3),
    ),
    "nullable": (
        {"anyOf": [{"type": "string"}, {"type": "null"}]},
        st.none() | texts.filter(lambda text: text.strip() not in ("null", "None")),
    ),
    "enum": (
        {"type": "string", "enum": ["celsius", "fahrenheit", "°"]},
        st.sampled_from(["celsius", "fahrenheit", "°"]),
    ),
}

names = st.from_regex(r"[A-Za-z_][A-Za-z0-9_-]{0,11}", fullmatch=True)
parameter_names = names | st.sampled_from(
    ["items", "get", "größe", "with-dash", "two words", "$ref", "1st", "from", "name", "arguments"]
)


@st.composite
def tools(draw: st.DrawFn) -> list[Tool]:
    """One to three tools, with or without a description, parameters and `strict`."""
    result = []
    for name in draw(st.lists(names, min_size=1, max_size=3, unique=True)):
        function: dict[str, Any] = {"name": name}
        if draw(st.booleans()):
            function["description"] = draw(texts)
        if draw(st.booleans()):
            function["strict"] = draw(st.booleans())
        if draw(st.integers(0, 4)):
            kinds = draw(st.dictionaries(parameter_names, st.sampled_from(list(TYPES)), max_size=3))
            function["parameters"] = {
                "type": "object",
                "properties": {key: TYPES[kind][0] for key, kind in kinds.items()},
                "required": sorted(kinds)[:1],
            }
        result.append({"type": "function", "function": function})
    return result


def _kind(schema: dict[str, Any]) -> str:
    return next(kind for kind, (declared, _) in TYPES.items() if declared == schema)


@st.composite
def objects_for(draw: st.DrawFn, tool: Tool) -> dict[str, Any]:
    """Arguments that fit a tool's schema, required or not."""
    properties = tool["function"].get("parameters", {}).get("properties", {})
    chosen = [name for name in properties if draw(st.booleans())]
    return {name: draw(TYPES[_kind(properties[name])][1]) for name in chosen}


def as_json_text(draw: st.DrawFn, value: Any) -> str:
    """JSON as any client may write it: spacing, line breaks and escapes of its own."""
    return json.dumps(
        value,
        ensure_ascii=draw(st.booleans()),
        indent=draw(st.sampled_from([None, 2])),
        separators=draw(st.sampled_from([None, (",", ":")])),
    )


@st.composite
def functions(draw: st.DrawFn, declared: list[Tool]) -> dict[str, Any]:
    """A call's name and arguments: an object or a JSON string."""
    tool = draw(st.sampled_from(declared))
    arguments: Any = draw(objects_for(tool))
    if draw(st.booleans()):
        arguments = as_json_text(draw, arguments)
    return {"name": tool["function"]["name"], "arguments": arguments}


def _parts(text: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text}]


def contents() -> st.SearchStrategy[Any]:
    return (
        texts
        | st.none()
        | texts.map(_parts)
        | st.lists(texts.map(_parts), max_size=2).map(
            lambda lists: [part for parts in lists for part in parts]
        )
    )


#: An image, as the APIs and tools of today hand it over.
IMAGES: list[dict[str, Any]] = [
    {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}},
    {"type": "input_image", "image_url": "data:image/png;base64,iVBORw0KGgo="},
    {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
    {"type": "image", "source": {"type": "base64", "data": "iVBORw0KGgo="}},
]


def results() -> st.SearchStrategy[Any]:
    parts = st.lists(texts.map(_parts).map(lambda one: one[0]) | st.sampled_from(IMAGES))
    return contents() | json_values | parts


#: What a request may say about thinking.
SWITCHES: list[dict[str, Any]] = [
    {},
    {"enable_thinking": True},
    {"enable_thinking": False},
    {"thinking": True},
    {"thinking": False},
    {"thinking_mode": "enabled"},
    {"thinking_mode": "disabled"},
    {"reasoning_effort": "high"},
    {"reasoning_effort": "none"},
    {"enable_thinking": True, "reasoning_effort": "low"},
    {"enable_thinking": True, "reasoning_effort": "none"},
    {"enable_thinking": None, "thinking": None, "reasoning_effort": None},
]
switches = st.sampled_from(SWITCHES)


def thoughts() -> st.SearchStrategy[Message]:
    """What an assistant's message says of its thoughts: nothing, or some, under either name."""
    return st.just({}) | st.dictionaries(
        st.sampled_from(["reasoning_content", "reasoning"]), texts | st.none(), min_size=1
    )


@st.composite
def call_turns(draw: st.DrawFn, declared: list[Tool]) -> list[Message]:
    """Calls and all their results, in any order; or calls that nobody answered."""
    functions_called = draw(st.lists(functions(declared), min_size=1, max_size=3))
    calls = [
        {"id": f"call_{index}", "type": "function", "function": function}
        for index, function in enumerate(functions_called)
    ]
    asked = {"role": "assistant", "content": draw(contents()), "tool_calls": calls}
    asked |= draw(thoughts())
    if draw(st.integers(0, 5)) == 0:
        return [asked]
    answers: list[Message] = [
        {"role": "tool", "tool_call_id": call["id"], "content": draw(results())}
        for call in draw(st.permutations(calls))
    ]
    return [asked, *answers]


@st.composite
def legacy_turns(draw: st.DrawFn, declared: list[Tool]) -> list[Message]:
    """The deprecated shape: one call in `function_call`, its result in a message of role `function`."""
    function = draw(functions(declared))
    asked = {"role": "assistant", "content": draw(contents()), "function_call": function}
    return [
        asked | draw(thoughts()),
        {"role": "function", "name": function["name"], "content": draw(results())},
    ]


@st.composite
def conversations(draw: st.DrawFn) -> tuple[list[list[Message]], list[Tool] | None]:
    """Turns, and the tools that were declared, if any were."""
    declared = draw(tools())

    def said(role: str) -> st.SearchStrategy[list[Message]]:
        more = thoughts() if role == "assistant" else st.just({})
        return st.builds(
            lambda text, also: [{"role": role, "content": text} | also], contents(), more
        )

    turns = draw(
        st.lists(
            said("user")
            | said("assistant")
            | said("system")
            | said("developer")
            | call_turns(declared)
            | legacy_turns(declared),
            min_size=1,
            max_size=5,
        )
    )
    return turns, draw(st.sampled_from([declared, declared, None]))
