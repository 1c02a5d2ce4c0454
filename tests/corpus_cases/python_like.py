"""Calls as Python writes them, keys without quotes, and text."""

from __future__ import annotations

from .case import ODE, STOP, case, cut, note, play, prose

PYTHON_LIKE = [
    case("pythonic", "plain", '[play(song="Ode", volume=7), stop()]', play(ODE), STOP),
    case("pythonic", "literals in one another",
         "[play(queue=['a', (1, 2.50), None], at={'k': [True, {}]}, song='it\\'s [ok]')]",
         play('{"queue": ["a", [1, 2.50], null], "at": {"k": [true, {}]}, "song": "it\'s [ok]"}')),
    case("pythonic", "by position, and a number for a string", "[note(5, 'T')]",
         note('{"text": "5", "title": "T"}')),
    prose("pythonic", "lists in prose", "[1] says so; see [the docs](x) and [fly(1)]."),
    case("lfm2", "plain", 'Yes.<|tool_call_start|>[play(song="Ode", volume=7)]<|tool_call_end|>',
         play(ODE), content="Yes."),
    case("lfm2", "its closer in a string",
         '<|tool_call_start|>[note(text=")]<|tool_call_end|>"), stop()]<|tool_call_end|>',
         note('{"text": ")]<|tool_call_end|>"}'), STOP),
    case("llama4_pythonic", "plain", '<|python_start|>[play(song="Ode", volume=7)]<|python_end|>',
         play(ODE)),
    case("llama4_pythonic", "no tokens, over lines", 'So:\n[\n  stop(),\n  note(text="a\\tb")\n]',
         STOP, note('{"text": "a\\tb"}'), content="So:"),
    case("olmo3", "plain", '<function_calls>\nplay(song="Ode", volume=7)\nstop()\n</function_calls>',
         play(ODE), STOP),
    case("olmo3", "cut in a string", '<function_calls>\nstop()\nnote(text="it was',
         STOP, cut("note", '{"text": "it was')),
    case("gemma4", "plain", '<|tool_call>call:play{song:<|"|>Ode<|"|>,volume:7}<tool_call|>', play(ODE)),
    case("gemma4", "structure in a string and in one another",
         '<|tool_call>call:play{at:{x:[1,{y:<|"|>},a:1<|"|>}]},loop:true}<tool_call|>',
         play('{"at": {"x": [1, {"y": "},a:1"}]}, "loop": true}')),
    case("functiongemma", "plain",
         "<start_function_call>call:play{song:<escape>Ode<escape>,volume:7}<end_function_call>",
         play(ODE)),
    case("functiongemma", "quotes and its closer in a string",
         '<start_function_call>call:note{text:<escape>"<end_function_call>" {<escape>}'
         "<end_function_call>",
         note('{"text": "\\"<end_function_call>\\" {"}')),
    case("call_text", "plain", 'Now.\nplay(song="Ode", volume=7)\nThere.', play(ODE),
         content="Now.\n\nThere."),
    case("call_text", "brackets and quotes in a string", "note(text='say \"f(x)\" :)', title=\"\")",
         note('{"text": "say \\"f(x)\\" :)", "title": ""}')),
    case("call_text", "said twice", "stop()\nstop()\nThat is all.", STOP, content="That is all."),
    prose("call_text", "calls in prose", "Write `stop()` or call play(song, volume) in code."),
    prose("call_text", "a fence that begins with something else", "```\nx = 1\nstop()\n```\n"),
]  # fmt: skip
