"""A conversation as a chat template shows it to the model: what stands where, and what that means.

What part of the prompt a message is, is found by leaving it away: a message's part is what the prompt
has gained since the message before. The tools are what a prompt with them has more than one without.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from ..errors import ToolwireError
from ..models.detect import Detection, detect_model, shown_turns
from ..models.files import DEFAULT, ModelFiles
from ..models.next_turn import continued, results_for
from ..models.probes import (
    NEXT,
    WORD,
    Render,
    common_prefix,
    remembering,
    setting_of,
    taking_tools,
)
from ..models.readings import readings_of
from ..models.rendering import template_renderer
from ..templates import get_template, list_templates
from ..view.trace import trace, trace_kinds

Json = dict[str, Any]

#: A longer conversation is shown, but its messages are not told apart.
_MOST_MESSAGES = 200
_MOST_PROBES = 12
_SHOWN = 60
#: The template that is shown first, where none was named.
_USUAL = "chatml-hermes"
#: What a call is, in a conversation that goes on.
_ID = "toolwire0"


def templates_known(given: Mapping[str, ModelFiles]) -> Json:
    """What the page can pick."""
    ours = [{"name": t.name, "models": ", ".join(t.models)} for t in list_templates()]
    named = [{"name": name, "models": ""} for name in given]
    return {"templates": [*named, *ours], "template": next(iter(given), _USUAL)}


def files_of(name: str, given: Mapping[str, ModelFiles]) -> ModelFiles:
    """A template that was named on the command line, or one of ours."""
    if name in given:
        return given[name]
    ours = get_template(name)
    return ModelFiles(ours.path, {DEFAULT: ours.text()}, ours.path.name)


def prompt_answer(asked: Json, given: Mapping[str, ModelFiles]) -> Json:
    files = files_of(str(asked.get("template")), given)
    if files.template is None:
        raise ToolwireError("This model has no chat template: nothing tells it about tools")
    messages, tools = _conversation(asked.get("conversation"))
    render = remembering(template_renderer(files.template, files.special))
    render, _ = taking_tools(render)
    prompt = render(messages, tools, add_generation_prompt=True)
    found = detect_model(files)
    parts = list(_parts(render, prompt, messages, tools))
    return {
        "parts": [
            [prompt[start:end], kind]
            for start, end, kind in _with_calls(prompt, parts, found.format, tools)
        ],
        "next": [*_next_turns(render, prompt, messages, tools)],
        "detect": _detected(found),
        "probes": list(_probes(render)),
    }


def _conversation(given: Any) -> tuple[list[Json], list[Json] | None]:
    try:
        body = json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError) as error:
        raise ToolwireError(f"The conversation is not JSON: {error}") from error
    body = {"messages": body} if isinstance(body, list) else body
    messages = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(messages, list) or not all(isinstance(m, dict) for m in messages):
        raise ToolwireError(
            'The conversation must be a list of messages, or an object with a list "messages"'
        )
    tools = body.get("tools") if isinstance(body, dict) else None
    usable = isinstance(tools, list) and all(isinstance(tool, dict) for tool in tools)
    if tools and not usable:
        raise ToolwireError('The "tools" of a conversation must be a list of objects')
    return messages, tools or None


# -- what stands where ----------------------------------------------------------------------------


def _parts(
    render: Render, prompt: str, messages: Sequence[Json], tools: Sequence[Json] | None
) -> Iterator[tuple[int, int, str]]:
    """Start, end and kind of the prompt's parts, in order."""
    told = _tools_part(render, prompt, messages, tools)
    end, mixed = 0, False
    for number in range(1, min(len(messages), _MOST_MESSAGES) + 1):
        try:
            before = render(messages[:number], tools)
        except ToolwireError:
            continue  # it refuses to stop here: the next message's part begins here
        upto = common_prefix(before, prompt)
        if upto > end:
            kind = "prompt" if mixed else _kind(messages[number - 1])
            yield from _around(end, upto, kind, told)
            end, mixed = upto, False
        elif len(before) > end:
            mixed = True  # it is shown in another way now: the next part is of both
    if end < len(prompt):
        yield from _around(end, len(prompt), "prompt", told)


def _tools_part(
    render: Render, prompt: str, messages: Sequence[Json], tools: Sequence[Json] | None
) -> tuple[int, int]:
    if not tools:
        return 0, 0
    try:
        without = render(messages, None, add_generation_prompt=True)
    except ToolwireError:
        return 0, 0
    start = common_prefix(prompt, without)
    same = common_prefix(prompt[start:][::-1], without[start:][::-1])
    return start, len(prompt) - same


def _around(
    start: int, end: int, kind: str, told: tuple[int, int]
) -> Iterator[tuple[int, int, str]]:
    """A part, with the tools in it as one of their own."""
    first, last = max(start, told[0]), min(end, told[1])
    if first >= last:
        yield start, end, kind
        return
    pieces = ((start, first, kind), (first, last, "tools"), (last, end, kind))
    yield from (piece for piece in pieces if piece[0] < piece[1])


def _kind(message: Json) -> str:
    role = message.get("role")
    if role == "assistant":
        return "call" if message.get("tool_calls") else "assistant"
    return {"tool": "result", "system": "system", "developer": "system"}.get(str(role), "user")


def _with_calls(
    prompt: str,
    parts: Sequence[tuple[int, int, str]],
    format: str | None,
    tools: Sequence[Json] | None,
) -> Iterator[tuple[int, int, str]]:
    """The same parts; in a turn with calls, what the parser makes of each character."""
    for start, end, kind in parts:
        if kind != "call" or format is None:
            yield start, end, kind
            continue
        text = prompt[start:end]
        traced = trace(format, text, list(tools or ()) or None)
        if not traced["calls"] or traced["length"] != len(text):
            yield start, end, kind
            continue
        for first, last, what in trace_kinds(traced["runs"], len(text)):
            yield start + first, start + last, "call" if what == "markup" else what


# -- the next turn --------------------------------------------------------------------------------


def _next_turns(
    render: Render, prompt: str, messages: Sequence[Json], tools: Sequence[Json] | None
) -> Iterator[Json]:
    """Whether the prompt is kept as a prefix when the conversation goes on: where it is not, an engine
    reads it all again."""
    function = {"name": _first_name(tools), "arguments": {}}
    call = {"id": _ID, "type": "function", "function": function}
    caller = {"role": "assistant", "content": "", "tool_calls": [call]}
    called = [caller, *results_for(caller)]
    answered = [{"role": "assistant", "content": WORD}, {"role": "user", "content": NEXT}]
    for what, more in (
        ("the model answers, and is asked again", answered),
        ("the model calls a tool, and gets its result", called),
    ):
        try:
            later = render([*messages, *more], tools, add_generation_prompt=True)
        except ToolwireError as error:
            yield {"after": what, "kept": None, "why": str(error), "same": 0}
            continue
        found = continued(prompt, later)
        yield {"after": what, "kept": found.kept, "why": found.why, "same": found.same}


def _first_name(tools: Sequence[Json] | None) -> str:
    for tool in tools or ():
        function = tool.get("function", tool)
        if isinstance(function, dict) and isinstance(function.get("name"), str):
            return str(function["name"])
    return "tool"


# -- what detect says -----------------------------------------------------------------------------


def _detected(found: Detection) -> Json:
    return {
        "format": found.format,
        "formats": list(found.formats),
        "reasoning": found.reasoning_style,
        "frame": found.frame,
        "template": found.template,
        "why": list(found.why),
    }


def _probes(render: Render) -> Iterator[Json]:
    """What the template writes for calls that are known, and which formats read that back."""
    try:
        setting, _ = setting_of(render)
        for turns in islice(shown_turns(render, setting), _MOST_PROBES):
            readings = readings_of(turns)
            yield {
                "calls": [[name, arguments] for name, arguments in turns[0].sample.calls],
                "text": turns[0].sample.text,
                "formats": [name for name, reading in readings.items() if not reading.left],
                "leaves": {name: r.left[:_SHOWN] for name, r in readings.items() if r.left},
            }
    except ToolwireError as error:
        yield {"calls": [], "text": str(error), "formats": [], "leaves": {}}
