"""Where a model's chat template and vocabulary come from: files on this disk, and nothing else.

A model's folder, a `tokenizer_config.json`, a GGUF file, or a template by itself. A folder is read as
transformers reads it: `chat_template.jinja` counts before `chat_template.json`, and that before what
`tokenizer_config.json` has. There may be several templates by name; where tools are given, engines take
the one named `tool_use`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import ToolwireError
from . import gguf

DEFAULT, TOOL_USE = "default", "tool_use"

#: Larger files are no templates and no configurations; vocabularies may have some ten megabytes.
_LARGEST_TEMPLATE = 1024 * 1024
_LARGEST_JSON = 256 * 1024 * 1024

_GGUF_TEMPLATE = "tokenizer.chat_template"
_GGUF_TOKENS = "tokenizer.ggml.tokens"
_GGUF_SPECIAL = {
    "bos_token": "tokenizer.ggml.bos_token_id",
    "eos_token": "tokenizer.ggml.eos_token_id",
}


@dataclass(frozen=True, slots=True)
class ModelFiles:
    """What a model's files say about it."""

    path: Path
    templates: Mapping[str, str] = field(default_factory=dict)
    """Chat templates by name; one that has no name is `default`."""
    template_source: str = ""
    """The name of the file that the templates stand in."""
    vocabulary: frozenset[str] | None = None
    """Every token, or None where that can't be known."""
    vocabulary_problem: str = ""
    """Why it can't, in a sentence."""
    special: Mapping[str, str] = field(default_factory=dict)
    """`bos_token` and `eos_token`: templates write them."""
    response_template: Any = None
    """What `tokenizer_config.json` says about how messages are written, if it does."""

    @property
    def template(self) -> str | None:
        """The template that engines use where a request has tools."""
        return self.templates.get(TOOL_USE) or self.templates.get(DEFAULT)


def read_model(path: str | Path) -> ModelFiles:
    """Reads a model's folder, or one of its files. A `ToolwireError` says what is wrong with it."""
    path = Path(path)
    if path.is_dir():
        return _folder(path)
    if not path.is_file():  # what is neither, such as a device, might never end
        raise ToolwireError(
            f"{path} is no folder and no file: give a model's folder, its tokenizer_config.json, "
            "a GGUF file or a chat template on this disk"
        )
    if path.suffix == ".json":
        return _json_file(path)
    if _begins_as_gguf(path):
        return _gguf_file(path)
    return ModelFiles(path, {DEFAULT: _text(path, _LARGEST_TEMPLATE)}, path.name)


# -- a folder -------------------------------------------------------------------------------------


def _folder(folder: Path) -> ModelFiles:
    config = _config(folder / "tokenizer_config.json")
    source, templates = next(_template_files(folder, config), ("", {}))
    vocabulary, problem = _vocabulary(folder / "tokenizer.json", config)
    if not templates and vocabulary is None:
        models = sorted(folder.glob("*.gguf"))
        if models:
            return _gguf_file(models[0])
        if not config:
            raise ToolwireError(
                f"{folder} is no model's folder: it has no tokenizer_config.json, tokenizer.json, "
                "chat_template.jinja or *.gguf in it"
            )
    special = _special(folder, config)
    return ModelFiles(folder, templates, source, vocabulary, problem, special, _response(config))


def _response(config: Any) -> Any:
    return config.get("response_template") if isinstance(config, dict) else None


def _template_files(folder: Path, config: Any) -> Iterator[tuple[str, dict[str, str]]]:
    """The files with templates in them, the one that counts first."""
    main = folder / "chat_template.jinja"
    if main.is_file():
        more = sorted((folder / "additional_chat_templates").glob("*.jinja"))
        named = {path.stem: _text(path, _LARGEST_TEMPLATE) for path in more}
        yield main.name, {DEFAULT: _text(main, _LARGEST_TEMPLATE), **named}
    other = folder / "chat_template.json"
    for name, value in (
        (other.name, _config(other)),
        ("tokenizer_config.json", config),
    ):
        templates = _templates_in(value, folder / name)
        if templates:
            yield name, templates


def _templates_in(config: Any, path: Path) -> dict[str, str]:
    """The `chat_template` of a configuration: a text, or a list of named texts."""
    found = config.get("chat_template") if isinstance(config, dict) else None
    if found is None:
        return {}
    if isinstance(found, str):
        return {DEFAULT: found}
    if isinstance(found, list) and all(
        isinstance(entry, dict)
        and isinstance(entry.get("name"), str)
        and isinstance(entry.get("template"), str)
        for entry in found
    ):
        return {entry["name"]: entry["template"] for entry in found}
    raise ToolwireError(f'The "chat_template" in {path} is neither a text nor a list of named ones')


def _vocabulary(path: Path, config: Any) -> tuple[frozenset[str] | None, str]:
    """All tokens, those added later included; or why that can't be said."""
    if not path.is_file():
        return None, f"there is no {path.name} in {path.parent}"
    try:
        data = _json(path)
    except ToolwireError as error:
        return None, str(error)
    model = data.get("model") if isinstance(data, dict) else None
    tokens = model.get("vocab") if isinstance(model, dict) else None
    if isinstance(tokens, list):  # pairs of a token and its score
        tokens = [entry[0] for entry in tokens if isinstance(entry, list) and entry]
    if not isinstance(tokens, (dict, list)):
        return None, f"{path} has no vocabulary in it"
    added = data.get("added_tokens")
    decoder = config.get("added_tokens_decoder") if isinstance(config, dict) else None
    later = [*(added if isinstance(added, list) else ())]
    later += decoder.values() if isinstance(decoder, dict) else ()
    return frozenset([*filter(_is_text, tokens), *filter(None, map(_content, later))]), ""


def _special(folder: Path, config: Any) -> dict[str, str]:
    found: dict[str, str] = {}
    for source in (_config(folder / "special_tokens_map.json"), config):
        for name in _GGUF_SPECIAL:
            text = _content(source.get(name)) if isinstance(source, dict) else ""
            if text:
                found[name] = text
    return found


def _content(token: Any) -> str:
    """A token is written as its text, or as an object that has it."""
    text = token.get("content") if isinstance(token, dict) else token
    return text if isinstance(text, str) else ""


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


# -- single files ---------------------------------------------------------------------------------


def _json_file(path: Path) -> ModelFiles:
    config = _json(path)
    templates = _templates_in(config, path)
    if not templates:
        raise ToolwireError(f'{path} has no "chat_template" in it')
    problem = f"{path.name} by itself does not list the tokens"
    special = _special(path.parent / "-", config)
    return ModelFiles(path, templates, path.name, None, problem, special, _response(config))


def _begins_as_gguf(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return path.suffix == ".gguf" or file.read(4) == gguf.MAGIC
    except OSError as error:
        raise ToolwireError(f"{path} can't be read: {error.strerror}") from error


def _gguf_file(path: Path) -> ModelFiles:
    named = f"{_GGUF_TEMPLATE}.{TOOL_USE}"
    wanted = {_GGUF_TEMPLATE, named, _GGUF_TOKENS, *_GGUF_SPECIAL.values()}
    data = gguf.read_metadata(path, wanted)
    tokens = data.get(_GGUF_TOKENS)
    tokens = [t for t in tokens if isinstance(t, str)] if isinstance(tokens, list) else None
    templates = {
        name: data[key]
        for name, key in ((DEFAULT, _GGUF_TEMPLATE), (TOOL_USE, named))
        if isinstance(data.get(key), str)
    }
    special = {
        name: tokens[data[key]]
        for name, key in _GGUF_SPECIAL.items()
        if tokens and isinstance(data.get(key), int) and 0 <= data[key] < len(tokens)
    }
    return ModelFiles(
        path,
        templates,
        path.name,
        None if tokens is None else frozenset(tokens),
        "" if tokens else f"{path} has no vocabulary in it",
        special,
    )


# -- reading --------------------------------------------------------------------------------------


def _config(path: Path) -> Any:
    """A JSON file that may be missing."""
    return _json(path) if path.is_file() else {}


def _json(path: Path) -> Any:
    text = _text(path, _LARGEST_JSON)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ToolwireError(f"{path} is not JSON: {error}") from error


def _text(path: Path, largest: int) -> str:
    try:
        if path.stat().st_size > largest:
            raise ToolwireError(f"{path} is too large to be what it is called")
        return path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise ToolwireError(f"{path} can't be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise ToolwireError(f"{path} can't be read: it is not UTF-8 text") from error
