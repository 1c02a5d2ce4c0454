"""What a tool parser costs SGLang: microseconds a token, on the event loop that serves every client.

    .venvs/sglang/bin/python benchmarks/sglang_parsers.py [--sizes 1000 4000 16000] [--json FILE]
                                                          [--plot FILE] [--check]

Each parser is given the same thing, a call with one long string argument, token by token through
SGLang's own `FunctionCallParser.parse_stream_chunk`. All is measured in one run, round by round in
turn, and the median of the rounds counts. The floor is a detector that does nothing but pass every
token on as a piece of a call's arguments.

Most of SGLang's own detectors take time that grows with the square of the length. Where that makes a
round slow, they get one; where it takes too long, it is broken off and its figure marked "at least"
(the tokens that were not reached would have cost more). Some of them are quick because they keep a value
back until it has ended and then send it whole; the table says so, and they are no rivals.
"""

from __future__ import annotations

import gc
import logging
import sys
import time
from typing import Any

from engine_table import (
    ENVELOPES,
    TOOL,
    Subject,
    arguments,
    model_folder,
    plot,
    rounds_for,
    table,
    token_texts,
    verdicts,
    write_json,
)
from sglang.srt.entrypoints.openai.protocol import Tool
from sglang.srt.function_call.base_format_detector import BaseFormatDetector
from sglang.srt.function_call.core_types import StreamingParseResult, ToolCallItem
from sglang.srt.function_call.function_call_parser import FunctionCallParser
from tokenizers import Tokenizer
from toolwire.engines import sglang_plugin

LONGEST_ROUND = 10.0  # seconds; what takes longer is broken off
SLOW_ROUND = 1.0  # seconds; what takes longer is not measured again
TIMES_FLOOR = 2.0

#: SGLang's own names, by ours.
THEIRS = {
    "hermes": "hermes",
    "llama3": "llama3_json",
    "pythonic": "pythonic",
    "qwen3_coder": "qwen3_coder",
    "kimi_k2": "kimi_k2",
    "deepseekv31": "deepseek_v3_1",
    "mistral": "mistral",
    "glm45": "glm45",
    "minimax-m2": "minimax_m2",
}


class Floor(BaseFormatDetector):  # type: ignore[misc]
    def parse_streaming_increment(self, new_text: str, tools: Any) -> Any:
        return StreamingParseResult(calls=[ToolCallItem(tool_index=0, parameters=new_text)])

    def has_tool_call(self, text: str) -> bool:
        return True

    def detect_and_parse(self, text: str, tools: Any) -> Any:
        return self.parse_streaming_increment(text, tools)

    def structure_info(self) -> Any:
        raise NotImplementedError


def subjects() -> list[Subject]:
    found = [Subject("nothing, as arguments", "floor", "hermes", "floor")]
    found += [Subject(f"toolwire {name}", f"toolwire_{name}", name, "ours") for name in ENVELOPES]
    found += [Subject(f"SGLang {name}", name, ours, "theirs") for name, ours in THEIRS.items()]
    return found


def stream(parser: Any, pieces: list[str], limit: float) -> tuple[float, bool]:
    """Microseconds a token, and whether all were taken within `limit` seconds."""
    parse = parser.parse_stream_chunk
    gc.collect()
    started = time.perf_counter()
    done = 0
    for piece in pieces:
        parse(piece)
        done += 1
        if not done % 100 and time.perf_counter() - started > limit:
            break
    whole = done == len(pieces)
    if whole:
        parser.parse_stream_end()
    return (time.perf_counter() - started) / done * 1e6, whole


def streams_its_values(parser: Any, pieces: list[str]) -> bool:
    calls = [call for piece in pieces for call in parser.parse_stream_chunk(piece)[1]]
    calls += parser.parse_stream_end()[1]
    lengths = [len(call.parameters) for call in calls]
    assert sum(lengths) > sum(map(len, pieces)) / 2, "the parser did not read the call"
    return max(lengths) < sum(lengths) / 2


def measure(tokenizer: Tokenizer, sizes: list[int]) -> list[Subject]:
    tools = [Tool(**TOOL)]
    measured = subjects()
    for subject in measured:
        pieces = token_texts(tokenizer, subject.format, 400)
        subject.streams = streams_its_values(FunctionCallParser(tools, subject.parser), pieces)
    for size in sizes:
        texts = {name: token_texts(tokenizer, name, size) for name in ENVELOPES}
        rounds = rounds_for(size)
        for turn in range(rounds):
            for subject in measured:
                if turn and subject.results[size][0] * size > SLOW_ROUND * 1e6:
                    continue
                parser = FunctionCallParser(tools, subject.parser)
                spent, whole = stream(parser, texts[subject.format], LONGEST_ROUND)
                if not whole:
                    subject.cut.add(size)
                subject.results.setdefault(size, []).append(spent)
            print(f"\r{size} tokens, round {turn + 1} of {rounds}", end="", file=sys.stderr)
        print(file=sys.stderr)
    return measured


def main() -> None:
    asked = arguments(__doc__)
    logging.disable(logging.WARNING)  # what SGLang's detectors say would be measured, too
    sglang_plugin.register()
    FunctionCallParser.ToolCallParserEnum["floor"] = Floor
    tokenizer = Tokenizer.from_file(str(model_folder() / "tokenizer.json"))
    gc.collect()
    gc.freeze()  # as SGLang's server does once it has started
    measured = measure(tokenizer, asked.sizes)
    floor = measured[0]
    print(table(measured, floor, asked.sizes))
    if asked.json:
        write_json(asked.json, measured, asked.sizes)
    if asked.plot:
        plot(measured, asked.sizes, asked.plot, "What a tool parser costs SGLang")
    wrong = verdicts(measured, floor, asked.sizes, TIMES_FLOOR)
    print(
        "\n".join(wrong)
        or f"As promised: at most {TIMES_FLOOR:g} times the floor, flat, ahead of SGLang's own."
    )
    if wrong and asked.check:
        sys.exit(1)


if __name__ == "__main__":
    main()
