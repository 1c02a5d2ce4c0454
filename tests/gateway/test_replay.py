"""`toolwire replay`: what would be sent now, and whether it depends on how the answer was cut."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from toolwire.commands.gateway import Progress
from toolwire.gateway.sse import stream_objects
from toolwire.replay.client_result import client_result
from toolwire.replay.exchanges import replay_exchange, splittable_parts
from toolwire.replay.splits import Splittable, find_differences, split_at
from toolwire.replay.splittable import StreamEvents

from ..commands.running import run as run_command
from .scripted_answers import ONE, TEXT_CALL, THOUGHT
from .scripted_upstream import stream_bytes, whole_answer
from .support_gateway import EXPECTED, EXPECTED_OUTPUT, TOOLS
from .support_messages import EXPECTED_MESSAGE

CHAT, RESPONSES = "/v1/chat/completions", "/v1/responses"
MESSAGES, TRANSLATED = "/v1/messages", "/v1/messages, translated"
OPENAI = [(CHAT, name) for name in EXPECTED] + [(RESPONSES, name) for name in EXPECTED_OUTPUT]
ANTHROPIC = [(route, name) for route in (MESSAGES, TRANSLATED) for name in EXPECTED_MESSAGE]
ANSWERS = OPENAI + ANTHROPIC


def exchange(name: str, route: str = CHAT, stage: str = "stream") -> dict[str, Any]:
    target = CHAT if route == TRANSLATED else route
    raw = [json.dumps(whole_answer(name, target))]
    if stage == "stream":
        raw = [event.decode() for event in stream_bytes(name, target)]
    return {"route": route, "stage": stage, "format": "hermes", "tools": TOOLS, "raw": raw}


def save(folder: Path, content: dict[str, Any]) -> str:
    path = folder / "capture.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


def run(*arguments: str, before: str = "") -> subprocess.CompletedProcess[str]:
    if not before:
        return run_command("replay", *arguments)
    code = f"import sys; {before}\nfrom toolwire.cli import main; sys.exit(main(sys.argv[1:]))"
    command = [sys.executable, "-c", code, "replay", *arguments]
    return subprocess.run(command, capture_output=True, encoding="utf-8", check=False)


# -- the command ----------------------------------------------------------------------------------


@pytest.mark.parametrize("stage", ["stream", "whole"])
def test_it_prints_what_would_be_sent_and_then_the_verdict(stage: str, tmp_path: Path) -> None:
    captured = exchange("plain", stage=stage)
    done = run(save(tmp_path, captured))
    assert done.returncode == 0
    sent = replay_exchange(captured)
    assert done.stdout == "".join(chunk.rstrip("\n") + "\n\n" for chunk in sent)
    count = sum(part.count() for part in splittable_parts(captured))
    assert done.stderr.splitlines()[-1] == f"none of {count} splits differ"


def test_as_json(tmp_path: Path) -> None:
    captured = exchange("text", stage="whole")
    done = run(save(tmp_path, captured), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    shown = json.loads(done.stdout)
    assert (shown["splits"], shown["differing"]) == (len(TEXT_CALL) - 1 + 9, [])
    assert '"name":"add"' in shown["sent"][0]


def test_nothing_to_split(tmp_path: Path) -> None:
    done = run(save(tmp_path, exchange("simple", stage="whole")))
    assert (done.returncode, done.stderr) == (0, "there is no text that could be split\n")


#: A parser as they should not be: what it makes of a piece depends on where the piece begins.
BROKEN = """
import toolwire.formats.parser
good = toolwire.formats.parser.Parser
def feed(self, text, feed=good.feed):
    return [] if text.startswith("tool_call>") else feed(self, text)
good.feed = feed
"""


def test_a_parser_that_depends_on_the_cuts_is_found(tmp_path: Path) -> None:
    file = save(tmp_path, exchange("text", stage="whole"))
    done = run(file, before=BROKEN)
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    first, *_, verdict = done.stderr.splitlines()
    assert first.startswith("cut at 14, between 'Let me look. <' and 'tool_call>{\"name\"")
    assert "the client gets" in first
    assert verdict.endswith(f" of {len(TEXT_CALL) - 1 + 9} splits differ")
    as_json = json.loads(run(file, "--json", before=BROKEN).stdout)
    assert {"cuts", "expected", "got", "unit"} == as_json["differing"][0].keys()
    assert f"{len(as_json['differing'])} of" in verdict


# -- which splits ---------------------------------------------------------------------------------


def splittable(content: str | bytes, run: Any = None) -> Splittable:
    return Splittable("character", content, "", run or (lambda cuts: ""))


@pytest.mark.parametrize("length", [0, 1, 2, 3, 10, 1000, 2000, 100_000])
def test_as_many_as_it_says(length: int) -> None:
    tried = list(splittable("x" * length).splits())
    assert len(tried) == splittable("x" * length).count()
    for cuts in tried:
        assert list(cuts) == sorted(set(cuts))
        assert all(0 < cut < length for cut in cuts)
    assert [list(cuts) for cuts in tried] == [
        list(cuts) for cuts in splittable("x" * length).splits()
    ], "the same ones every time"


def test_every_cut_of_a_short_text_and_some_of_a_long_one() -> None:
    short = [list(cuts) for cuts in splittable("x" * 100).splits()]
    assert all([place] in short for place in range(1, 100))
    assert list(range(1, 100)) in short
    long = [list(cuts) for cuts in splittable("x" * 100_000).splits()]
    assert sum(len(cuts) == 1 for cuts in long) == 16
    assert list(range(1, 100_000)) in long
    assert sum(map(len, long)) < 3 * 100_000  # the work is linear


def test_a_marker_that_must_not_be_cut() -> None:
    text = "ab<x>cd"

    def run(cuts: Sequence[int]) -> str:
        return "".join(piece.replace("<x>", "") for piece in split_at(text, cuts))

    told: list[tuple[int, int]] = []
    tried = Splittable("character", text, "abcd", run)
    found = list(find_differences([tried], lambda done, total: told.append((done, total))))
    assert [list(d.places) for d in found[:2]] == [[3], [4]]
    where = "cut at 3, between 'ab<' and 'x>cd', the client gets \"ab<x>cd\", and not \"abcd\""
    assert found[0].sentence() == where
    assert any("cut after every character" in d.sentence() for d in found)
    assert told[-1] == (tried.count(), tried.count())


def test_progress_is_said_every_two_seconds(capsys: pytest.CaptureFixture[str]) -> None:
    times = iter([0.0, 1.9, 2.0, 2.0, 3.0, 4.1, 4.1, 9.0])
    progress = Progress(lambda: next(times))
    for done in range(1, 6):
        progress(done, 5)
    assert capsys.readouterr().err == "2 of 5 splits checked\n4 of 5 splits checked\n"


# -- the same exchange, cut elsewhere -------------------------------------------------------------


@pytest.mark.parametrize("mode", ["verified", "live"])
@pytest.mark.parametrize(("route", "name"), ANSWERS)
def test_no_split_of_a_text_matters(route: str, name: str, mode: str) -> None:
    for stage in ("stream", "whole"):
        tried = splittable_parts(exchange(name, route, stage), mode=mode)
        texts = [one for one in tried if one.unit == "character"]
        assert [d.sentence() for d in find_differences(texts)] == []


@pytest.mark.parametrize("route", [CHAT, RESPONSES, MESSAGES, TRANSLATED])
def test_no_split_of_the_bytes_matters(route: str) -> None:
    (_, octets) = splittable_parts(exchange("text", route))
    assert octets.unit == "byte"
    assert [d.sentence() for d in find_differences([octets])] == []


@pytest.mark.parametrize(("route", "name"), ANTHROPIC)
def test_what_a_client_of_messages_gets(route: str, name: str) -> None:
    sent = "".join(replay_exchange(exchange(name, route))).encode()
    got = client_result(sent, "messages" if route == MESSAGES else "translated")
    thoughts, text, calls, reason = EXPECTED_MESSAGE[name]
    blocks = got["content"]
    found = [b for b in blocks if b["type"] == "tool_use"]
    assert [(b["name"], json.loads(b["partial_json"])) for b in found] == calls
    assert "".join(b.get("text", "") for b in blocks) == text
    assert "".join(b.get("thinking", "") for b in blocks) == thoughts
    assert got["end"] == {"stop_reason": reason}


@pytest.mark.parametrize(("route", "name"), OPENAI)
def test_what_a_client_gets(route: str, name: str) -> None:
    """The verdict is over the right thing: what the SDKs' tests expect."""
    sent = "".join(replay_exchange(exchange(name, route))).encode()
    got = client_result(sent, "chat" if route == CHAT else "responses")
    if route == CHAT:
        text, calls, reason = EXPECTED[name]
        named = [(call["name"], call["arguments"]) for call in got["tool_calls"]]
        assert (got["content"], named, got["finish_reason"]) == (text, calls, reason)
    else:
        text, calls = EXPECTED_OUTPUT[name]
        called = [item for item in got["items"] if item["type"] == "function_call"]
        assert (got["content"] or "", [(c["name"], c["arguments"]) for c in called]) == (
            text,
            calls,
        )
        assert list(got["arguments"].values()) == [arguments for _, arguments in calls]
        assert got["end"]["output"] == got["items"]


def test_the_text_is_really_cut() -> None:
    raw = b"".join(stream_bytes("text", CHAT))
    events = StreamEvents(raw, "chat")
    assert events.text == TEXT_CALL
    for cuts in ([], [5], [5, 20, 21]):
        parts = [
            c["choices"][0]["delta"].get("content") for c in _chunks(events.with_text_split(cuts))
        ]
        assert [part for part in parts if part] == split_at(TEXT_CALL, cuts)


def _chunks(events: list[bytes]) -> list[Any]:
    return [chunk for chunk in stream_objects(b"".join(events)) if chunk["choices"]]


def event(delta: dict[str, Any], reason: str | None = None) -> str:
    choice = {"index": 0, "delta": delta, "finish_reason": reason}
    return f"data: {json.dumps({'choices': [choice]})}\n\n"


def test_the_shapes_of_other_servers() -> None:
    """The role in every event, fields that are null, and the end together with the last text."""
    nulls = {"reasoning_content": None, "tool_calls": None}
    raw = "".join(event({"role": "assistant", "content": c} | nulls) for c in "<tool_call>")
    raw += event({"role": "assistant", "content": '{"name": "add", "arguments": {}}'} | nulls)
    raw += event({"role": "assistant", "content": "</tool_call>"} | nulls, "stop")
    events = StreamEvents(raw.encode(), "chat")
    assert events.text == '<tool_call>{"name": "add", "arguments": {}}</tool_call>'
    (first, second, third) = _chunks(events.with_text_split([20]))
    assert first["choices"][0]["delta"]["content"] == events.text[:20]
    assert second["choices"][0]["finish_reason"] is None
    assert third["choices"][0] == {"index": 0, "delta": {}, "finish_reason": "stop"}
    captured = exchange("text") | {"raw": [raw]}
    tried = splittable_parts(captured)
    expected = {"name": "add", "arguments": "{}"}
    assert tried[0].expected == {
        "content": None,
        "tool_calls": [expected],
        "finish_reason": "tool_calls",
    }
    assert list(find_differences(tried[:1])) == []


def test_the_arguments_of_a_call_are_cut_too() -> None:
    start = {"index": 0, "id": "c1", "function": {"name": "add", "arguments": '{"a"'}}
    more = {"index": 0, "function": {"arguments": ": 1}"}}
    raw = event({"tool_calls": [start]}) + event({"tool_calls": [more]}) + event({}, "tool_calls")
    events = StreamEvents(raw.encode(), "chat")
    assert events.text == '{"a": 1}'
    calls = [
        c["choices"][0]["delta"].get("tool_calls") for c in _chunks(events.with_text_split([2, 6]))
    ]
    assert calls == [
        [start | {"function": {"name": "add", "arguments": '{"'}}],
        [{"index": 0, "function": {"arguments": 'a": '}}],
        [{"index": 0, "function": {"arguments": "1}"}}],
        None,
    ]


@pytest.mark.parametrize("odd", ['{"choices": 5}', '{"choices": [5]}', "[]", "x", '{"choices":[]}'])
def test_odd_streams_are_no_trouble(odd: str) -> None:
    captured = exchange("plain") | {"raw": [f"data: {odd}\n\n", event({"content": 5}), ": hi\n\n"]}
    assert list(find_differences(splittable_parts(captured))) == []


# -- thoughts -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["thoughtful", "pondering"])
def test_thoughts_are_a_part_of_what_a_client_gets(name: str) -> None:
    captured = exchange(name)
    sent = "".join(replay_exchange(captured)).encode()
    got = client_result(sent, "chat")
    assert got["reasoning"] == THOUGHT
    assert got["content"] is None
    assert len(got["tool_calls"]) == 1
    assert "reasoning" not in client_result("".join(exchange("plain")["raw"]).encode(), "chat")


@pytest.mark.parametrize("name", ["thoughtful", "pondering"])
def test_thoughts_are_cut_like_any_text(name: str) -> None:
    events = StreamEvents(b"".join(stream_bytes(name, CHAT)), "chat")
    assert events.text.startswith(THOUGHT)
    key = "reasoning_content" if name == "thoughtful" else "reasoning"
    parts = [c["choices"][0]["delta"].get(key) for c in _chunks(events.with_text_split([5, 9]))]
    assert [part for part in parts if part] == split_at(THOUGHT, [5, 9])
    assert list(find_differences(splittable_parts(exchange(name))[:1])) == []


def test_a_thought_that_gets_lost_is_a_difference() -> None:
    (text, _) = splittable_parts(exchange("thoughtful"))
    lossy = Splittable(
        text.unit,
        text.content,
        text.expected,
        lambda places: {k: v for k, v in text.run(places).items() if k != "reasoning"},
    )
    first = next(find_differences([lossy]))
    assert json.loads(json.dumps(first.as_json()))["expected"]["reasoning"] == THOUGHT


@pytest.mark.parametrize("kind", ["reasoning_text", "reasoning_summary_text"])
def test_thoughts_in_the_responses_api(kind: str) -> None:
    def frames(pieces: Sequence[str]) -> bytes:
        events = [
            {"type": f"response.{kind}.delta", "output_index": 0, "item_id": "r1", "delta": piece}
            for piece in pieces
        ]
        return b"".join(f"event: x\ndata: {json.dumps(e)}\n\n".encode() for e in events)

    raw = frames(list(THOUGHT))
    assert client_result(raw, "responses")["reasoning"] == THOUGHT
    events = StreamEvents(raw, "responses")
    assert events.text == THOUGHT
    split = b"".join(events.with_text_split([3, 7]))
    assert [e["delta"] for e in stream_objects(split)] == split_at(THOUGHT, [3, 7])


def test_the_thoughts_of_a_channel_format_are_compared() -> None:
    text = (
        f"<|channel|>analysis<|message|>{THOUGHT}<|end|><|start|>assistant<|channel|>commentary"
        f" to=functions.add <|constrain|>json<|message|>{ONE}<|call|>"
    )
    body = {"choices": [{"index": 0, "message": {"content": text}, "finish_reason": "stop"}]}
    captured = exchange("plain", stage="whole") | {"format": "harmony", "raw": [json.dumps(body)]}
    (part,) = splittable_parts(captured)
    assert part.expected["reasoning"] == THOUGHT
    assert list(find_differences([part])) == []


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
@pytest.mark.parametrize("mode", ["verified", "live"])
@pytest.mark.parametrize(
    "said",
    [
        {"content": None, "tool_calls": [{"function": {"name": "add", "arguments": {"a": 1}}}]},
        {"content": TEXT_CALL},
        {"content": "Hm."},
    ],
    ids=["a call that is mended", "a call in the text", "text"],
)
def test_thoughts_keep_their_name_whatever_is_done_about_calls(
    said: dict[str, Any], mode: str, key: str
) -> None:
    message = {"role": "assistant", **said, key: THOUGHT}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
    captured = exchange("plain", stage="whole") | {"raw": [json.dumps(body)]}
    (sent,) = replay_exchange(captured, mode=mode)
    assert json.loads(sent)["choices"][0]["message"][key] == THOUGHT

    raw = [*(event({key: c}) for c in THOUGHT), event(said), event({}, "stop")]
    streamed = "".join(replay_exchange(exchange("plain") | {"raw": raw}, mode=mode))
    chunks = _chunks([streamed.encode()])
    assert "".join(c["choices"][0]["delta"].get(key) or "" for c in chunks) == THOUGHT
