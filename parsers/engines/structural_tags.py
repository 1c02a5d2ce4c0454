"""Our structural tags as xgrammar's class, whichever release of xgrammar an engine brings.

Before 0.2.2, a piece that is a JSON schema can't say how much white space may stand between the parts of
a value: a model that is held to it may write spaces until it has no tokens left. There the piece is
replaced by the grammar that xgrammar itself makes of the schema, which can.
"""

from __future__ import annotations

import json
from functools import cache
from typing import Any

_LIMIT = "max_whitespace_cnt"


def as_structural_tag(tag: dict[str, Any]) -> Any:
    """An `xgrammar.StructuralTag`. xgrammar is loaded when the first one is made."""
    from xgrammar import StructuralTag

    return StructuralTag.model_validate(tag if _schemas_have_limits() else _with_grammars(tag))


@cache
def _schemas_have_limits() -> bool:
    from xgrammar.structural_tag import JSONSchemaFormat

    return _LIMIT in JSONSchemaFormat.model_fields


def _with_grammars(piece: Any) -> Any:
    """The same with grammars in the place of schemas. Pieces are nested as deep as a layout is, and no
    deeper."""
    if isinstance(piece, list):
        return [_with_grammars(part) for part in piece]
    if not isinstance(piece, dict):
        return piece
    if piece.get("type") == "json_schema" and _LIMIT in piece:
        return {"type": "grammar", "grammar": _grammar(json.dumps(piece["json_schema"]), piece)}
    return {key: _with_grammars(part) for key, part in piece.items()}


def _grammar(schema: str, piece: dict[str, Any]) -> str:
    from xgrammar import Grammar

    return str(Grammar.from_json_schema(schema, max_whitespace_cnt=piece[_LIMIT]))
