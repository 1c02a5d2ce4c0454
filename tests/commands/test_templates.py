"""`toolwire template` and `toolwire render`, as a user runs them."""

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from toolwire import templates
from toolwire.cli import main
from toolwire.openai import sentences as messages

from .running import COMMAND, in_a_terminal

ROOT = Path(__file__).resolve().parents[2]
CHAT = [{"role": "user", "content": "Grüße \x1b[31m<|im_end|>"}]
PROMPT = "<|im_start|>user\nGrüße \x1b[31m<|im_end|><|im_end|>\n<|im_start|>assistant\n"
TOOLS = [{"type": "function", "function": {"name": "ring_bell"}}]

Captured = pytest.CaptureFixture[str]


def chat_file(folder: Path, content: Any) -> str:
    path = folder / "chat.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    return str(path)


def complaint(captured: Captured) -> str:
    """The one line on stderr; nothing may be on stdout then."""
    out, err = captured.readouterr()
    assert out == ""
    assert err.startswith("toolwire: ")
    assert err.count("\n") == 1
    return err


def test_a_template_is_its_path(capsys: Captured) -> None:
    assert main(["template", "chatml-hermes"]) == 0
    path = Path(capsys.readouterr().out.removesuffix("\n"))
    assert path.is_absolute()
    assert path.read_text(encoding="utf-8") == templates.get_template("chatml-hermes").text()


def test_show_prints_the_text_itself(capsys: Captured) -> None:
    assert main(["template", "deepseek-call_text", "--show"]) == 0
    assert capsys.readouterr().out == templates.get_template("deepseek-call_text").text()


def test_list_names_frame_style_parser_and_models(capsys: Captured) -> None:
    assert main(["template", "--list"]) == 0
    header, *rows = capsys.readouterr().out.splitlines()
    assert header.split() == ["TEMPLATE", "FRAME", "STYLE", "PARSER", "MODELS"]
    assert len(rows) == len(templates.list_templates())
    first = ["chatml-hermes", "chatml", "hermes", "toolwire_hermes", "Qwen2.5,"]
    assert rows[0].split()[:5] == first


def test_list_as_json(capsys: Captured) -> None:
    assert main(["template", "--list", "--json"]) == 0
    entries = json.loads(capsys.readouterr().out)
    names = [template.name for template in templates.list_templates()]
    assert [entry["name"] for entry in entries] == names
    assert {"frame", "style", "models", "parser", "format", "path"} <= entries[0].keys()


def test_one_as_json(capsys: Captured) -> None:
    assert main(["template", "phi-json", "--json"]) == 0
    entry = json.loads(capsys.readouterr().out)
    assert (entry["name"], entry["parser"]) == ("phi-json", "toolwire_json")
    assert "text" not in entry
    assert main(["template", "phi-json", "--json", "--show"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown["text"] == templates.get_template("phi-json").text()


def test_a_wrong_name_lists_the_right_ones_nearest_first(capsys: Captured) -> None:
    assert main(["template", "lama3-calltext"]) == 2
    assert "There are: llama3-call_text, " in complaint(capsys)
    assert main(["render", "chatml-hermse", "chat.json"]) == 2
    assert "There are: chatml-hermes, " in complaint(capsys)


@pytest.mark.parametrize("arguments", [["template"], ["template", "phi-json", "--list"]])
def test_a_name_or_the_list(arguments: list[str], capsys: Captured) -> None:
    assert main(arguments) == 2
    assert "or --list" in complaint(capsys)


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["render"], ["render", "phi-json"], ["template", "--nonsense"]]
)
def test_wrong_use_is_one_sentence(arguments: list[str], capsys: Captured) -> None:
    assert main(arguments) == 2
    complaint(capsys)


def test_render_shows_what_the_model_sees(tmp_path: Path, capsys: Captured) -> None:
    assert main(["render", "chatml-hermes", chat_file(tmp_path, CHAT)]) == 0
    assert capsys.readouterr().out == PROMPT


def test_render_takes_a_request_body(tmp_path: Path, capsys: Captured) -> None:
    request = {"model": "any", "messages": CHAT, "tools": TOOLS}
    assert main(["render", "chatml-hermes", chat_file(tmp_path, request)]) == 0
    rendered = capsys.readouterr().out
    assert rendered == templates.render("chatml-hermes", CHAT, TOOLS, add_generation_prompt=True)
    assert "ring_bell" in rendered


def test_render_without_the_beginning_of_an_answer(tmp_path: Path, capsys: Captured) -> None:
    path = chat_file(tmp_path, CHAT)
    assert main(["render", "chatml-hermes", path, "--no-generation-prompt"]) == 0
    expected = PROMPT.removesuffix("<|im_start|>assistant\n")
    assert capsys.readouterr().out == expected
    request = {"messages": CHAT, "add_generation_prompt": False}
    assert main(["render", "chatml-hermes", chat_file(tmp_path, request)]) == 0
    assert capsys.readouterr().out == expected


def test_render_goes_on_with_the_last_message(tmp_path: Path, capsys: Captured) -> None:
    chat = [*CHAT, {"role": "assistant", "content": "Hel"}]
    path = chat_file(tmp_path, chat)
    assert main(["render", "chatml-hermes", path, "--continue-final-message"]) == 0
    assert capsys.readouterr().out == PROMPT + "Hel"
    request = {"messages": chat, "continue_final_message": True}
    assert main(["render", "chatml-hermes", chat_file(tmp_path, request)]) == 0
    assert capsys.readouterr().out == PROMPT + "Hel"


def test_a_conversation_that_cannot_be_rendered_is_a_finding(
    tmp_path: Path, capsys: Captured
) -> None:
    path = chat_file(tmp_path, [{"role": "critic", "content": "Hm."}])
    assert main(["render", "chatml-hermes", path]) == 1
    assert messages.UNKNOWN_ROLE.format(role="critic") in complaint(capsys)


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("5", "not a conversation"),
        ('["Hi"]', "not a conversation"),
        ('{"tools": []}', "not a conversation"),
        ('{"messages": [], "tools": 5}', '"tools"'),
    ],
)
def test_a_file_that_is_no_conversation(
    content: str, word: str, tmp_path: Path, capsys: Captured
) -> None:
    path = tmp_path / "chat.json"
    path.write_text(content, encoding="utf-8")
    assert main(["render", "chatml-hermes", str(path)]) == 2
    assert word in complaint(capsys)


def test_a_file_that_cannot_be_read(tmp_path: Path, capsys: Captured) -> None:
    assert main(["render", "chatml-hermes", str(tmp_path / "missing.json")]) == 2
    assert "missing.json can't be read" in complaint(capsys)
    (tmp_path / "binary.json").write_bytes(b"\xff\xfe")
    assert main(["render", "chatml-hermes", str(tmp_path / "binary.json")]) == 2
    assert "not UTF-8" in complaint(capsys)


def test_text_that_is_no_unicode_is_still_printed(tmp_path: Path, capsys: Captured) -> None:
    chat = [{"role": "user", "content": "half \ud83d of a pair"}]
    assert main(["render", "chatml-hermes", chat_file(tmp_path, chat)]) == 0
    assert "half ? of a pair" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [["--help"], ["template", "--help"], ["render", "--help"]])
def test_help_has_an_example(arguments: list[str], capsys: Captured) -> None:
    assert main(arguments) == 0
    assert "Example: " in capsys.readouterr().out


def test_alone_it_shows_its_help(capsys: Captured) -> None:
    assert main([]) == 0
    assert "Usage: toolwire" in capsys.readouterr().out


def test_version() -> None:
    shown = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert shown.stdout.startswith("toolwire ")


def test_it_reads_stdin_and_writes_plain_bytes_into_a_pipe() -> None:
    rendered = subprocess.run(
        [*COMMAND, "render", "chatml-hermes", "-"],
        input=json.dumps(CHAT).encode(),
        capture_output=True,
        check=True,
    )
    assert rendered.stdout == PROMPT.encode()
    assert rendered.stderr == b""


def test_markers_are_coloured_on_a_terminal(tmp_path: Path) -> None:
    path = chat_file(tmp_path, [{"role": "user", "content": "Hi"}])
    coloured = in_a_terminal("render", "chatml-hermes", path)
    assert "\x1b[36m\x1b[1m<|im_start|>\x1b[0muser\nHi" in coloured
    plain = in_a_terminal("render", "chatml-hermes", path, NO_COLOR="1")
    assert plain == "<|im_start|>user\nHi<|im_end|>\n<|im_start|>assistant\n"


def test_an_installed_package_finds_its_own_templates(tmp_path: Path) -> None:
    package = tmp_path / "toolwire"
    shutil.copytree(ROOT / "parsers", package, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "chat_templates").mkdir()
    for pattern in ("*.jinja", "*.json"):
        for path in (ROOT / "chat_templates").glob(pattern):
            shutil.copy(path, package / "chat_templates")
    shown = subprocess.run(
        [*COMMAND, "template", "gemma-call_text"],
        capture_output=True,
        text=True,
        check=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert shown.stdout == f"{package / 'chat_templates' / 'gemma-call_text.jinja'}\n"


def test_render_hands_over_what_a_request_says_of_thinking(
    tmp_path: Path, capsys: Captured
) -> None:
    thoughtful = [{"role": "assistant", "content": "Hello", "reasoning_content": "Hm."}, *CHAT]
    for more in (
        {"chat_template_kwargs": {"enable_thinking": False}},
        {"reasoning_effort": "none"},
    ):
        assert (
            main(["render", "chatml-hermes", chat_file(tmp_path, {"messages": CHAT} | more)]) == 0
        )
        assert capsys.readouterr().out == PROMPT + "<think>\n\n</think>\n\n"
    assert main(["render", "chatml-hermes", chat_file(tmp_path, thoughtful)]) == 0
    assert "<think>\nHm.\n</think>\n\nHello" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("given", "sentence"), [(5, "must be an object"), ({"tools": []}, "say it in the request")]
)
def test_variables_that_no_server_takes(
    given: Any, sentence: str, tmp_path: Path, capsys: Captured
) -> None:
    request = {"messages": CHAT, "chat_template_kwargs": given}
    assert main(["render", "chatml-hermes", chat_file(tmp_path, request)]) == 2
    assert sentence in complaint(capsys)
