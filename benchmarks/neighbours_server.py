"""The real vLLM server: one client has a file written, seven others chat, all over HTTP."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from neighbours_loop import NEIGHBOURS
from serve_client import Answer, Client
from serve_local import request, telling
from workloads import Step


@dataclass
class Seen:
    """What the seven saw while the one wrote, in seconds, and what the one got."""

    gaps: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    seconds: float = 0.0
    characters: int = 0
    stopped: bool = False
    whole: bool = False  # the call arrived, with the file as it was written


@dataclass(frozen=True)
class Visit:
    """Eight clients at a server, for one parser."""

    url: str
    parser: str
    file: Sequence[Step]
    chat: Sequence[Step]
    content: str  # of the file
    pace: float
    longest: float

    def run(self) -> Seen:
        with telling(f"real server, {self.parser}, at most {self.longest:.0f} s"):
            return asyncio.run(self._run())

    async def _run(self) -> Seen:
        async with Client(self.url) as client:
            # The first request of a parser makes its tables, its patterns and so on.
            await client.check(request(self.parser, self.chat))
            writing = asyncio.create_task(
                client.ask(request(self.parser, self.file, self.pace), within=self.longest)
            )
            chats = await asyncio.gather(*(self._chat(client, writing) for _ in range(NEIGHBOURS)))
        return self.seen(writing.result(), [chat for found in chats for chat in found])

    async def _chat(self, client: Client, writing: asyncio.Task[Answer]) -> list[Answer]:
        """One short answer after another, for as long as the file is written."""
        answers = []
        while not writing.done():
            answers.append(await client.ask(request(self.parser, self.chat, self.pace)))
        return answers

    def seen(self, written: Answer, chats: list[Answer]) -> Seen:
        gaps = [
            gap
            for chat in chats
            for gap, end in zip(chat.gaps, chat.arrivals[1:], strict=True)
            if end <= written.ended
        ]
        arguments = written.calls[0][1] if written.calls else ""
        return Seen(
            gaps=gaps,
            errors=[answer.error for answer in (written, *chats) if answer.error],
            seconds=written.ended - written.started,
            characters=len(arguments),
            stopped=written.stopped,
            whole=not written.stopped and _content(arguments) == self.content,
        )


def _content(arguments: str) -> str | None:
    try:
        return str(json.loads(arguments)["content"])
    except (ValueError, KeyError, TypeError):
        return None
