"""The page of `toolwire play`, in headless Chromium, in an environment with an engine: what the engine's
own parser makes of a text is shown beside ours."""

from __future__ import annotations

from pathlib import Path

from browsing import HERE, playing, see

CONTENT = "Hi. <img src=x onerror=alert(1)>"
CALL = '{"city": "Oslo"}'
TEXT = f'{CONTENT} <tool_call>\n{{"name": "get_weather", "arguments": {CALL}}}\n</tool_call>'
#: A format that no engine has a parser for.
UNKNOWN = "call_text"


def check_page(engine: str, parser: str, playwright: Path, folder: Path, *arguments: str) -> None:
    """`engine` as it is called on the page, `parser` as the engine calls the one for `hermes`."""
    with playing(folder, *arguments) as page:
        saw = see(HERE / "engine_check.mjs", playwright, page, engine, TEXT, UNKNOWN)
    assert (saw["errors"], saw["dialogs"], saw["made"]) == ([], 0, 0)
    assert saw["buttons"] == [f"Ask {engine}"]
    read = {"content": [CONTENT], "calls": [["get_weather", CALL]]}
    assert saw["readers"] == [
        {"who": f"{engine}'s own {parser}", **read},
        {"who": "toolwire, hermes", **read},
    ]
    assert saw["opened"] == saw["readers"]
    assert saw["forgotten"] == 0
    assert saw["unknown"] == f"{engine} has no parser of its own for {UNKNOWN}."
    assert saw["widths"] == [390, 820, 1400]
