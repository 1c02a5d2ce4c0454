"""The Messages API, without any process: translated from Chat Completions, and an upstream's own."""

from __future__ import annotations

import itertools
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire.gateway.messages_answer import translated_answer
from toolwire.gateway.messages_errors import as_messages_error
from toolwire.gateway.messages_native import normalize_message
from toolwire.gateway.messages_native_stream import MessagesStream
from toolwire.gateway.messages_request import chat_request
from toolwire.gateway.messages_stream import TranslatedStream
from toolwire.gateway.sse import dump
from toolwire.openai.checks import check_request

from ..openai.support_steps import assert_linear
from ..support import policy_for
from .scripted_answers import ANSWERS, OSLO, TEXT_CALL, call, more, start
from .scripted_messages import MESSAGES, message_events, text, thought, use, whole_message
from .scripted_upstream import answer_with
from .support_gateway import TOOLS
from .support_messages import (
    EXPECTED_MESSAGE,
    NOT_LIVE,
    USE_TOOLS,
    USER,
    accumulated,
    agent_conversation,
    image,
    parts,
    result_of,
    use_of,
    without_ids,
)

Json = dict[str, Any]

READS = policy_for(format="hermes", tools=TOOLS)
PLAIN = policy_for(tools=TOOLS)
USAGE = {
    "prompt_tokens": 10,
    "completion_tokens": 2,
    "prompt_tokens_details": {"cached_tokens": 4},
}


def chunk(delta: Json, reason: str | None = None, **choice: Any) -> Json:
    made = {"index": 0, "delta": delta, "finish_reason": reason} | choice
    return {"id": "chatcmpl-1", "model": "m", "choices": [made]}


def chunks(deltas: list[Json], reason: str = "stop", **choice: Any) -> list[Json]:
    usage = {"id": "chatcmpl-1", "model": "m", "choices": [], "usage": USAGE}
    first = chunk({"role": "assistant", "content": ""})
    return [first, *map(chunk, deltas), chunk({}, reason, **choice), usage]


def run(stream: Any, given: list[Json], died: bool = False) -> list[Json]:
    out = [sent for event in given for sent in stream.feed(event)]
    return out + stream.finish(died=died)


def whole(message: Json, reason: str = "stop", **choice: Any) -> Json:
    answer = answer_with(message, reason) | {"usage": USAGE}
    answer["choices"][0] |= choice
    return answer


def as_read(message: Json) -> Json:
    """A whole answer as a client reads it, without ids."""
    return without_ids(json.loads(dump(message)))


# Streams and whole answers


@st.composite
def split(draw: st.DrawFn, text: str) -> list[str]:
    """A text in pieces, cut anywhere."""
    places = draw(st.lists(st.integers(1, max(1, len(text) - 1)), max_size=6, unique=True))
    edges = [0, *sorted(p for p in places if p < len(text)), len(text)]
    return [text[a:b] for a, b in itertools.pairwise(edges) if a < b]


SAID = st.sampled_from(
    ["", " ", "\n\n", "Hm. ", "  Well,\n", TEXT_CALL, f"{TEXT_CALL} and more", "日本 <tool_", "ok"]
)
ARGUMENTS = st.sampled_from(
    [
        *('{"a": 1}', "{}", '{"é": "日本", "b": [1, {}]}', '{"a": 1, "a": 2}'),
        *("", " ", "null", "[1, 2]", '"x"', "5", '{"a": oops', "NaN"),
        *('{"a": 1e400}', "[" * 600 + "]" * 600),
    ]
)
OBJECTS = st.sampled_from(['{"a": 1}', "{}", '{"é": "日本"}', ' {"b": [1, {}]}\n'])
#: Text without calls, for answers that have others: what becomes of those is not asked here.
PROSE = SAID.map(lambda said: said.replace("<tool_call>", "").replace("</tool_call>", ""))
NAMES = st.sampled_from(["add", "noargs", "unknown"])


def native_calls(arguments: st.SearchStrategy[str]) -> st.SearchStrategy[list[tuple[str, str]]]:
    return st.lists(st.tuples(NAMES, arguments), max_size=3)


def call_list(calls: list[tuple[str, str]]) -> list[Json]:
    return [call(f"c{i}", name, arguments) for i, (name, arguments) in enumerate(calls)]


@given(st.data(), SAID, SAID, native_calls(ARGUMENTS))
def test_a_translated_stream_is_the_translated_answer(
    data: st.DataObject, thoughts: str, said: str, calls: list[tuple[str, str]]
) -> None:
    said = data.draw(PROSE) if calls else said
    deltas: list[Json] = [{"reasoning_content": p} for p in data.draw(split(thoughts))]
    deltas += [{"content": piece} for piece in data.draw(split(said))]
    for i, (name, arguments) in enumerate(calls):
        deltas.append(start(i, f"c{i}", name, arguments=""))
        deltas += [more(i, piece) for piece in data.draw(split(arguments))]
    reason = data.draw(st.sampled_from(["stop", "tool_calls", "length", "content_filter"]))
    message: Json = {"reasoning_content": thoughts, "content": said}
    if calls:
        message["tool_calls"] = call_list(calls)
    expected, findings, count = translated_answer(whole(message, reason), READS)
    stream = TranslatedStream(READS)
    made = accumulated(run(stream, chunks(deltas, reason)))
    assert without_ids(made) == as_read(expected)
    assert stream.calls == count
    assert sorted(map(str, stream.findings)) == sorted(map(str, findings))
    assert stream.held >= 0


@given(st.data(), SAID, SAID, native_calls(OBJECTS))
def test_a_live_stream_is_the_translated_answer(
    data: st.DataObject, thoughts: str, said: str, calls: list[tuple[str, str]]
) -> None:
    """The pieces of calls come in any order, as servers send them that decode several at a time."""
    deltas: list[Json] = [{"reasoning": p} for p in data.draw(split(thoughts))]
    deltas += [{"content": piece} for piece in data.draw(split(said))]
    deltas += [start(i, f"c{i}", name, arguments="") for i, (name, _) in enumerate(calls)]
    queues = [[more(i, p) for p in data.draw(split(a))] for i, (_, a) in enumerate(calls)]
    while any(queues):
        queue = data.draw(st.sampled_from([queue for queue in queues if queue]))
        deltas.append(queue.pop(0))
    message: Json = {"reasoning_content": thoughts, "content": said}
    if calls:
        message["tool_calls"] = call_list(calls)
    expected, _, _ = translated_answer(whole(message), PLAIN)
    made = accumulated(run(TranslatedStream(PLAIN, "live"), chunks(deltas)))
    assert without_ids(made) == without_ids(expected)


PIECES = st.one_of(
    st.builds(lambda text: {"content": text}, SAID),
    st.builds(lambda text: {"reasoning_content": text}, SAID),
    st.builds(
        lambda i, name: start(i, f"c{i}", name, arguments='{"a": 1}'), st.integers(0, 5), NAMES
    ),
    st.builds(more, st.integers(0, 5), st.sampled_from(["{", "}", '{"a"', ": 1}", " "])),
)


@pytest.mark.parametrize("mode", ["verified", "live"])
@given(deltas=st.lists(PIECES, max_size=12))
def test_whatever_comes_in_whatever_order(deltas: list[Json], mode: str) -> None:
    """Text, thoughts and calls in turn: one block at a time, and no text is lost."""
    events = run(TranslatedStream(PLAIN, mode), chunks(deltas))
    try:
        made = accumulated(events)
    except ValueError:  # in live, what is no JSON was already sent: the SDK can't read it
        assert mode == "live"
        return
    thoughts, said, _ = parts(made["content"])
    for got, key in ((said, "content"), (thoughts, "reasoning_content")):
        assert got.rstrip() == "".join(delta.get(key, "") for delta in deltas).rstrip()


@given(st.data(), SAID, SAID, native_calls(ARGUMENTS))
def test_a_native_stream_is_the_whole_message(
    data: st.DataObject, thoughts: str, said: str, calls: list[tuple[str, str]]
) -> None:
    said = data.draw(PROSE) if calls else said
    content: list[Json] = [thought(thoughts)] if thoughts else []
    content += [text(said)] if said.strip() else []
    content += [use(f"c{i}", name, arguments) for i, (name, arguments) in enumerate(calls)]
    stop = data.draw(st.sampled_from(["end_turn", "tool_use", "max_tokens", "stop_sequence"]))
    expected, findings, count = normalize_message(whole_message(content, stop), READS)
    assert normalize_message(expected, READS)[0] == expected or said
    stream = MessagesStream(READS)
    made = accumulated(run(stream, message_events(content, stop)))
    assert without_ids(made) == as_read(expected)
    assert stream.calls == count
    assert sorted(map(str, stream.findings)) == sorted(map(str, findings))
    assert stream.held == 0


@pytest.mark.parametrize("name", EXPECTED_MESSAGE)
@pytest.mark.parametrize("mode", ["verified", "live"])
def test_the_scripted_answers(name: str, mode: str) -> None:
    """What the real processes are asked for, event by event."""
    if mode == "live" and name in NOT_LIVE:
        return
    *wanted, stop = EXPECTED_MESSAGE[name]
    answer = ANSWERS[name]
    translated = run(TranslatedStream(READS, mode), chunks(answer["deltas"], answer["reason"]))
    native = run(MessagesStream(READS, mode), message_events(*MESSAGES[name]))
    for events in (translated, native):
        made = accumulated(events)
        assert parts(made["content"]) == tuple(wanted)
        assert made["stop_reason"] == stop


# What is asked of the Chat side


def test_the_events_are_those_of_the_api() -> None:
    deltas = [
        {"reasoning_content": "Hm."},
        {"content": "So."},
        start(0, "c1", "add", arguments="{}"),
    ]
    events = run(TranslatedStream(PLAIN), chunks(deltas, "tool_calls"))
    assert [event["type"] for event in events] == [
        "message_start", "ping",
        "content_block_start", "content_block_delta", "content_block_delta", "content_block_stop",
        "content_block_start", "content_block_delta", "content_block_stop",
        "content_block_start", "content_block_delta", "content_block_stop",
        "message_delta", "message_stop",
    ]  # fmt: skip
    kinds = [event["delta"]["type"] for event in events if "block_delta" in event["type"]]
    assert kinds == ["thinking_delta", "signature_delta", "text_delta", "input_json_delta"]
    assert events[0]["message"]["id"] == "msg_chatcmpl-1"
    assert events[-2]["usage"] == {
        "input_tokens": 6,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": 4,
        "output_tokens": 2,
    }


@pytest.mark.parametrize(
    ("reason", "choice", "wanted"),
    [
        ("stop", {}, ("end_turn", None)),
        ("stop", {"stop_reason": "###"}, ("stop_sequence", "###")),
        ("stop", {"matched_stop": "###"}, ("stop_sequence", "###")),
        ("stop", {"stop_reason": 128009}, ("end_turn", None)),
        ("length", {}, ("max_tokens", None)),
        ("content_filter", {}, ("refusal", None)),
        ("abort", {}, ("max_tokens", None)),
        ("something", {}, ("end_turn", None)),
        ([], {}, ("end_turn", None)),
    ],
)
def test_how_an_answer_ended(reason: Any, choice: Json, wanted: tuple[str, str | None]) -> None:
    made, _, _ = translated_answer(whole({"content": "x"}, reason, **choice), READS)
    streamed = accumulated(
        run(TranslatedStream(READS), chunks([{"content": "x"}], reason, **choice))
    )
    for one in (made, streamed):
        assert (one["stop_reason"], one["stop_sequence"]) == wanted


def test_a_refusal_and_content_in_parts() -> None:
    made, _, _ = translated_answer(whole({"content": None, "refusal": "No."}), READS)
    assert made["content"] == [text("No.")]
    listed = [{"type": "text", "text": "A"}, {"type": "text", "text": "b"}, 5]
    made, _, _ = translated_answer(whole({"content": listed}), PLAIN)
    assert made["content"] == [text("Ab")]


def test_streams_without_an_end() -> None:
    begun = chunks([{"content": "x"}])[:2]
    assert run(TranslatedStream(READS), begun)[-1]["type"] == "error"
    stream = TranslatedStream(READS)
    assert run(stream, begun, died=True)[-1]["type"] == "content_block_delta"
    assert stream.feed(begun[-1]) == stream.finish() == []
    failed = [*begun, {"error": {"message": "out of memory"}}, *begun]
    events = run(TranslatedStream(READS), failed)
    assert events[-1]["error"] == {"type": "api_error", "message": "out of memory"}
    native = message_events([text("x"), use("c1", "add", '{"a": 1')], "tool_use")[:-4]
    stream = MessagesStream(READS)
    events = run(stream, native)
    assert events[-1]["type"] == "error"
    assert "tool_use" not in json.dumps(events)
    assert [finding.reason for finding in stream.findings] == ["truncated"]


def test_an_answer_that_is_an_error() -> None:
    made, _, count = translated_answer({"error": {"message": "no"}}, READS)
    assert (made["type"], made["error"]["message"], count) == ("error", "no", 0)


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ({"error": {"message": "a"}}, "a"),
        ({"error": "b"}, "b"),
        ({"object": "error", "message": "c"}, "c"),
        ({"detail": "d"}, "d"),
        ({"detail": [{"loc": ["body"]}]}, '[{"loc":["body"]}]'),
        ({"error": None}, "The upstream answered with status 418"),
        (None, "The upstream answered with status 418"),
    ],
)
def test_errors_of_all_servers(body: Any, said: str) -> None:
    error = as_messages_error(body, 418)
    assert error == {"type": "error", "error": {"type": "invalid_request_error", "message": said}}
    assert as_messages_error(error) is error


# Native streams


def test_native_events_that_need_no_change_are_the_same_objects() -> None:
    given = message_events([thought("Hm."), text("So"), text("")], "end_turn")
    for policy in (PLAIN, READS):
        out = run(MessagesStream(policy), given)
        assert all(a is b for a, b in zip(out, given, strict=True))
    given = message_events([use("c1", "add", {"a": 1})], "tool_use")
    out = run(MessagesStream(PLAIN, "live"), given)
    assert all(a is b for a, b in zip(out, given, strict=True))


def test_native_calls_go_before_those_in_the_text() -> None:
    content = [text(TEXT_CALL), use("c1", "noargs", {})]
    stream = MessagesStream(READS)
    made = accumulated(run(stream, message_events(content, "tool_use")))
    assert parts(made["content"]) == ("", "Let me look.", [("noargs", {})])
    assert [finding.action for finding in stream.findings] == ["dropped"]
    same, _, _ = normalize_message(whole_message(content, "tool_use"), READS)
    assert same["content"] == content


def test_native_blocks_that_are_left_out_leave_no_hole() -> None:
    content = [use("c1", "", {}), text("a"), {"type": "server_tool_use", "id": "s", "input": {}}]
    events = message_events(content[:2], "tool_use")
    other = [
        {"type": "content_block_start", "index": 2, "content_block": content[2]},
        {"type": "content_block_stop", "index": 2},
    ]
    events[-2:-2] = other
    out = run(MessagesStream(PLAIN), events)
    starts = [e for e in out if e["type"] == "content_block_start"]
    assert [(e["index"], e["content_block"]["type"]) for e in starts] == [
        (0, "text"),
        (1, "server_tool_use"),
    ]


def test_a_native_input_at_the_start_of_its_block() -> None:
    events = message_events([use("c1", "add", "")], "tool_use")
    events[2] = events[2] | {"content_block": use("c1", "add", {"a": 1})}
    for mode in ("verified", "live"):
        made = accumulated(run(MessagesStream(PLAIN, mode), events))
        assert parts(made["content"])[2] == [("add", {"a": 1})]


@pytest.mark.parametrize("mode", ["verified", "live"])
def test_native_blocks_that_share_a_number(mode: str) -> None:
    given = message_events(
        [text("a"), use("c1", "noargs", {}), use("c2", "noargs", {})], "tool_use"
    )
    events = [e | {"index": 0} if "index" in e else e for e in given]
    made = accumulated(run(MessagesStream(READS, mode), events))
    assert parts(made["content"]) == ("", "a", [("noargs", {}), ("noargs", {})])
    open_ended = [e for e in events if e["type"] != "content_block_stop"]
    made = accumulated(run(MessagesStream(READS), open_ended))
    assert parts(made["content"]) == ("", "a", [("noargs", {}), ("noargs", {})])


def test_one_native_call_at_a_time() -> None:
    content = [use("c1", "noargs", {}), use("c2", "noargs", {})]
    policy = policy_for(tools=TOOLS, one=True)
    for mode in ("verified", "live"):
        stream = MessagesStream(policy, mode)
        made = accumulated(run(stream, message_events(content, "tool_use")))
        assert [block["id"] for block in made["content"]] == ["c1"]
        assert [finding.action for finding in stream.findings] == ["dropped"]


# Requests


def test_what_a_translated_request_is_checks_out() -> None:
    body = {"model": "m", "max_tokens": 5, "messages": agent_conversation(), "tools": USE_TOOLS}
    translated = chat_request(body)
    assert translated.problems == []
    assert check_request(translated.body) == []
    assert translated.sources == (0, 1, 2, 2, 2, 2)


def test_documents_and_search_results() -> None:
    def said(*blocks: Any) -> Any:
        made = chat_request({"messages": [{"role": "user", "content": list(blocks)}]})
        assert made.problems == []
        return made.body["messages"][0]["content"]

    plain = {"type": "text", "media_type": "text/plain", "data": "Once."}
    assert said({"type": "document", "source": plain, "title": "T"}) == "T\n\nOnce."
    inner = {"type": "content", "content": [text("a"), image()]}
    first, second = said({"type": "document", "source": inner})
    assert (first["text"], second["type"]) == ("a", "image_url")
    pdf = {"type": "base64", "media_type": "application/pdf", "data": "eA=="}
    (part,) = said({"type": "document", "source": pdf})
    assert part["file"] == {
        "filename": "document.pdf",
        "file_data": "data:application/pdf;base64,eA==",
    }
    found = {"type": "search_result", "title": "T", "source": "http://x", "content": [text("a")]}
    assert said(found) == "T\n\nhttp://x\n\na"
    (picture,) = said({"type": "image", "source": {"type": "url", "url": "http://x/i.png"}})
    assert picture["image_url"] == {"url": "http://x/i.png"}


def test_a_schema_for_the_answer() -> None:
    schema = {"type": "object", "properties": {}}
    config = {"format": {"type": "json_schema", "schema": schema}, "effort": "low"}
    made = chat_request({"messages": USER, "output_config": config}).body
    assert made["response_format"]["json_schema"]["schema"] == schema


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"messages": []}, "messages"),
        ({"messages": [{"role": "tool", "content": ""}]}, "messages[0]"),
        ({"messages": [{"role": "user", "content": 5}]}, "messages[0].content"),
        ({"messages": [{"role": "user", "content": [{"type": "x"}]}]}, "messages[0].content[0]"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image", "source": {"type": "file"}}]}]},
            "messages[0].content[0].source",
        ),
        (
            {"messages": [{"role": "assistant", "content": [use_of("", "a", {})]}]},
            "messages[0].content[0]",
        ),
        (
            {"messages": [{"role": "user", "content": [result_of("", "")]}]},
            "messages[0].content[0].tool_use_id",
        ),
        ({"system": 5}, "system"),
        ({"tools": {}}, "tools"),
        ({"tools": [5]}, "tools[0]"),
        ({"tools": [{"name": "a"}]}, "tools[0].input_schema"),
        ({"tools": [{"input_schema": {}}]}, "tools[0].name"),
        ({"tools": [{"type": "bash_20250124", "name": "bash"}]}, "tools[0].type"),
        ({"tool_choice": {"type": "any"}}, "tool_choice"),
        ({"tools": USE_TOOLS, "tool_choice": {"type": "tool", "name": "x"}}, "tool_choice.name"),
        ({"tools": USE_TOOLS, "tool_choice": "auto"}, "tool_choice.type"),
    ],
)  # fmt: skip
def test_what_cant_be_translated_is_told(change: Json, place: str) -> None:
    problems = chat_request({"messages": USER} | change).problems
    assert [problem.param for problem in problems] == [place]


# Anything at all

WORDS = [
    "type", "text", "content", "tool_use", "tool_result", "thinking", "image", "source", "document",
    "messages", "role", "user", "assistant", "system", "tools", "tool_choice", "input", "name", "id",
    "tool_use_id", "choices", "delta", "message", "finish_reason", "tool_calls", "function", "usage",
    "arguments", "index", "content_block_start", "content_block_delta", "content_block_stop",
    "content_block", "message_delta", "stop_reason", "input_json_delta", "partial_json", "text_delta",
    "message_start", "base64", "is_error", "input_schema", "reasoning_content", "error", "any", "data",
    "search_result", "title", "prompt_tokens", "prompt_tokens_details", "output_config", "format",
]  # fmt: skip
WORD = st.sampled_from(WORDS)
JUNK = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(-1, 3), WORD, st.just(TEXT_CALL)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(WORD, inner, min_size=1, max_size=5)
    ),
    max_leaves=20,
)
OBJECT = st.dictionaries(WORD, JUNK, min_size=1, max_size=6)
EVENT = st.one_of(
    OBJECT,
    st.builds(lambda delta: {"choices": [{"index": 0, "delta": delta}]}, OBJECT),
    st.builds(
        lambda kind, i, rest: rest | {"type": kind, "index": i},
        st.sampled_from(["content_block_start", "content_block_delta", "content_block_stop"]),
        st.one_of(st.integers(0, 2), JUNK),
        st.builds(lambda block, delta: {"content_block": block, "delta": delta}, JUNK, JUNK),
    ),
)


@given(OBJECT, st.lists(EVENT, max_size=8), st.sampled_from(["verified", "live"]))
def test_nothing_that_comes_raises(body: Json, given: list[Json], mode: str) -> None:
    json.dumps(chat_request(body).body)
    json.dumps(chat_request({"messages": [body, {"role": "user"} | body]}).body)
    for made in (translated_answer(body, READS), normalize_message(body, READS)):
        json.dumps(made[0])
    for stream in (TranslatedStream(READS, mode), MessagesStream(READS, mode)):
        json.dumps(run(stream, given))


# How much it takes


@pytest.mark.parametrize("mode", ["verified", "live"])
def test_calls_in_turn_cost_linear_work(mode: str) -> None:
    def work(count: int) -> Any:
        begun = [start(i, f"c{i}", "add", arguments='{"a"') for i in range(count)]
        ended = [more(i, ": 1}") for i in range(count)]
        return lambda: run(TranslatedStream(PLAIN, mode), chunks([*begun, *ended]))

    assert_linear(work, 100)


def test_white_space_costs_linear_work() -> None:
    def work(count: int) -> Any:
        return lambda: run(TranslatedStream(PLAIN), chunks([{"content": " "}] * count))

    assert_linear(work, 500)


def test_many_native_blocks_cost_linear_work() -> None:
    def work(count: int) -> Any:
        blocks = [use(f"c{i}", "add", '{"a"') for i in range(count)]
        given = message_events(blocks, "tool_use")
        turned = [
            e for kind in ("start", "block_delta", "block_stop") for e in given if kind in e["type"]
        ]
        return lambda: run(MessagesStream(READS), [*turned, *given[-2:]])

    assert_linear(work, 100)


def test_what_waits_is_counted() -> None:
    stream = TranslatedStream(PLAIN, "live")
    given = chunks([start(0, "a", "add", arguments="{"), start(1, "b", "add", arguments=OSLO)])
    for one in [*given[:-2], *[chunk(more(1, "x" * 1000))] * 10]:
        stream.feed(one)
    assert stream.held > 10_000
    native = MessagesStream(READS)
    for event in message_events([use("c1", "add", "[" + "1," * 5000)], "tool_use")[:-3]:
        native.feed(event)
    assert native.held > 10_000
