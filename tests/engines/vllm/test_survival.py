"""The server lives on: clients that vanish, many streams at once, many requests in a row."""

from __future__ import annotations

import itertools
import json
import urllib.request
from pathlib import Path
from typing import Any

import psutil
from engine_cases import ADD_ONE_TWO, CASES, ONE_TWO, TOOLS
from engine_client import MODEL, Asker, body, chat_stream
from engine_server import EngineServer
from token_gate import Gate
from tokenizers import Tokenizer

QUESTION = [{"role": "user", "content": "Go."}]
REQUESTS = 200
BATCH = 50
#: What one more batch may add before it counts as growth (allocators round up).
SLACK_KB = 4096


def ids(tokenizer: Tokenizer, text: str) -> list[int]:
    found: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return found


def ask_once(asker: Asker, tokenizer: Tokenizer) -> None:
    request = body(TOOLS, ids(tokenizer, ADD_ONE_TWO))
    ((answer,),) = asker.all([lambda client: chat_stream(client, QUESTION, **request)])
    assert answer.calls == [("add", ONE_TWO)]


def test_a_client_that_disconnects(
    asker: Asker, server: EngineServer, tokenizer: Tokenizer, tmp_path: Path
) -> None:
    """Leaves in the middle of a call's arguments, several times; the next client is served. The rest
    of the call is written when the client has left."""
    value = "word " * 300
    text = (
        f'<tool_call>\n{{"name": "write_file", "arguments": {{"path": "{value}"}}}}\n</tool_call>'
    )
    request = {
        "model": MODEL,
        "messages": QUESTION,
        "tools": TOOLS,
        "stream": True,
        "temperature": 0,
    }
    script = ids(tokenizer, text)
    for time in range(3):
        gate = Gate(tmp_path / str(time))
        gate.let(len(script) // 2)
        request["vllm_xargs"] = {"script": script, "gate": gate.path}
        sent = urllib.request.Request(
            f"{server.url}/v1/chat/completions",
            data=json.dumps(request).encode(),
            headers={"Content-Type": "application/json"},
        )
        with gate, urllib.request.urlopen(sent, timeout=600) as answer:
            assert any(b"word word" in line or b'"arguments":" word' in line for line in answer)
    ask_once(asker, tokenizer)


def test_32_streams_of_different_formats(asker: Asker, tokenizer: Tokenizer) -> None:
    chosen = (CASES * 2)[:: max(1, len(CASES) * 2 // 32)][:32]
    assert len(chosen) == 32
    assert len({case.format for case in chosen}) > 4

    def job(case: Any) -> Any:
        request = body(case.tools, ids(tokenizer, case.text), format=case.format)
        return lambda client: chat_stream(client, QUESTION, **request)

    got = asker.all([job(case) for case in chosen])
    for case, (answer,) in zip(chosen, got, strict=True):
        assert (answer.calls, answer.content or None) == (case.calls, case.content)


def memory_kb(server: EngineServer) -> int:
    """Resident memory of the process that parses: the server's own, not the engine's."""
    size: int = psutil.Process(server.process.pid).memory_info().rss
    return size // 1024


def test_200_requests_do_not_make_it_grow(
    asker: Asker, server: EngineServer, tokenizer: Tokenizer
) -> None:
    """Memory may grow at first (caches fill). Growth that repeats with every batch is a leak."""
    request = body(TOOLS, ids(tokenizer, "add(a=1, b=2)"), format="call_text")
    job = [lambda client: chat_stream(client, QUESTION, **request)]
    sizes = [memory_kb(server)]
    for _ in range(REQUESTS // BATCH):
        for (answer,) in asker.all(job * BATCH):
            assert answer.calls == [("add", ONE_TWO)]
        sizes.append(memory_kb(server))
    steps = [after - before for before, after in itertools.pairwise(sizes)]
    assert min(steps) < SLACK_KB, f"memory grew with every batch: {sizes}"
