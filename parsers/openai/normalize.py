"""Tool calls as servers really send them, put into the one shape that clients expect.

A call goes out as `{"id", "type": "function", "function": {"name", "arguments"}}` with arguments that
are a string of valid JSON. What can be repaired without guessing is repaired; what can't is dropped.
Nothing happens in silence: each repair and each loss is a `Finding`.

- `arguments` that are valid JSON stay as they are, byte for byte; an object is written as JSON.
- Arguments that are not JSON are wrapped: `{"input": "…"}`.
- Without arguments (no key, or null), or without the structure of a call, a call is dropped.
- The last call of an answer that was cut off is dropped if it did not get to its end.
- A missing id is made; an id that was there before in the conversation is replaced.
- A call is dropped where the tool choice is "none"; one that it does not allow is told.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..schema.kinds import encode, json_type
from . import exact_json
from .answers import CUT_REASONS, CallIds, finish_reason, is_complete, was_cut
from .deltas import REASONING_KEYS
from .message import Message, ToolCall, collect
from .policy import Policy
from .repair import Coercion, Repair
from .sizes import shortened
from .text_reader import TextReader, ThoughtsReader

Json = dict[str, Any]

#: A longer name is none. (OpenAI's have at most 64 characters.)
MAX_NAME = 1024
#: Of more choices than a request can ask for, the rest passes as it is.
MAX_CHOICES = 128
#: How many findings of one answer are told one by one; of the others, how many there are.
MAX_FINDINGS = 100

_ID, _FINDING = 150, 600  # the bytes that each takes by itself
_log = logging.getLogger("toolwire")


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was wrong with a call, and what was done about it.

    `reason` is invalid_json, not_an_object, missing_arguments, bad_structure, duplicate_id, truncated,
    disobeyed (a call that the tool choice forbids), or None where nothing was wrong; `action` is
    wrapped, dropped, text_parsed, id_made, coerced, renamed, or None.
    """

    reason: str | None
    action: str | None
    detail: str
    count: int = 1  # how many more of them there are, where they are not told one by one


_NO_POLICY = Policy()


class CallNormalizer:
    """Normalises the calls of one answer, one after the other."""

    def __init__(self, policy: Policy = _NO_POLICY, *, numbers_all: bool = False) -> None:
        """`numbers_all`: every id that is made counts, not only those of calls from the text."""
        self._policy = policy
        self._numbers_all = numbers_all
        self._admitted = 0  # the calls that may go out
        self.held = 0  # about how many bytes
        self.lost_one = False  # a call was cut off
        self._ids = CallIds(policy.id_style, policy.request.earlier_calls, policy.taken_ids)
        self._found: list[Finding] = []
        self._more: Counter[tuple[str | None, str | None]] = Counter()
        self._number = 0  # the last one that was given to a call from the text
        self._repair = Repair(policy.repair, policy.request.known if policy.repair else None)

    @property
    def findings(self) -> list[Finding]:
        more = [Finding(*kind, "and more of the same", n) for kind, n in self._more.items()]
        return self._found + more

    def take(self, call: Any, *, cut: bool = False) -> Json | None:
        """The call as it may be sent, or None. `cut`: the answer was cut off in or after this call."""
        if _is_custom(call):  # free text by design: there is nothing to check
            return self._take_custom(call)
        shaped = _shape(call)
        if shaped is None:
            self.note("bad_structure", "dropped", "a call has no function with a name")
            return None
        function: Json = shaped["function"]
        function["name"] = self.name(function["name"])
        arguments = self.taken_arguments(function, cut)
        if arguments is None or not self.admits(function["name"]):
            return None
        id = self.id_for(shaped.pop("id", None), function["name"])
        function["name"] = self.client_name(function["name"])
        function["arguments"] = arguments
        rest = {key: value for key, value in shaped.items() if key not in ("type", "function")}
        return {"id": id, "type": "function", "function": function} | rest

    def _take_custom(self, call: Mapping[str, Any]) -> Json | None:
        name = str(call["custom"].get("name"))
        if not self.admits(name):
            return None
        custom = dict(call["custom"]) | {"name": self.client_name(name)}
        return dict(call) | {"id": self.id_for(call.get("id"), name), "custom": custom}

    def client_name(self, name: str) -> str:
        """The name by which the client knows a tool."""
        return self._policy.names.get(name, name)

    @property
    def closed(self) -> bool:
        """Whether no call may go out: the client asked for none, or for one at a time and has one."""
        request = self._policy.request
        return request.refuses_calls or (self._admitted > 0 and not request.parallel)

    def admits(self, name: str) -> bool:
        """Whether one more call may go out."""
        request = self._policy.request
        if request.refuses_calls:
            detail = f"the call of {shortened(name)!r} came although the tool choice is none"
            self.note("disobeyed", "dropped", detail)
            return False
        if self.closed:
            detail = f"the call of {shortened(name)!r} is one more than was asked for"
            self.note(None, "dropped", detail)
            return False
        if not request.may_call(name):
            detail = f"the call of {shortened(name)!r} is not one that the tool choice allows"
            self.note("disobeyed", None, detail)
        self._admitted += 1
        return True

    def note(self, reason: str | None, action: str | None, detail: str) -> None:
        if len(self._found) < MAX_FINDINGS:
            self._found.append(Finding(reason, action, detail))
            self.held += _FINDING
        else:
            self._more[reason, action] += 1

    def lose(self, name: str, action: str | None) -> None:
        """A call was cut off. It is `dropped`, or what was sent of it can't be taken back."""
        self.note("truncated", action, f"the call of {shortened(name)!r} was cut off")
        self.lost_one = True

    def take_findings(self) -> list[Finding]:
        """The findings so far; they are forgotten here."""
        found, self._found = self.findings, []
        self._more.clear()
        return found

    def taken_arguments(self, function: Json, cut: bool) -> str | None:
        """The arguments as they may be sent; None where the call may not."""
        name, value = shortened(function["name"]), function.get("arguments")
        if isinstance(value, Mapping):
            value = exact_json.dumps(value)
        if cut and not (isinstance(value, str) and is_complete(value)):
            self.lose(name, "dropped")
            return None
        if value is None:
            self.note("missing_arguments", "dropped", f"the call of {name!r} has no arguments")
            return None
        if not isinstance(value, str):
            what = type(value).__name__
            self.note("bad_structure", "dropped", f"the arguments of {name!r} are of type {what}")
            return None
        if not value:
            return "{}"
        kind = json_type(value)
        if kind is not None:
            self.note_kind(name, kind)
            return self.arguments(function["name"], value)
        self.note("invalid_json", "wrapped", f"the arguments of {name!r} are not valid JSON")
        return f'{{"input": {encode(value)}}}'

    def note_kind(self, name: str, kind: str) -> None:
        """Arguments are JSON of this type: only an object can be what a function asks for."""
        if kind != "object":
            detail = f"the arguments of {shortened(name)!r} are JSON, but {kind} and no object"
            self.note("not_an_object", None, detail)

    # Repair, where the operator asks for it

    def name(self, name: str) -> str:
        """The name of the tool that a call is for."""
        meant = self._repair.name(name)
        if meant != name:
            detail = f"the call of {shortened(name)!r} is one of {shortened(meant)!r}"
            self.note(None, "renamed", detail)
        return meant

    def arguments(self, name: str, arguments: str) -> str:
        """All arguments of a call, each of its declared type, as far as that can be told."""
        return self.coerce(name, lambda: self._repair.arguments(name, arguments))

    def coercion(self, name: str) -> Coercion | None:
        """What the arguments of a call go through, piece by piece, with `coerce`."""
        return self._repair.coercion(name)

    def coerce(self, name: str, step: Callable[[], str]) -> str:
        """Take a step of a coercion: values that it changes are noted."""
        before = self._repair.counts["coerce"]
        text = step()
        for _ in range(self._repair.counts["coerce"] - before):
            detail = f"an argument of {shortened(name)!r} was a string, and is of its type now"
            self.note(None, "coerced", detail)
        return text

    # Ids

    def id_for(self, id: Any, name: str) -> str:
        """The id to send: the given one, or a new one where it is missing or was there before."""
        if isinstance(id, str) and id and not self._ids.has(id):
            return self._use(id)
        repeated = isinstance(id, str) and bool(id)
        what = "repeats the id of another call" if repeated else "has no id"
        detail = f"the call of {shortened(name)!r} {what}"
        self.note("duplicate_id" if repeated else None, "id_made", detail)
        return self._use(self._sequential_id(name) if self._numbers_all else self._ids.make(name))

    def _use(self, id: str) -> str:
        self.held += _ID + len(id)
        return self._ids.use(id)

    def text_id(self, own: str | None, name: str) -> str:
        """The id of a call found in the text. `own` is what the model itself wrote, if it did."""
        if own or not self._policy.sequential_ids:
            return own or self._ids.make(name)
        return self._sequential_id(name)

    def _sequential_id(self, name: str) -> str:
        # It only grows, so that ids which are taken are passed over once, and not for every call.
        taken, ours = self._policy.taken_ids, self._ids.taken
        self._number = max(self._number, len(taken) + len(ours))
        while self._ids.has(made := f"{name}_{self._number}"):
            self._number += 1
        return made


def _is_custom(call: Any) -> bool:
    return (
        isinstance(call, Mapping)
        and call.get("type") == "custom"
        and isinstance(call.get("custom"), Mapping)
    )


def _shape(call: Any) -> Json | None:
    """The call with a `function` of its own, also where name and arguments stood at the top level."""
    if not isinstance(call, Mapping):
        return None
    shaped = dict(call)
    function = shaped.get("function")
    if isinstance(function, Mapping):
        shaped["function"] = dict(function)
    elif function is None or isinstance(function, str):
        inner = {k: shaped.pop(k) for k in ("name", "arguments") if k in shaped}
        if isinstance(function, str):
            inner.setdefault("name", function)
        shaped["function"] = inner
    else:
        return None
    name = shaped["function"].get("name")
    return shaped if isinstance(name, str) and 0 < len(name) <= MAX_NAME else None


def normalize_tool_calls(
    tool_calls: Any, *, finish_reason: str | None = None, findings: list[Finding] | None = None
) -> list[Json]:
    """`tool_calls` as a list of well-formed calls. What was wrong is added to `findings`."""
    normalizer = CallNormalizer()
    calls = _normalize_all(normalizer, tool_calls, finish_reason in CUT_REASONS)
    hand_over(normalizer.findings, findings)
    return calls


def _normalize_all(normalizer: CallNormalizer, tool_calls: Any, cut: bool) -> list[Json]:
    if tool_calls is None:
        return []
    if isinstance(tool_calls, Mapping):
        tool_calls = [tool_calls]
    if not isinstance(tool_calls, (list, tuple)):
        normalizer.note("bad_structure", "dropped", '"tool_calls" is not a list')
        return []
    last = len(tool_calls) - 1
    taken = (normalizer.take(c, cut=cut and i == last) for i, c in enumerate(tool_calls))
    return [call for call in taken if call is not None]


def hand_over(found: Iterable[Finding], findings: list[Finding] | None) -> None:
    """Adds what was found to the caller's list, or logs it where there is none."""
    if findings is not None:
        findings.extend(found)
        return
    for finding in found:
        _log.warning("%s (%s)", finding.detail, finding.action or finding.reason)


def normalize_response(response: Json, policy: Policy) -> tuple[Json, list[Finding], int]:
    """A whole Chat Completions answer as it may be sent, what was found, and how many calls it has.

    The very same object comes back where nothing had to change.
    """
    choices = response.get("choices")
    if not isinstance(choices, list):
        return response, [], 0
    findings: list[Finding] = []
    changed, count = [], 0
    for choice in choices[:MAX_CHOICES]:
        normal, found, calls = _normalize_choice(choice, policy)
        changed.append(normal)
        findings += found
        count += calls
    changed += choices[MAX_CHOICES:]
    if changed == choices:
        return response, findings, count
    return response | {"choices": changed}, findings, count


def _normalize_choice(choice: Any, policy: Policy) -> tuple[Any, list[Finding], int]:
    if not isinstance(choice, dict) or not isinstance(choice.get("message"), dict):
        return choice, [], 0
    reason = choice.get("finish_reason")
    normalizer = CallNormalizer(policy)
    message = dict(choice["message"])
    native = message.pop("tool_calls", None)
    old_style = message.pop("function_call", None)
    if native is None and isinstance(old_style, Mapping):
        native = [{"function": old_style}]
    cut = was_cut(reason)
    if native:
        calls = _normalize_all(normalizer, native, cut)
        if policy.splits_thoughts:
            read_message(message, policy, calls=False)
    else:
        calls = _calls_in_text(normalizer, read_message(message, policy), cut)
        if native is not None and not calls:
            calls = _normalize_all(normalizer, native, cut)
    if calls or policy.request.choice.mode != "none":
        _settle_content(message, bool(calls))
    if calls and policy.request.legacy:
        message["function_call"] = calls[0].get("function")
    elif calls or native == []:
        message["tool_calls"] = calls
    normal = choice | {"message": message}
    lost = normalizer.lost_one
    corrected = finish_reason(reason, bool(calls), legacy=policy.request.legacy, lost=lost)
    if corrected != reason:
        normal["finish_reason"] = corrected
    return normal, normalizer.findings, len(calls)


def _calls_in_text(normalizer: CallNormalizer, found: list[ToolCall], cut: bool) -> list[Json]:
    calls = []
    for i, call in enumerate(found):
        id = normalizer.text_id(call.id, call.name)
        raw = {"id": id, "function": {"name": call.name, "arguments": call.arguments}}
        taken = normalizer.take(raw, cut=cut and i == len(found) - 1)
        if taken is not None:
            normalizer.note(None, "text_parsed", found_in_text(call.name))
            calls.append(taken)
    return calls


def read_message(message: Json, policy: Policy, *, calls: bool = True) -> list[ToolCall]:
    """The calls in a message's text, or in its thoughts where it has nothing else. What is no text, and
    what is no thought, is taken out of the message."""
    content = message.get("content")
    if isinstance(content, str) and content and policy.looks_at_text:
        found = read_text(policy, content, calls=calls)
        message["content"] = found.content
        if found.reasoning is not None:
            key = REASONING_KEYS[0]
            message[key] = (message.get(key) or "") + found.reasoning
        if found.tool_calls:
            return found.tool_calls
    blank = not content or (isinstance(content, str) and not content.strip())
    if not (calls and policy.looks_at_thoughts and blank):
        return []
    for key in REASONING_KEYS:
        thoughts = message.get(key)
        if isinstance(thoughts, str) and thoughts:
            left, found_calls = read_thoughts(policy, thoughts)
            if found_calls:
                message[key] = left or None
                return found_calls
    return []


def read_text(policy: Policy, text: str, *, calls: bool = True) -> Message:
    """A text with its calls and thoughts. The calls' ids are those that the model wrote, or empty."""
    reader = TextReader(policy, calls=calls)
    return collect([*reader.feed(text), *reader.finish()], whose=lambda own, name: own or "")


def read_thoughts(policy: Policy, text: str) -> tuple[str, list[ToolCall]]:
    """Thoughts that a server sent apart, in an answer with nothing else, and the calls that end them."""
    reader = ThoughtsReader(policy)
    said = reader.feed(text)
    rest, events = reader.finish()
    return said + rest, collect(events, whose=lambda own, name: own or "").tool_calls


def found_in_text(name: str) -> str:
    return f"a call of {shortened(name)!r} was found in the text"


def _settle_content(message: Json, has_calls: bool) -> None:
    content = message.get("content")
    blank = isinstance(content, str) and not content.strip()
    if not content or (has_calls and blank):
        message["content"] = None
