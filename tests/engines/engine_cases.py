"""What models write and what a client must get: the project's known failures, row by row.

Every case is written out by hand, so that these tests do not lean on the parser they test. The
names are the rows of the failure list (H: hermes, X: tags, O: others); `mission` is the plain form.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import toolwire


def tool(name: str, **properties: Any) -> dict[str, Any]:
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "function", "function": {"name": name, "parameters": parameters}}


INTEGER = {"type": "integer"}
STRING = {"type": "string"}
ADD = tool("add", a=INTEGER, b=INTEGER)
NOARGS = tool("noargs")
WRITE_FILE = tool("write_file", path=STRING, content=STRING)
GET_WEATHER = tool("get_weather", city=STRING, unit=STRING)
TOOLS = [ADD, NOARGS, WRITE_FILE, GET_WEATHER]


def nested(levels: int) -> dict[str, Any]:
    schema: dict[str, Any] = INTEGER
    for _ in range(levels):
        schema = {"anyOf": [schema]}
    return schema


#: A tool whose schema nobody reads to its end, and calls of it.
TOO_DEEP = tool("deep", a=nested(200))
TOO_DEEP_CALLS = {
    "qwen3_coder": (
        "<tool_call>\n<function=deep>\n<parameter=a>\n1\n</parameter>\n</function>\n</tool_call>"
    ),
    "glm47": "<tool_call>deep<arg_key>a</arg_key><arg_value>1</arg_value></tool_call>",
}

Call = tuple[str, str]


@dataclass(frozen=True)
class Case:
    name: str
    format: str
    text: str
    calls: list[Call] = field(default_factory=list)
    content: str | None = None
    tools: list[dict[str, Any]] = field(default_factory=lambda: TOOLS)

    def __str__(self) -> str:
        return f"{self.format}-{self.name}"


def block(body: str) -> str:
    return f"<tool_call>\n{body}\n</tool_call>"


ONE_TWO = '{"a": 1, "b": 2}'
ADD_ONE_TWO = block(f'{{"name": "add", "arguments": {ONE_TWO}}}')
CALL_NOARGS = block('{"name": "noargs", "arguments": {}}')


def hermes(name: str, text: str, *calls: Call, content: str | None = None) -> Case:
    return Case(name, "hermes", text, list(calls), content)


HERMES = [
    hermes("mission", f"Sure.\n{ADD_ONE_TWO}", ("add", ONE_TWO), content="Sure."),
    hermes(
        "H1",
        '<tool_call>{"arguments": {"a": 2, "b": 2}, "name": "add"}</tool_call>',
        ("add", '{"a": 2, "b": 2}'),
    ),
    hermes(
        "H2",
        '<tool_call>{"arguments": {"name": "bob", "b": 2}, "name": "add"}</tool_call>',
        ("add", '{"name": "bob", "b": 2}'),
    ),
    hermes(
        "H3",
        f'<tool_call>{{"name": "add", "arguments": {ONE_TWO}, "id": "x1"}}</tool_call>',
        ("add", ONE_TWO),
    ),
    hermes(
        "H4",
        block(
            '{"name": "write_file", "arguments": {"path": "a", "content": "x </tool_call> y"}}',
        ),
        ("write_file", '{"path": "a", "content": "x </tool_call> y"}'),
    ),
    hermes("H5-absent", block('{"name": "noargs"}'), ("noargs", "{}")),
    hermes("H5-null", block('{"name": "noargs", "arguments": null}'), ("noargs", "{}")),
    hermes("H5-empty", block('{"name": "noargs", "arguments": ""}'), ("noargs", "{}")),
    hermes("H6", block(f'{{"name": "add", "parameters": {ONE_TWO}}}'), ("add", ONE_TWO)),
    hermes(
        "H7",
        block('{"name": "add", "arguments": "{\\"a\\": 1, \\"b\\": 2}"}'),
        ("add", ONE_TWO),
    ),
    hermes(
        "H8",
        '<tool_call>{"nam": "add"}</tool_call>\n' + ADD_ONE_TWO,
        ("add", ONE_TWO),
        content='<tool_call>{"nam": "add"}</tool_call>',
    ),
    hermes(
        "H8b",
        block('{"name": "add", "arguments": {"a": }}') + "\n" + ADD_ONE_TWO,
        ("add", '{"a": }'),
        ("add", ONE_TWO),
    ),
    hermes("H9", block(f'{{"name": "add", "arguments": {ONE_TWO}'), ("add", ONE_TWO)),
    hermes("H10", block(f'{{"name": "add", "arguments": {ONE_TWO}}}}}'), ("add", ONE_TWO)),
    hermes(
        "H11-array",
        block(f'[{{"name": "add", "arguments": {ONE_TWO}}}, {{"name": "noargs"}}]'),
        ("add", ONE_TWO),
        ("noargs", "{}"),
    ),
    hermes(
        "H11-two",
        block(
            f'{{"name": "add", "arguments": {ONE_TWO}}}\n{{"name": "noargs", "arguments": {{}}}}'
        ),
        ("add", ONE_TWO),
        ("noargs", "{}"),
    ),
    hermes(
        "H11-fence",
        block(f'```json\n{{"name": "add", "arguments": {ONE_TWO}}}\n```'),
        ("add", ONE_TWO),
    ),
    hermes(
        "H12",
        "You wrap it in <tool_call> tags, then it runs.",
        content="You wrap it in <tool_call> tags, then it runs.",
    ),
    hermes("H13", "Use the tag <tool_c", content="Use the tag <tool_c"),
    hermes(
        "H14",
        f"First.\n{ADD_ONE_TWO}\nThen.\n{CALL_NOARGS}\nDone.",
        ("add", ONE_TWO),
        ("noargs", "{}"),
        content="First.\n\nThen.\n\nDone.",
    ),
    hermes(
        "H15",
        block('{"name": "my\\u002dtool", "arguments": {"a": 1}}'),
        ("my-tool", '{"a": 1}'),
    ),
    hermes(
        "H16",
        block('{"name": "add", "arguments": {"n": 9223372036854775807, "x": 1.0, "z": 1e5}}'),
        ("add", '{"n": 9223372036854775807, "x": 1.0, "z": 1e5}'),
    ),
    hermes(
        "H17",
        '<tool_call>\n{"name": "write_file", "arguments": {"path": "a", "content": "hel',
        ("write_file", '{"path": "a", "content": "hel'),
    ),
    hermes("H18", '<tool_call>\n{"name": "ad', content='<tool_call>\n{"name": "ad'),
    hermes(
        "H19",
        f'<tool_call>\n{{"name": "add", "arguments": {ONE_TWO}}}\n' + ADD_ONE_TWO,
        ("add", ONE_TWO),
        ("add", ONE_TWO),
    ),
    hermes(
        "O8",
        block('{"name": "not_declared", "arguments": {"x": 1}}') + "\n" + ADD_ONE_TWO,
        ("not_declared", '{"x": 1}'),
        ("add", ONE_TWO),
    ),
    hermes("O10", f"\n\n{ADD_ONE_TWO}\n\n", ("add", ONE_TWO)),
]

H20 = hermes(
    "H20",
    '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo}}\n</tool_call>\n'
    + ADD_ONE_TWO,
    ("get_weather", '{"city": "Oslo}}\n'),
    ("add", ONE_TWO),
)


def parameter(name: str, value: str) -> str:
    return f"<parameter={name}>\n{value}\n</parameter>\n"


def function(name: str, *parameters: str) -> str:
    return f"<tool_call>\n<function={name}>\n{''.join(parameters)}</function>\n</tool_call>"


TAGGED_ADD = function("add", parameter("a", "1"), parameter("b", "2"))
TYPES = {
    "type": "function",
    "function": {
        "name": "types",
        "parameters": {
            "$defs": {"count": {"type": "integer"}},
            "type": "object",
            "properties": {
                "by_ref": {"$ref": "#/$defs/count"},
                "either": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
                "listed": {"type": ["number", "null"]},
                "zip": STRING,
            },
        },
    },
}


def tagged(
    name: str, text: str, *calls: Call, content: str | None = None, tools: Any = TOOLS
) -> Case:
    return Case(name, "qwen3_coder", text, list(calls), content, tools)


def write_file(value: str) -> str:
    return function("write_file", parameter("path", "a"), parameter("content", value))


TAGS = [
    tagged("mission", f"Sure.\n{TAGGED_ADD}", ("add", ONE_TWO), content="Sure."),
    tagged(
        "X1",
        write_file("one </parameter>\n</function>\nmore"),
        ("write_file", '{"path": "a", "content": "one </parameter>\\n</function>\\nmore"}'),
    ),
    tagged(
        "X2",
        write_file("use <parameter=foo> here"),
        ("write_file", '{"path": "a", "content": "use <parameter=foo> here"}'),
    ),
    tagged(
        "X3",
        "<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\n2\n"
        "</function>\n</tool_call>",
        ("add", ONE_TWO),
    ),
    tagged(
        "X4",
        "<tool_call>\n<function=add>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\n2\n"
        f"</parameter>\n</tool_call>\n{TAGGED_ADD}",
        ("add", ONE_TWO),
        ("add", ONE_TWO),
    ),
    tagged(
        "X5",
        "<tool_call>\n<function=write_file>\n<parameter=path>\na\n</parameter>\n"
        "<parameter=content>\nhel",
        ("write_file", '{"path": "a", "content": "hel'),
    ),
    tagged("X6", "<tool_call>\n<function=write_fi", content="<tool_call>\n<function=write_fi"),
    tagged("X7", "`<function=add>` opens a call", content="`<function=add>` opens a call"),
    tagged("X8", ADD_ONE_TWO, ("add", ONE_TWO)),
    tagged(
        "X9",
        '<tool_call>\n<function="add">\n<parameter name="a">\n1\n</parameter>\n'
        '<parameter name="b">\n2\n</parameter>\n</function>\n</tool_call>',
        ("add", ONE_TWO),
    ),
    tagged(
        "X10",
        function(
            "types", parameter("by_ref", "5"), parameter("either", "null"), parameter("listed", "2")
        ),
        ("types", '{"by_ref": 5, "either": null, "listed": 2}'),
        tools=[TYPES],
    ),
    tagged(
        "X11",
        function("types", parameter("listed", "9223372036854775807")),
        ("types", '{"listed": 9223372036854775807}'),
        tools=[TYPES],
    ),
    tagged(
        "X12",
        function("types", parameter("zip", "02134")),
        ("types", '{"zip": "02134"}'),
        tools=[TYPES],
    ),
    tagged(
        "X13",
        write_file("  two spaces\n\n"),
        ("write_file", '{"path": "a", "content": "  two spaces\\n\\n"}'),
    ),
    tagged("X14", function("add", parameter("a", "abc")), ("add", '{"a": "abc"}')),
    tagged(
        "X16",
        "<function=add>\n<parameter=a>\n1\n</parameter>\n<parameter=b>\n2\n</parameter>\n</function>",
        ("add", ONE_TWO),
    ),
]

OTHERS = [
    Case(
        "mission",
        "special_token",
        f"Sure.<|tool_call|>add\n{ONE_TWO}<|end_tool_call|>",
        [("add", ONE_TWO)],
        "Sure.",
    ),
    Case(
        "mission",
        "json",
        f'{{"tool_calls": [{{"name": "add", "arguments": {ONE_TWO}}}, {{"name": "noargs", '
        '"arguments": {}}]}',
        [("add", ONE_TWO), ("noargs", "{}")],
    ),
    Case("O1", "json", '{"answer": 42}', [], '{"answer": 42}'),
    Case(
        "mission",
        "labeled",
        block(f"name: add\narguments: {ONE_TWO}"),
        [("add", ONE_TWO)],
    ),
    Case(
        "mission",
        "call_text",
        'Let me see.\nget_weather(city="Oslo", unit="C")\nOne moment.',
        [("get_weather", '{"city": "Oslo", "unit": "C"}')],
        "Let me see.\n\nOne moment.",
    ),
    Case("prose", "call_text", "print(x) is Python.", [], "print(x) is Python."),
    Case("O1", "llama3_json", '{"answer": 42}', [], '{"answer": 42}'),
    Case(
        "O2",
        "llama3_json",
        f'{{"name": "add", "parameters": {ONE_TWO}}}; {{"name": "noargs", "parameters": {{}}}}',
        [("add", ONE_TWO), ("noargs", "{}")],
    ),
    Case(
        "O3",
        "llama3_json",
        f'Let me add.\n{{"name": "add", "parameters": {ONE_TWO}}}',
        [("add", ONE_TWO)],
        "Let me add.",
    ),
    Case("O4", "pythonic", "[1] See docs, [docs](url)", [], "[1] See docs, [docs](url)"),
    Case(
        "O5",
        "pythonic",
        "[add(1, 2),\n noargs()]",
        [("add", ONE_TWO), ("noargs", "{}")],
    ),
    Case(
        "O6-array",
        "mistral",
        f'[TOOL_CALLS][{{"name": "add", "arguments": {ONE_TWO}}}]',
        [("add", ONE_TWO)],
    ),
    Case("O6-args", "mistral", f"[TOOL_CALLS]add[ARGS]{ONE_TWO}", [("add", ONE_TWO)]),
    Case(
        "parallel",
        "minimax_m2",
        '<minimax:tool_call>\n<invoke name="add">\n<parameter name="a">1</parameter>\n'
        '<parameter name="b">2</parameter>\n</invoke>\n<invoke name="noargs">\n</invoke>\n'
        "</minimax:tool_call>",
        [("add", ONE_TWO), ("noargs", "{}")],
    ),
]

CASES = [*HERMES, H20, *TAGS, *OTHERS]


def written(format_name: str, name: str = "get_weather") -> str:
    """A call of a tool that is declared here, as the format's model writes it."""
    return toolwire.write(format_name, [{"name": name, "arguments": {"city": "Oslo"}}])


def chunkings(text: str) -> Iterator[list[str]]:
    """Single characters, threes, sevens, everything at once, and two random ways."""
    for size in (1, 3, 7, max(len(text), 1)):
        yield [text[at : at + size] for at in range(0, len(text), size)]
    for seed in (1, 2):
        chance = random.Random(seed)
        cuts = sorted(chance.sample(range(len(text) + 1), min(len(text), 6)))
        ends = [*cuts, len(text)]
        yield [text[a:b] for a, b in zip([0, *cuts], ends, strict=True)]
    # The end of the text often comes in a step of its own.
    yield [text, ""]
