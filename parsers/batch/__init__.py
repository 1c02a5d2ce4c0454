"""Calls in stored completions, without a server: `toolwire batch`, and `ParseCalls` for Ray Data and
Hugging Face datasets."""

from .outcome import Counts, Outcome, Problem
from .parse_calls import ParseCalls

__all__ = ["Counts", "Outcome", "ParseCalls", "Problem"]
