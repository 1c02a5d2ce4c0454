"""Whether a call's arguments are what its tool's schema asks for.

Only where somebody asks: a parser passes on what the model wrote. Nothing is fetched for a `$ref`
that leads elsewhere; such a schema can't be checked, and the call's problem says so.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from itertools import islice
from typing import Any

from ..errors import ToolwireError

#: Of one call; who writes everything wrong need not be told all of it.
_MOST = 5

Check = Callable[[dict[str, Any]], list[str]]


def checker(schema: Mapping[str, Any]) -> Check:
    """What tells a schema's violations, each as a sentence."""
    try:
        from jsonschema import exceptions, validators
        from referencing import Registry
    except ImportError as error:
        raise ToolwireError(
            'Schemas are checked by jsonschema: pip install "toolwire[batch]"'
        ) from error
    kind = validators.validator_for(schema, default=validators.Draft202012Validator)
    try:
        kind.check_schema(schema)
    except exceptions.SchemaError as error:
        broken = f"the tool's own schema is not valid: {error.message}"
        return lambda arguments: [broken]
    validator = kind(schema, registry=Registry())

    def check(arguments: dict[str, Any]) -> list[str]:
        try:
            return list(islice(_sentences(validator.iter_errors(arguments)), _MOST))
        except Exception as error:  # noqa: BLE001 - whatever is in a stranger's schema, the row goes on
            return [f"the tool's own schema can't be followed: {type(error).__name__}: {error}"]

    return check


def _sentences(errors: Iterator[Any]) -> Iterator[str]:
    for error in errors:
        place = "".join(f"[{json.dumps(step)}]" for step in error.absolute_path)
        yield f"{place} {error.message}".strip()
