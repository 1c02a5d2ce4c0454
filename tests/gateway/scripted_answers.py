"""What the scripted upstream answers: whole, as deltas, and as the output of the Responses API."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

TEXT_CALL = (
    'Let me look. <tool_call>{"name": "add", "arguments": {"a": 1, "é": "日本"}}</tool_call>'
)
LINE_CALL = 'add(a=1, é="日本")'
CALL = '<tool_call>{"name": "add", "arguments": {"a": 1, "é": "日本"}}</tool_call>'
#: What is only thought of is no call.
PENSIVE = f"<think>I could write {CALL}.</think>Look: {CALL}"
PRINTING = "print(add(x))"  # words without quotes are no values, in the middle of a sentence
KIMI_CALL = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.add:0<|tool_call_argument_begin|>"
    '{"a": 1, "é": "日本"}<|tool_call_end|><|tool_calls_section_end|>'
)
LLAMA_CALL = '{"name": "add", "parameters": {"a": 1, "é": "日本"}}'
#: What would do harm if a page took it for more than text.
HOSTILE = (
    f'</pre><script>alert(1)</script><img src=x onerror="alert(2)"> {CALL.replace("日本", "<b>")}'
)
#: A call of more than half a megabyte.
LENGTHY = CALL.replace("日本", "a line of text\\n" * 40_000)
#: What models of several makes write as plain text, whatever the API.
WRITTEN = {
    "pensive": PENSIVE,
    "printing": PRINTING,
    "kimi": KIMI_CALL,
    "llama": LLAMA_CALL,
    "hostile": HOSTILE,
}


def call(id: Any, name: str, arguments: Any, **more: Any) -> Json:
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}} | more


def start(index: int, id: str, name: str, **function: Any) -> Json:
    entry = {"index": index, "id": id, "type": "function", "function": {"name": name} | function}
    return {"tool_calls": [entry]}


def more(index: int, arguments: str) -> Json:
    return {"tool_calls": [{"index": index, "function": {"arguments": arguments}}]}


def pieces(index: int, id: str, name: str, text: str) -> list[Json]:
    return [start(index, id, name, arguments=""), *(more(index, c) for c in text)]


ONE = '{"a": 1, "é": "日本"}'
OSLO = '{"city": "Oslo"}'
THOUGHT = "Größer als 1?\nA <tool_call> tells."

ANSWERS: dict[str, Json] = {
    "simple": {
        "message": {"content": None, "tool_calls": [call("c1", "add", ONE)]},
        "deltas": [start(0, "c1", "add", arguments=ONE)],
        "reason": "tool_calls",
    },
    "chunked": {
        "message": {"content": "", "tool_calls": [call("c1", "add", ONE)]},
        "deltas": pieces(0, "c1", "add", ONE),
        "reason": "stop",
    },
    "empty": {
        "message": {"content": None, "tool_calls": [call("c1", "noargs", "")]},
        "deltas": [start(0, "c1", "noargs", arguments="")],
        "reason": "tool_calls",
    },
    "malformed": {
        "message": {"content": None, "tool_calls": [call("c1", "add", '{"a": oops')]},
        "deltas": pieces(0, "c1", "add", '{"a": oops'),
        "reason": "tool_calls",
    },
    "missing": {
        "message": {"content": "Hm.", "tool_calls": [call("c1", "add", None)]},
        "deltas": [{"content": "Hm."}, start(0, "c1", "add")],
        "reason": "tool_calls",
    },
    "parallel": {
        "message": {
            "content": None,
            "tool_calls": [call("c1", "add", ONE), call("c1", "noargs", "{}")],
        },
        "deltas": [*pieces(0, "c1", "add", ONE), start(1, "c1", "noargs", arguments="{}")],
        "reason": "tool_calls",
    },
    "kilo": {
        "message": {
            "content": None,
            "tool_calls": [
                call("c1", "add", {"a": 1}),
                {"id": "c2", "name": "noargs", "arguments": "{}"},
                call("c3", "add", ONE),
            ],
        },
        "deltas": [
            start(0, "c1", "add", arguments={"a": 1}),
            {"tool_calls": [{"index": 1, "id": "c2", "name": "noargs", "arguments": "{}"}]},
            start(2, "c3", "add", arguments=ONE),
        ],
        "reason": "stop",
    },
    "text": {
        "message": {"content": TEXT_CALL},
        "deltas": [{"content": c} for c in TEXT_CALL],
        "reason": "stop",
    },
    "line": {  # as a model writes a call that never heard of tools
        "message": {"content": LINE_CALL},
        "deltas": [{"content": c} for c in LINE_CALL],
        "reason": "stop",
    },
    "plain": {
        "message": {"content": "Grüße, 世界!"},
        "deltas": [{"content": c} for c in "Grüße, 世界!"],
        "reason": "stop",
    },
    "weather": {
        "message": {"content": None, "tool_calls": [call("c1", "get_weather", OSLO)]},
        "deltas": pieces(0, "c1", "get_weather", OSLO),
        "reason": "tool_calls",
    },
    "array": {
        "message": {"content": None, "tool_calls": [call("c1", "add", "[1, 2]")]},
        "deltas": pieces(0, "c1", "add", "[1, 2]"),
        "reason": "tool_calls",
    },
    "think": {
        "message": {
            "reasoning_content": "Hm, well.",
            "content": "So.",
            "tool_calls": [call("c1", "add", ONE)],
        },
        "deltas": [
            *({"reasoning_content": c} for c in "Hm, well."),
            *({"content": c} for c in "So."),
            *pieces(0, "c1", "add", ONE),
        ],
        "reason": "tool_calls",
    },
    "thoughtful": {
        "message": {
            "content": None,
            "reasoning_content": THOUGHT,
            "tool_calls": [call("c1", "add", ONE)],
        },
        "deltas": [*({"reasoning_content": c} for c in THOUGHT), *pieces(0, "c1", "add", ONE)],
        "reason": "tool_calls",
    },
    "pondering": {
        "message": {
            "content": None,
            "reasoning": THOUGHT,
            "tool_calls": [call("c1", "get_weather", OSLO)],
        },
        "deltas": [
            *({"reasoning": c} for c in THOUGHT),
            *pieces(0, "c1", "get_weather", OSLO),
        ],
        "reason": "tool_calls",
    },
    "cut": {
        "message": {"content": None, "tool_calls": [call("c1", "add", '{"a": ')]},
        "deltas": pieces(0, "c1", "add", '{"a": '),
        "reason": "length",
    },
}

for _name, _text in WRITTEN.items():
    ANSWERS[_name] = {
        "message": {"content": _text},
        "deltas": [{"content": c} for c in _text],
        "reason": "stop",
    }
ANSWERS["lengthy"] = {
    "message": {"content": LENGTHY},
    "deltas": [{"content": LENGTHY[i : i + 5000]} for i in range(0, len(LENGTHY), 5000)],
    "reason": "stop",
}
#: Thoughts of the server's own that end in a call, and nothing else.
ANSWERS["musing"] = {
    "message": {"content": None, "reasoning_content": f"I look it up.\n{CALL}"},
    "deltas": [{"reasoning_content": c} for c in f"I look it up.\n{CALL}"],
    "reason": "stop",
}


def item(call_id: Any, name: str, arguments: Any) -> Json:
    made = {"type": "function_call", "id": f"fc_{call_id}", "call_id": call_id, "name": name}
    if arguments is not None:
        made["arguments"] = arguments
    return made | {"status": "completed"}


def message(text: str) -> Json:
    part = {"type": "output_text", "text": text, "annotations": []}
    return {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "status": "completed",
        "content": [part],
    }


OUTPUTS: dict[str, list[Json]] = {
    "simple": [item("c1", "add", ONE)],
    "chunked": [message("Well."), item("c1", "add", ONE)],
    "empty": [item("c1", "noargs", "")],
    "malformed": [item("c1", "add", '{"a": oops')],
    "missing": [item("c0", "add", None), message("Hm.")],
    "parallel": [item("c1", "add", ONE), item("c1", "noargs", "{}")],
    "kilo": [item("c1", "add", {"a": 1}), item("c2", "noargs", "{}")],
    "text": [message(TEXT_CALL)],
    "plain": [message("Grüße, 世界!")],
    "line": [message(LINE_CALL)],
    **{name: [message(text)] for name, text in WRITTEN.items()},
}
