"""toolwire as a plugin of SGLang."""

from .plugin import register

__all__ = ["register"]
