"""The command line as a whole: what holds for every command, whatever it does."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from toolwire import list_formats
from toolwire.cli import main, make_app

from .running import COMMAND, environment, in_a_terminal, run

# Each of them starts processes.
pytestmark = pytest.mark.slow

ESCAPE = "\x1b"
CALL = '<tool_call>{"name": "add", "arguments": {"a": 1}}</tool_call>'

#: All commands, from the application itself: a new one is tested as soon as it is there.
COMMANDS: dict[str, Any] = typer.main.get_command(make_app()).commands  # type: ignore[attr-defined]


def complaint(done: subprocess.CompletedProcess[str], code: int = 2) -> str:
    """The one sentence on stderr; nothing is on stdout then."""
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("toolwire: ")
    assert done.stderr.count("\n") == 1
    return done.stderr.removeprefix("toolwire: ")


def test_the_commands_are_there() -> None:
    assert {"formats", "parse", "template", "render", "gateway", "replay", "chat"} <= set(COMMANDS)


# -- help -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_with_an_example(
    name: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"Usage: toolwire {name}" in shown
    assert COMMANDS[name].help, "it does not say what it does"
    assert "Example: " in shown
    for parameter in COMMANDS[name].params:
        assert getattr(parameter, "help", None), f"{parameter.name} is not explained"


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_uses_what_exists(name: str) -> None:
    words = COMMANDS[name].epilog.partition("toolwire ")[2].split()
    assert words[0] == name
    options = {option for parameter in COMMANDS[name].params for option in parameter.opts}
    used = {word for word in words if word.startswith("--")}
    assert used <= options


def test_the_help_of_all_names_them_all(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["-h"]) == 0
    shown = capsys.readouterr().out
    assert [name for name in COMMANDS if f" {name} " not in shown] == []


# -- exit codes and errors ------------------------------------------------------------------------


def test_exit_codes() -> None:
    assert run("parse", "hermes", text=CALL).returncode == 0
    assert run("parse", "hermes", text=CALL[:-20]).returncode == 1
    assert run("parse", "no_such_format", text=CALL).returncode == 2
    assert run("--version").returncode == 0


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option_is_one_sentence(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--no-such-option"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("toolwire: No such option: --no-such-option")
    assert err.count("\n") == 1


def test_an_unknown_command_is_one_sentence() -> None:
    assert complaint(run("no-such-command")).startswith("No such command 'no-such-command'.")
    assert "'parse'" in complaint(run("pars"))
    assert complaint(run("--no-such-option")).startswith("No such option: --no-such-option")


def test_a_value_of_the_wrong_kind_is_one_sentence() -> None:
    assert "--chunk" in complaint(run("parse", "hermes", "--chunk", "many"))
    assert "--upstream" in complaint(run("gateway"))
    assert "tool-choice" in complaint(run("chat", "--tool-choice", "sometimes"))


def test_a_traceback_only_for_those_who_ask() -> None:
    complaint(run("parse", "hermes", "no-such-file"))
    shown = run("--debug", "parse", "hermes", "no-such-file")
    assert shown.returncode == 2
    assert shown.stderr.startswith("Traceback (most recent call last)")
    last = shown.stderr.splitlines()[-1]
    assert last == "toolwire: no-such-file can't be read: No such file or directory"


def broken(what: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """`toolwire formats` with a mistake of ours in it."""
    code = (
        "import sys, toolwire.commands.formats as f; from toolwire.cli import main\n"
        f"def list_formats(): raise {what}\n"
        "f.list_formats = list_formats; sys.exit(main(sys.argv[1:]))"
    )
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_a_mistake_of_ours_is_one_sentence_too() -> None:
    said = complaint(broken("RuntimeError('boom')", "formats"))
    assert said == "RuntimeError: boom (this is a mistake in toolwire; --debug shows where)\n"
    assert "in list_formats" in broken("RuntimeError('boom')", "--debug", "formats").stderr


def test_ctrl_c() -> None:
    done = broken("KeyboardInterrupt", "formats")
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_errors_do_not_command_a_terminal() -> None:
    assert r"\x1b[31mred" in complaint(run("parse", "hermes", f"{ESCAPE}[31mred"))


# -- pipes and terminals --------------------------------------------------------------------------

SHOWN = [["formats"], ["template", "--list"], ["--help"], ["parse", "--help"]]


@pytest.mark.parametrize("arguments", SHOWN)
def test_a_pipe_gets_no_escape_sequences(arguments: list[str]) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
    assert ESCAPE not in done.stdout


@pytest.mark.parametrize("arguments", SHOWN)
def test_a_terminal_does(arguments: list[str]) -> None:
    assert ESCAPE in in_a_terminal(*arguments)


@pytest.mark.parametrize("arguments", SHOWN[:2])
def test_a_terminal_without_colours(arguments: list[str]) -> None:
    plain = in_a_terminal(*arguments, NO_COLOR="1")
    assert plain == run(*arguments).stdout


@pytest.mark.parametrize("arguments", [["formats"], ["formats", "--json"], ["--help"]])
def test_a_closed_pipe_is_no_trouble(arguments: list[str]) -> None:
    """As in `toolwire formats | head -1`, when head has left already."""
    reading, writing = os.pipe()
    os.close(reading)
    with subprocess.Popen(
        [*COMMAND, *arguments], stdout=writing, stderr=subprocess.PIPE, env=environment()
    ) as process:
        os.close(writing)
        _, said = process.communicate()
    assert said == b""
    assert process.returncode not in (0, 2)


def test_head() -> None:
    command = f"{sys.executable} -m toolwire.cli formats | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("FAMILY ")
    assert done.stderr == ""


# -- completion -----------------------------------------------------------------------------------


def completions(line: str, shell: str = "bash") -> list[str]:
    """What a shell is told for a line that is not finished, as its script asks for it."""
    asked = {
        "_TOOLWIRE_COMPLETE": f"complete_{shell}",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(line.split(" ")) - 1),
        "_TYPER_COMPLETE_ARGS": line,
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    return run(**asked).stdout.split()


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("toolwire parse her", "hermes"),
        ("toolwire gateway --format her", "hermes"),
        ("toolwire replay x.json --format her", "hermes"),
        ("toolwire pars", "parse"),
        ("toolwire template chatml-her", "chatml-hermes"),
        ("toolwire chat --tool-choice req", "required"),
        ("toolwire parse --del", "--deltas"),
    ],
)
def test_completion(line: str, offered: str) -> None:
    assert completions(line) == [offered]


def test_completion_offers_every_format() -> None:
    assert set(completions("toolwire parse ")) >= set(list_formats(aliases=True))
    assert completions("toolwire parse no-such") == []


def test_completion_in_other_shells() -> None:
    assert "hermes" in completions("toolwire parse her", "fish")
    assert any('"hermes"' in line for line in completions("toolwire parse her", "zsh"))


def test_completion_in_a_real_bash(tmp_path: Path) -> None:
    """The script that `--show-completion bash` prints, run by bash."""
    bash = shutil.which("bash")
    assert bash is not None
    script = tmp_path / "completion.bash"
    # It is asked from a bash: typer looks which shell it was started by, and the tests may have none.
    asked = f"{shlex.join(COMMAND)} --show-completion bash; :"
    shown = subprocess.run(
        [bash, "-c", asked], capture_output=True, text=True, check=True, env=environment()
    )
    script.write_text(shown.stdout)
    (tmp_path / "toolwire").write_text(f'#!/bin/sh\nexec {sys.executable} -m toolwire.cli "$@"\n')
    (tmp_path / "toolwire").chmod(0o755)
    typed = (
        f". {script}; COMP_WORDS=(toolwire parse her); COMP_CWORD=2; _toolwire_completion toolwire;"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [bash, "-c", typed], capture_output=True, text=True, check=True, env=environment(PATH=path)
    )
    assert (done.stdout, done.stderr) == ("hermes\n", "")


@pytest.mark.slow
@pytest.mark.parametrize(
    "arguments",
    [
        ["formats", "--json"],
        ["parse", "hermes"],
        ["parse", "none"],
        ["--nonsense"],
        ["write", "hermes"],
    ],
)
def test_tests_ask_a_fork_and_get_what_a_process_would_say(arguments: list[str]) -> None:
    text = '[{"name": "add", "arguments": {"a": 1}}]'
    started = subprocess.run(
        [*COMMAND, *arguments],
        input=text,
        capture_output=True,
        encoding="utf-8",
        check=False,
        env=environment(),
    )
    asked = run(*arguments, text=text)
    assert (asked.returncode, asked.stdout, asked.stderr) == (
        started.returncode,
        started.stdout,
        started.stderr,
    )
