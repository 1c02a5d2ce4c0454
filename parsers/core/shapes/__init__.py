"""The ways to write a call. A format picks one and fills in its literals."""

from .bare_keys import BareKeys
from .call_text import CallText
from .json_calls import JsonCalls
from .labels import Labels
from .named_json import NamedJson
from .pythonic import Pythonic
from .tags import Tags

__all__ = ["BareKeys", "CallText", "JsonCalls", "Labels", "NamedJson", "Pythonic", "Tags"]
