"""toolwire as a plugin of vLLM."""

from .plugin import register

__all__ = ["register"]
