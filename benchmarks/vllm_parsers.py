"""What a tool parser costs vLLM: microseconds a token, on the event loop that serves every client.

    .venvs/vllm/bin/python benchmarks/vllm_parsers.py [--sizes 1000 4000 16000] [--json FILE]
                                                      [--plot FILE] [--check]

Each parser is given the same thing, a call with one long string argument, token by token through
vLLM's own `DelegatingParser.parse_delta`. All is measured in one run, round by round in turn, and
the median of the rounds counts. The floor are two parsers that do nothing but build the message:
one sends every token as text, one as a piece of a call's arguments.

Most built-in parsers take time that grows with the square of the length. A slow one gets fewer
rounds, and one that takes too long is broken off: its figure is then an estimate, marked "≈".
"""

from __future__ import annotations

import engine_table

if __name__ == "__main__":
    engine_table.main("vllm", __doc__, times_floor=1.5)
