"""`toolwire chat` in a real terminal: typed at, looked at, interrupted."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import pytest

from ..gateway.conftest import Server, upstream_server
from ..gateway.scripted_answers import THOUGHT
from ..ports import free_port

pytestmark = pytest.mark.slow

#: Seconds after which a terminal is not waited for any longer. No test takes anything like it.
TOO_LONG = 600


class Terminal:
    """A terminal of 100 by 80 characters, with a command in it. tmux draws it as a screen would."""

    def __init__(self, command: list[str]) -> None:
        self._folder = tempfile.TemporaryDirectory()
        shown = f"trap : INT; {shlex.join(command)}; echo ended with $?; exec sleep {TOO_LONG * 2}"
        size = ["-x", "100", "-y", "80"]
        self._tmux("-f", os.devnull, "new-session", "-d", *size, "sh", "-c", shown)

    def _tmux(self, *arguments: str) -> str:
        command = ["tmux", "-u", "-S", f"{self._folder.name}/socket", *arguments]
        environment = {k: v for k, v in os.environ.items() if k not in ("TMUX", "NO_COLOR")}
        environment |= {"LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "NO_PROXY": "127.0.0.1"}
        done = subprocess.run(command, check=True, capture_output=True, env=environment)
        return done.stdout.decode()

    def type(self, text: str) -> None:
        self._tmux("send-keys", "-l", text)

    def press(self, key: str) -> None:
        self._tmux("send-keys", key)

    def screen(self, *, colours: bool = False) -> str:
        return self._tmux("capture-pane", "-p", *(["-e"] if colours else []))

    def wait(self, until: Callable[[str], bool]) -> str:
        """The screen, as soon as it shows what is waited for."""
        give_up = time.monotonic() + TOO_LONG
        while time.monotonic() < give_up:
            screen = self.screen()
            if until(screen):
                return screen
            time.sleep(0.05)
        raise AssertionError(f"the terminal does not show it:\n{self.screen()}")

    def wait_for(self, text: str) -> str:
        return self.wait(lambda screen: text in screen)

    def wait_for_prompt(self) -> str:
        """The prompt, with nothing typed, is the last thing on the screen."""
        return self.wait(lambda screen: screen.rstrip().endswith("\n      you"))

    def close(self) -> None:
        self._tmux("kill-server")
        self._folder.cleanup()


@pytest.fixture(scope="module")
def upstream() -> Iterator[Server]:
    server = upstream_server().start()
    yield server
    server.kill()


@pytest.fixture
def start() -> Iterator[Callable[..., Terminal]]:
    """Starts a chat in a terminal."""
    started: list[Terminal] = []

    def start(url: str, *options: str) -> Terminal:
        command = [sys.executable, "-m", "toolwire.cli", "chat", "--base-url", f"{url}/v1"]
        started.append(Terminal([*command, *options]))
        return started[-1]

    yield start
    for terminal in started:
        terminal.close()


def test_a_conversation(start: Callable[..., Terminal], upstream: Server) -> None:
    terminal = start(upstream.url)
    greeting = terminal.wait_for_prompt()
    assert "weather>tell, the first of 3; --model chooses" in greeting
    terminal.type("What is the weatherXX")
    terminal.press("BSpace")
    terminal.press("BSpace")
    terminal.press("Enter")
    screen = terminal.wait_for("end  stop")
    assert "you  What is the weather\n" in screen
    assert '{"content": "s"}' in screen
    assert "result  Oslo: -3 °C, snow" in screen
    assert "text  Oslo: -3 °C, snow" in screen
    assert "\x1b[" in terminal.screen(colours=True)

    terminal.wait_for_prompt()
    terminal.press("Up")  # the last line comes back
    terminal.wait(lambda screen: screen.rstrip().endswith("you  What is the weather"))
    terminal.press("C-c")  # … and is not sent
    terminal.wait_for_prompt()
    terminal.type("/help\n")
    terminal.wait_for("so does Ctrl-D")
    terminal.wait_for_prompt()
    terminal.press("C-d")
    terminal.wait_for("ended with 0")


def test_an_answer_is_stopped(start: Callable[..., Terminal], upstream: Server) -> None:
    terminal = start(upstream.url, "--model", "plain+stall")
    terminal.wait_for_prompt()
    terminal.type("Hello?\n")
    terminal.wait_for('{"content": "ü"}')
    growing = terminal.wait(lambda screen: "text  Grü" in screen)
    assert "世界" not in growing
    terminal.press("C-c")
    terminal.wait_for("stopped; this question is forgotten")
    screen = terminal.wait_for_prompt()
    assert "text  Grü" in screen  # what came of it stays
    assert "Traceback" not in screen
    terminal.type("/quit\n")
    terminal.wait_for("ended with 0")


def test_thoughts_grow_dimmed_and_apart(start: Callable[..., Terminal], upstream: Server) -> None:
    terminal = start(upstream.url, "--model", "pondering+stall")
    terminal.wait_for_prompt()
    terminal.type("Hello?\n")
    growing = terminal.wait(lambda screen: "thought  Grö" in screen)
    assert THOUGHT[-10:] not in growing
    terminal.press("C-c")
    terminal.wait_for("stopped; this question is forgotten")
    shown = [line for line in terminal.screen(colours=True).split("\n") if "thought" in line]
    assert shown
    assert all("\x1b[2" in line.partition("Grö")[0] for line in shown)  # dim


def test_a_server_that_comes_later(start: Callable[..., Terminal]) -> None:
    port = free_port()
    terminal = start(f"http://127.0.0.1:{port}")
    terminal.wait_for(f"toolwire: No server answers at http://127.0.0.1:{port}/v1")
    terminal.wait_for_prompt()
    terminal.type("Hello?\n")
    terminal.wait(lambda screen: screen.count("No server answers") == 2)
    terminal.wait_for_prompt()
    command = [sys.executable, "-m", "tests.gateway.scripted_upstream", str(port)]
    server = Server(command, port).start()
    try:
        terminal.type("Hello?\n")
        terminal.wait_for("result  Oslo: -3 °C, snow")
    finally:
        server.kill()
