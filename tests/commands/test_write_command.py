"""`toolwire write`, and formats as files: `toolwire formats --export`, `--schema`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from toolwire import get_format, list_formats
from toolwire.cli import main
from toolwire.formats.toml_specs import load_formats
from toolwire.formats.toml_text import read_toml

CALL = {"name": "get_weather", "arguments": {"city": "Oslo"}}
KIMI = (
    "<|tool_calls_section_begin|><|tool_call_begin|>functions.get_weather:0"
    '<|tool_call_argument_begin|>{"city": "Oslo"}<|tool_call_end|><|tool_calls_section_end|>'
)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    shown = capsys.readouterr()
    return code, shown.out, shown.err


def save(folder: Path, text: str) -> str:
    (folder / "calls.json").write_text(text, encoding="utf-8")
    return str(folder / "calls.json")


@pytest.mark.parametrize(
    "given",
    [
        [CALL],
        CALL,
        {"role": "assistant", "tool_calls": [{"id": "x", "type": "function", "function": CALL}]},
    ],
)
def test_calls_are_written(given: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = save(tmp_path, json.dumps(given, indent=1))
    assert run(capsys, "write", "kimi_k2", file) == (0, f"{KIMI}\n", "")
    code, out, _ = run(capsys, "write", "kimi_k2", file, "--json")
    assert (code, json.loads(out)) == (0, {"text": KIMI})


def test_each_of_json_lines_is_a_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = f"{json.dumps([CALL])}\n\n{json.dumps([CALL, CALL])}\n"
    code, out, _ = run(capsys, "write", "kimi_k2", save(tmp_path, lines))
    first, second = map(json.loads, out.splitlines())
    assert (code, first, second["text"].count("functions.get_weather:1")) == (0, {"text": KIMI}, 1)
    monkeypatch.setattr("sys.stdin", (tmp_path / "calls.json").open(encoding="utf-8"))
    assert run(capsys, "write", "kimi_k2") == (0, out, "")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("{", "calls.json is not JSON: "),
        ("[]\n[\n[]", "calls.json, line 2: this is not JSON: "),
        ('[{"name": 5}]', "calls[0] has no name"),
        (
            '[]\n[{"name": "f", "arguments": []}]',
            "calls.json, line 2: calls[0], a call to 'f': its",
        ),
        ('"f(x)"', "write() takes a list of calls, not str."),
    ],
)
def test_mistakes_are_one_sentence(
    text: str, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, said = run(capsys, "write", "hermes", save(tmp_path, text))
    assert code == 2
    assert sentence in said
    assert said.count("\n") == 1


def test_the_tools_say_what_would_be_read_otherwise(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = save(tmp_path, '[{"name": "f", "arguments": {"a": "null"}}]')
    assert run(capsys, "write", "glm47", file)[0] == 0
    properties = {"a": {"type": ["string", "null"]}}
    function = {"name": "f", "parameters": {"type": "object", "properties": properties}}
    tools = tmp_path / "tools.json"
    tools.write_text(json.dumps([{"type": "function", "function": function}]), encoding="utf-8")
    code, _, said = run(capsys, "write", "glm47", file, "--tools", str(tools))
    assert (code, "can't write the argument 'a' of 'f'" in said) == (2, True)


# -- formats as files -----------------------------------------------------------------------------


def test_every_format_is_written_as_a_file_that_reads_back_equal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "a" / "formats"
    code, out, _ = run(capsys, "formats", "--export", str(folder))
    assert (code, out) == (0, f"{len(list_formats())} formats are in {folder}.\n")
    files = sorted(folder.iterdir())
    assert [file.stem for file in files] == list_formats()
    for file in files:
        assert load_formats(file.read_text(encoding="utf-8"), file.name) == [get_format(file.stem)]
    code, _, said = run(capsys, "formats", "--export", str(folder))
    assert (code, "is there already: choose another folder." in said) == (2, True)
    code, _, said = run(capsys, "formats", "--export", str(files[0] / "inside"))
    assert (code, "can't be written to" in said) == (2, True)


def test_the_schema_takes_what_is_read_and_refuses_mistakes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "formats", "--schema")
    assert code == 0
    schema = json.loads(out)
    check = jsonschema.Draft202012Validator(schema)
    check.check_schema(schema)
    run(capsys, "formats", "--export", str(tmp_path / "all"))
    texts = [file.read_text(encoding="utf-8") for file in (tmp_path / "all").iterdir()]
    texts += [
        'name = "x"\nlike = "hermes"\nwrappers = {open = "<x>"}',
        'name = "x"\nshape = "call_text"',
        '[[format]]\nname = "x"\nlike = "hermes"\n[[format]]\nname = "y"\nlike = "x"',
    ]
    for text in texts:
        check.validate(read_toml(text, "file"))
    for text in (
        'like = "hermes"',
        'name = "x"\nnames = "y"',
        'name = "x"\n[layout]\ncall_begins = "x"',
        'name = "x"\n[shape]\nkind = "json"',
        'name = "x"\n[layout]\nid = {place = "here"}',
    ):
        assert not check.is_valid(read_toml(text, "file")), text
