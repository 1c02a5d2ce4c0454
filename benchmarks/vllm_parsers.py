"""What a tool parser costs vLLM: microseconds a token, on the event loop that serves every client.

    .venvs/vllm/bin/python benchmarks/vllm_parsers.py [--sizes 1000 4000 16000] [--json FILE]
                                                      [--plot FILE] [--check]

Each parser is given the same thing, a call with one long string argument, token by token through
vLLM's own `DelegatingParser.parse_delta`. All is measured in one run, round by round in turn, and
the median of the rounds counts. The floor are two parsers that do nothing but build the message:
one sends every token as text, one as a piece of a call's arguments.

The built-in parsers take time that grows with the square of the length. They get one round, and a
round that takes too long is broken off: its figure is then marked "at least" (the tokens that were
not reached would have cost more).
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from toolwire.engines import vllm_plugin
from transformers import AutoTokenizer
from vllm.entrypoints.generate.base.protocol import (
    DeltaFunctionCall,
    DeltaMessage,
    DeltaToolCall,
)
from vllm.entrypoints.openai.chat_completion.protocol import ChatCompletionRequest
from vllm.parser.parser_manager import ParserManager
from vllm.tool_parsers import ToolParser, ToolParserManager

LONGEST_ROUND = 20.0  # seconds, for the built-in parsers
TIMES_FLOOR = 1.5
FLAT = 1.25

TOOL = {
    "type": "function",
    "function": {
        "name": "write_file",
        "parameters": {
            "type": "object",
            "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
            "required": ["path", "content"],
        },
    },
}

#: Around the long value: what stands before it and after it.
ENVELOPES = {
    "hermes": (
        '<tool_call>\n{"name": "write_file", "arguments": {"path": "a.txt", "content": "',
        '"}}\n</tool_call>',
    ),
    "llama3_json": (
        '{"name": "write_file", "parameters": {"path": "a.txt", "content": "',
        '"}}',
    ),
    "pythonic": ('[write_file(path="a.txt", content="', '")]'),
    "qwen3_coder": (
        "<tool_call>\n<function=write_file>\n<parameter=path>\na.txt\n</parameter>\n"
        "<parameter=content>\n",
        "\n</parameter>\n</function>\n</tool_call>",
    ),
    "call_text": ('write_file(path="a.txt", content="', '")'),
}
FLOOR_CONTENT = "nothing, as text"
FLOOR_ARGUMENTS = "nothing, as arguments"


class _Floor(ToolParser):  # type: ignore[misc]
    engine_based_streaming = True

    def finish_streaming(self) -> None:
        return None


class ContentFloor(_Floor):
    def extract_tool_calls_streaming(self, *arguments: Any) -> Any:
        return DeltaMessage(content=arguments[2])


class ArgumentsFloor(_Floor):
    def extract_tool_calls_streaming(self, *arguments: Any) -> Any:
        function = DeltaFunctionCall(arguments=arguments[2])
        return DeltaMessage(tool_calls=[DeltaToolCall(index=0, function=function)])


@dataclass
class Subject:
    """One parser to measure, and the format of the text it is given."""

    label: str
    parser: str
    format: str
    kind: str  # "floor", "ours" or "theirs"
    results: dict[int, list[float]] = field(default_factory=dict)
    cut: set[int] = field(default_factory=set)

    def median(self, size: int) -> float:
        return statistics.median(self.results[size])


def subjects() -> list[Subject]:
    found = [
        Subject(FLOOR_CONTENT, "floor_content", "hermes", "floor"),
        Subject(FLOOR_ARGUMENTS, "floor_arguments", "hermes", "floor"),
    ]
    found += [Subject(f"toolwire {name}", f"toolwire_{name}", name, "ours") for name in ENVELOPES]
    builtins = set(ENVELOPES) - {"call_text"}
    found += [Subject(f"vLLM {name}", name, name, "theirs") for name in sorted(builtins)]
    return found


def tokens(tokenizer: Any, format_name: str, size: int) -> list[tuple[int, str]]:
    """A call of exactly `size` tokens, as (id, text) pairs."""
    before, after = ENVELOPES[format_name]
    words = " The quick brown fox jumps over the lazy dog and writes it down, line by line." * size
    head, tail = (tokenizer.encode(text, add_special_tokens=False) for text in (before, after))
    middle = tokenizer.encode(words[: size * 8], add_special_tokens=False)
    ids = [*head, *middle[: size - len(head) - len(tail)], *tail]
    return [(number, tokenizer.decode([number])) for number in ids]


def stream(parser: Any, request: Any, pieces: list[tuple[int, str]], limit: float) -> float:
    """Feeds the pieces; gives the microseconds a token. Stops early after `limit` seconds."""
    last = len(pieces) - 1
    parse_delta = parser.parse_delta
    gc.collect()
    started = time.perf_counter()
    done = 0
    for number, (token, text) in enumerate(pieces):
        parse_delta(text, [token], request, prompt_token_ids=[1], finished=number == last)
        done = number + 1
        if not done % 100 and time.perf_counter() - started > limit:
            break
    spent = (time.perf_counter() - started) / done * 1e6
    return -spent if done <= last else spent


def rounds_for(size: int) -> int:
    """Short texts are measured more often: a pause of the machine weighs more on them."""
    return max(7, min(25, 50_000 // size))


def measure(tokenizer: Any, sizes: list[int]) -> list[Subject]:
    request = ChatCompletionRequest(
        messages=[{"role": "user", "content": "Write."}],
        model="model",
        tools=[TOOL],
        tool_choice="auto",
    )
    measured = subjects()
    kinds = {
        s.parser: ParserManager.get_parser(tool_parser_name=s.parser, enable_auto_tools=True)
        for s in measured
    }
    for size in sizes:
        texts = {name: tokens(tokenizer, name, size) for name in ENVELOPES}
        rounds = rounds_for(size)
        for turn in range(rounds):
            for subject in measured:
                if turn and subject.kind == "theirs":
                    continue
                kind = kinds[subject.parser]
                assert kind is not None
                parser = kind(tokenizer, request.tools)
                limit = LONGEST_ROUND if subject.kind == "theirs" else float("inf")
                spent = stream(parser, request, texts[subject.format], limit)
                if spent < 0:
                    subject.cut.add(size)
                subject.results.setdefault(size, []).append(abs(spent))
            print(f"\r{size} tokens, round {turn + 1} of {rounds}", end="", file=sys.stderr)
        print(file=sys.stderr)
    return measured


def table(measured: list[Subject], sizes: list[int]) -> str:
    floor = next(s for s in measured if s.label == FLOOR_ARGUMENTS)
    lines = ["µs a token".ljust(26) + "".join(f"{size:>18,}" for size in sizes)]
    for subject in measured:
        cells = []
        for size in sizes:
            value = subject.median(size)
            mark = "≥ " if size in subject.cut else ""
            cells.append(f"{mark}{value:.1f} ({value / floor.median(size):.2f}x)".rjust(18))
        lines.append(subject.label.ljust(26) + "".join(cells))
    lines.append(f"In brackets: times the floor ({FLOOR_ARGUMENTS}) of the same size.")
    return "\n".join(lines)


def verdicts(measured: list[Subject], sizes: list[int]) -> list[str]:
    """What is not as promised; empty if all is."""
    wrong = []
    floor = next(s for s in measured if s.label == FLOOR_ARGUMENTS)
    for ours in (s for s in measured if s.kind == "ours"):
        for size in sizes:
            ratio = ours.median(size) / floor.median(size)
            if ratio > TIMES_FLOOR:
                wrong.append(f"{ours.label} costs {ratio:.2f} times the floor at {size} tokens")
            wrong += [
                f"{theirs.label} is ahead of {ours.label} at {size} tokens"
                for theirs in measured
                if theirs.kind == "theirs" and theirs.median(size) <= ours.median(size)
            ]
        growth = ours.median(sizes[-1]) / ours.median(sizes[0])
        floor_growth = floor.median(sizes[-1]) / floor.median(sizes[0])
        if growth > FLAT * max(floor_growth, 1.0):
            wrong.append(f"{ours.label} is not flat: {growth:.2f} times as much at {sizes[-1]}")
    return wrong


def as_json(measured: list[Subject], sizes: list[int]) -> dict[str, Any]:
    return {
        "unit": "microseconds per token",
        "sizes": sizes,
        "parsers": [
            {
                "label": s.label,
                "kind": s.kind,
                "median": {size: round(s.median(size), 2) for size in sizes},
                "rounds": {size: [round(x, 2) for x in s.results[size]] for size in sizes},
                "broken_off": sorted(s.cut),
            }
            for s in measured
        ],
    }


def plot(measured: list[Subject], sizes: list[int], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(8, 5), layout="constrained")
    style = {"floor": ("grey", ":"), "ours": ("tab:blue", "-"), "theirs": ("tab:red", "--")}
    markers = dict(zip([*ENVELOPES, ""], "os^Dv.", strict=True))
    for subject in measured:
        colour, line = style[subject.kind]
        marker = markers["" if subject.kind == "floor" else subject.format]
        values = [subject.median(size) for size in sizes]
        axes.plot(sizes, values, line, color=colour, marker=marker, label=subject.label)
        for size in subject.cut:
            at = (size, subject.median(size))
            axes.annotate("≥", at, xytext=(6, 0), textcoords="offset points", color=colour)
    axes.set(
        xscale="log",
        yscale="log",
        xlabel="tokens in the call",
        ylabel="µs a token through parse_delta",
        title="What a tool parser costs vLLM",
    )
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7, ncols=2)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def tokenizer_folder() -> str:
    script = Path(__file__).resolve().parents[1] / "scripts" / "lib" / "make_model.py"
    # vLLM's parser for Llama wants this token in the vocabulary, though the text has none.
    command = [sys.executable, str(script), "--special-token", "<|python_tag|>"]
    made = subprocess.run(command, check=True, stdout=subprocess.PIPE)
    return made.stdout.decode().strip()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 4000, 16000])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="write a PNG (needs matplotlib)")
    parser.add_argument("--check", action="store_true", help="fail where it is not as promised")
    arguments = parser.parse_args()

    os.environ["TOOLWIRE_SKIP_CHECKS"] = "1"  # one tokenizer stands for all models here
    vllm_plugin.register()
    ToolParserManager.register_module("floor_content", module=ContentFloor)
    ToolParserManager.register_module("floor_arguments", module=ArgumentsFloor)
    tokenizer = AutoTokenizer.from_pretrained(tokenizer_folder())
    measured = measure(tokenizer, arguments.sizes)
    print(table(measured, arguments.sizes))
    if arguments.json:
        arguments.json.parent.mkdir(parents=True, exist_ok=True)
        arguments.json.write_text(json.dumps(as_json(measured, arguments.sizes), indent=2) + "\n")
    if arguments.plot:
        plot(measured, arguments.sizes, arguments.plot)
    wrong = verdicts(measured, arguments.sizes)
    print(
        "\n".join(wrong) or "As promised: at most 1.5 times the floor, flat, ahead of vLLM's own."
    )
    if wrong and arguments.check:
        sys.exit(1)


if __name__ == "__main__":
    main()
