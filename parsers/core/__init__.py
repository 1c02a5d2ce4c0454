"""The incremental machine: text in, events out. No I/O, no clock, no threads, no ids.

Reading order: `events` (what comes out), `reader` (how text waits until it is decided), `literals`
(finding delimiters that may be cut in half), `jsontext` and `loose` (the two value readers; the
brackets of the second are in `containers`), `shapes/` (the ways to write a call), `driver` (prose,
blocks, and what follows a call), `parser`.
"""
