"""What the benchmarks of the engines' tool parsers share: the text, the table, the verdict, the plot."""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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

_JSON = ('{"path": "a.txt", "content": "', '"}')

#: Around the long value, in each format: what stands before it and after it.
ENVELOPES = {
    "hermes": (
        f'<tool_call>\n{{"name": "write_file", "arguments": {_JSON[0]}',
        f"{_JSON[1]}}}\n</tool_call>",
    ),
    "llama3_json": (f'{{"name": "write_file", "parameters": {_JSON[0]}', f"{_JSON[1]}}}"),
    "pythonic": ('[write_file(path="a.txt", content="', '")]'),
    "qwen3_coder": (
        "<tool_call>\n<function=write_file>\n<parameter=path>\na.txt\n</parameter>\n"
        "<parameter=content>\n",
        "\n</parameter>\n</function>\n</tool_call>",
    ),
    "call_text": ('write_file(path="a.txt", content="', '")'),
    "kimi_k2": (
        "<|tool_calls_section_begin|><|tool_call_begin|>functions.write_file:0"
        f"<|tool_call_argument_begin|>{_JSON[0]}",
        f"{_JSON[1]}<|tool_call_end|><|tool_calls_section_end|>",
    ),
    "deepseek_v3_1": (
        f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>write_file<｜tool▁sep｜>{_JSON[0]}",
        f"{_JSON[1]}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ),
    "mistral": (
        f'[TOOL_CALLS] [{{"name": "write_file", "arguments": {_JSON[0]}',
        f"{_JSON[1]}}}]",
    ),
    "glm45": (
        "<tool_call>write_file\n<arg_key>path</arg_key>\n<arg_value>a.txt</arg_value>\n"
        "<arg_key>content</arg_key>\n<arg_value>",
        "</arg_value>\n</tool_call>",
    ),
    "minimax_m2": (
        '<minimax:tool_call>\n<invoke name="write_file">\n'
        '<parameter name="path">a.txt</parameter>\n<parameter name="content">',
        "</parameter>\n</invoke>\n</minimax:tool_call>",
    ),
}


#: Single tokens in the vocabulary of the models that write them; some parsers rely on it.
_MARKER = re.compile(r"(<[|｜][^<>]+[|｜]>|\[TOOL_CALLS\]|</?(?:minimax:)?tool_call>)")


@dataclass
class Subject:
    """One parser to measure, and the format of the text it is given."""

    label: str
    parser: str
    format: str
    kind: str  # "floor", "ours" or "theirs"
    results: dict[int, list[float]] = field(default_factory=dict)
    cut: set[int] = field(default_factory=set)
    #: Whether a long value comes out while it is written, not all at once at its end.
    streams: bool = True

    def median(self, size: int) -> float:
        return statistics.median(self.results[size])


def model_folder() -> Path:
    script = Path(__file__).resolve().parents[1] / "scripts" / "lib" / "make_model.py"
    made = subprocess.run([sys.executable, str(script)], check=True, stdout=subprocess.PIPE)
    return Path(made.stdout.decode().strip())


def token_texts(tokenizer: Any, format_name: str, size: int) -> list[str]:
    """A call of exactly `size` tokens, each as its text."""
    before, after = ENVELOPES[format_name]
    words = " The quick brown fox jumps over the lazy dog and writes it down, line by line." * size

    def cut(text: str) -> list[str]:
        found = []
        for part in _MARKER.split(text):
            ids = [] if _MARKER.fullmatch(part) else tokenizer.encode(part).ids
            found += [tokenizer.decode([number]) for number in ids] or [part]
        return found

    head, tail = cut(before), cut(after)
    return [*head, *cut(words[: size * 8])[: size - len(head) - len(tail)], *tail]


def rounds_for(size: int) -> int:
    """Short texts are measured more often: a pause of the machine weighs more on them."""
    return max(7, min(25, 50_000 // size))


def table(measured: list[Subject], floor: Subject, sizes: list[int]) -> str:
    lines = ["µs a token".ljust(26) + "".join(f"{size:>18,}" for size in sizes)]
    for subject in measured:
        cells = []
        for size in sizes:
            value = subject.median(size)
            mark = "≥ " if size in subject.cut else ""
            cells.append(f"{mark}{value:.1f} ({value / floor.median(size):.2f}x)".rjust(18))
        note = "" if subject.streams else "  a value comes whole, at its end"
        lines.append(subject.label.ljust(26) + "".join(cells) + note)
    lines.append(f"In brackets: times the floor ({floor.label}) of the same size.")
    return "\n".join(lines)


def verdicts(
    measured: list[Subject], floor: Subject, sizes: list[int], times_floor: float
) -> list[str]:
    """What is not as promised; empty if all is."""
    wrong = []
    rivals = [s for s in measured if s.kind == "theirs" and s.streams]
    for ours in (s for s in measured if s.kind == "ours"):
        for size in sizes:
            ratio = ours.median(size) / floor.median(size)
            if ratio > times_floor:
                wrong.append(f"{ours.label} costs {ratio:.2f} times the floor at {size} tokens")
            wrong += [
                f"{theirs.label} is ahead of {ours.label} at {size} tokens"
                for theirs in rivals
                if theirs.median(size) <= ours.median(size)
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
                "streams": s.streams,
                "median": {size: round(s.median(size), 2) for size in sizes},
                "rounds": {size: [round(x, 2) for x in s.results[size]] for size in sizes},
                "broken_off": sorted(s.cut),
            }
            for s in measured
        ],
    }


def plot(measured: list[Subject], sizes: list[int], path: Path, title: str) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(9, 6), layout="constrained")
    style = {"floor": ("grey", ":"), "ours": ("tab:blue", "-"), "theirs": ("tab:red", "--")}
    markers = dict(zip(ENVELOPES, "os^Dv<>pPX", strict=True))
    for subject in measured:
        colour, line = style[subject.kind]
        marker = "." if subject.kind == "floor" else markers[subject.format]
        values = [subject.median(size) for size in sizes]
        axes.plot(sizes, values, line, color=colour, marker=marker, label=subject.label)
    axes.set(xscale="log", yscale="log", xlabel="tokens in the call", ylabel="µs a token")
    axes.set_title(title)
    axes.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axes.minorticks_off()
    axes.grid(alpha=0.3)
    axes.legend(fontsize=7, ncols=2)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=150)


def arguments(description: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 4000, 16000])
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures here")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="write a PNG (needs matplotlib)")
    parser.add_argument("--check", action="store_true", help="fail where it is not as promised")
    return parser.parse_args()


def write_json(path: Path, measured: list[Subject], sizes: list[int]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(as_json(measured, sizes), indent=2) + "\n")
