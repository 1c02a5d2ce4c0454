"""xgrammar without a model: its tokens are single characters, and chance chooses among them."""

from __future__ import annotations

import random
import string
from typing import Any

import toolwire
import xgrammar

END = 0

#: What the delimiters of users' formats in these tests are written with.
USERS = "｜調終@#=><|_"
#: The names of all parameters, and of their parts, in the tools that chance writes calls of.
KEYS = (
    "path", "head", "tail", "dry_run", "edits", "old_text", "new_text", "owner", "repo", "title",
    "body", "labels", "milestone", "state", "sql", "parameters", "limit", "read_only", "from", "to",
    "lat", "lon", "avoid", "at", "a", "b", "c", "d", "content-type", "max.items",
)  # fmt: skip
USERS_TAGS = ("do", "fn", "with", "K", "V", "value", "k", "v", "KEY", "VALUE", "arg", "NAME")


def alphabet() -> list[str]:
    """Single characters; and what ends a value between tags, which chance alone would never find."""
    specs = [toolwire.get_format(name) for name in toolwire.list_formats()]
    examples = "".join(spec.example for spec in specs)
    ends = {spec.layout.value_end for spec in specs if spec.layout}
    ends |= {spec.shape.quote for spec in specs if isinstance(spec.shape, toolwire.BareKeys)}
    ends |= {f"</{tag}>" for tag in USERS_TAGS} | {"<esc>", "''"}
    characters = {*string.ascii_letters, *string.digits, *" \n.-+\"'\\/{}[]é", *examples, *USERS}
    ends = {end.strip() for end in ends if end}
    trees = [spec.shape for spec in specs if isinstance(spec.shape, toolwire.Elements)]
    trees.append(toolwire.Elements("do", item="each", marker="@@"))
    closers = {tree.closing(key) for tree in trees for key in (None, *KEYS)}
    return ["<end>", *sorted(characters | closers | ends | {f"\n{end}" for end in ends})]


VOCABULARY = alphabet()


def make_compiler() -> Any:
    info = xgrammar.TokenizerInfo(
        VOCABULARY, vocab_type=xgrammar.VocabType.RAW, stop_token_ids=[END]
    )
    return xgrammar.GrammarCompiler(info, max_threads=1)


def walk(compiler: Any, tag: dict[str, Any], seed: int) -> str:
    """A text that the tag allows, chosen by chance."""
    chance = random.Random(seed)
    matcher = xgrammar.GrammarMatcher(
        compiler.compile_structural_tag(xgrammar.StructuralTag.model_validate(tag))
    )
    mask = xgrammar.allocate_token_bitmask(1, len(VOCABULARY))
    written: list[str] = []
    for step in range(8000):
        matcher.fill_next_token_bitmask(mask)
        words = mask[0].tolist()
        allowed = [i for i in range(len(VOCABULARY)) if words[i // 32] >> (i % 32) & 1]
        end = END in allowed and (len(allowed) == 1 or step > 2000 or chance.random() < 0.5)
        token = END if end else chance.choice(_likely(allowed, chance, hurry=step > 2000))
        assert matcher.accept_token(token)
        if token == END:
            return "".join(written)
        written.append(VOCABULARY[token])
    raise AssertionError(f"no end in sight: {''.join(written)[:500]}")


def _likely(allowed: list[int], chance: random.Random, hurry: bool) -> list[int]:
    """What to choose from: now and then only what ends a value, and a long text's mostly so."""
    closing = [
        i for i in allowed if i != END and (len(VOCABULARY[i]) > 1 or VOCABULARY[i] in '"}]')
    ]
    ends = closing if hurry else [i for i in closing if len(VOCABULARY[i]) > 1]
    often = 0.7 if hurry else 0.3
    return ends if ends and chance.random() < often else [i for i in allowed if i != END]


def allows(compiler: Any, tag: Any, text: str) -> bool:
    """Whether the tag lets a model write the text, and end there."""
    matcher = xgrammar.GrammarMatcher(compiler.compile_structural_tag(tag))
    return bool(matcher.accept_string(text)) and bool(matcher.accept_token(END))
