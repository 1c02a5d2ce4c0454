"""Tools as agents really send them, and arguments that fit their schemas.

The schemas have what those of MCP servers and SDKs have: enums, unions with null, nested objects, lists
of objects, references, bounds, defaults, long descriptions.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st


def tool(name: str, properties: dict[str, Any], required: list[str], **more: Any) -> dict[str, Any]:
    parameters = {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
        **more,
    }
    function = {"name": name, "description": f"Does {name}.", "parameters": parameters}
    return {"type": "function", "function": function}


TEXT = {"type": "string", "description": "Any text, also of several lines."}
TOOLS: dict[str, dict[str, Any]] = {
    "read_file": tool(
        "read_file",
        {
            "path": {"type": "string", "description": "Where the file is."},
            "head": {"type": "integer", "description": "Only so many lines.", "minimum": 1},
            "tail": {"type": ["integer", "null"], "default": None},
        },
        ["path"],
    ),
    "edit_file": tool(
        "edit_file",
        {
            "dry_run": {"type": "boolean", "default": False},
            "path": TEXT,
            "edits": {
                "type": "array",
                "items": {
                    "type": "object",
                    "properties": {"old_text": TEXT, "new_text": TEXT},
                    "required": ["old_text", "new_text"],
                    "additionalProperties": False,
                },
            },
        },
        ["path", "edits"],
    ),
    "create_issue": tool(
        "create_issue",
        {
            "owner": {"type": "string"},
            "repo": {"type": "string"},
            "title": {"type": "string", "maxLength": 60},
            "body": {"anyOf": [{"type": "string"}, {"type": "null"}], "title": "Body"},
            "labels": {"type": "array", "items": {"type": "string"}},
            "milestone": {"type": "number"},
            "state": {"type": "string", "enum": ["open", "closed", "on hold"]},
        },
        ["owner", "repo", "title"],
    ),
    "query_database": tool(
        "query_database",
        {
            "sql": TEXT,
            "parameters": {"type": "object", "additionalProperties": {"type": "string"}},
            "limit": {"type": "integer", "default": 100},
            "read_only": {"const": True},
        },
        ["sql", "limit"],
    ),
    "plan_route": tool(
        "plan_route",
        {
            "from": {"$ref": "#/$defs/Place"},
            "to": {"$ref": "#/$defs/Place"},
            "avoid": {"type": "array", "items": {"enum": ["tolls", "ferries", "motorways"]}},
            "at": {"type": ["string", "integer"]},
        },
        ["from", "to"],
        **{
            "$defs": {
                "Place": {
                    "type": "object",
                    "properties": {"lat": {"type": "number"}, "lon": {"type": "number"}},
                    "required": ["lat", "lon"],
                    "additionalProperties": False,
                }
            }
        },
    ),
    "all_optional": tool(
        "all_optional",
        {
            "a": {"type": "string"},
            "b": {"type": "boolean"},
            "c": {"type": "number"},
            "d": {"type": ["boolean", "null"]},
        },
        [],
    ),
    "odd_keys": tool(
        "odd_keys",
        {"content-type": {"type": "string"}, "max.items": {"type": "integer"}},
        ["content-type"],
    ),
    "no_arguments": tool("no_arguments", {}, []),
}

#: Text as it is in arguments: code, markup, several lines, other scripts.
TEXTS = st.one_of(
    st.sampled_from(
        [
            "Oslo", "", "two words", 'a "quoted" word', "it's", "a\nb", "  indented", "tab\there",
            "<b>bold</b>", "{1}", "[2]", "back\\slash", "Åsa 東京 🎉", "12", "true", "null", "a, b=c",
            "x < y && y > z", "`code`", "```\nfence\n```", "</div>", "5 %", "#1", "NAME", "K",
        ]
    ),
    st.text(st.characters(exclude_categories=("Cs", "Cc")), max_size=12),
)  # fmt: skip


#: xgrammar takes no escapes in a JSON string whose length is limited.
BOUNDED = TEXTS.filter(lambda text: not set(text) & {'"', "\\", "\n", "\t"} and text.isprintable())


def values(schema: dict[str, Any], root: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values that fit a schema, as far as these schemas go."""
    if "$ref" in schema:
        return values(root["$defs"][schema["$ref"].rsplit("/", 1)[1]], root)
    if "const" in schema:
        return st.just(schema["const"])
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    if "anyOf" in schema:
        return st.one_of(*(values(member, root) for member in schema["anyOf"]))
    kinds = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    return st.one_of(*(_of_type(kind, schema, root) for kind in kinds))


def _of_type(kind: str, schema: dict[str, Any], root: dict[str, Any]) -> st.SearchStrategy[Any]:
    if kind == "string" and "maxLength" in schema:
        return BOUNDED.filter(lambda text: len(text) <= schema["maxLength"])
    if kind == "string":
        return TEXTS
    if kind == "integer":
        return st.integers(schema.get("minimum", -999), 9999)
    if kind == "number":
        return st.one_of(st.integers(-99, 99), st.sampled_from([0.5, -1.25, 12.75]))
    if kind == "array":
        return st.lists(values(schema["items"], root), max_size=3)
    if kind == "object" and "properties" not in schema:
        keys = st.sampled_from(["a", "b_c", "D"])
        return st.dictionaries(keys, values(schema["additionalProperties"], root), max_size=2)
    if kind == "object":
        return arguments(schema, root)
    return {"boolean": st.booleans(), "null": st.none()}[kind]


@st.composite
def arguments(
    draw: st.DrawFn, schema: dict[str, Any], root: dict[str, Any] | None = None
) -> dict[str, Any]:
    """An object that fits, its keys in the schema's order: that is the order a grammar asks for."""
    root = root or schema
    wanted = {
        key: inner
        for key, inner in schema["properties"].items()
        if key in schema["required"] or draw(st.booleans())
    }
    return {key: draw(values(inner, root)) for key, inner in wanted.items()}


@st.composite
def calls(draw: st.DrawFn, most: int = 3) -> list[dict[str, Any]]:
    """Calls of some of the tools."""
    names = draw(st.lists(st.sampled_from(sorted(TOOLS)), min_size=1, max_size=most))
    return [
        {"name": name, "arguments": draw(arguments(TOOLS[name]["function"]["parameters"]))}
        for name in names
    ]
