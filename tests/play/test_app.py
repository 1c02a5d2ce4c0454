"""The page's server by itself: who may ask, what is answered, and what is read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from toolwire import ToolwireError, list_formats
from toolwire.cli import main
from toolwire.engines.capture import as_stream
from toolwire.play.app import create_app
from toolwire.play.given import Given, read_given

from ..support import TOOLS

CALL = '<tool_call>\n{"name": "add", "arguments": {"a": 1}}\n</tool_call>'
ROUTE = "/v1/chat/completions"


def client(given: Given | None = None, host: str = "127.0.0.1") -> TestClient:
    return TestClient(create_app(given or Given(), host), base_url="http://127.0.0.1:1")


def ask(name: str, given: Given | None = None, **asked: Any) -> Any:
    headers = {"content-type": "application/json"}
    answer = client(given).post(f"/{name}", content=json.dumps(asked), headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.0.0.1:80", "localhost:9", "[::1]:9", "10.0.0.7"]
)
def test_an_address_is_taken(host: str) -> None:
    assert client().get("/", headers={"host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1.evil.example", ""])
def test_others_names_are_refused(host: str) -> None:
    for path in ("/", "/start"):
        answer = client().get(path, headers={"host": host})
        assert answer.status_code == 403
    assert client().post("/trace", json={}, headers={"host": host}).status_code == 403
    assert client(host="evil.example").get("/", headers={"host": host or "x"}).status_code in (
        200,
        403,
    )


def test_a_name_that_was_said_is_taken() -> None:
    assert client(host="box.local").get("/", headers={"host": "box.local:8"}).status_code == 200


def test_a_question_that_another_site_could_send_is_refused() -> None:
    answer = client().post("/trace", content="{}", headers={"content-type": "text/plain"})
    assert answer.status_code == 415


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("[", "not JSON"),
        ("[]", "JSON object"),
        ('{"text": 5}', "must be a string"),
        ('{"text": "", "format": "nope"}', "nope"),
    ],
)
def test_a_question_that_makes_no_sense_gets_a_sentence(body: str, said: str) -> None:
    headers = {"content-type": "application/json"}
    answer = client().post("/trace", content=body, headers=headers)
    assert answer.status_code == 400
    assert said in answer.json()["error"]


def test_the_page_is_one_file() -> None:
    answer = client().get("/")
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert "/*view." not in answer.text
    assert "src=" not in answer.text.replace("view.", "")


def test_half_a_pair_of_surrogates_is_text() -> None:
    body = '{"text": "a\\ud83d", "format": "hermes"}'
    answer = client().post("/trace", content=body, headers={"content-type": "application/json"})
    assert answer.json()["message"]["content"] == "a\ud83d"


def test_tools_with_problems_are_said() -> None:
    told = ask("trace", text=CALL, format="hermes", tools="[{]")
    assert "not JSON" in told["tools"][0]["problem"]
    assert "as if there were no tools" in told["tools"][-1]["problem"]
    told = ask("trace", text=CALL, format="hermes", tools='[{"type": "function"}]')
    assert told["tools"][0]["place"].startswith("tools[0]")
    assert told["calls"][0]["name"] == "add"


def test_all_formats_are_compared() -> None:
    told = ask("compare", text=CALL, tools=json.dumps(TOOLS))
    found = {row["format"]: row for row in told["rows"]}
    assert told["formats"] == len(list_formats())
    assert found["hermes"] == {"format": "hermes", "calls": ["add"], "problems": 0, "left": 0}
    assert "kimi_k2" not in found


def test_an_engine_that_is_not_here_is_said() -> None:
    told = ask("engine", text=CALL, format="hermes", engine="sglang")
    assert told["problem"]
    assert told["calls"] == []


def test_a_template_and_the_next_turn(tmp_path: Path) -> None:
    chat = {"messages": [{"role": "user", "content": "1+1?"}], "tools": TOOLS}
    told = ask("prompt", template="chatml-qwen3_coder", conversation=json.dumps(chat))
    kinds = {kind: text for text, kind in told["parts"]}
    assert "write_file" in kinds["tools"]
    assert "1+1?" in kinds["user"]
    assert told["detect"]["format"] == "qwen3_coder"
    assert told["probes"][0]["formats"]
    assert [turn["kept"] for turn in told["next"]] == [True, True]
    # One that shows thoughts, or counts, only in the last turn.
    file = tmp_path / "own.jinja"
    file.write_text(
        "{{ messages|length }}{% for m in messages %}[{{ m.role }}]{{ m.content }}{% endfor %}"
    )
    given = read_given(None, None, file)
    told = ask("prompt", given, template="file: own.jinja", conversation=json.dumps(chat))
    assert [turn["kept"] for turn in told["next"]] == [False, False]
    assert told["detect"]["format"] is None


def test_turns_that_are_shown_anew_are_of_nobody(tmp_path: Path) -> None:
    """A prompt in which nothing of the turns before is kept: it would all be the last message's."""
    file = tmp_path / "own.jinja"
    file.write_text("{{ messages|length }}{% for m in messages %}[{{ m.content }}]{% endfor %}")
    said = [{"role": "user", "content": "1+1?"}, {"role": "assistant", "content": "2"}]
    asked = {"template": "file: own.jinja", "conversation": json.dumps(said)}
    told = ask("prompt", read_given(None, None, file), **asked)
    assert told["parts"] == [["2[1+1?][2]", "prompt"]]


def test_only_what_was_named_is_read() -> None:
    chat = json.dumps([{"role": "user", "content": "?"}])
    asked = {"template": "/etc/passwd", "conversation": chat}
    answer = client().post("/prompt", json=asked)
    assert answer.status_code == 400
    assert "There is no chat template" in answer.json()["error"]


@pytest.mark.parametrize(
    "conversation", ["{", "5", '{"messages": [1]}', '{"messages": [], "tools": [1]}']
)
def test_what_is_no_conversation_gets_a_sentence(conversation: str) -> None:
    asked = {"template": "chatml-hermes", "conversation": conversation}
    assert client().post("/prompt", json=asked).status_code == 400


# -- captures ---------------------------------------------------------------------------------------


def captured(tmp_path: Path, raw: list[str], stage: str = "stream", route: str = ROUTE) -> Path:
    path = tmp_path / "capture.json"
    path.write_text(json.dumps({"route": route, "stage": stage, "format": "hermes", "raw": raw}))
    return path


def test_a_captured_stream_comes_in_its_own_pieces(tmp_path: Path) -> None:
    given = read_given(captured(tmp_path, as_stream(["<tool_", "call>", "{}"])), None, None)
    assert given.exchange is not None
    assert given.exchange["text"] == "<tool_call>{}"
    assert given.exchange["ends"] == [6, 11, 13]
    assert client(given).get("/start").json()["exchange"]["format"] == "hermes"


@pytest.mark.parametrize(
    ("route", "event"),
    [
        ("/v1/responses", {"type": "response.output_text.delta", "delta": CALL}),
        ("/v1/messages", {"type": "content_block_delta", "delta": {"text": CALL}}),
        ("/v1/messages, translated", {"choices": [{"index": 0, "delta": {"content": CALL}}]}),
    ],
)
def test_captures_of_every_api(tmp_path: Path, route: str, event: dict[str, Any]) -> None:
    raw = [f"data: {json.dumps(event)}\n\n"]
    given = read_given(captured(tmp_path, raw, route=route), None, None)
    assert given.exchange is not None
    assert given.exchange["text"] == CALL


def test_a_captured_whole_answer(tmp_path: Path) -> None:
    body = {"choices": [{"index": 0, "message": {"content": CALL}}]}
    given = read_given(captured(tmp_path, [json.dumps(body)], "whole"), None, None)
    assert given.exchange is not None
    assert (given.exchange["text"], given.exchange["ends"]) == (CALL, None)


def test_a_capture_without_text_is_said(tmp_path: Path) -> None:
    with pytest.raises(ToolwireError, match="no text in it"):
        read_given(captured(tmp_path, ["data: {}\n\n"]), None, None)


def test_the_tokens_of_a_model(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, models, pre_tokenizers

    tokenizer = Tokenizer(models.WordLevel({"[UNK]": 0}, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    given = read_given(None, tmp_path, None)
    told = ask("trace", given, text="two words\ud800", format="hermes")
    assert [step["to"] for step in told["steps"]] == [3, 9, 10, 10]
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(ToolwireError):
        read_given(None, tmp_path, None)


# -- the command ------------------------------------------------------------------------------------


def test_files_that_are_wrong_are_said_before_anything_starts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for arguments, said in (
        (["no.json"], "can't be read"),
        (["--model", str(tmp_path)], "no model's folder"),
        (["--template", str(tmp_path / "no.jinja")], "no folder and no file"),
    ):
        assert main(["play", "--no-browser", *arguments]) == 2
        assert said in capsys.readouterr().err
