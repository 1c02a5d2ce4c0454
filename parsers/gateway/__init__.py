"""Tool calls on the HTTP path: middleware for a server of your own, or a gateway in front of any.

    vllm serve MODEL … --middleware toolwire.gateway.ToolCallMiddleware
    toolwire gateway --upstream http://127.0.0.1:11434/v1 --format call_text --port 8080

The middleware is imported when it is asked for, so that the command line works, and can say what is
missing, where the packages of the gateway are not installed.
"""

from typing import TYPE_CHECKING, Any

from .settings import Settings

if TYPE_CHECKING:
    from .middleware import ToolCallMiddleware

__all__ = ["Settings", "ToolCallMiddleware"]


def __getattr__(name: str) -> Any:
    if name == "ToolCallMiddleware":
        from .middleware import ToolCallMiddleware

        return ToolCallMiddleware
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
