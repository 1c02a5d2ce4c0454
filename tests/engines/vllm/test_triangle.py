"""Written, constrained, read: the three prove each other, for every format, with real schemas.

What is written, the grammar accepts; what the grammar generates is read, and fits the schema. (That what
is written is read back is in tests/formats/test_write.py; it needs no xgrammar.)
"""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
import toolwire
import xgrammar
from engine_grammar import KEYS, allows, make_compiler, walk
from hypothesis import HealthCheck, given, settings
from toolwire import Format, ToolwireError, constrain

from tests.formats.laid_out import laid_out
from tests.in_pieces import constrain_in_pieces
from tests.real_schemas import TOOLS, calls

DECLARED = list(TOOLS.values())
SOME = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck))
each_format = pytest.mark.parametrize("name", toolwire.list_formats())


@pytest.fixture(scope="module")
def compiler() -> Any:
    return make_compiler()


def names(schema: Any) -> set[str]:
    """The names of all properties in a schema."""
    parts = schema.values() if isinstance(schema, dict) else schema
    own = schema.get("properties", ()) if isinstance(schema, dict) else ()
    return set(own).union(*(names(part) for part in parts if isinstance(part, dict | list)))


def test_chance_knows_how_every_element_ends() -> None:
    assert names(DECLARED) <= set(KEYS), "add the names of new parameters to engine_grammar.KEYS"


def check_accepted(compiler: Any, format: str | Format, some: list[dict[str, Any]]) -> None:
    """The grammar for these tools accepts the calls as they are written."""
    used = [TOOLS[name] for name in dict.fromkeys(call["name"] for call in some)]
    found = constrain(format, used, "required")
    try:
        text = toolwire.write(found.format, some, used)
    except ToolwireError:
        return  # what can't be written, no grammar has to accept
    matcher = xgrammar.GrammarMatcher(
        compiler.compile_structural_tag(xgrammar.StructuralTag.model_validate(found.tag))
    )
    assert matcher.accept_string(text), text
    assert matcher.accept_token(0), f"the grammar wants more after {text}"


def check_read(compiler: Any, format: str | Format, names: list[str], seed: int) -> None:
    """A text drawn from the grammar is calls, and they fit."""
    used = [TOOLS[name] for name in names]
    found = constrain(format, used, "required")
    text = walk(compiler, found.tag, seed)
    message = toolwire.parse(found.format, text, used)
    assert message.content is None, text
    assert message.tool_calls, text
    for call in message.tool_calls:
        assert call.complete, text
        schema = TOOLS[call.name]["function"]["parameters"]
        jsonschema.validate(json.loads(call.arguments), schema)


@each_format
@SOME
@given(some=calls())
def test_what_is_written_the_grammar_accepts(
    name: str, some: list[dict[str, Any]], compiler: Any
) -> None:
    check_accepted(compiler, name, some)


@each_format
def test_what_the_grammar_generates_is_read(name: str, compiler: Any) -> None:
    for seed, tool in enumerate(TOOLS):
        check_read(compiler, name, [tool], seed)
        check_read(compiler, name, [tool, "read_file"], seed)


@each_format
def test_as_text_and_in_pieces_the_grammar_is_the_same(name: str, compiler: Any) -> None:
    """Each allows what chance writes by the other."""
    for seed, tool in enumerate(TOOLS):
        used = [TOOLS[tool], TOOLS["read_file"]][: 1 + seed % 2]
        tags = [make(name, used, "required").tag for make in (constrain, constrain_in_pieces)]
        for tag, other in (tags, tags[::-1]):
            text = walk(compiler, tag, seed)
            assert allows(compiler, xgrammar.StructuralTag.model_validate(other), text), text


@SOME
@given(spec=laid_out(), some=calls())
def test_what_users_formats_write_their_grammar_accepts(
    spec: Format, some: list[dict[str, Any]], compiler: Any
) -> None:
    check_accepted(compiler, spec, some)


@SOME
@given(spec=laid_out(), some=calls(most=2))
def test_what_the_grammar_of_users_formats_generates_is_read(
    spec: Format, some: list[dict[str, Any]], compiler: Any
) -> None:
    names = list(dict.fromkeys(call["name"] for call in some))
    check_read(compiler, spec, names, seed=len(json.dumps(some)))


# -- and the tokens that a model writes it with ---------------------------------------------------

NOTE = {
    "type": "function",
    "function": {
        "name": "note",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {
                "text": {"type": "string"},
                "tag": {"type": ["string", "null"]},
                "count": {"type": "integer"},
                "names": {"type": "array", "items": {"type": "string"}},
                "about": {"type": "object", "properties": {"whom": {"type": "string"}}},
                "last": {"type": "string"},
            },
        },
    },
}
NOTES = [
    {"name": "note", "arguments": arguments}
    for arguments in (
        {"text": 'She said "yes".\nThen no.'},
        {"tag": "new"},
        {"count": 42},
        {"names": ["Ada", "Bo"]},
        {"about": {"whom": "Ada"}},
        {"text": "x", "tag": "y", "count": 7, "names": [], "about": {}, "last": "z"},
        {},
    )
]


@pytest.fixture(scope="module")
def vocabulary(hf_tokenizer: Any) -> Any:
    return xgrammar.TokenizerInfo.from_huggingface(hf_tokenizer)


@pytest.fixture(scope="module")
def token_compiler(vocabulary: Any) -> Any:
    return xgrammar.GrammarCompiler(vocabulary)


@pytest.mark.parametrize("choice", ["auto", "required"])
@each_format
def test_the_tokens_that_a_model_would_write_are_allowed(
    name: str, choice: str, hf_tokenizer: Any, vocabulary: Any, token_compiler: Any
) -> None:
    """Also those that end a value and go on behind it, `")`: else the model has to write otherwise than
    it was trained to. The mask may forbid what the matcher would accept."""
    found = constrain(name, [NOTE], choice)
    if found.tag is None:
        assert choice == "auto", "no marker tells where a call begins"
        return
    tag = xgrammar.StructuralTag.model_validate(found.tag)
    compiled = token_compiler.compile_structural_tag(tag)
    mask = xgrammar.allocate_token_bitmask(1, vocabulary.vocab_size)
    for call in NOTES:
        text = toolwire.write(found.format, [call], [NOTE])
        matcher = xgrammar.GrammarMatcher(compiled)
        for token in hf_tokenizer.encode(text, add_special_tokens=False):
            matcher.fill_next_token_bitmask(mask)
            allowed = mask[0][token // 32].item() >> (token % 32) & 1
            assert allowed, f"{hf_tokenizer.decode([token])!r} in {text}"
            assert matcher.accept_token(token)
