"""One streamed answer, without any I/O: bytes from the upstream in, bytes for the client out.

An event that needs no change goes on as it came; most are not even read as JSON (see `alike`).
"""

from __future__ import annotations

import logging
import sys
from collections import deque
from typing import Any

from ..openai.problems import failure
from ..openai.stream_normalize import ChatStream
from . import metrics
from .alike import Alike
from .budget import Account, Budget
from .capture import Captures
from .dialects import DIALECTS
from .exchange import Plan, no_call, recorder_for, settle
from .messages_errors import as_messages_error
from .settings import Settings
from .sse import DONE, EventSplitter, ServerEvent, data_of, frame, load_answer

Json = dict[str, Any]

#: How many events that wait are known as they came, and how long such a one is.
_WAITING, _SMALL = 4, 65_536
_DONE = b"data: " + DONE + b"\n\n"
_ENDINGS = (b"\n\n", b"\n\r\n", b"\r\r")
_FAILED = "The upstream reported an error"
_UNREADABLE = "The upstream sent a call in an event that can't be read"
_NOT_TRANSLATED = "The upstream sent an event that is too long to be translated"

_log = logging.getLogger("toolwire.gateway")


class StreamSession:
    """One streamed answer: bytes from the upstream in, bytes for the client out.

    `feed` and `finish` raise `OverBudget` where more would be held than the account allows; `give_up`
    has the last words then. Without an account, nothing is too much.
    """

    def __init__(
        self,
        plan: Plan,
        settings: Settings,
        capture: Captures | None,
        account: Account | None = None,
        retry: bool = False,
    ) -> None:
        self._dialect = DIALECTS[plan.api]
        self._must_call = plan.must_call
        self._retry = retry  # an answer without a call is asked for again, if one must come
        self._account = account or Budget(sys.maxsize).account()
        self._splitter = EventSplitter(min(settings.max_event, settings.max_exchange // 2))
        self._normalizer = self._dialect.stream(plan.policy, settings.mode, settings.emit)
        self._alike = Alike(self._normalizer)
        self._capture = capture
        self._recorder = recorder_for(plan, "stream", capture)
        self._reasoning = False  # whether thoughts went by
        self._done = False  # the upstream has said everything
        self._failed = False  # the client was told of an error, and gets no more
        self._tail = b""  # the end of what was sent of an event that is too long
        self._waiting: deque[tuple[Json, bytes]] = deque(maxlen=_WAITING)
        self._over = False

    def feed(self, data: bytes) -> bytes:
        """What to send for bytes that came in; may be nothing."""
        if self._splitter.between_events and (text := self._alike.text_of(data)):
            return self._treat_alike(data, text)  # as nearly always
        return self._treat(self._splitter.feed(data))

    def _treat_alike(self, raw: bytes, text: str) -> bytes:
        """The same for an event that brings nothing but text, as others before it. Itself, where it goes
        on as it came, and nothing more is held than before."""
        if self._recorder is not None:
            self._recorder.came(raw)
        if self._failed:
            return b""
        passes = self._alike.passes(text)
        if passes and self._recorder is None:
            return raw
        pieces = [raw] if passes else self._read(ServerEvent(raw, data_of(raw)))
        self._account.hold(self.held)
        return self._sent(pieces)

    @property
    def held(self) -> int:
        """About how many bytes are held for this answer."""
        recorded = self._recorder.size if self._recorder is not None else 0
        return self._splitter.held + self._normalizer.held + recorded

    @property
    def calls(self) -> int:
        """How many calls were sent."""
        return self._normalizer.calls

    @property
    def disobeyed(self) -> bool:
        """Whether the answer came to its end without a call that had to come."""
        return self._must_call and self._done and not self._failed and not self.calls

    @property
    def between_events(self) -> bool:
        """Whether something may be put behind what was sent so far."""
        return not self._splitter.passing

    def finish(self) -> bytes:
        """The upstream ended its stream."""
        rest = self._treat(self._splitter.finish())
        if not self._done:
            last = self._normalizer.finish()
            self._failed = self._failed or any(map(_is_error, last))
            self._done = True
            rest += self._sent(self._frames(last))
        self._close()
        return rest

    def die(self, message: str) -> bytes:
        """The upstream broke off: what was held of the text goes out, then an error event."""
        if self._done:  # it had said everything, and only failed to hang up properly
            self._close()
            return b""
        return self._end_with(self._last_words(), message, "upstream_error")

    def _last_words(self) -> list[bytes]:
        """What may still be sent of an answer that broke off."""
        return self._frames(self._normalizer.finish(died=True))

    def give_up(self, message: str) -> bytes:
        """Too much would have to be held: nothing of it goes out but an error event."""
        _log.warning("stream: %s", message)
        return self._end_with([], message, "over_budget")

    def _end_with(self, pieces: list[bytes], message: str, kind: str) -> bytes:
        last = self._sent([*pieces, self._error(message, kind)])
        self._close()
        return last

    def _error(self, message: str, kind: str = "upstream_error") -> bytes:
        return frame(self._dialect.error(message, kind), "error")

    def abandon(self) -> None:
        """The client is gone: what was found so far still counts."""
        self._close()

    def _close(self) -> None:
        if self._over:
            return
        self._over = True
        normalizer = self._normalizer
        found, calls = normalizer.findings, normalizer.calls
        if self.disobeyed:
            found = [*found, no_call(self._retry)]
        settle("stream", found, calls, self._recorder, self._capture, self._reasoning)

    def _treat(self, events: list[ServerEvent]) -> bytes:
        pieces: list[bytes] = []
        taken = 0  # bytes, since it was counted what is held
        for event in events:
            if self._recorder is not None:
                self._recorder.came(event.raw)
            pieces += self._pieces(event)
            taken += len(event.raw)
            if taken > _SMALL:
                taken = 0
                self._account.hold(self.held)
        self._account.hold(self.held)
        return self._sent(pieces)

    def _sent(self, pieces: list[bytes]) -> bytes:
        if self._recorder is not None:
            for piece in pieces:
                self._recorder.went(piece)
        return b"".join(pieces)

    def _pieces(self, event: ServerEvent) -> list[bytes]:
        """What one event becomes; its own bytes where it needs no change."""
        if self._failed:
            return []  # nothing counts behind an error
        if event.too_long:
            return self._pass_unread(event)
        text = self._alike.text_of(event.raw)
        if event.data is None or (text and self._alike.passes(text)):
            return [event.raw]
        return self._read(event)

    def _read(self, event: ServerEvent) -> list[bytes]:
        """The same for one that has to be looked into."""
        dialect = self._dialect
        if event.done:
            self._done = True
            last = self._finish_normally()
            self._failed = any(_is_error(chunk) for chunk in last)
            # Clients look for it as it should be.
            plain = event.raw if event.data == DONE else _DONE
            unsaid = self._failed or dialect.translates
            return self._frames(last) + ([] if unsaid else [plain])
        chunk, fit = load_answer(event.data or b"")
        if chunk is None or (dialect.reads_chat and "choices" not in chunk and event.named_error):
            return self._odd_pieces(event, chunk)
        if dialect.reads_chat and chunk.get("error"):
            self._failed = self._done = True
        out = self._normalizer.feed(chunk)
        if dialect.ends and any(one.get("type") in dialect.ends for one in out):
            self._done = True
            self._failed = self._failed or (dialect.speaks_messages and any(map(_is_error, out)))
        self._reasoning = self._reasoning or metrics.have_reasoning(out, chunk, event.raw)
        if fit and not out and len(event.raw) < _SMALL:
            self._waiting.append((chunk, event.raw))
        if fit and len(out) == 1 and out[0] is chunk:
            self._alike.learn(event.raw, chunk)
            return [event.raw]
        return [event.raw if one is chunk and fit else self._bytes(one) for one in out]

    def _bytes(self, chunk: Json) -> bytes:
        """A chunk as it came, if it only had to wait for others; else as it is now."""
        for waiting, raw in self._waiting:
            if waiting is chunk:
                return raw
        return self._frame(chunk)

    def _finish_normally(self) -> list[Json]:
        if isinstance(self._normalizer, ChatStream):
            return self._normalizer.finish(done=True)
        return self._normalizer.finish()

    def _odd_pieces(self, event: ServerEvent, chunk: Json | None) -> list[bytes]:
        """An event that is no chunk: an error that not every client would notice, or anything else."""
        if not event.named_error:
            return self._pass_unread(event)
        pieces = self._last_words()
        self._failed = self._done = True
        if self._dialect.translates:
            return [*pieces, frame(as_messages_error(chunk or failure(_FAILED)), "error")]
        pieces.append(event.raw)
        return pieces if chunk and chunk.get("error") else [*pieces, self._error(_FAILED)]

    def _pass_unread(self, event: ServerEvent) -> list[bytes]:
        """The bytes of an event that can't be read, unless there is a call in it: that can't be checked,
        so the client is told."""
        seen = self._tail + event.raw
        self._tail = b"" if not event.too_long or event.raw.endswith(_ENDINGS) else event.raw[-16:]
        translates = self._dialect.translates
        has_call = self._dialect.calls.search(seen) is not None
        if not has_call and not (translates and event.too_long):
            return [] if translates else [event.raw]
        self._normalizer.finish(died=True)
        self._failed = self._done = True
        begun = event.too_long and len(seen) > len(event.raw)  # some of it was sent
        return [
            b"\n\n" if begun else b"",
            self._error(_UNREADABLE if has_call else _NOT_TRANSLATED),
        ]

    def _frames(self, chunks: list[Json]) -> list[bytes]:
        return [self._frame(chunk) for chunk in chunks]

    def _frame(self, chunk: Json) -> bytes:
        if self._dialect.named:
            return frame(chunk, str(chunk.get("type")))
        return frame(chunk, "error" if chunk.get("error") else None)


def _is_error(chunk: Json) -> bool:
    return bool(chunk.get("error")) or chunk.get("type") == "error"
