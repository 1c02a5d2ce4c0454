"""Server-sent events, wherever the bytes were cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire.gateway.sse import EventSplitter, dump, frame, load_object

STREAM = (
    'data: {"a": "日本 é"}\n\n: ping\n\nevent: x\ndata: 1\ndata: 2\n\nid: 5\n\ndata:3\n\n'.encode()
)
DATA = ['{"a": "日本 é"}'.encode(), None, b"1\n2", None, b"3"]


def split(pieces: list[bytes], limit: int = 1000) -> list[tuple[bytes, bytes | None]]:
    splitter = EventSplitter(limit)
    events = [event for piece in pieces for event in splitter.feed(piece)] + splitter.finish()
    return [(event.raw, event.data) for event in events]


@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_one_byte_at_a_time_and_all_at_once(end: bytes) -> None:
    stream = STREAM.replace(b"\n", end)
    whole = split([stream])
    assert [data for _, data in whole] == DATA
    assert b"".join(raw for raw, _ in whole) == stream
    assert split([bytes([byte]) for byte in stream]) == whole


@given(st.lists(st.integers(0, len(STREAM)), max_size=10), st.sampled_from([b"\n", b"\r\n"]))
def test_any_cut_gives_the_same(places: list[int], end: bytes) -> None:
    stream = STREAM.replace(b"\n", end)
    edges = [0, *sorted(places), len(stream)]
    pieces = [stream[i:j] for i, j in itertools.pairwise(edges)]
    assert split(pieces) == split([stream])


def test_the_last_event_may_be_open() -> None:
    assert split([b"data: 1\n\ndata: 2"]) == [(b"data: 1\n\n", b"1"), (b"data: 2", b"2")]


@given(st.lists(st.integers(1, 60), max_size=40))
def test_a_long_event_passes_in_pieces(sizes: list[int]) -> None:
    stream = b"data: 1\n\ndata: " + b"x" * 500 + b"\n\ndata: 2\n\n"
    pieces, at = [], 0
    for size in sizes:
        pieces.append(stream[at : at + size])
        at += size
    events = split([*pieces, stream[at:]], limit=100)
    assert b"".join(raw for raw, _ in events) == stream
    known = [data for _, data in events if data is not None and data != b"x" * 500]
    assert known == [b"1", b"2"]


def test_a_long_event_is_not_held() -> None:
    splitter = EventSplitter(1000)
    held = 0
    for _ in range(1000):
        held += 100 - sum(len(event.raw) for event in splitter.feed(b"x" * 100))
        assert held <= 1100
    assert all(event.too_long for event in splitter.feed(b"\n\n"))


def test_json_of_all_kinds() -> None:
    assert load_object(b'{"a": 1}') == {"a": 1}
    for text in (b"[1]", b"{", b"\xff", b"[" * 100_000, b'{"a": ' + b"9" * 5000 + b"}"):
        assert load_object(text) is None
    assert dump({"a": "é"}) == '{"a":"é"}'.encode()
    assert load_object(dump({"a": "\ud800"})) == {"a": "\ud800"}
    assert frame({}, "error") == b"event: error\ndata: {}\n\n"
