"""xgrammar without a model: its tokens are single characters, and chance chooses among them."""

from __future__ import annotations

import random
import string
from typing import Any

import toolwire
import xgrammar

END = 0


def alphabet() -> list[str]:
    examples = "".join(toolwire.get_format(name).example for name in toolwire.list_formats())
    return [
        "<end>",
        *sorted({*string.ascii_letters, *string.digits, *" \n.-+\"'\\/{}[]é", *examples}),
    ]


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
    for _ in range(4000):
        matcher.fill_next_token_bitmask(mask)
        words = mask[0].tolist()
        allowed = [i for i in range(len(VOCABULARY)) if words[i // 32] >> (i % 32) & 1]
        end = END in allowed and (len(allowed) == 1 or chance.random() < 0.5)
        token = END if end else chance.choice([i for i in allowed if i != END])
        assert matcher.accept_token(token)
        if token == END:
            return "".join(written)
        written.append(VOCABULARY[token])
    raise AssertionError(f"no end in sight: {''.join(written)[:500]}")
