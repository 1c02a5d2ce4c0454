"""The wire formats, one small spec each, and the registry that finds them by name."""

from .registry import ANY, get_format, list_formats, register_format

__all__ = ["ANY", "get_format", "list_formats", "register_format"]
