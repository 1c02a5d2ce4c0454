"""How long a start takes: `import toolwire`, the command, registering in vLLM, the first parser.

    python benchmarks/start.py [--json FILE] [--quick] [--check]

Milliseconds of CPU of whole processes, the least of several rounds in turns: a start can only be held
up. An import counts over an interpreter that does nothing. Registering is measured in a process that has
loaded vLLM, where there is an environment with it. Beside them stands `typer`, which reads the command
line and is most of `toolwire formats`.
"""

from __future__ import annotations

import json
import os
import random
import resource
import string
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

import part
import workers

#: What is measured, and the most it may take, in milliseconds.
BOUNDS = {
    "import toolwire": 30,
    "toolwire formats": 150,
    "toolwire detect, 150,000 tokens": 1000,
    "first parser of any": 100,
    "registering in vLLM": 50,
}
TOKENS = 150_000
REGISTER = """
import time, vllm.tool_parsers, vllm.reasoning
started = time.process_time()
from toolwire.engines.vllm.plugin import register
register()
print((time.process_time() - started) * 1000)
"""
FIRST = """
import time, toolwire
toolwire.Parser("hermes")
started = time.process_time()
toolwire.Parser("any")
print((time.process_time() - started) * 1000)
"""


def model(folder: Path) -> str:
    """A model's folder, as far as `detect` looks into one."""
    draw = random.Random(21)
    vocabulary: dict[str, int] = {}
    while len(vocabulary) < TOKENS:
        word = "".join(draw.choices(string.ascii_letters, k=draw.randint(2, 9)))
        vocabulary.setdefault(word, len(vocabulary))
    merges = [[word[0], word[1:]] for word in vocabulary]
    tokens = {"model": {"type": "BPE", "vocab": vocabulary, "merges": merges}, "added_tokens": []}
    (folder / "tokenizer.json").write_text(json.dumps(tokens))
    template = workers.ROOT / "chat_templates" / "chatml-hermes.jinja"
    settings = {"chat_template": template.read_text(encoding="utf-8")}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    (folder / "config.json").write_text('{"model_type": "qwen2"}')
    return str(folder)


def run(python: Path | str, arguments: Sequence[str]) -> tuple[float, str]:
    """Milliseconds of CPU of a process, and what it printed. Its bytecode is kept, as installed."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [str(python), *arguments],
        capture_output=True,
        text=True,
        check=True,
        env=environment | workers.QUIET,
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    taken = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return taken * 1000, done.stdout


def measured(folder: str, rounds: int) -> dict[str, float]:
    """Milliseconds of each, the least of all rounds."""
    command = ["-m", "toolwire.cli"]
    processes = {
        "nothing": ["-c", "pass"],
        "typer": ["-c", "import typer"],
        "import toolwire": ["-c", "import toolwire"],
        "toolwire formats": [*command, "formats"],
        "toolwire detect, 150,000 tokens": [*command, "detect", folder],
    }
    for arguments in processes.values():
        run(sys.executable, arguments)  # bytecode is written
    taken: dict[str, list[float]] = {}
    for number in range(rounds):
        part.progress(f"starting processes, round {number + 1} of {rounds}")
        for what, arguments in processes.items():
            taken.setdefault(what, []).append(run(sys.executable, arguments)[0])
        said = run(sys.executable, ["-c", FIRST])[1]
        taken.setdefault("first parser of any", []).append(float(said))
    vllm = workers.python_of("vllm")
    for _ in range(rounds // 3 if vllm.exists() else 0):  # loading vLLM takes long
        said = run(vllm, ["-c", REGISTER])[1]
        taken.setdefault("registering in vLLM", []).append(float(said.split()[-1]))
    least = {what: min(rounds) for what, rounds in taken.items()}
    over = ("typer", "import toolwire")  # what is said over the interpreter
    return {w: ms - least["nothing"] if w in over else ms for w, ms in least.items()}


def verdicts(found: dict[str, float]) -> list[str]:
    return [
        f"{what} takes {found[what]:.0f} ms of CPU, {bound} at most were promised."
        for what, bound in BOUNDS.items()
        if what in found and found[what] > bound
    ]


def all_of_it(quick: bool) -> part.Measured:
    with tempfile.TemporaryDirectory() as folder:
        found = measured(model(Path(folder)), 3 if quick else 9)
    rows = [(what, round(ms, 1), BOUNDS.get(what)) for what, ms in found.items()]
    return part.Measured(
        title="Start",
        about="What a process pays before it reads anything.",
        tables=[part.Table("Milliseconds of CPU", ("what", "ms", "at most"), rows)],
        wrong=verdicts(found),
        data=found,
        packages=("typer",),
        summary=[f"**`import toolwire`** takes {found['import toolwire']:.0f} ms of CPU."],
    )


if __name__ == "__main__":
    sys.exit(part.run("start", __doc__, all_of_it))
