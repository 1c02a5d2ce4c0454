"""A user's own format in SGLang."""

from __future__ import annotations

from typing import Any

from shared_user_formats import UserFormats


class TestUserFormats(UserFormats):
    engine = "sglang"
    names = """
from sglang.srt.plugins import load_plugins
load_plugins()
import argparse
from sglang.srt.server_args import ServerArgs
command_line = argparse.ArgumentParser()
ServerArgs.add_cli_args(command_line)
flags = command_line._option_string_actions
names = flags["--tool-call-parser"].choices
"""

    def answers(self, request: Any) -> str:
        return """
from sglang_driving import make_parser, stream, whole
answers = [
    stream(make_parser("toolwire_my_model", tools), text),
    whole(make_parser("toolwire_my_model", tools), text),
]
"""
