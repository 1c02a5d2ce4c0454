"""A plain loop over stored completions inside one engine: rows a second of its own whole-text parser,
and of toolwire's in its place.

    .venvs/vllm/bin/python benchmarks/batch_loop.py vllm ROWS.jsonl TOOLS.json COUNT
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from importlib import import_module
from itertools import islice
from pathlib import Path
from typing import Any

FORMAT = "hermes"

#: The calls in a text: names and arguments.
Calls = list[tuple[str, str]]


def vllm_reader(name: str, tools: list[Any]) -> Callable[[str], Calls]:
    from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
    from vllm.tool_parsers import ToolParserManager
    from workloads import load_tokenizer

    engine = import_module("engine_vllm")
    messages = [{"role": "user", "content": "Go."}]
    request = ChatCompletionRequest(messages=messages, model="model", tools=tools)
    tokenizer = engine.as_served(load_tokenizer())
    kind = ToolParserManager.get_tool_parser(name)

    def read(text: str) -> Calls:
        found = kind(tokenizer, request.tools).extract_tool_calls(text, request)
        return [(call.function.name, call.function.arguments) for call in found.tool_calls]

    return read


def sglang_reader(name: str, tools: list[Any]) -> Callable[[str], Calls]:
    from sglang.srt.entrypoints.openai.protocol import Tool
    from sglang.srt.function_call.function_call_parser import FunctionCallParser

    declared = [Tool(**tool) for tool in tools]

    def read(text: str) -> Calls:
        parser = FunctionCallParser(declared, name)
        if not parser.has_tool_call(text):
            return []
        return [(call.name or "", call.parameters) for call in parser.parse_non_stream(text)[1]]

    return read


def rate(read: Callable[[str], Calls], lines: list[str]) -> float:
    """Rows in a second of this process's own time: each is read, parsed and written."""
    began = time.process_time()
    for line in lines:
        row = json.loads(line)
        json.dumps({**row, "tool_calls": read(row["text"])})
    return len(lines) / (time.process_time() - began)


def loaded(calls: Calls) -> list[Any]:
    return [(name, json.loads(arguments)) for name, arguments in calls]


def main(engine: str, source: str, tools_file: str, count: str) -> None:
    theirs = import_module(f"engine_{engine}").prepare()
    reader = {"vllm": vllm_reader, "sglang": sglang_reader}[engine]
    tools = json.loads(Path(tools_file).read_text())
    with Path(source).open() as file:
        lines = list(islice(file, int(count)))
    own, ours = reader(theirs[FORMAT], tools), reader(f"toolwire_{FORMAT}", tools)
    texts = [json.loads(line)["text"] for line in lines]
    same = sum(loaded(own(text)) == loaded(ours(text)) for text in texts)  # and both are warm
    found = {"theirs": rate(own, lines), "ours": rate(ours, lines)}
    print(json.dumps({**found, "same": same, "rows": len(lines)}))


if __name__ == "__main__":
    main(*sys.argv[1:])
