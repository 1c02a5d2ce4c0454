"""The incremental machine: text in, events out. No I/O, no clock, no threads, no ids.

Reading order: `events` (what comes out), `reader` (how text waits until it is decided), `literals`
(finding delimiters that may be cut in half), `shapes` and `spec` (a format as data), `jsontext` and
`loose` (the two value readers; the brackets of the second are in `containers`), `reading/` (how each
shape is read), `driver` (prose, blocks, and what follows a call), `parser`.

In a wheel these modules may be compiled, as setup.py says. Nothing may depend on whether they are.
"""
