"""`toolwire play`: a page that shows what becomes of a model's text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .gateway import extra


def play(
    capture: Annotated[
        Path | None,
        typer.Argument(
            metavar="CAPTURE",
            help="A captured exchange: of the gateway's debug page, or of an engine (TOOLWIRE_CAPTURE).",
        ),
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(metavar="FOLDER", help="A model: its tokenizer and its chat template."),
    ] = None,
    template: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A chat template by itself.")
    ] = None,
    host: Annotated[
        str, typer.Option(help="Where to listen. Anything but this machine lets others in.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 is any that is free.")] = 0,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
) -> int:
    """Open a page: paste what a model wrote, and see what becomes of each character.

    It shows events and OpenAI's deltas token by token, what is held back and why, what every format
    makes of the text, and what a chat template shows the model. Nothing leaves this machine, and no file
    is read but those named here.
    """
    with extra("toolwire play"):
        from ..play.given import read_given
        from ..play.serve import serve
    serve(read_given(capture, model, template), host, port, browser, typer.echo)
    return 0
