"""What a tool parser costs SGLang: microseconds a token, on the event loop that serves every client.

    .venvs/sglang/bin/python benchmarks/sglang_parsers.py [--sizes 1000 4000 16000] [--json FILE]
                                                          [--plot FILE] [--check]

Each parser is given the same thing, a call with one long string argument, token by token through
SGLang's own `FunctionCallParser.parse_stream_chunk`. All is measured in one run, round by round in
turn, and the median of the rounds counts. The floor are two detectors that do nothing but pass every
token on, as text or as a piece of a call's arguments: the very objects of SGLang's that ours gives.

Most of SGLang's own detectors take time that grows with the square of the length. A slow one gets
fewer rounds, and one that takes too long is broken off: its figure is then an estimate, marked "≈".
Some of them are quick because they keep a value back until it has ended and then send it whole; the
table says so, and `--check` does not count them as rivals.
"""

from __future__ import annotations

import engine_table

if __name__ == "__main__":
    engine_table.main("sglang", __doc__, times_floor=2.0)
