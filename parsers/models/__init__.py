"""What can be known of a model from its files, or from texts that it wrote, before it ever runs.

Reading order: `propose` (from texts and the calls in them to a format, and the proof), `guess_calls`
(which calls are in a text, where nobody says so); `files` and `gguf` (where a template and a vocabulary
come from), `rendering` (a stranger's template, made ready to be asked), `probes` (conversations with
calls that can be told apart), `reasoning` (how a template marks thoughts), `frames` (what stands between
turns), `readings` (which formats read what a template writes), `hints` (what one means that writes no
call), `detect` (which format a template shows), `special_tokens` (what of a format has to be a single
token), `doctor` (whether a model, a format and this installation fit together).
"""
