"""Clients of a real server in step with its model: it writes a client's next token when the last one has
come. So what is seen is an order of events, and not how quick anything is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from engine_client import Answer, take_in
from openai import AsyncOpenAI
from token_gate import Gate

#: Tokens that may be under way: vLLM begins with the next one before it sends the last.
LEAD = 2


@dataclass(eq=False)
class Client:
    """One client: its request, and what has come of the answer."""

    body: dict[str, Any]
    gate: Gate
    answer: Answer = field(default_factory=Answer)
    tokens: int = 0
    begun: asyncio.Event = field(default_factory=asyncio.Event)

    async def ask(self, server: AsyncOpenAI, log: list[tuple[Client, int, Answer]]) -> None:
        """`log` is told of all that comes, in the order in which it does: whose it is, the tokens until
        then, and the answer until then."""
        arguments = {**self.body["vllm_xargs"], "gate": self.gate.path}
        body = {**self.body, "vllm_xargs": arguments, "return_token_ids": True}
        create = server.chat.completions.create
        self.gate.let(LEAD)
        async for chunk in await create(
            model=body["model"], messages=body["messages"], stream=True, extra_body=body
        ):
            for choice in chunk.choices:
                new = len((choice.model_extra or {}).get("token_ids") or ())
                take_in(self.answer, choice.delta.model_dump(exclude_unset=True))
                self.tokens += new
                if new:
                    look = Answer(content=self.answer.content, calls=list(self.answer.calls))
                    log.append((self, self.tokens, look))
                    self.begun.set()
                    self.gate.let(new)


async def visit(
    url: str, writer: Client, others: Sequence[Client]
) -> list[tuple[Client, int, Answer]]:
    """The writer's whole answer, while the others get theirs: what came to whom, in order."""
    log: list[tuple[Client, int, Answer]] = []
    async with AsyncOpenAI(base_url=url, api_key="none", timeout=600, max_retries=0) as server:
        chats = [asyncio.create_task(other.ask(server, log)) for other in others]
        begun = asyncio.gather(*(other.begun.wait() for other in others))
        ended, _ = await asyncio.wait([begun, *chats], return_when=asyncio.FIRST_COMPLETED)
        for chat in ended - {begun}:
            chat.result()  # what went wrong, if it did
        writing = asyncio.create_task(writer.ask(server, log))
        ended, _ = await asyncio.wait([writing, *chats], return_when=asyncio.FIRST_COMPLETED)
        for done in ended:
            done.result()
        for client in (writer, *others):
            client.gate.open()
        for chat in chats:
            chat.cancel()
        await asyncio.wait(chats)
    assert ended == {writing}, "a chat was over before the file was written"
    return log
