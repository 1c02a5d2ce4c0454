"""Reads the turns of the part `cache` with one engine's own parsers, each text as a whole.

    .venvs/vllm/bin/python benchmarks/cache_worker.py vllm --json FILE --turns FILE

`benchmarks/cache.py` writes the turns, runs this for each engine, and judges what comes back.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import part
import workers

Asked = Mapping[str, Any]
Message = dict[str, Any]

#: Reasoning parsers that are tried first, after those with the format's own name.
USUAL = ("qwen3", "deepseek_r1", "deepseek-r1", "glm45", "mistral")


class Worker(workers.EngineWorker):
    def __init__(self, engine_name: str, turns: list[Asked]) -> None:
        super().__init__(engine_name)
        self.turns = turns
        self.tokenizer = self.engine.whole_tokenizer(turn["text"] for turn in turns)
        #: of each template, the reasoning parser that reads its thoughts
        self.reasoning: dict[str, str | None] = {}
        self.messages: list[Message | None] = []

    def run(self) -> None:
        for number, turn in enumerate(self.turns):
            part.progress(f"{self.engine.LABEL}: turn {number + 1:,} of {len(self.turns):,}")
            self.messages.append(self.message(turn))

    def message(self, turn: Asked) -> Message | None:
        """What a client gets; None where the engine has no parser of its own for this."""
        if turn["format"] not in self.theirs:
            return None
        if not turn["thought"]:
            return self.read(turn, None)
        name = self.reasoning_for(turn)
        return self.read(turn, name) if name is not None else None

    def reasoning_for(self, turn: Asked) -> str | None:
        """The reasoning parser that a server for such a model would be started with: the first of the
        engine's that reads the template's thoughts, and leaves the calls to the tool parser."""
        template = turn["template"]
        if template not in self.reasoning:
            known = self.engine.reasoning_names()
            first = (turn["format"], self.theirs[turn["format"]], *USUAL)
            names = [name for name in dict.fromkeys([*first, *sorted(known)]) if name in known]
            found = {name: self.read(turn, name) for name in names}
            fitting = [name for name in names if _thought(found[name]) == turn["thought"]]
            fitting.sort(key=lambda name: not found[name]["tool_calls"])
            self.reasoning[template] = next(iter(fitting), None)
        return self.reasoning[template]

    def read(self, turn: Asked, reasoning: str | None) -> Message:
        name = self.theirs[turn["format"]]
        try:
            thought, content, calls = self.engine.read_whole(self.tokenizer, name, reasoning, turn)
        except Exception:  # noqa: BLE001  # whatever it is: a client gets an error
            return {"role": "assistant", "content": "", "tool_calls": []}
        return {
            "role": "assistant",
            "content": content,
            **({"reasoning_content": thought} if thought else {}),
            "tool_calls": list(_as_openai(calls, turn["format"])),
        }

    def found(self) -> dict[str, Any]:
        return {"messages": self.messages, "reasoning": self.reasoning}


def _thought(message: Message) -> str:
    return str(message.get("reasoning_content") or "").strip()


def _as_openai(
    calls: Iterable[tuple[str | None, str, str]], format_name: str
) -> Iterable[dict[str, Any]]:
    """With the ids that the engines' servers make where a parser gives none."""
    for number, (id, name, arguments) in enumerate(calls):
        counted = f"functions.{name}:{number}" if format_name == "kimi_k2" else None
        function = {"name": name, "arguments": arguments}
        yield {"id": id or counted, "type": "function", "function": function}


def main() -> None:
    parser = workers.options(__doc__)
    parser.add_argument("--turns", type=Path, metavar="FILE", required=True)
    asked = parser.parse_args()
    turns = json.loads(asked.turns.read_text(encoding="utf-8"))
    workers.work(asked.json, lambda: Worker(asked.engine, turns), lambda worker: worker.run())


if __name__ == "__main__":
    main()
