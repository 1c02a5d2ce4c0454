"""Ways to write calls that no model is known for, each as a Python function and as a chat template."""

from __future__ import annotations

import json
from typing import Any

from ..writers import Call, Writer, text_of


def dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def python_call(name: str, arguments: dict[str, Any]) -> str:
    return f"{name}({', '.join(f'{k}={v!r}' for k, v in arguments.items())})"


def _each(before: str, middle: str, after: str) -> Writer:
    return lambda calls: "".join(f"{before}{n}{middle}{dumps(a)}{after}" for n, a in calls)


def _pairs(calls: list[Call]) -> str:
    def one(name: str, arguments: dict[str, Any]) -> str:
        pairs = (f"<arg><k>{k}</k><v>{text_of(v)}</v></arg>\n" for k, v in arguments.items())
        return f"<tool>\n<name>{name}</name>\n{''.join(pairs)}</tool>\n"

    return f"<calls>\n{''.join(one(n, a) for n, a in calls)}</calls>"


def _attributes(calls: list[Call]) -> str:
    def one(name: str, arguments: dict[str, Any]) -> str:
        pairs = (f"<ARG KEY='{k}'>{text_of(v)}</ARG>\n" for k, v in arguments.items())
        return f"<CALL FN='{name}'>\n{''.join(pairs)}</CALL>\n"

    return f"<FUNCTIONS>\n{''.join(one(n, a) for n, a in calls)}</FUNCTIONS>"


INVENTED: dict[str, Writer] = {
    "react": _each("Action: ", "\nAction Input: ", "\n"),
    "pipes": _each("§call|", "|", "§end\n"),
    "attribute": _each('<tool_use name="', '">', "</tool_use>"),
    "arrow": _each("TOOL ", " -> ", "\n"),
    "fenced": _each("<run>", "\n```json\n", "\n```\n</run>"),
    "numbered": lambda calls: "".join(
        f"<c>{n}#{i} {dumps(a)}</c>" for i, (n, a) in enumerate(calls)
    ),
    "with_id": lambda calls: "".join(
        f"[CALL]{n}[ID]a{i}b[ARGS]{dumps(a)}[END]" for i, (n, a) in enumerate(calls)
    ),
    "labels": lambda calls: "".join(
        f"<step>\ntool: {n}\ninput: {dumps(a)}\n</step>\n" for n, a in calls
    ),
    "other_keys": lambda calls: "\n".join(dumps({"tool": n, "input": a}) for n, a in calls),
    "marked_keys": lambda calls: "".join(
        f"##RUN\n{dumps({'tool': n, 'args': a})}\n%%\n" for n, a in calls
    ),
    "text_in_json": lambda calls: "<|call|>{}<|/call|>".format(
        dumps([{"function": {"name": n, "arguments": dumps(a)}} for n, a in calls])
    ),
    "name_is_key": lambda calls: "<do>" + dumps([{n: a} for n, a in calls]) + "</do>",
    "pairs": _pairs,
    "attributes": _attributes,
    "code": lambda calls: "<code>\n" + "\n".join(python_call(n, a) for n, a in calls) + "\n</code>",
}

_CHATML = """\
{%- if tools %}{{- '<|im_start|>system\\nTools: ' + tools | tojson + '<|im_end|>\\n' }}{% endif %}
{%- for message in messages %}
    {{- '<|im_start|>' + message.role + '\\n' + (message.content or '') }}
    {%- for call in message.tool_calls or [] %}CALL{%- endfor %}
    {{- '<|im_end|>\\n' }}
{%- endfor %}
"""

#: What stands for CALL in a template.
_CALLS = {
    "pipes": "{{- '§call|' + call.function.name + '|' + call.function.arguments | tojson + '§end\\n' }}",
    "react": (
        "{{- 'Action: ' + call.function.name + '\\nAction Input: ' "
        "+ call.function.arguments | tojson + '\\n' }}"
    ),
    "other_keys": (
        "{{- '<run>' + {'tool': call.function.name, 'input': call.function.arguments} | tojson "
        "+ '</run>' }}"
    ),
    "pairs": (
        "{{- '<do><what>' + call.function.name + '</what>' }}"
        "{%- for k, v in call.function.arguments.items() %}"
        "{{- '<key>' + k + '</key><is>' + (v if v is string else v | tojson) + '</is>' }}"
        "{%- endfor %}{{- '</do>' }}"
    ),
}

TEMPLATES = {name: _CHATML.replace("CALL", call) for name, call in _CALLS.items()}
