"""Where templates and vocabularies come from: folders, single files, GGUF; and files that are broken."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest
from toolwire import ToolwireError
from toolwire.models.files import read_model

from . import gguf_files
from .gguf_files import ARRAY, STRING, UINT32, Writer

TOKENIZER = {
    "model": {"type": "BPE", "vocab": {"a": 0, "b": 1}},
    "added_tokens": [{"id": 2, "content": "<|im_end|>"}],
}


def folder(path: Path, **files: Any) -> Path:
    path.mkdir(exist_ok=True)
    for name, content in files.items():
        name = name.replace("_jinja", ".jinja").replace("_json", ".json")
        text = content if isinstance(content, str) else json.dumps(content)
        (path / name).write_text(text, encoding="utf-8")
    return path


def test_a_folder(tmp_path: Path) -> None:
    config = {
        "chat_template": "the template",
        "bos_token": "<s>",
        "eos_token": {"content": "<|im_end|>"},
        "added_tokens_decoder": {"3": {"content": "<tool_call>"}},
    }
    files = read_model(folder(tmp_path, tokenizer_config_json=config, tokenizer_json=TOKENIZER))
    assert (files.template, files.template_source) == ("the template", "tokenizer_config.json")
    assert files.vocabulary == {"a", "b", "<|im_end|>", "<tool_call>"}
    assert files.special == {"bos_token": "<s>", "eos_token": "<|im_end|>"}


def test_the_template_for_tools_is_taken(tmp_path: Path) -> None:
    named = [{"name": "default", "template": "plain"}, {"name": "tool_use", "template": "tools"}]
    files = read_model(folder(tmp_path, tokenizer_config_json={"chat_template": named}))
    assert files.template == "tools"
    assert files.templates == {"default": "plain", "tool_use": "tools"}


def test_a_template_in_a_file_of_its_own_counts_first(tmp_path: Path) -> None:
    config = {"chat_template": "in the configuration"}
    folder(tmp_path, tokenizer_config_json=config)
    assert read_model(tmp_path).template == "in the configuration"
    folder(tmp_path, chat_template_json={"chat_template": "in chat_template.json"})
    assert read_model(tmp_path).template == "in chat_template.json"
    folder(tmp_path, chat_template_jinja="in chat_template.jinja")
    assert read_model(tmp_path).template == "in chat_template.jinja"
    folder(tmp_path / "additional_chat_templates", tool_use_jinja="for tools")
    assert read_model(tmp_path).template == "for tools"


def test_a_vocabulary_of_pairs(tmp_path: Path) -> None:
    tokenizer = {"model": {"type": "Unigram", "vocab": [["▁a", -1.5], ["b", -2.0]]}}
    files = read_model(folder(tmp_path, tokenizer_json=tokenizer, tokenizer_config_json={}))
    assert files.vocabulary == {"▁a", "b"}
    assert files.template is None


@pytest.mark.parametrize(
    ("tokenizer", "problem"),
    [("{", "is not JSON"), ("[]", "no vocabulary"), ("{}", "no vocabulary")],
)
def test_a_broken_vocabulary_is_a_problem_and_no_error(
    tokenizer: str, problem: str, tmp_path: Path
) -> None:
    config = {"chat_template": "t"}
    files = read_model(folder(tmp_path, tokenizer_json=tokenizer, tokenizer_config_json=config))
    assert files.vocabulary is None
    assert problem in files.vocabulary_problem
    assert files.template == "t"


def test_single_files(tmp_path: Path) -> None:
    folder(
        tmp_path, tokenizer_config_json={"chat_template": "t"}, mine_jinja="\ufeff{{ bos_token }}"
    )
    assert read_model(tmp_path / "tokenizer_config.json").template == "t"
    assert read_model(tmp_path / "mine.jinja").template == "{{ bos_token }}"


@pytest.mark.parametrize(
    ("config", "word"),
    [
        ("{", "not JSON"),
        ('{"chat_template": 5}', "neither a text nor a list"),
        ('{"chat_template": [{"name": "x"}]}', "neither a text nor a list"),
        ("[" * 100_000, "not JSON"),
    ],
)
def test_a_broken_configuration(config: str, word: str, tmp_path: Path) -> None:
    folder(tmp_path, tokenizer_config_json=config)
    for path in (tmp_path, tmp_path / "tokenizer_config.json"):
        with pytest.raises(ToolwireError, match=word):
            read_model(path)


def test_what_is_no_model(tmp_path: Path) -> None:
    with pytest.raises(ToolwireError, match="is no folder and no file"):
        read_model(tmp_path / "missing")
    with pytest.raises(ToolwireError, match="is no folder and no file"):
        read_model(os.devnull)  # a device might never end
    with pytest.raises(ToolwireError, match="is no model's folder"):
        read_model(tmp_path)
    with pytest.raises(ToolwireError, match='no "chat_template"'):
        read_model(folder(tmp_path, config_json={}) / "config.json")
    (tmp_path / "binary.jinja").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ToolwireError, match="not UTF-8"):
        read_model(tmp_path / "binary.jinja")
    (tmp_path / "large.jinja").write_text("x" * 2_000_000, encoding="utf-8")
    with pytest.raises(ToolwireError, match="too large"):
        read_model(tmp_path / "large.jinja")


# -- GGUF -----------------------------------------------------------------------------------------

TOKENS = ["<s>", "</s>", "<tool_call>", "Ġa"]


@pytest.mark.parametrize("order", ["<", ">"])
def test_a_gguf_file(order: str, tmp_path: Path) -> None:
    entries = gguf_files.model("plain", TOKENS, tool_use="tools")
    files = read_model(gguf_files.write(tmp_path / "model.gguf", entries, order))
    assert files.templates == {"default": "plain", "tool_use": "tools"}
    assert files.template == "tools"
    assert files.vocabulary == set(TOKENS)
    assert files.special == {"bos_token": "<s>", "eos_token": "</s>"}


def test_a_folder_with_a_gguf_file(tmp_path: Path) -> None:
    gguf_files.write(tmp_path / "model-q4.gguf", gguf_files.model("plain", TOKENS))
    assert read_model(tmp_path).template == "plain"


def test_a_gguf_file_by_any_name(tmp_path: Path) -> None:
    path = gguf_files.write(tmp_path / "blob", gguf_files.model("plain", TOKENS))
    assert read_model(path).template == "plain"


def test_a_gguf_file_without_template_and_tokens(tmp_path: Path) -> None:
    files = read_model(gguf_files.write(tmp_path / "m.gguf", [("a", UINT32, 1)]))
    assert files.template is None
    assert files.vocabulary is None
    assert "no vocabulary" in files.vocabulary_problem


def test_every_gguf_file_that_is_cut_off_is_refused(tmp_path: Path) -> None:
    whole = Writer().file(gguf_files.model("plain", TOKENS))
    path = tmp_path / "cut.gguf"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        with pytest.raises(ToolwireError, match=r"can't be read|that can be read"):
            read_model(path)
    path.write_bytes(whole)
    assert read_model(path).template == "plain"


def _huge(*numbers: tuple[str, int]) -> bytes:
    return b"".join(Writer().number(kind, number) for kind, number in numbers)


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"GGML" + bytes(100), "does not begin with GGUF"),
        (Writer().file([], version=1), "version is 1"),
        (Writer().file([], version=99), "version is 99"),
        (Writer().file([], count=2**63), "keys"),
        (Writer().file([], count=1) + _huge(("Q", 2**62)), "wrong length"),
        # A string, a list of numbers, a list of strings and a list of lists that claim to be endless.
        (
            Writer().file([("a", UINT32, 1)])[:-8] + _huge(("I", STRING), ("Q", 2**60)),
            "wrong length",
        ),
        (
            Writer().file([("a", UINT32, 1)])[:-8]
            + _huge(("I", ARRAY), ("I", UINT32), ("Q", 2**61)),
            "wrong length",
        ),
        (
            Writer().file([("a", UINT32, 1)])[:-8]
            + _huge(("I", ARRAY), ("I", STRING), ("Q", 2**61)),
            "more in its lists",
        ),
        (
            Writer().file([("a", UINT32, 1)])[:-8] + _huge(*[("I", ARRAY), ("Q", 1)] * 50),
            "unknown type|more in its lists|wrong length",
        ),
        (Writer().file([("a", UINT32, 1)])[:-8] + _huge(("I", 77), ("I", 0)), "unknown type 77"),
    ],
)
def test_a_gguf_file_that_lies(data: bytes, word: str, tmp_path: Path) -> None:
    path = tmp_path / "lies.gguf"
    path.write_bytes(data)
    with pytest.raises(ToolwireError, match=word):
        read_model(path)


def test_ids_that_no_token_has_are_left_alone(tmp_path: Path) -> None:
    entries = [
        ("tokenizer.ggml.tokens", ARRAY, (STRING, ["a"])),
        ("tokenizer.ggml.eos_token_id", UINT32, 7),
    ]
    assert read_model(gguf_files.write(tmp_path / "m.gguf", entries)).special == {}
