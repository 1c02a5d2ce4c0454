"""`toolwire chat`: talk to a server that calls tools, and see all that happens.

A question goes to the server with a few tools of ours; every event of the answer is shown as it
comes, then what the events add up to. Calls are run here and their results sent back, until the
model answers without calling. A turn that does not come to its end (an error, Ctrl-C) is taken back,
so that the conversation stays one that servers accept.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..errors import ToolwireError
from ..openai import Message
from .chat_answer import Answer, essence
from .chat_save import Saved
from .chat_tools import TOOLS, declarations, run_call
from .chat_view import PlainView, make_view
from .gateway import extra
from .output import FINDINGS, complain

if TYPE_CHECKING:
    from .chat_client import Server

Json = dict[str, Any]

#: Said once, where a question was answered and no tool was called.
NO_CALL = (
    "no tool was called: the model may have had no need of one, or its chat template shows it no tools; "
    "`toolwire gateway --tools prompt` puts them into the prompt, `toolwire doctor` looks at a template"
)

HELP = """\
/tools  the tools that the model is told about
/raw    show the events of the stream, or stop showing them
/clear  begin a new conversation
/quit   end; so does Ctrl-D
Ctrl-C stops an answer. Everything else goes to the model."""


class ToolChoice(str, Enum):
    """What the model is told about calling."""

    auto = "auto"
    required = "required"
    none = "none"


def chat(
    base_url: Annotated[
        str, typer.Option(envvar="OPENAI_BASE_URL", help="The server, with its /v1.")
    ] = "http://127.0.0.1:8000/v1",
    model: Annotated[
        str | None, typer.Option(help="The model; without it, the first that the server lists.")
    ] = None,
    api_key: Annotated[
        str | None, typer.Option(envvar="OPENAI_API_KEY", help="The key, where one is needed.")
    ] = None,
    tool_choice: Annotated[
        ToolChoice,
        typer.Option(help="required: the first answer to a question must be a call."),
    ] = ToolChoice.auto,
    raw: Annotated[bool, typer.Option(help="Show the events of the stream as they come.")] = True,
    body: Annotated[
        str, typer.Option(metavar="JSON", help='More for the request: {"temperature": 0}.')
    ] = "{}",
    max_rounds: Annotated[
        int, typer.Option(min=1, help="How often the model may call before it must answer.")
    ] = 8,
    save: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Keep the answers as they came: `toolwire play FILE` shows the last one.",
        ),
    ] = None,
) -> int:
    """Chat with a server that calls tools, and see its deltas, its calls and its answers.

    The tools are a few of ours, and run here. Questions come from the terminal, or line by line from
    a pipe; the exit code is then 1 where one of them got no answer.
    """
    with extra("toolwire chat"):
        from .chat_client import Server
    more = _request_fields(body)
    session = Session(
        Server(base_url, api_key),
        make_view(raw),
        model=model,
        tool_choice=tool_choice.value,
        more=more,
        max_rounds=max_rounds,
        saved=Saved(save) if save else None,
    )
    if sys.stdin.isatty() and sys.stdout.isatty():
        return _in_a_terminal(session)
    return _from_a_pipe(session)


def _request_fields(text: str) -> Json:
    try:
        fields = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ToolwireError(f"--body is not JSON: {error}") from error
    if not isinstance(fields, dict):
        raise ToolwireError("--body must be a JSON object with fields of the request")
    return fields


def _in_a_terminal(session: Session) -> int:
    if sys.platform != "win32":
        import readline  # noqa: F401 - `input` then edits lines and remembers them
    _try(session.greet)
    while True:
        try:
            line = input(session.view.prompt)
        except EOFError:
            print()
            return 0
        except KeyboardInterrupt:
            print()
            continue
        if line.strip() == "/quit":
            return 0
        try:
            _try(session.take, line)
        except KeyboardInterrupt:
            session.view.row("note", "stopped; this question is forgotten")


def _from_a_pipe(session: Session) -> int:
    answered = True
    for raw in sys.stdin.buffer:
        try:
            line = raw.decode().strip()
        except UnicodeDecodeError as error:
            raise ToolwireError("stdin can't be read: it is not UTF-8 text") from error
        if line == "/quit":
            break
        if line:
            session.view.row("you", line)
            answered = _try(session.take, line) and answered
    return 0 if answered else FINDINGS


def _try(action: Callable[..., None], *arguments: str) -> bool:
    """Whether it worked; if not, one sentence says why, and the conversation goes on."""
    try:
        action(*arguments)
    except ToolwireError as error:
        complain(str(error), FINDINGS)
        return False
    return True


class Session:
    """One conversation with one server."""

    def __init__(
        self,
        server: Server,
        view: PlainView,
        *,
        model: str | None,
        tool_choice: str,
        more: Json,
        max_rounds: int,
        saved: Saved | None = None,
    ) -> None:
        self.view = view
        self._server = server
        self._model = model
        self._tool_choice = tool_choice
        self._more = more
        self._max_rounds = max_rounds
        self._saved = saved
        self._messages: list[Json] = []
        self._doubts_tools = True  # whether the model is shown any, as far as is known

    def greet(self) -> None:
        """Says who is there and what to type."""
        self.view.row("server", self._server.name)
        self.view.row("", "/help says what can be typed")
        self._find_model()

    def take(self, line: str) -> None:
        """A line that was typed: a question, or a command to the chat itself."""
        line = line.strip()
        if not line.startswith("/"):
            if line:
                self._turn(line)
        elif line == "/help":
            self.view.row("", HELP)
        elif line == "/tools":
            for name, tool in TOOLS.items():
                self.view.row("tool", f"{name}({', '.join(tool.properties)}): {tool.description}")
        elif line == "/raw":
            self.view.raw = not self.view.raw
            shown = "are shown" if self.view.raw else "are not shown"
            self.view.row("note", f"the events of the stream {shown}")
        elif line == "/clear":
            self._messages.clear()
            self.view.row("note", "a new conversation")
        else:
            raise ToolwireError(f"There is no command {line!r}: /help lists them")

    def _find_model(self) -> str:
        """The model's name; the server is asked once, as soon as it answers."""
        if self._model is None:
            found = self._server.models()
            self._model = found[0]
            others = f", the first of {len(found)}; --model chooses" if len(found) > 1 else ""
            self.view.row("model", self._model + others)
        return self._model

    def _turn(self, question: str) -> None:
        """A question and everything up to its answer."""
        before = len(self._messages)
        self._messages.append({"role": "user", "content": question})
        try:
            self._rounds()
        except (ToolwireError, KeyboardInterrupt):
            del self._messages[before:]
            raise

    def _rounds(self) -> None:
        choice = self._tool_choice
        for _ in range(self._max_rounds):
            message, reasoning_key = self._ask(choice)
            self._messages.append(_as_sent(message, reasoning_key))
            if not message.tool_calls:
                return
            for call in message.tool_calls:
                result = run_call(call)
                self.view.row("result", result)
                self._messages.append({"role": "tool", "tool_call_id": call.id, "content": result})
            # A model that must call in every answer would never give the last one.
            choice = "auto" if choice == "required" else choice
        raise ToolwireError(
            f"The model called tools {self._max_rounds} times in a row and gave no answer; "
            "--max-rounds allows more"
        )

    def _ask(self, tool_choice: str) -> tuple[Message, str]:
        """One request and its answer, shown as it comes, and whole even where it breaks off; and what
        the server calls thoughts."""
        request = {
            "model": self._find_model(),
            "messages": self._messages,
            "tools": declarations(),
            "tool_choice": tool_choice,
            "stream": True,
        }
        request |= self._more
        answer = Answer()
        came: list[str] = []
        started = time.monotonic()
        try:
            with self.view.answering():
                for data, chunk in self._server.stream(request):
                    came.append(data)
                    self.view.event(time.monotonic() - started, essence(data, chunk))
                    for delta in answer.take(chunk) if chunk is not None else ():
                        self.view.grow(delta)
        finally:
            message = answer.finish()
            self._show(message, answer)
            if self._saved:
                self._saved.add(request, came)
        self.view.row("end", _account(answer, time.monotonic() - started))
        self._wonder(request, message, answer)
        return message, answer.reasoning_key

    def _wonder(self, request: Json, message: Message, answer: Answer) -> None:
        """Says once why there may be no call, unless the model has called before or could not."""
        offered = bool(request.get("tools")) and request.get("tool_choice") != "none"
        if not self._doubts_tools or not offered:
            return
        if message.tool_calls:
            self._doubts_tools = False
        elif answer.reason == "stop":
            self._doubts_tools = False
            self.view.row("note", NO_CALL)

    def _show(self, message: Message, answer: Answer) -> None:
        if message.reasoning:
            self.view.row("thought", message.reasoning)
        if message.content:
            self.view.row("text", message.content)
        for call in message.tool_calls:
            self.view.row("call", f"{call.name} {call.arguments} {call.id}")
        for oddity in answer.oddities:
            self.view.row("note", oddity)


def _as_sent(message: Message, reasoning_key: str) -> Json:
    """The model's message as the next request holds it. Thoughts that led to calls go with them: the
    model goes on from there. Others are over, and some servers refuse them."""
    sent: Json = {"role": "assistant", "content": message.content}
    if message.tool_calls:
        if message.reasoning:
            sent[reasoning_key] = message.reasoning
        sent["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in message.tool_calls
        ]
    elif sent["content"] is None:
        sent["content"] = ""  # servers refuse a message with neither
    return sent


def _account(answer: Answer, seconds: float) -> str:
    """How an answer ended, and what it took."""
    said = [answer.reason or "no finish reason"]
    usage = answer.usage or {}
    if "prompt_tokens" in usage and "completion_tokens" in usage:
        said.append(f"{usage['prompt_tokens']} + {usage['completion_tokens']} tokens")
    return ", ".join([*said, f"{answer.events} events in {seconds:.2f} s"])
