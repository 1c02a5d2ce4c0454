"""`toolwire play` as a user runs it: the command, and the page in headless Chromium."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import toolwire
from toolwire.engines.capture import ROUTE, as_stream
from toolwire.formats.toml_specs import load_formats

from ..browser.browsing import playing, playwright, see
from ..commands.running import run

__all__ = ["playwright"]  # a fixture

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).with_name("play_check.mjs")
GIVEN_SCRIPT = Path(__file__).with_name("given_check.mjs")
#: One that says how many messages there are: nothing of it is kept in the next turn.
COUNTING = "{{ messages|length }}{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
HOSTILE = '</pre><script>alert(1)</script><img src=x onerror="alert(2)">\u202e\0 &lt;b&gt; {{7*7}}'
CALL = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
LARGE = CALL.replace("Oslo", "a line of text\\n" * 70_000)
#: As large, of small calls.
MANY = 1_000_000 // len(CALL)


def see_page(script: Path, playwright: Path, page: str, folder: Path, given: dict[str, str]) -> Any:
    """What a script saw of the page."""
    file = _file(folder / "given.json", json.dumps(given))
    return see(script, playwright, page, str(file))


def test_the_page(playwright: Path, tmp_path: Path) -> None:
    given = {
        "hostile": HOSTILE,
        "call": CALL,
        "large": LARGE,
        "many": "".join(CALL.replace("Oslo", f"{i:04}") for i in range(MANY)),
    }
    with playing(tmp_path) as page:
        saw = see_page(SCRIPT, playwright, page, tmp_path, given)
    assert saw["errors"] == []
    assert saw["dialogs"] == saw["storage"] == 0
    assert {f"http://{host}/" for host in saw["hosts"]} == {page}
    assert saw["example"]["content"] == ["Let me look it up."]
    assert saw["example"]["call"] == ['{"city": "Oslo", "days": 3}']
    assert saw["example"]["name"] == ["get_weather"]
    assert len(saw["example"]["reasoning"]) == 1
    assert saw["empty"] == {"finish": "", "shown": ""}
    assert saw["hostile"]["made"] == 0
    assert saw["hostile"]["signs"] == ["U+202E", "U+0000"]
    assert saw["hostile"]["shown"] == HOSTILE
    assert saw["hostile"]["content"] == [HOSTILE]
    assert saw["held"]["text"] == saw["held"]["spans"][0] == CALL[:28]
    assert saw["held"]["why"].startswith("It may be a call")
    assert saw["held"]["calls"] == []
    assert saw["played"] == ['{"city": "Oslo"}']
    assert json.loads(saw["deltas"][0])["tool_calls"][0]["function"]["name"] == "get_weather"
    assert any("name" in problem for problem in saw["problems"])
    assert saw["places"] == ['"bad name"', '{"type": "function"}', "]"]
    assert any(row.startswith("hermes\t1 (get_weather)\tnone") for row in saw["compared"])
    check_copies(saw["copied"], tmp_path)
    assert saw["again"]["text"] == CALL
    assert saw["again"]["lines"][1:] == saw["deltas"][1:]  # but for the id
    check_large(saw["large"])
    check_many(saw["many"])
    assert saw["phone"] == [390, 390]
    template = saw["template"]
    assert "get_weather" in "".join(template["tools"])
    assert template["names"] == ["get_weather"]
    assert "Rain, 4 degrees" in "".join(template["results"])
    assert all("is kept" in one for one in template["next"])
    assert "toolwire_hermes" in template["detect"]
    assert template["probes"] > 0


def model_folder(folder: Path) -> Path:
    """A model whose tokens are words."""
    from tokenizers import Tokenizer, models, pre_tokenizers

    folder.mkdir()
    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(folder / "tokenizer.json"))
    _file(folder / "chat_template.jinja", f"words {COUNTING}")
    return folder


def test_what_the_command_line_gives(playwright: Path, tmp_path: Path) -> None:
    exchange = {"route": ROUTE, "stage": "stream", "format": "hermes", "tools": []}
    exchange["raw"] = as_stream([CALL[:5], CALL[5:12], CALL[12:]])
    arguments = [
        str(_file(tmp_path / "capture.json", json.dumps(exchange))),
        *("--model", str(model_folder(tmp_path / "tiny"))),
        *("--template", str(_file(tmp_path / "own.jinja", COUNTING))),
    ]
    given = {"hostile": HOSTILE, "call": CALL}
    with playing(tmp_path, *arguments) as page:
        saw = see_page(GIVEN_SCRIPT, playwright, page, tmp_path, given)
    assert (saw["errors"], saw["dialogs"]) == ([], 0)
    tokens = "Tokens are those of tiny."
    assert saw["exchange"] == {"text": CALL, "format": "hermes", "steps": "3", "tokens": tokens}
    assert saw["places"] == [
        f"12 of {len(CALL)}",
        f"{len(CALL)} of {len(CALL)}",
        f"12 of {len(CALL)}",
    ]
    assert saw["typed"] == "2"
    assert saw["compared"]
    assert saw["picked"] == {"format": "glm45", "chosen": ["glm45"]}
    assert saw["notices"] == [
        "The address names a template that is not here, file: gone.jinja: this is model: tiny.",
        "model: tiny",
        "The address does not say anything that can be shown: here is an example.",
    ]
    assert saw["forgotten"] == 0
    assert saw["templates"][:2] == ["model: tiny", "file: own.jinja"]
    assert saw["model"]["prompt"].startswith("words 4[system]")
    assert saw["file"]["prompt"].startswith("4[system]")
    assert all("The prompt changes after 0 characters" in one for one in saw["file"]["next"])
    assert saw["parser"] == "Parser\tnone"
    assert "Read back by" in saw["probe"]
    assert HOSTILE in saw["hostile"]["prompt"]
    assert saw["hostile"]["made"] == 0
    assert "not JSON" in saw["wrong"]
    assert saw["wrongShown"] == 0
    assert saw["widths"] == [390, 820, 1400]


def check_large(saw: dict[str, Any]) -> None:
    """What is drawn of a large text is bounded, and said; the slider moves through all of it."""
    for drawn in saw.values():
        assert "are drawn" in drawn["drawn"]
        assert drawn["nodes"] < 5000
    assert saw["middle"]["drawn"] != saw["end"]["drawn"] == saw["again"]["drawn"]
    assert saw["end"]["calls"] == saw["again"]["calls"] != saw["middle"]["calls"]


def check_many(saw: dict[str, Any]) -> None:
    """Of many calls the first and the last ones are drawn."""
    assert (saw.pop("problems"), saw.pop("event")) == (
        0,
        f"CallEnd(index={MANY - 1}, complete=true)",
    )
    check_large(saw)
    first = [f'{{"city": "{i:04}"}}' for i in range(50)]
    assert all(
        drawn["calls"][:50] == first and len(drawn["calls"]) == 100 for drawn in saw.values()
    )
    assert saw["end"]["calls"][50:] == [f'{{"city": "{i}"}}' for i in range(MANY - 50, MANY)]
    assert saw["end"]["left"] == [f"… {MANY - 100:,} of {MANY:,} calls are not drawn …"]
    assert saw["end"]["left"] == saw["again"]["left"]
    assert len({*saw["middle"]["left"], *saw["next"]["left"], *saw["end"]["left"]}) == 3


def check_copies(copied: dict[str, str], tmp_path: Path) -> None:
    """What was copied does what it is for."""
    test = tmp_path / "test_copied.py"
    test.write_text(copied["test"])
    quiet = ["-q", "-p", "no:cacheprovider", "-n", "0"]
    subprocess.run([sys.executable, "-m", "pytest", *quiet, test], check=True, cwd=tmp_path)
    renamed = copied["toml"].replace("hermes", "copied_from_the_page")
    (spec,) = load_formats(renamed, "copied.toml")
    assert toolwire.parse(spec, CALL).tool_calls[0].name == "get_weather"
    replayed = run("replay", str(_file(tmp_path / "capture.json", copied["replay"])), "--json")
    assert json.loads(replayed.stdout)["differing"] == []


def _file(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_it_says_that_its_port_is_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = run("play", "--no-browser", "--port", str(port), text="")
    assert done.returncode == 2
    assert f"Nothing can listen on 127.0.0.1, port {port}: choose another --port" in done.stderr
    assert "Traceback" not in done.stderr
