"""The incremental machine: text in, events out. No I/O, no clock, no threads, no ids.

Reading order: `window` (how text waits until it is decided), `sinks` and `outgoing` (where it goes
then), `literals` and `delimiters` (finding delimiters that may be cut in half), `layout`, `shape` and
`format` (a format as data), `jsontext` and `loose` (the two value readers; the brackets of the second
are in `containers`), `block` and `driver` (prose, blocks, and what follows a call), `parser`. How calls
of each shape are read is in `shapes/`.

In a wheel these modules may be compiled, as setup.py says. Nothing may depend on whether they are.
"""

from . import window as _window

#: Whether the core of this installation is compiled. It does the same, quicker.
COMPILED = not str(_window.__file__).endswith(".py")
