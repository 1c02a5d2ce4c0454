"""Streamed answers: the same as whole ones, however they were cut."""

from __future__ import annotations

import json
import tracemalloc
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire.openai import accumulate, open_calls
from toolwire.openai.normalize import normalize_response
from toolwire.openai.stream_normalize import ChatStream

from ..support import TOOLS, cut_at, policy_for
from .support_steps import assert_linear

MARKED = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'


def chunk(delta: Any, reason: str | None = None, **more: Any) -> dict[str, Any]:
    choice = {"index": 0, "delta": delta, "finish_reason": reason} | more
    return {"id": "r", "object": "chat.completion.chunk", "model": "m", "choices": [choice]}


def piece(arguments: Any = None, index: Any = 0, id: Any = None, name: Any = None) -> Any:
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    entry: dict[str, Any] = {"index": index, "function": function}
    if id is not None:
        entry |= {"id": id, "type": "function"}
    return {"tool_calls": [entry]}


def run(
    chunks: list[Any],
    mode: str = "verified",
    died: bool = False,
    emit: str = "finish",
    done: bool = False,
    **policy: Any,
) -> tuple[list[Any], list[Any]]:
    stream = ChatStream(policy_for(**policy), mode, emit)
    out = [sent for one in chunks for sent in stream.feed(one)]
    out += stream.finish(died=died, done=done)
    return out, [(finding.reason, finding.action) for finding in stream.findings]


def deltas(chunks: list[Any]) -> list[Any]:
    return [choice["delta"] for c in chunks for choice in c.get("choices", ())]


def reasons(chunks: list[Any]) -> list[Any]:
    found = [choice["finish_reason"] for c in chunks for choice in c.get("choices", ())]
    return [reason for reason in found if reason is not None]


def errors(chunks: list[Any]) -> list[str]:
    return [c["error"]["message"] for c in chunks if c.get("error")]


def calls(chunks: list[Any]) -> list[Any]:
    return [(c.id, c.name, c.arguments) for c in accumulate(deltas(chunks)).tool_calls]


FRAGMENTS = [
    chunk({"role": "assistant", "content": None}),
    chunk(piece("", id="c1", name="add")),
    chunk(piece('{"a"')),
    chunk(piece(": 1}")),
    chunk({}, "tool_calls"),
]


def test_text_passes_as_the_same_objects() -> None:
    usage = {"id": "r", "choices": [], "usage": {"total_tokens": 3}}
    chunks = [
        chunk({"role": "assistant", "content": ""}),
        chunk({"content": "Hi"}, logprobs={"content": []}),
        chunk({"reasoning_content": "hm"}),
        chunk({}, "stop"),
        usage,
        {"choices": [5]},
        {"error": {"message": "x"}},
    ]
    for mode in ("verified", "live"):
        out, findings = run(chunks, mode)
        assert all(a is b for a, b in zip(out, chunks, strict=True))
        assert findings == []


def test_verified_sends_a_call_whole() -> None:
    out, findings = run(FRAGMENTS)
    whole = {"name": "add", "arguments": '{"a": 1}'}
    entry = {"index": 0, "id": "c1", "type": "function", "function": whole}
    assert deltas(out) == [{"role": "assistant", "content": None}, {"tool_calls": [entry]}, {}]
    assert reasons(out) == ["tool_calls"]
    assert out[1]["id"] == "r"
    assert findings == []


def test_live_sends_fragments_as_they_come() -> None:
    out, _ = run(FRAGMENTS, "live")
    assert len(out) == len(FRAGMENTS)
    assert calls(out) == [("c1", "add", '{"a": 1}')]


def test_text_streams_on_while_a_call_is_held() -> None:
    chunks = [
        chunk({"content": "A"} | piece('{"a"', id="c1", name="add")),
        chunk({"content": "B"}),
        chunk({"content": "C"} | piece(": 1}"), "stop"),
    ]
    stream = ChatStream()
    assert deltas(stream.feed(chunks[0])) == [{"content": "A"}]
    assert deltas(stream.feed(chunks[1])) == [{"content": "B"}]
    last = stream.feed(chunks[2])
    assert [list(d) for d in deltas(last)] == [["content"], ["tool_calls"], []]
    assert reasons(last) == ["tool_calls"]


def test_calls_go_out_with_the_finish_reason() -> None:
    stream = ChatStream()
    assert stream.feed(chunk(piece("{}", id="c1", name="add"))) == []
    assert stream.feed(chunk(piece("{}", 1, "c2", "noargs"))) == []
    out = stream.feed(chunk({}, "stop"))
    assert [c[0] for c in calls(out)] == ["c1", "c2"]
    assert reasons(out) == ["tool_calls"]


def test_a_call_goes_out_once_the_next_one_begins() -> None:
    stream = ChatStream(emit="complete")
    stream.feed(chunk(piece("{}", id="c1", name="add")))
    out = stream.feed(chunk(piece("{}", 1, "c2", "noargs")))
    assert calls(out) == [("c1", "add", "{}")]


def test_fragments_that_interleave() -> None:
    chunks = [
        chunk(piece('{"a"', 0, "c1", "add")),
        chunk(piece('{"b"', 1, "c2", "add")),
        chunk(piece(": 1}", 0)),
        chunk(piece(": 2}", 1)),
        chunk({}, "tool_calls"),
    ]
    for mode in ("verified", "live"):
        assert calls(run(chunks, mode)[0]) == [("c1", "add", '{"a": 1}'), ("c2", "add", '{"b": 2}')]


@pytest.mark.parametrize("mode", ["verified", "live"])
@pytest.mark.parametrize(("first", "second"), [(1, 2), (0, 0), (None, None), (7, 3)])
def test_calls_are_numbered_from_zero_without_gaps(mode: str, first: Any, second: Any) -> None:
    chunks = [
        chunk(piece("{}", first, "c1", "add")),
        chunk(piece("{}", second, "c2", "noargs")),
        chunk({}, "tool_calls"),
    ]
    out, findings = run(chunks, mode)
    assert calls(out) == [("c1", "add", "{}"), ("c2", "noargs", "{}")]
    entries = [e for d in deltas(out) for e in d.get("tool_calls", ())]
    assert [e["index"] for e in entries] == [0, 1]
    assert findings == []


def test_a_dropped_call_leaves_no_hole() -> None:
    chunks = [
        chunk(piece(None, 0, "c1", "add")),
        chunk(piece("{}", 1, "c2", "noargs")),
        chunk({}, "tool_calls"),
    ]
    for mode in ("verified", "live"):
        out, findings = run(chunks, mode)
        entries = [e for d in deltas(out) for e in d.get("tool_calls", ())]
        assert [(e["index"], e["id"]) for e in entries] == [(0, "c2")]
        assert findings == [("missing_arguments", "dropped")]


def test_invalid_json_is_wrapped_or_at_least_counted() -> None:
    chunks = [chunk(piece('{"a": oops', id="c1", name="add")), chunk({}, "tool_calls")]
    out, findings = run(chunks)
    assert json.loads(calls(out)[0][2]) == {"input": '{"a": oops'}
    assert findings == [("invalid_json", "wrapped")]
    out, findings = run(chunks, "live")
    assert calls(out)[0][2] == '{"a": oops'
    assert findings == [("invalid_json", None)]


@pytest.mark.parametrize(
    ("text", "whole", "finding"),
    [
        ("oops {", '{"input": "oops {"}', [("invalid_json", "wrapped")]),
        (" \n ", "{}", []),
        ("[1, 2]", "[1, 2]", [("not_an_object", None)]),
        ("7", "7", [("not_an_object", None)]),
        (' \n{"a": 1}', ' \n{"a": 1}', []),
    ],
)
@pytest.mark.parametrize("mode", ["verified", "live"])
def test_live_wraps_what_it_has_not_sent(
    mode: str, text: str, whole: str, finding: list[Any]
) -> None:
    given = [chunk(piece("", id="c1", name="add")), *(chunk(piece(c)) for c in text)]
    out, findings = run([*given, chunk({}, "stop")], mode)
    if mode == "live" or text.strip():
        assert calls(out) == [("c1", "add", whole)]
        assert findings == finding


def test_live_does_not_wrap_what_was_cut_off() -> None:
    given = [chunk(piece("", id="c1", name="add")), chunk(piece("oo")), chunk({}, "length")]
    out, findings = run(given, "live")
    assert calls(out) == [("c1", "add", "")]
    assert findings == [("truncated", None)]


def test_empty_arguments() -> None:
    chunks = [chunk(piece("", id="c1", name="noargs")), chunk({}, "stop")]
    for mode in ("verified", "live"):
        out, findings = run(chunks, mode)
        assert calls(out) == [("c1", "noargs", "{}")]
        assert reasons(out) == ["tool_calls"]
        assert findings == []


def test_what_length_cut_off() -> None:
    chunks = [chunk(piece("{}", id="c1", name="noargs")), chunk(piece('{"a', 1, "c2", "add"))]
    out, findings = run([*chunks, chunk({}, "length")])
    assert calls(out) == [("c1", "noargs", "{}")]
    assert reasons(out) == ["length"]
    assert findings == [("truncated", "dropped")]
    out, findings = run([*chunks, chunk({}, "length")], "live")
    assert findings == [("truncated", None)]
    out, findings = run(chunks, died=True)
    assert (calls(out), reasons(out), errors(out)) == ([], [], [])
    assert findings == [("truncated", "dropped")] * 2
    out, findings = run(chunks, died=True, emit="complete")
    assert calls(out) == [("c1", "noargs", "{}")]
    assert reasons(out) == []
    assert findings == [("truncated", "dropped")]


@pytest.mark.parametrize("done", [True, False])
@pytest.mark.parametrize("emit", ["finish", "complete"])
@pytest.mark.parametrize("half", ['{"a": 1}', '{"a": ', ""])
def test_without_a_finish_reason_no_call_is_whole(half: str, emit: str, done: bool) -> None:
    out, findings = run([chunk(piece(half, 0, "c1", "add"))], emit=emit, done=done)
    assert (calls(out), reasons(out)) == ([], [])
    assert errors(out) == ["The upstream's answer ended without a finish reason"]
    assert out[-1]["error"]["type"] == "upstream_error"
    assert findings == [("truncated", "dropped")]
    out, findings = run([chunk(piece(half, 0, "c1", "add"))], "live", done=done)
    assert reasons(out) == []
    assert len(errors(out)) == 1  # what was sent can't be taken back
    assert findings == [("truncated", None)]


def test_a_complete_call_goes_out_before_another_one_is_cut_off() -> None:
    chunks = [chunk(piece("{}", 0, "c1", "noargs")), chunk(piece("{", 1, "c2", "add"))]
    out, findings = run(chunks, emit="complete")
    assert calls(out) == [("c1", "noargs", "{}")]
    assert len(errors(out)) == 1
    assert findings == [("truncated", "dropped")]


def test_a_call_in_the_text_without_a_finish_reason_was_cut_off() -> None:
    for text in (MARKED, MARKED[:-15]):
        out, findings = run([chunk({"content": text})], format="hermes", tools=TOOLS, done=True)
        assert (calls(out), reasons(out), len(errors(out))) == ([], [], 1)
        assert findings == [("truncated", "dropped")]


def test_a_text_without_a_finish_reason() -> None:
    text = chunk({"content": "Hi"})
    assert run([text], done=True)[0] == [text]  # the upstream said itself that this is all
    out, findings = run([text])
    assert (out[0], len(errors(out)), findings) == (text, 1, [])


@pytest.mark.parametrize("reason", [None, "tool_calls", "error"])
@pytest.mark.parametrize("mode", ["verified", "live"])
def test_nothing_counts_behind_an_error(mode: str, reason: str | None) -> None:
    error = {"error": {"message": "out of memory"}}
    if reason is not None:
        error["choices"] = chunk(piece("}", 0), reason)["choices"]  # type: ignore[assignment]
    given = [chunk(piece("{}", 0, "c1", "noargs")), error]
    given += [chunk(piece("{}", 1, "c2", "add")), chunk({}, "tool_calls")]
    out, findings = run(given, mode, done=True)
    assert errors(out) == ["out of memory"]
    assert out[-1].get("error")
    assert calls(out) == ([] if mode == "verified" else [("c1", "noargs", "{}")])
    assert findings == [("truncated", "dropped" if mode == "verified" else None)]


def test_an_error_that_is_none() -> None:
    out, findings = run([c | {"error": None} for c in FRAGMENTS])
    assert calls(out) == [("c1", "add", '{"a": 1}')]
    assert (errors(out), findings) == ([], [])


@pytest.mark.parametrize("reason", ["length", None])
def test_every_half_call_is_cut_off_where_several_come_at_a_time(reason: str | None) -> None:
    chunks = [
        chunk(piece('{"a"', 0, "c1", "add")),
        chunk(piece('{"b"', 1, "c2", "add")),
        chunk(piece(": ", 0)),
        chunk({}, reason),
    ]
    out, findings = run(chunks)
    assert (calls(out), reasons(out)) == ([], [reason] if reason else [])
    assert findings == [("truncated", "dropped")] * 2


def test_an_end_is_told_once() -> None:
    stream = ChatStream()
    stream.feed(chunk(piece("{}", id="c1", name="noargs")))
    assert len(errors(stream.finish())) == 1
    assert stream.finish() == []


@pytest.mark.parametrize("mode", ["verified", "live"])
@pytest.mark.parametrize("index", [0, None, 7])
@pytest.mark.parametrize("id", ["absent", None, "", "same"])
def test_calls_that_share_a_number_stay_apart(mode: str, index: Any, id: Any) -> None:
    def one(name: str, arguments: Any, **more: Any) -> Any:
        entry = {"index": index, "type": "function", "id": id} | more
        if id == "absent":
            del entry["id"]
        return chunk({"tool_calls": [entry | {"function": {"name": name, "arguments": arguments}}]})

    given = [
        one("noargs", ""),  # another name, behind no arguments at all
        one("add", '{"a": 1}'),
        one("add", '{"a": 2}'),  # the same name: its arguments begin anew
        one("add", {"a": 3}),
        one("write_file", '{"path": "}{'),
        chunk(piece('", "x": 1}', index)),
        one("add", '{"a": 4}'),  # another name
        chunk({}, "tool_calls"),
    ]
    for names in (TOOLS, None):
        out, _ = run(given, mode, tools=names)
        assert [c[1:] for c in calls(out)] == [
            ("noargs", "{}"),
            ("add", '{"a": 1}'),
            ("add", '{"a": 2}'),
            ("add", '{"a": 3}'),
            ("write_file", '{"path": "}{", "x": 1}'),
            ("add", '{"a": 4}'),
        ]
        assert len({c[0] for c in calls(out)}) == 6
        assert reasons(out) == ["tool_calls"]


@pytest.mark.parametrize("size", [1, 2, 5, 100])
def test_a_name_with_every_fragment_is_still_one_call(size: int) -> None:
    text = '{"a": "}{\\"\\\\", "b": [{}, {"c": {}}]}'
    parts = [text[i : i + size] for i in range(0, len(text), size)]
    given = [chunk(piece(part, id="c1", name="add")) for part in parts]
    assert calls(run([*given, chunk({}, "stop")])[0]) == [("c1", "add", text)]


def test_names_that_come_again_cost_linear_work() -> None:
    def work(count: int) -> Any:
        chunks = [chunk(piece("[", id="c1", name="add"))]
        chunks += [chunk(piece("{}", id="c1", name="add")) for _ in range(count)]
        return lambda: run([*chunks, chunk({}, "stop")])

    assert_linear(work, 200)


def test_what_stands_beside_the_choices_is_kept() -> None:
    usage = {"total_tokens": 3}
    given = [
        chunk(piece("{}", id="c1", name="add")) | {"usage": usage},
        chunk(piece(None, 1, "c2", "add")) | {"timings": {"n": 1}, "usage": None},
        chunk({}, "stop") | {"usage": usage},
        {"choices": [], "usage": usage},
    ]
    out, _ = run(given)
    assert [c["usage"] for c in out if c.get("usage")] == [usage] * 3
    assert [c["timings"] for c in out if c.get("timings")] == [{"n": 1}]
    assert out[-1] is given[-1]


def test_calls_asked_for_but_none_sent() -> None:
    assert reasons(run([chunk({"content": "x"}), chunk({}, "tool_calls")])[0]) == ["stop"]


def test_ids_names_and_kilos_shapes() -> None:
    chunks = [
        chunk({"tool_calls": [{"index": 0, "name": "add", "arguments": {"a": 1}}]}),
        chunk({"tool_calls": {"index": 1, "id": "c", "function": {"name": "no", "arguments": ""}}}),
        chunk(piece("", 1, name="args")),
        chunk(piece("{}", 2, "c", "noargs")),
        chunk({"tool_calls": [5]}),
        chunk({}, "stop"),
    ]
    out, findings = run(chunks)
    assert [c[1:] for c in calls(out)] == [
        ("add", '{"a": 1}'),
        ("noargs", "{}"),
        ("noargs", "{}"),
    ]
    assert len({c[0] for c in calls(out)}) == 3
    wanted = [("bad_structure", "dropped"), (None, "id_made"), ("duplicate_id", "id_made")]
    assert sorted(findings, key=str) == sorted(wanted, key=str)


def test_a_name_that_comes_with_every_fragment() -> None:
    chunks = [
        chunk(piece('{"a"', id="c1", name="add")),
        chunk(piece(": 1}", id="c1", name="add")),
        chunk({}, "stop"),
    ]
    for mode in ("verified", "live"):
        assert calls(run(chunks, mode)[0]) == [("c1", "add", '{"a": 1}')]


def test_broken_arguments_and_free_text_calls() -> None:
    custom = {"index": 4, "id": "x", "type": "custom", "custom": {"name": "shell", "input": "l"}}
    chunks = [
        chunk(piece(7, id="c1", name="add")),
        chunk({"tool_calls": [custom]}),
        chunk({"tool_calls": [{"index": 4, "custom": {"input": "s"}}]}),
        chunk({}, "stop"),
    ]
    for mode in ("verified", "live"):
        out, findings = run(chunks, mode)
        entries = [e for d in deltas(out) for e in d.get("tool_calls", ())]
        assert entries == [custom | {"index": 0}, {"index": 0, "custom": {"input": "s"}}]
        assert reasons(out) == ["tool_calls"]
        assert findings == [("bad_structure", "dropped")]


@pytest.mark.parametrize("emit", ["finish", "complete"])
def test_free_text_calls_wait_for_the_finish_reason_too(emit: str) -> None:
    custom = {"index": 0, "id": "x", "type": "custom", "custom": {"name": "shell", "input": "l"}}
    stream = ChatStream(emit=emit)
    out = stream.feed(chunk({"tool_calls": [custom]}))
    assert (out == []) == (emit == "finish")
    assert (stream.held > 4800) == (emit == "finish")
    assert len(errors(stream.finish())) == 1
    lost = [(finding.reason, finding.action) for finding in stream.findings]
    assert lost == ([("truncated", "dropped")] if emit == "finish" else [])
    assert stream.calls == (0 if emit == "finish" else 1)


@pytest.mark.parametrize("mode", ["verified", "live"])
def test_the_old_style_both_ways(mode: str) -> None:
    out, _ = run(FRAGMENTS, mode, legacy=True)
    assert all("tool_calls" not in delta for delta in deltas(out))
    assert [c[1:] for c in calls(out)] == [("add", '{"a": 1}')]
    assert reasons(out) == ["function_call"]
    old = [
        chunk({"function_call": {"name": "add", "arguments": ""}}),
        chunk({"function_call": {"arguments": "{}"}}),
        chunk({}, "function_call"),
    ]
    out, _ = run(old, mode)
    assert [c[1:] for c in calls(out)] == [("add", "{}")]
    assert reasons(out) == ["tool_calls"]


@pytest.mark.parametrize("mode", ["verified", "live"])
def test_a_tool_choice_that_is_not_obeyed(mode: str) -> None:
    given = [*FRAGMENTS[:-1], chunk(piece("{}", 1, "c2", "noargs")), FRAGMENTS[-1]]
    out, findings = run(given, mode, tools=TOOLS, tool_choice="none")
    assert (calls(out), reasons(out)) == ([], ["stop"])
    assert findings == [("disobeyed", "dropped")] * 2
    named = {"type": "function", "function": {"name": "add"}}
    allowed = {"type": "allowed_tools", "allowed_tools": {"mode": "auto", "tools": [named]}}
    for choice in (named, allowed):
        out, findings = run(given, mode, tools=TOOLS, tool_choice=choice)
        assert [c[1] for c in calls(out)] == ["add", "noargs"]
        assert findings == [("disobeyed", None)]
    assert run(given, mode, tool_choice="none")[1] == []  # no tools, so nothing was forbidden


@pytest.mark.parametrize("mode", ["verified", "live"])
def test_ids_are_unique_in_the_conversation(mode: str) -> None:
    custom = {"index": 1, "id": "c1", "type": "custom", "custom": {"name": "shell", "input": "l"}}
    given = [*FRAGMENTS[:-1], chunk({"tool_calls": [custom]}), FRAGMENTS[-1]]
    out, findings = run(given, mode, taken_ids=frozenset({"c1"}))
    ids = [e["id"] for d in deltas(out) for e in d.get("tool_calls", ()) if e.get("id")]
    assert len(set(ids)) == 2
    assert "c1" not in ids
    assert findings == [("duplicate_id", "id_made")] * 2


@pytest.mark.parametrize("mode", ["verified", "live"])
def test_one_call_at_a_time(mode: str) -> None:
    chunks = [
        chunk(piece("{}", 0, "c1", "add")),
        chunk(piece("{", 1, "c2", "add")),
        chunk(piece("}", 1)),
        chunk({}, "stop"),
    ]
    out, findings = run(chunks, mode, one=True)
    assert calls(out) == [("c1", "add", "{}")]
    assert findings == [(None, "dropped")]


def test_several_choices() -> None:
    both = chunk(piece("{}", id="c1", name="add"))
    both["choices"].append({"index": 1, "delta": {"content": "x"}, "finish_reason": None})
    end = chunk({}, "stop")
    end["choices"].append({"index": 1, "delta": {}, "finish_reason": "stop"})
    out, _ = run([both, end])
    found = [(c["index"], c["delta"], c["finish_reason"]) for o in out for c in o["choices"]]
    assert found[0] == (1, {"content": "x"}, None)
    assert found[1][0] == 0
    assert found[2:] == [(0, {}, "tool_calls"), (1, {}, "stop")]


# Calls in the text


@pytest.mark.parametrize("mode", ["verified", "live"])
def test_calls_in_the_text(mode: str) -> None:
    chunks = [chunk({"role": "assistant", "content": ""})]
    chunks += [chunk({"content": c}) for c in f"Sure. {MARKED}"]
    out, findings = run([*chunks, chunk({}, "stop")], mode, format="hermes", tools=TOOLS)
    assert accumulate(deltas(out)).content == "Sure."
    assert [c[1:] for c in calls(out)] == [("add", '{"a": 1}')]
    assert reasons(out) == ["tool_calls"]
    assert findings == [(None, "text_parsed")]


def test_native_calls_go_before_those_in_the_text() -> None:
    chunks = [
        chunk({"content": f"Sure. {MARKED} <tool_c"}),
        chunk({"content": "!"} | piece("{}", id="c1", name="noargs")),
        chunk({"content": MARKED}, "stop"),
    ]
    out, findings = run(chunks, format="hermes", tools=TOOLS)
    assert calls(out) == [("c1", "noargs", "{}")]
    assert accumulate(deltas(out)).content == f"Sure.  <tool_c!{MARKED}"
    assert findings == [(None, "dropped")]


def test_a_text_without_calls_is_verbatim() -> None:
    chunks = [chunk({"content": "Use <tool_c"}, logprobs={"content": [1]}), chunk({}, "stop")]
    out, _ = run(chunks, format="hermes", tools=TOOLS)
    assert accumulate(deltas(out)).content == "Use <tool_c"
    assert [c for o in out for c in o["choices"] if c.get("logprobs")]


argument_texts = st.sampled_from(
    ['{"a": 1}', "{}", "", '{"s": "é\\n</tool_call>"}', '{"a": ', "words", "[1, 2]"]
)
names = st.sampled_from(["add", "noargs", "other"])
finish = st.sampled_from(["stop", "tool_calls", "length"])


@given(st.lists(st.tuples(names, argument_texts), max_size=4), finish, st.data())
def test_a_stream_gives_what_the_whole_answer_gives(
    wanted: list[tuple[str, str]], reason: str, data: st.DataObject
) -> None:
    whole = [
        {"id": f"c{i}", "type": "function", "function": {"name": name, "arguments": text}}
        for i, (name, text) in enumerate(wanted)
    ]
    body = {"choices": [{"message": {"tool_calls": whole}, "finish_reason": reason}]}
    expected, found, _ = normalize_response(body, policy_for())
    chunks = []
    for i, (name, text) in enumerate(wanted):
        places = data.draw(st.lists(st.integers(0, len(text)), max_size=4))
        parts = cut_at(text, places)
        chunks.append(chunk(piece(parts[0], i, f"c{i}", name)))
        chunks += [chunk(piece(part, i)) for part in parts[1:]]
    out, findings = run([*chunks, chunk({}, reason)])
    message = expected["choices"][0]["message"]
    assert calls(out) == [
        (c["id"], c["function"]["name"], c["function"]["arguments"])
        for c in message.get("tool_calls", ())
    ]
    assert reasons(out) == [expected["choices"][0]["finish_reason"]]
    assert findings == [(finding.reason, finding.action) for finding in found]


texts = st.sampled_from(
    [
        f"Hi. {MARKED}\n{MARKED} Bye",
        MARKED[:-14],
        "no calls at all",
        f"{MARKED}<tool_call>",
        "<tool",
    ]
)


@given(texts, finish, st.sampled_from(["verified", "live"]), st.data())
def test_text_gives_the_same_in_any_pieces(
    text: str, reason: str, mode: str, data: st.DataObject
) -> None:
    places = data.draw(st.lists(st.integers(0, len(text)), max_size=8))
    policy = {"format": "hermes", "tools": TOOLS}
    body = {"choices": [{"message": {"content": text}, "finish_reason": reason}]}
    expected, found, _ = normalize_response(body, policy_for(**policy))
    out, _ = run(
        [*(chunk({"content": c}) for c in cut_at(text, places)), chunk({}, reason)], mode, **policy
    )
    message = expected["choices"][0]["message"]
    assert accumulate(deltas(out)).content == message["content"]
    whole = [
        (c["function"]["name"], c["function"]["arguments"]) for c in message.get("tool_calls", ())
    ]
    if mode == "verified" or all(finding.reason is None for finding in found):
        assert [c[1:] for c in calls(out)] == whole
        assert reasons(out) == [expected["choices"][0]["finish_reason"]]


@pytest.mark.parametrize("mode", ["verified", "live"])
def test_endless_arguments_are_not_held(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_calls, "MAX_ARGUMENTS", 1000)
    chunks = [chunk(piece('{"a": "', id="c1", name="add"))]
    chunks += [chunk(piece("x" * 100)) for _ in range(20)]
    chunks += [chunk(piece("{}", 1, "c2", "noargs")), chunk({}, "stop")]
    out, findings = run(chunks, mode)
    assert calls(out)[-1] == ("c2", "noargs", "{}")
    assert findings == [("bad_structure", "dropped" if mode == "verified" else None)]
    assert sum(len(c[2]) for c in calls(out)) < 1200


@pytest.mark.parametrize("index", [[], {}, "0", 1.5])
def test_a_choice_with_an_impossible_index_passes(index: Any) -> None:
    chunk = {"choices": [{"index": index, "delta": {"content": "x"}}]}
    assert ChatStream().feed(chunk) == [chunk]
    assert ChatStream().finish() == []


# What it costs


def opened(count: int, arguments: str = '{"a": ') -> list[Any]:
    return [chunk(piece(arguments, i, f"c{i}", "add")) for i in range(count)]


@pytest.mark.parametrize("mode", ["verified", "live"])
def test_open_calls_cost_linear_work(mode: str) -> None:
    def work(count: int) -> Any:
        chunks = opened(count) + [chunk(piece("1}", i)) for i in range(count)]
        return lambda: run([*chunks, chunk({}, "tool_calls")], mode)

    assert_linear(work, 200)


def test_calls_in_the_text_cost_linear_work() -> None:
    def work(count: int) -> Any:
        chunks = [chunk({"content": MARKED}) for _ in range(count)]
        policy = {"format": "hermes", "tools": TOOLS, "sequential_ids": True}
        taken = frozenset(f"add_{count + i}" for i in range(count))
        return lambda: run([*chunks, chunk({}, "stop")], taken_ids=taken, **policy)

    assert_linear(work, 100)


def test_a_call_that_grows_after_the_next_one_began_costs_linear_work() -> None:
    def work(count: int) -> Any:
        chunks = [chunk(piece("[", 0, "c1", "add")), chunk(piece("{}", 1, "c2", "noargs"))]
        chunks += [chunk(piece("1, ", 0)) for _ in range(count)]
        ends = [chunk(piece("1]", 0)), chunk({}, "tool_calls")]
        return lambda: run([*chunks, *ends], emit="complete")

    assert_linear(work, 200)


@pytest.mark.parametrize("mode", ["verified", "live"])
def test_what_is_held_is_counted_and_given_back(mode: str) -> None:
    stream = ChatStream(policy_for(), mode)
    stream.feed(chunk({"content": "Hi"}))
    before = stream.held
    for one in opened(10, "x" * 1000):
        stream.feed(one)
    assert 10_000 < stream.held - before < 30_000
    stream.feed(chunk({}, "stop"))
    assert stream.held - before < 10_000  # ids and findings stay
    stream.finish()
    assert stream.held == 0


@pytest.mark.slow
@pytest.mark.parametrize("text", ["x", "é", "日本", "😀", "ab"])
def test_what_is_held_is_about_what_it_takes(text: str) -> None:
    """Pieces that are mostly overhead, in any alphabet, and everything else that a call may hold."""
    extra = {"note": [[] for _ in range(1000)]}
    makers = [
        lambda: [
            chunk(piece("", id="c1", name="add")),
            *(chunk(piece(text)) for _ in range(10_000)),
        ],
        lambda: [
            chunk({"tool_calls": [entry | {"index": i} | json.loads(json.dumps(extra))]})
            for i in range(10)
            for entry in piece("{", id=f"c{i}", name="add")["tool_calls"]
        ],
        lambda: [chunk(piece(None, i, f"c{i}", f"f{i}")) for i in range(300)],
    ]
    for made in makers:
        texts = [json.dumps(one) for one in made()]
        tracemalloc.start()
        stream = ChatStream()
        for one in texts:
            stream.feed(json.loads(one))
        really = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert (really - 20_000) / 2 < stream.held < really * 3  # 20 kB: caches of the interpreter


def test_a_text_that_is_held_back_is_counted() -> None:
    policy = policy_for(format="hermes", tools=TOOLS)
    stream = ChatStream(policy)
    stream.feed(chunk({"content": '<tool_call>{"name": "add", "x": "'}))
    before = stream.held
    for _ in range(1000):
        stream.feed(chunk({"content": "word "}))
    assert stream.held - before >= 5000
    stream = ChatStream(policy)
    before = stream.held
    for _ in range(1000):
        assert stream.feed(chunk({"content": "日本 < "}))
    assert stream.held - before < 20_000


def test_findings_names_and_choices_are_bounded() -> None:
    stream = ChatStream()
    for _ in range(2000):
        stream.feed(chunk({"tool_calls": [5]}))
    stream.feed(chunk(piece("{}", id="c1", name="n" * 10_000)))
    stream.feed(chunk(piece("", 1, "c2", "n")))
    for _ in range(2000):
        stream.feed(chunk(piece("", 1, None, "m")))
    stream.finish()
    assert len(stream.findings) < 110
    assert sum(finding.count for finding in stream.findings) == 2002
    assert max(len(finding.detail) for finding in stream.findings) < 200
    many = {"choices": [{"index": i, "delta": piece("{", name="add")} for i in range(10_000)]}
    stream = ChatStream()
    stream.feed(many)
    assert stream.held < 1_000_000


@pytest.mark.parametrize("index", [[], {}, "0", 1.5, "x" * 1000, True])
def test_a_call_with_an_impossible_index(index: Any) -> None:
    chunks = [chunk(piece("{", index, "c1", "add")), chunk(piece("}", index)), chunk({}, "stop")]
    assert calls(run(chunks)[0]) == [("c1", "add", "{}")]
    custom = {"index": index, "id": "x", "type": "custom", "custom": {"name": "f", "input": "i"}}
    out, _ = run([chunk({"tool_calls": [custom]}), chunk({}, "stop")])
    assert deltas(out)[0]["tool_calls"] == [custom | {"index": 0}]
