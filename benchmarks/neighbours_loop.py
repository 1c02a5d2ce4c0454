"""Eight streams on one event loop, as in vLLM's server, and nothing else on it.

The engine is scripted: at a steady rate it has one more token for every stream. A stream takes the
tokens that it has not taken yet and gives them to vLLM's own `DelegatingParser.parse_delta`; where
the loop was busy for longer than a step they go in together, as vLLM merges them. So what the
writer's parser costs is what its seven neighbours wait.

The loop is asyncio's, with a clock of its own: it counts the processor time of this thread, and where
the loop would sleep it jumps. Other processes on the machine are not seen by it, and a chat of 50
tokens a second does not take long. A long file is measured in windows spread over it, from its
beginning to its end; what lies before a window goes through the parser quickly, unmeasured.
"""

from __future__ import annotations

import asyncio
import gc
import selectors
import time
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import engine_vllm
from workloads import TOOLS, Step

NEIGHBOURS = 7
#: Tokens at a time, where the writer is brought to the beginning of a window.
STRIDE = 64


class ProcessorLoop(asyncio.SelectorEventLoop):
    """An event loop whose time passes only while it works; waiting takes none."""

    def __init__(self) -> None:
        self._jumped = -time.thread_time()
        super().__init__(_NoWait(self._jump))

    def time(self) -> float:
        return time.thread_time() + self._jumped

    def _jump(self, seconds: float) -> None:
        self._jumped += seconds


class _NoWait(selectors.DefaultSelector):
    """Instead of waiting for so long, says so and comes back at once."""

    def __init__(self, jump: Callable[[float], None]) -> None:
        super().__init__()
        self._jump = jump

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            raise RuntimeError("the loop waits for something that no timer will bring")
        self._jump(max(0.0, timeout))
        return super().select(0)


@contextmanager
def heap_as_in_a_server() -> Iterator[None]:
    """vLLM, once it has started, has Python's garbage collector not look at what is there again."""
    gc.collect()
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


def run(work: Coroutine[Any, Any, None]) -> None:
    loop = ProcessorLoop()
    try:
        loop.run_until_complete(work)
    finally:
        loop.close()


@dataclass
class Gaps:
    """What the neighbours saw: the seconds between deltas, and the tokens that these brought."""

    seconds: list[float] = field(default_factory=list)
    tokens: int = 0


class Stream:
    """One client's answer: its tokens, how many have come, and how many are taken."""

    def __init__(self, tokenizer: Any, parser: str, steps: Sequence[Step]) -> None:
        self._reader = engine_vllm.Stream(tokenizer, parser, TOOLS)
        self._steps = steps
        self._taken = 0
        self._come = 0
        self._ready = asyncio.Event()

    def skip_to(self, place: int) -> None:
        while self._taken < place:
            self._come = min(self._taken + STRIDE, place)
            self._take()

    def come(self, steps: int) -> None:
        """The engine has made so many more."""
        self._come = min(self._come + steps, len(self._steps))
        self._ready.set()

    async def take_until(self, place: int, seen: Callable[[int], None]) -> None:
        """Takes what comes, until so many are taken; `seen` is told of every delta."""
        while self._taken < place:
            await self._ready.wait()
            self._ready.clear()
            seen(self._take())

    def _take(self) -> int:
        """What has come goes through the parser as one delta."""
        new = self._steps[self._taken : self._come]
        self._taken = self._come
        merged = "".join(text for text, _ in new), [number for _, ids in new for number in ids]
        if self._taken == len(self._steps):
            self._reader.finish(merged)
        else:
            self._reader.feed([merged])
        return len(new)


async def engine(rate: float, streams: Sequence[Stream]) -> None:
    """Makes a token for each stream `rate` times a second. It works elsewhere: where the loop is
    late, it has made several meanwhile."""
    loop = asyncio.get_running_loop()
    started, made = loop.time(), 0
    while True:
        await asyncio.sleep(started + (made + 1) / rate - loop.time())
        steps = int((loop.time() - started) * rate + 1e-6) - made
        made += steps
        for stream in streams:
            stream.come(steps)


@dataclass(frozen=True)
class Scene:
    """What is written, by the one and by the others."""

    tokenizer: Any
    file: Sequence[Step]
    chat: Sequence[Step]

    def starts(self, windows: int, tokens: int) -> list[int]:
        """Where they begin: evenly spread, the first one with the file, the last one ends with it."""
        last = max(0, len(self.file) - tokens)
        return [last * number // (windows - 1) for number in range(windows)]

    def measure(self, parser: str, rate: float, start: int, tokens: int) -> Gaps:
        """One window: the writer has come to `start` and writes so many tokens more."""
        end = min(start + tokens, len(self.file))
        writer = Stream(self.tokenizer, parser, self.file)
        writer.skip_to(start)
        chat = (list(self.chat) * (tokens // len(self.chat) + 1))[: end - start]
        others = [Stream(self.tokenizer, parser, chat) for _ in range(NEIGHBOURS)]
        gaps = Gaps()

        async def window() -> None:
            making = asyncio.ensure_future(engine(rate, [writer, *others]))
            chats = [other.take_until(len(chat), _watch(gaps)) for other in others]
            await asyncio.gather(writer.take_until(end, lambda _: None), *chats)
            making.cancel()

        gc.collect()
        run(window())
        return gaps


def _watch(gaps: Gaps) -> Callable[[int], None]:
    """For one neighbour: notes the time since its last delta."""
    last: float | None = None

    def seen(tokens: int) -> None:
        nonlocal last
        now = asyncio.get_running_loop().time()
        if last is not None:
            gaps.seconds.append(now - last)
            gaps.tokens += tokens
        last = now

    return seen
