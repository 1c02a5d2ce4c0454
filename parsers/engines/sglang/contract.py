"""What differs between the generations of SGLang's releases, as far as a plugin has to know.

All since 0.5.18 hand text over in the same way, and tell a detector where it ends. What came later is
found out by what the installed SGLang has, each thing for itself; a request gives the same on all of
them.

| since | |
|---|---|
| 0.5.18 | the first that says where a stream ends |
| 0.5.21 | a detector hears the tool choice (`get_required_tool_parser`) |
| 0.5.23 | the application of HTTP workers can be named (`SGLANG_HTTP_SERVER_APP_PATH`) |
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from ...errors import ToolwireError

APP_PATH = "SGLANG_HTTP_SERVER_APP_PATH"
#: Where SGLang's workers take their application from, before that can be set.
_THEIR_APP = "sglang.srt.entrypoints.http_server:app"


@dataclass(frozen=True, slots=True)
class Contract:
    """What the installed SGLang has."""

    hears_choice: bool
    """A detector is told the tool choice, and so whether a call was forced."""
    names_app: bool
    """HTTP workers load the application that the environment names."""

    @property
    def since(self) -> str:
        """The first release of its generation."""
        if self.names_app:
            return "0.5.23"
        return "0.5.21" if self.hears_choice else "0.5.18"


def find_contract() -> Contract:
    detector = import_module("sglang.srt.function_call.base_format_detector").BaseFormatDetector
    if not hasattr(detector, "finish"):
        raise ToolwireError("This SGLang does not tell a parser where an answer ends: upgrade it.")
    return Contract(
        hears_choice=hasattr(detector, "get_required_tool_parser"),
        names_app=hasattr(import_module("sglang.srt.environ").envs, APP_PATH),
    )


def settings_of(server_args: Any) -> Any:
    """The settings as they stand while SGLang makes up its mind: since 0.5.19 a view of their own."""
    try:
        view = import_module("sglang.srt.arg_groups.overrides").resolving_view
    except (ImportError, AttributeError):
        return server_args
    return view(server_args)


def name_app(contract: Contract, path: str) -> None:
    """Has HTTP workers load the application at this path, so that they have the plugins loaded."""
    if contract.names_app:
        os.environ.setdefault(APP_PATH, path)
        return

    def with_plugins(app: Any, *args: Any, **kwargs: Any) -> Any:
        return ((path if app == _THEIR_APP else app, *args), kwargs)

    hooks = import_module("sglang.srt.plugins.hook_registry")
    hooks.HookRegistry.register("uvicorn.run", with_plugins, hooks.HookType.BEFORE)
