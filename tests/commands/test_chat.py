"""`toolwire chat` in a pipe, against a real server that is scripted."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from toolwire.commands.chat_tools import TOOLS
from toolwire.play.given import read_given
from toolwire.replay.exchanges import read_exchange, replay_exchange

from ..gateway.conftest import Server, upstream_server
from ..gateway.scripted_answers import THOUGHT
from ..ports import free_port
from .running import run_in

# Each of them starts processes.
pytestmark = pytest.mark.slow

Chat = Callable[..., subprocess.CompletedProcess[str]]

QUESTION = "What is the weather?\n"


@pytest.fixture(scope="module")
def upstream() -> Iterator[Server]:
    server = upstream_server().start()
    yield server
    server.kill()


def run(*arguments: str, text: str, **environment: str) -> subprocess.CompletedProcess[str]:
    settings = {k: v for k, v in os.environ.items() if not k.startswith("OPENAI_")}
    settings |= {"NO_PROXY": "127.0.0.1"} | environment
    return run_in(Path.cwd(), settings, "chat", *arguments, text=text)


@pytest.fixture
def chat(upstream: Server) -> Chat:
    def ask(
        model: str | None, *more: str, text: str = QUESTION, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        chosen = ["--model", model] if model else []
        url = f"{upstream.url}/v1"
        return run("--base-url", url, *chosen, *more, text=text, **environment)

    return ask


def rows(shown: str) -> list[tuple[str, str]]:
    """Labels and texts, without the events."""
    found = re.findall(r"^ *(\S+)  (.*)$", shown, re.MULTILINE)
    return [(label, text) for label, text in found if not label.startswith("+")]


def complaint(done: subprocess.CompletedProcess[str], code: int = 1) -> str:
    """The one sentence of a chat that did not go well."""
    assert done.returncode == code
    assert done.stderr.startswith("toolwire: ")
    assert done.stderr.count("\n") == 1
    return done.stderr.removeprefix("toolwire: ").rstrip("\n")


def test_a_call_its_result_and_the_answer(chat: Chat) -> None:
    done = chat(None)
    assert (done.returncode, done.stderr) == (0, "")
    account = re.compile(r"\d+ events in [\d.]+ s")
    assert [(label, account.sub("…", text)) for label, text in rows(done.stdout)] == [
        ("you", "What is the weather?"),
        ("model", "weather>tell, the first of 3; --model chooses"),
        ("call", 'get_weather {"city": "Oslo"} c1'),
        ("end", "tool_calls, 1 + 2 tokens, …"),
        ("result", "Oslo: -3 °C, snow"),
        ("text", "Oslo: -3 °C, snow"),  # the scripted model repeats what it was sent
        ("end", "stop, 1 + 2 tokens, …"),
    ]


def test_the_events_are_shown_as_they_came(chat: Chat) -> None:
    shown = chat("weather>tell").stdout
    events = re.findall(r"^ *\+[\d.]+s  (.*)$", shown, re.MULTILINE)
    assert json.loads(events[0]) == {"role": "assistant", "content": None}
    pieces = [json.loads(event) for event in events if "tool_calls" in event]
    arguments = [p["tool_calls"][0]["function"]["arguments"] for p in pieces if "tool_calls" in p]
    assert "".join(arguments) == '{"city": "Oslo"}'
    assert {"finish_reason": "stop"} in map(json.loads, events)
    assert shown.index(events[0]) < shown.index("get_weather {") < shown.index("result")


def test_without_the_events(chat: Chat) -> None:
    done = chat("plain", "--no-raw")
    assert [label for label, _ in rows(done.stdout)] == ["you", "text", "end", "note"]
    assert "+0." not in done.stdout
    assert "Grüße, 世界!" in done.stdout


def test_why_there_may_be_no_call_is_said_once(chat: Chat) -> None:
    """Not where tools were not sent, where the model has called, or where the answer was cut off."""
    twice = QUESTION * 2

    def said(*arguments: str) -> int:
        return chat(*arguments, "--no-raw", text=twice).stdout.count("no tool was called")

    assert said("plain") == 1
    assert said("plain", "--tool-choice", "none") == 0
    assert said("plain", "--body", '{"tools": []}') == 0
    assert said("weather>tell") == 0
    assert said("cut") == 0


def request_of(done: subprocess.CompletedProcess[str], number: int = -1) -> dict[str, object]:
    texts = [text for label, text in rows(done.stdout) if label == "text"]
    return dict(json.loads(texts[number]))


def test_what_is_sent(chat: Chat) -> None:
    more = ["--body", '{"temperature": 0, "seed": 7}', "--tool-choice", "required", "--no-raw"]
    done = chat("weather>request", *more, text="One\n\nTwo\n")
    first, second = request_of(done, 0), request_of(done, 1)
    assert (first["temperature"], first["seed"], first["stream"]) == (0, 7, True)
    assert first["tool_choice"] == "auto"  # it had to call, and did: now it may answer
    assert [t["function"]["name"] for t in first["tools"]] == [  # type: ignore[index,attr-defined]
        "get_weather",
        "calculate",
        "get_time",
    ]
    messages = second["messages"]
    assert isinstance(messages, list)
    roles = ["user", "assistant", "tool", "assistant", "user", "assistant", "tool"]
    assert [message["role"] for message in messages] == roles
    assert messages[2] == {"role": "tool", "tool_call_id": "c1", "content": "Oslo: -3 °C, snow"}


@pytest.mark.parametrize("choice", ["auto", "none", "required"])
def test_the_tool_choice_of_the_first_answer(choice: str, chat: Chat) -> None:
    done = chat("request", "--no-raw", "--tool-choice", choice)
    assert request_of(done)["tool_choice"] == choice


def test_commands_work_in_a_pipe_too(chat: Chat) -> None:
    text = "One\n/clear\n/tools\n/help\n/raw\n/nonsense\nTwo\n/quit\nThree\n"
    done = chat("request", "--no-raw", text=text)
    assert complaint(done) == "There is no command '/nonsense': /help lists them"
    assert request_of(done)["messages"] == [{"role": "user", "content": "Two"}]
    for said in ("get_weather(city, unit)", "Ctrl-D", "are shown", "+0."):
        assert said in done.stdout
    assert "Three" not in done.stdout


def test_odd_servers_are_understood(chat: Chat) -> None:
    done = chat("kilo>tell", "--no-raw")
    calls = [text for label, text in rows(done.stdout) if label == "call"]
    assert calls == ['add {"a": 1} c1', "noargs {} c2", 'add {"a": 1, "é": "日本"} c3']
    assert "There is no tool 'noargs'. There are: get_weather, calculate" in done.stdout
    assert done.returncode == 0
    again = chat("parallel>tell", "--no-raw")
    assert ("note", "the call of 'noargs' repeats the id of another call") in rows(again.stdout)


def test_a_model_that_does_not_stop_calling(chat: Chat) -> None:
    done = chat("weather", "--no-raw", "--max-rounds", "3")
    assert "3 times in a row" in complaint(done)
    assert done.stdout.count("result") == 3


def test_arguments_that_are_not_json(chat: Chat) -> None:
    done = chat("malformed", "--no-raw")
    said = "The arguments of 'add' are not valid JSON: the model did not finish them."
    assert complaint(done) == said
    assert ("call", 'add {"a": oops c1') in rows(done.stdout)


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("plain+status401", "wants an API key (status 401: no; use --api-key or OPENAI_API_KEY)"),
        ("plain+status404", "refused the request (status 404: no)"),
        ("plain+status500", "refused the request (status 500: no)"),
        ("plain+die", "The stream broke off: "),
        ("chunked+cutoff+done", "The stream broke off: The upstream's answer ended without"),
        ("plain+error", "The server reported an error: out of memory"),
        ("plain+refuse9", "gave no answer: "),
        ("echo", "sent application/json and no stream of events: is the base URL right?"),
    ],
)
def test_a_server_in_trouble(model: str, said: str, chat: Chat) -> None:
    assert said in complaint(chat(model, "--no-raw"))


def test_what_came_of_a_broken_stream_is_shown(chat: Chat) -> None:
    done = chat("plain+die", "--no-raw")
    (text,) = [text for label, text in rows(done.stdout) if label == "text"]
    assert "Grüße, 世界!".startswith(text)
    assert 0 < len(text) < 10


def test_a_failed_question_leaves_the_conversation_as_it_was(chat: Chat) -> None:
    done = chat("request+status503x1", "--no-raw", text="One\nTwo\n")
    assert "status 503" in complaint(done)
    assert request_of(done)["messages"] == [{"role": "user", "content": "Two"}]


def test_a_server_that_is_down() -> None:
    url = f"http://127.0.0.1:{free_port()}/v1"
    for model in ([], ["--model", "m"]):
        said = complaint(run("--base-url", url, *model, text=QUESTION))
        assert said.startswith(f"No server answers at {url}: ")


def test_a_server_without_models(upstream: Server) -> None:
    url = f"{upstream.url}/v1/none"
    said = complaint(run("--base-url", url, text=QUESTION))
    assert said == f"{url} does not say which models it has: use --model"


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://x/v1", "http://", "http://x:y/v1"])
def test_a_wrong_base_url_is_wrong_use(url: str) -> None:
    said = complaint(run("--base-url", url, text=QUESTION), code=2)
    assert said == f"--base-url is {url!r}: use a URL like http://127.0.0.1:8000/v1"


@pytest.mark.parametrize(("body", "said"), [("{", "is not JSON"), ("[1]", "a JSON object")])
def test_a_wrong_body_is_wrong_use(body: str, said: str, chat: Chat) -> None:
    assert said in complaint(chat("plain", "--body", body), code=2)


def test_the_key(chat: Chat) -> None:
    assert chat("plain+key", "--api-key", "right").returncode == 0
    assert chat("plain+key", OPENAI_API_KEY="right").returncode == 0
    refused = chat("plain+key", "--api-key", "very-wrong")
    assert "refuses the API key (status 401: Wrong key.)" in complaint(refused)
    assert "very-wrong" not in refused.stderr + refused.stdout
    assert "characters that can't be sent" in complaint(chat("plain", "--api-key", "é"), code=2)


def test_a_password_in_the_url_is_not_shown(upstream: Server) -> None:
    url = upstream.url.replace("//", "//somebody:very-secret@") + "/v1"
    done = run("--base-url", url, "--model", "plain+status500", text=QUESTION)
    assert "very-secret" not in complaint(done) + done.stdout


def test_others_text_does_not_command_a_terminal(chat: Chat) -> None:
    done = chat("tell", text="\x1b[31mred\x07\n")
    assert "\x1b" not in done.stdout
    assert ("text", r"\x1b[31mred\x07") in rows(done.stdout)


def test_stdin_that_is_not_text(upstream: Server) -> None:
    command = [sys.executable, "-m", "toolwire.cli", "chat", "--base-url", f"{upstream.url}/v1"]
    done = subprocess.run(command, input=b"\xff\xfe\n", capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr == b"toolwire: stdin can't be read: it is not UTF-8 text\n"


def test_without_its_package_it_is_one_clear_sentence() -> None:
    code = (
        "import sys; sys.modules['httpx2'] = None; from toolwire.cli import main;"
        "sys.exit(main(['chat']))"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, input="", capture_output=True, text=True, check=False)
    said = 'toolwire: toolwire chat needs httpx2: pip install "toolwire[gateway]"\n'
    assert (done.returncode, done.stderr) == (2, said)


def test_thoughts_stand_by_themselves_and_go_back_with_their_calls(chat: Chat) -> None:
    done = chat("pondering>request", "--no-raw")
    assert (done.returncode, done.stderr) == (0, "")
    shown = done.stdout
    first, *more = THOUGHT.split("\n")
    assert f"  thought  {first}\n" + "".join(f"           {line}\n" for line in more) in shown
    labels = [label for label, _ in rows(shown)]
    assert labels.index("thought") < labels.index("call") < labels.index("text")
    (request,) = [text for label, text in rows(shown) if label == "text"]
    asked = json.loads(request)["messages"][1]
    assert asked["reasoning"] == THOUGHT
    assert asked["tool_calls"][0]["function"]["name"] == "get_weather"


def test_answers_are_saved_for_replay(chat: Chat, tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    done = chat(None, "--save", str(file))
    assert done.returncode == 0
    kept = json.loads(file.read_text(encoding="utf-8"))["items"]
    assert len(kept) == 2, "the call, and the answer to its result"
    assert read_exchange(file) == kept[0], "the newest is the first"
    call = "".join(replay_exchange(kept[1]))
    assert "get_weather" in call
    assert {tool["function"]["name"] for tool in kept[1]["tools"]} == set(TOOLS)


def test_a_text_that_was_saved_is_played(chat: Chat, tmp_path: Path) -> None:
    file = tmp_path / "kept.json"
    done = chat("text", "--save", str(file))
    given = read_given(file, None, None).exchange
    assert given is not None
    assert given["text"] == dict(rows(done.stdout))["text"]


def test_a_file_that_cannot_be_written_is_said_at_once(chat: Chat, tmp_path: Path) -> None:
    done = chat(None, "--save", str(tmp_path))
    assert complaint(done, 2) == f"{tmp_path} can't be written: Is a directory"
