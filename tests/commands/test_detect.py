"""`toolwire detect`, as a user runs it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from toolwire.core.samples import Sample
from toolwire.formats.toml_specs import load_formats
from toolwire.models.propose import proven
from toolwire.templates import get_template

from ..models import gguf_files
from ..models.invented import TEMPLATES
from ..models.odd_templates import AKIN
from .running import run as run_command

# Each of them starts processes.
pytestmark = pytest.mark.slow

FAMILIES = Path(__file__).parents[1] / "models" / "families"


def run(*arguments: str | Path) -> subprocess.CompletedProcess[str]:
    return run_command("detect", *map(str, arguments))


def model(folder: Path, template: str) -> Path:
    folder.mkdir(exist_ok=True)
    config = {"chat_template": template, "bos_token": "<s>", "eos_token": "</s>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def text_of(name: str) -> str:
    return (FAMILIES / f"{name}.jinja").read_text(encoding="utf-8")


def complaint(done: subprocess.CompletedProcess[str]) -> str:
    """The one line that goes with a wrong use."""
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr.startswith("toolwire: ")
    assert done.stderr.count("\n") == 1
    return done.stderr


def test_a_models_folder(tmp_path: Path) -> None:
    folder = model(tmp_path / "my model", text_of("qwen25-hermes"))
    done = run(folder)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["parser", "toolwire_hermes"]
    assert lines[1] == "template  the model's own, in tokenizer_config.json"
    assert any(line.startswith("It writes a call as '<tool_call>") for line in lines)
    assert lines[-2:] == [
        f"vllm serve '{folder}' --enable-auto-tool-choice --tool-call-parser toolwire_hermes",
        f"sglang serve --model-path '{folder}' --tool-call-parser toolwire_hermes",
    ]
    assert "\x1b" not in done.stdout


def test_a_template_by_itself() -> None:
    path = get_template("llama3-pythonic").path
    done = run(path)
    assert done.returncode == 0
    assert (
        f"vllm serve MODEL --enable-auto-tool-choice --tool-call-parser toolwire_pythonic "
        f"--chat-template {path}" in done.stdout
    )


def test_json_for_programs(tmp_path: Path) -> None:
    done = run(model(tmp_path, text_of("kimik2-kimi_k2")), "--json")
    assert done.returncode == 0
    answer = json.loads(done.stdout)
    assert (answer["parser"], answer["formats"][0]) == ("toolwire_kimi_k2", "kimi_k2")
    assert (answer["template"], answer["proposal"]) == (None, None)
    assert answer["shows_tools"] is True
    assert answer["vllm"].startswith("vllm serve ")
    assert answer["sglang"].startswith("sglang serve ")
    assert answer["why"]


def test_nothing_fits_and_what_to_do(tmp_path: Path) -> None:
    folder = model(tmp_path, text_of("none-gemma"))
    done = run(folder)
    assert done.returncode == 1
    assert done.stdout.startswith("parser    none\n")
    assert "does not show tools" in done.stdout
    assert (
        '--tool-call-parser toolwire_call_text --chat-template "$(toolwire template gemma-call_text)"'
        in done.stdout
    )
    answer = json.loads(run(folder, "--json").stdout)
    assert (answer["parser"], answer["template"]) == (None, "gemma-call_text")


def test_a_frame_that_nobody_knows(tmp_path: Path) -> None:
    done = run(model(tmp_path, text_of("none-alpaca")))
    assert done.returncode == 1
    assert "in a way of its own" in done.stdout
    assert "vllm serve" not in done.stdout


def test_calls_without_tools_come_with_a_second_way(tmp_path: Path) -> None:
    done = run(model(tmp_path, text_of("deepseekr1-deepseek_v3")))
    assert done.returncode == 0
    assert "--tool-call-parser toolwire_deepseek_v3" in done.stdout
    assert (
        'toolwire_call_text --chat-template "$(toolwire template deepseek-call_text)"'
        in done.stdout
    )


def test_a_model_without_template(tmp_path: Path) -> None:
    tokens = ["a", "<|im_start|>", "<|im_end|>"]
    entries = [("tokenizer.ggml.tokens", gguf_files.ARRAY, (gguf_files.STRING, tokens))]
    done = run(gguf_files.write(tmp_path / "model.gguf", entries))
    assert done.returncode == 1
    assert "no chat template" in done.stdout
    assert "chatml-call_text" in done.stdout


def test_a_gguf_file(tmp_path: Path) -> None:
    entries = gguf_files.model("nothing", ["<s>", "</s>"], tool_use=text_of("glm45-glm45"))
    done = run(gguf_files.write(tmp_path / "model.gguf", entries))
    assert done.returncode == 0
    assert done.stdout.startswith("parser    toolwire_glm45\n")


def test_a_new_format_is_written_and_works(tmp_path: Path) -> None:
    folder = model(tmp_path / "My-Model 7B", TEMPLATES["pipes"])
    shown = run(folder)
    assert shown.returncode == 0
    assert shown.stdout.startswith("parser    toolwire_my_model_7b\n")
    assert "TOOLWIRE_FORMATS=my_model_7b.toml vllm serve" in shown.stdout

    spec_file = tmp_path / "pipes.toml"
    done = run(folder, "--write-spec", spec_file)
    assert done.returncode == 0
    assert f"TOOLWIRE_FORMATS={spec_file} vllm serve" in done.stdout
    (spec,) = load_formats(spec_file.read_text(encoding="utf-8"), "pipes.toml")
    assert spec.name == "pipes"
    assert proven(spec, [Sample('§call|add|{"a": 1}§end\n', (("add", {"a": 1}),))])
    assert "exists already" in complaint(run(folder, "--write-spec", spec_file))


def test_a_new_format_is_one_that_the_parsers_then_know(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = model(tmp_path / "model", TEMPLATES["react"])
    assert run(folder, "--write-spec", tmp_path / "react.toml").returncode == 0
    monkeypatch.setenv("TOOLWIRE_FORMATS", str(tmp_path / "react.toml"))
    answer = json.loads(run(folder, "--json").stdout)
    assert (answer["parser"], answer["proposal"]) == ("toolwire_react", None)


def test_no_file_is_written_for_a_format_that_is_there(tmp_path: Path) -> None:
    folder = model(tmp_path / "model", text_of("qwen25-hermes"))
    done = run(folder, "--write-spec", tmp_path / "new.toml")
    assert done.returncode == 0
    assert "toolwire has the format already, it is hermes" in done.stderr
    assert not (tmp_path / "new.toml").exists()


def test_a_file_that_cannot_be_written(tmp_path: Path) -> None:
    folder = model(tmp_path / "model", TEMPLATES["pipes"])
    assert "can't be written" in complaint(run(folder, "--write-spec", tmp_path / "no" / "x.toml"))


def test_wrong_use(tmp_path: Path) -> None:
    assert "is no folder and no file" in complaint(run(tmp_path / "missing"))
    assert "is no model's folder" in complaint(run(tmp_path))
    assert "Missing argument" in complaint(run())
    (tmp_path / "broken.gguf").write_bytes(b"GGUF\x03\0\0\0")
    assert "is no GGUF file that can be read" in complaint(run(tmp_path / "broken.gguf"))
    (tmp_path / "broken.jinja").write_text("{% if %}", encoding="utf-8")
    assert "The chat template can't be read" in complaint(run(tmp_path / "broken.jinja"))


def test_a_template_cannot_command_the_terminal(tmp_path: Path) -> None:
    template = TEMPLATES["pipes"].replace("§call", "\x1b[31m§call")
    done = run(model(tmp_path, template))
    assert "\x1b" not in done.stdout + done.stderr


def test_help_has_an_example() -> None:
    assert "Example: toolwire detect" in run("--help").stdout


def test_how_thoughts_are_marked(tmp_path: Path) -> None:
    switch = (
        "{%- if enable_thinking | default(true) %}<think>\n{% else %}<think></think>{% endif %}"
    )
    prompt = f"{{%- if add_generation_prompt %}}{switch}{{% endif %}}"
    folder = model(tmp_path, text_of("qwen25-hermes") + prompt)
    lines = run(folder).stdout.splitlines()
    assert lines[2] == (
        "reasoning think: '<think>' … '</think>', opened by the prompt, "
        "off with enable_thinking=false"
    )
    flags = "--tool-call-parser toolwire_hermes --reasoning-parser toolwire_think"
    assert lines[-2:] == [
        f"vllm serve {folder} --enable-auto-tool-choice {flags}",
        f"sglang serve --model-path {folder} {flags}",
    ]
    answer = json.loads(run(folder, "--json").stdout)
    assert answer["reasoning"] == {
        "markers": ["<think>", "</think>"],
        "opened": True,
        "switch": "enable_thinking",
        "off": False,
        "off_by_default": False,
        "style": "think",
    }
    assert answer["reasoning_parser"] == "toolwire_think"
    assert answer["vllm"] == lines[-2]
    silent = run(model(tmp_path, text_of("qwen25-hermes")))
    assert not any(line.startswith("reasoning") for line in silent.stdout.splitlines())
    assert "--reasoning-parser" not in silent.stdout


def test_thoughts_that_are_marked_as_in_no_style(tmp_path: Path) -> None:
    marked = "{%- if message.reasoning %}{{- '<muse>' ~ message.reasoning ~ '</muse>' }}{% endif %}"
    begin = "{{- '<|im_start|>assistant' }}"
    template = text_of("qwen25-hermes").replace(begin, begin + marked)
    done = run(model(tmp_path, template), "--json")
    answer = json.loads(done.stdout)
    assert answer["reasoning"]["markers"] == ["<muse>", "</muse>"]
    assert (answer["reasoning"]["style"], answer["reasoning_parser"]) == (None, None)
    assert "--reasoning-parser" not in answer["vllm"] + answer["sglang"]


def test_a_template_of_ours_does_not_tell_whether_the_model_thinks() -> None:
    done = run(get_template("chatml-hermes").path)
    assert "reasoning think: '<think>' … '</think>'" in done.stdout
    assert "--reasoning-parser" not in done.stdout


def test_a_template_of_ours_is_started_with_the_models_reasoning_parser(tmp_path: Path) -> None:
    thinks = "{%- if add_generation_prompt %}<think>\n{% endif %}"
    done = run(model(tmp_path, text_of("none-chatml") + thinks))
    flags = "--reasoning-parser toolwire_think --chat-template"
    assert sum(flags in line for line in done.stdout.splitlines()) == 2
    silent = run(model(tmp_path, text_of("none-chatml")))
    assert "--reasoning-parser" not in silent.stdout


def test_a_template_that_only_hints_at_its_format(tmp_path: Path) -> None:
    done = run(model(tmp_path, AKIN), "--json")
    assert done.returncode == 0
    answer = json.loads(done.stdout)
    assert (answer["parser"], answer["hinted"]) == ("toolwire_lfm2", True)
