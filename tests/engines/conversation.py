"""A scripted conversation that gives the same answers, byte for byte but for ids, on every release.

`./scripts/matrix` runs it on many: inside the engine's own classes on all (`SameAnswers`), through real
servers on some (`TURNS`). What is expected of these stands here, once for all. What really came is left
in the folder that `TOOLWIRE_ANSWERS` names, where `./scripts/matrix` compares the releases.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

import toolwire
from engine_cases import ADD_ONE_TWO, CASES, ONE_TWO, TOOLS, block, written
from engine_client import WAYS, Answer, Asker, body

GO = [{"role": "user", "content": "Go."}]
#: Each character may take a small model a token, and an answer has a limit.
LONG = json.dumps({"path": "a.py", "content": 'print("</tool_call>")\n' * 8})
WRITE = block(f'{{"name": "write_file", "arguments": {LONG}}}')
CALL = ("add", ONE_TWO)
#: What the model writes, and what a client has in the end.
TURNS: dict[str, tuple[str, str | None, list[tuple[str, str]]]] = {
    "a call": (f"Sure.\n{ADD_ONE_TWO}", "Sure.", [CALL]),
    "two calls, and text around them": (
        f"One.\n{ADD_ONE_TWO}\nTwo.\n{ADD_ONE_TWO}",
        "One.\n\nTwo.",
        [CALL, CALL],
    ),
    "a long argument": (WRITE, None, [("write_file", LONG)]),
    "text that ends like a marker": ("1 <", "1 <", []),
    "no call": ("Nothing to do.", "Nothing to do.", []),
}


#: How what only forwards requests is asked.
CHAT = {way: WAYS[way] for way in ("chat", "chat-stream")}


def leave(kind: str, answers: dict[str, Any]) -> None:
    """For the comparison of releases; where nobody compares, nothing is left."""
    folder = os.environ.get("TOOLWIRE_ANSWERS")
    if folder:
        Path(folder).mkdir(parents=True, exist_ok=True)
        text = json.dumps(answers, indent=1, sort_keys=True)
        (Path(folder) / f"{kind}.json").write_text(text, encoding="utf-8")


def ask_turns(url: str, tokenizer: Any, ways: Mapping[str, Any]) -> dict[tuple[str, str], Answer]:
    """Every turn, in each of these ways, from a server that is told what to write."""
    requests = {
        turn: body(TOOLS, tokenizer.encode(text, add_special_tokens=False).ids)
        for turn, (text, _, _) in TURNS.items()
    }
    keys = [(turn, way) for turn in TURNS for way in ways]
    jobs = [
        (lambda client, turn=turn, way=way: ways[way](client, GO, **requests[turn]))
        for turn, way in keys
    ]
    return {key: one for key, (one,) in zip(keys, Asker(url).all(jobs), strict=True)}


def check_turns(got: dict[tuple[str, str], Answer]) -> None:
    """The answers of a server, by turn and way of asking, are as they should be."""
    for (turn, way), answer in got.items():
        _, content, calls = TURNS[turn]
        if way == "messages":  # it gives the arguments as an object, not as text
            calls = [(name, json.dumps(json.loads(arguments))) for name, arguments in calls]
        assert (answer.content or None, answer.calls) == (content, calls), (turn, way)
        assert all(answer.ids)
        done = "tool_use" if way.startswith("messages") else "tool_calls"
        end = "end_turn" if way.startswith("messages") else "stop"
        assert answer.finish in (None, done if answer.calls else end), (turn, way)


def told(answer: Answer) -> dict[str, Any]:
    """All of a server's answer but its ids, and the pieces in which it came: they are the machine's."""
    return {"content": answer.content, "calls": answer.calls, "finish": answer.finish}


#: Those that toolwire brings: tests add others.
FORMATS = toolwire.list_formats()


class SameAnswers(ABC):
    """Inside an engine's own classes, which each engine's tests drive as its server does."""

    @abstractmethod
    def streamed(self, format: str, pieces: Sequence[str], tools: Any) -> list[Any]:
        """All that goes out for an answer that comes in these pieces, one entry for each of them."""

    @abstractmethod
    def at_once(self, format: str, text: str, tools: Any) -> Any:
        """The same of an answer that is all there."""

    def test_every_format(self) -> None:
        """A call alone, in text, and cut; and text without one; token by token, and in larger steps."""
        answers = {}
        for format in FORMATS:
            one = written(format)
            for text in (one, f"Well.\n{one}\nSo.", f"Well.\n{one}"[:-3], "No call (none) here."):
                answers.update(self.ask(format, format, text, TOOLS))
        assert len(answers) == 12 * len(FORMATS)
        leave("formats", answers)

    def test_known_failures(self) -> None:
        answers = {}
        for case in CASES:
            answers.update(self.ask(str(case), case.format, case.text, case.tools))
        leave("failures", answers)

    def ask(self, name: str, format: str, text: str, tools: Any) -> dict[str, Any]:
        found = {f"{name}, whole: {text!r}": self.at_once(format, text, tools)}
        for size in (1, 7):
            pieces = [text[at : at + size] for at in range(0, len(text), size)]
            found[f"{name}, by {size}: {text!r}"] = self.streamed(format, pieces, tools)
        return {key: without_ids(answer) for key, answer in found.items()}


def without_ids(answer: Any) -> Any:
    """The answer, with a word in the place of each id: that there is one is part of the answer."""
    answer = deepcopy(answer)
    calls = answer if isinstance(answer, list) else [answer]
    for part in calls:
        for call in (part or {}).get("tool_calls") or ():
            if call.get("id"):
                call["id"] = "an id"
    return answer
