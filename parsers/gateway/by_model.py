"""What is known of the models behind the gateway: in which format each writes its calls, and whether
the upstream takes tools for it.

    qwen3*=hermes,kimi*=kimi_k2,*=any        the first pattern that fits a model's name counts
    auto                                     by the name that the upstream's `/v1/models` has for it

A pattern is for the whole name or for what stands behind its last `/`, whatever the case. `auto` reads
all marked formats at once (`any`) where the name says nothing. What the upstream refused is remembered
until the gateway is started again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

from ..errors import ToolwireError
from ..formats import get_format
from ..formats.any_format import NAME as ANY
from ..formats.model_names import format_of_model
from ..templates import Words, words_for

#: What `--tools` may be.
WAYS = ("auto", "prompt", "native", "none")
AUTO = "auto"

#: The statuses with which servers refuse tools: Ollama and vLLM 400, llama.cpp 500.
REFUSALS = frozenset({400, 422, 500, 501})
_TOOLS = re.compile(
    r"\b(?:tools?|tool[ _-]?(?:use|choice|calls?|calling)|function[ _-]?call(?:s|ing)?)\b",
    re.IGNORECASE,
)
_NOT_TAKEN = re.compile(
    r"(?:(?:does|do|did|is|are)(?: not|n't) (?:yet )?(?:support|allow|permit|enabl|available|implement)"
    r"|unsupported|not supported|no support|unrecogni[sz]ed|unknown (?:field|parameter|argument)"
    r"|not permitted|disabled|requires? --)",
    re.IGNORECASE,
)
_SENTENCE = re.compile(r"[^.;\n]+")
_LOOKED_AT = 16_384  # characters of an error
_MOST_MODELS = 1000  # clients may make up names


def says_no_tools(error: str) -> bool:
    """Whether an error says that the upstream takes no tools, or not for this model."""
    sentences = _SENTENCE.findall(error[:_LOOKED_AT])
    return any(_TOOLS.search(each) and _NOT_TAKEN.search(each) for each in sentences)


@dataclass(frozen=True, slots=True)
class FormatChoice:
    """Which format a model's answers are read in: patterns of names, the first that fits counts."""

    patterns: tuple[tuple[str, str], ...] = ()

    @classmethod
    def parse(cls, text: str | None) -> FormatChoice:
        """From `FORMAT`, or `PATTERN=FORMAT,…`; says what is wrong with it."""
        parts = [part.strip() for part in (text or "").split(",") if part.strip()]
        if len(parts) == 1 and "=" not in parts[0]:
            parts = [f"*={parts[0]}"]
        patterns = []
        for part in parts:
            pattern, equals, name = (piece.strip() for piece in part.partition("="))
            if not (pattern and equals and name):
                raise ToolwireError(
                    f"format has {part!r}: use one format, or PATTERN=FORMAT with commas between, "
                    "such as qwen3*=hermes,*=any"
                )
            if name != AUTO:
                get_format(name)  # says which formats there are, if this is none
            patterns.append((pattern.lower(), name))
        return cls(tuple(patterns))

    @property
    def asks_upstream(self) -> bool:
        return any(name == AUTO for _, name in self.patterns)

    @property
    def can_prompt(self) -> bool:
        """Whether there are words for tools in the prompt, at least for some models."""
        return any(name == AUTO or prompt_words(name) is not None for _, name in self.patterns)

    def of(self, model: str, called: str) -> str | None:
        """The format of a model, and what the upstream calls it; None where no pattern fits."""
        whole = model.lower()
        names = (whole, whole.rpartition("/")[2])
        for pattern, name in self.patterns:
            if any(fnmatchcase(one, pattern) for one in names):
                return (format_of_model(called) or ANY) if name == AUTO else name
        return None


class Models:
    """What is known of each model."""

    def __init__(self, format: str | None, tools: str) -> None:
        self.choice = FormatChoice.parse(format)
        if tools in ("prompt", "none") and not self.choice.patterns:
            raise ToolwireError(
                f"tools is {tools!r}: set a format, too, in which calls are read from the text"
            )
        self._way = tools
        self._refused: dict[
            str, None
        ] = {}  # those that take no tools, in the order they were found
        self._called: Mapping[str, str] = {}  # the upstream's own names, by those that clients use

    def format(self, model: str) -> str | None:
        """The format in which calls are read from a model's text."""
        return self.choice.of(model, self._called.get(model, model))

    def way(self, model: str) -> str:
        """How tools are sent for a model: `native`, in the `prompt`, or with the choice `none`."""
        if self._way == AUTO:
            return "prompt" if model in self._refused else "native"
        return self._way

    def may_refuse(self, model: str) -> bool:
        """Whether a refusal is no answer yet: the tools can go into the prompt."""
        return self._way == AUTO and model not in self._refused

    def learn_refusal(self, model: str) -> None:
        """The upstream takes no tools for this model, and a request without them worked."""
        if not self.may_refuse(model):
            return
        self._refused[model] = None
        while len(self._refused) > _MOST_MODELS:
            del self._refused[next(iter(self._refused))]

    def learn_names(self, answer: Any) -> None:
        """What the upstream's `/v1/models` says. vLLM has a model's real name as `root`."""
        listed = answer.get("data") if isinstance(answer, Mapping) else None
        found = {}
        for entry in listed if isinstance(listed, list) else ():
            id, root = (entry.get("id"), entry.get("root")) if isinstance(entry, dict) else (0, 0)
            if isinstance(id, str):
                found[id] = root if isinstance(root, str) and root else id
        self._called = dict(list(found.items())[:_MOST_MODELS])


@lru_cache(maxsize=100)
def prompt_words(format: str | None) -> Words | None:
    """The words for tools in the prompt, for answers that are read in this format; None where there are
    none. What is read in any format is asked for in the one that most models know."""
    if format is None:
        return None
    try:
        return words_for("hermes" if format == ANY else format)
    except ToolwireError:  # it has no layout: it can be read, and not be written
        return None
