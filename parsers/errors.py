"""The one exception that toolwire raises, for what a caller did; model text never raises."""

from collections.abc import Iterable


class ToolwireError(ValueError):
    """A mistake in how toolwire is used. Its message says what to change."""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A question that names the words that may have been meant, with a space behind it, or ""."""
    import difflib  # it takes longer to load than all that is always loaded

    near = difflib.get_close_matches(word, list(known), n=3, cutoff=0.5)
    return f"Did you mean {' or '.join(map(repr, near))}? " if near else ""
