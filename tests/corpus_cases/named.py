"""A name in markup, then JSON; and labelled lines."""

from __future__ import annotations

from .case import ODE, STOP, case, cut, note, play

NAMED = [
    case("special_token", "plain", f"Sure.<|tool_call|>play\n{ODE}<|end_tool_call|>", play(ODE),
         content="Sure."),
    case("special_token", "no arguments at all, then a marker in a string",
         "<|tool_call|>stop<|end_tool_call|>\n"
         '<|tool_call|>note\n{"text": "<|end_tool_call|>"}<|end_tool_call|>',
         STOP, note('{"text": "<|end_tool_call|>"}')),
    case("labeled", "plain", f"<tool_call>\nname: play\narguments: {ODE}\n</tool_call>", play(ODE)),
    case("labeled", "labels in a string, over lines",
         '<tool_call>\nname: note\narguments: {\n  "text": "name: stop\\narguments: {}"\n}\n'
         "</tool_call>",
         note('{\n  "text": "name: stop\\narguments: {}"\n}')),
    case("deepseek_v3", "plain",
         "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>play\n"
         f"```json\n{ODE}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
         play(ODE)),
    case("deepseek_v3", "a fence in a string",
         "Look.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>note\n"
         '```json\n{"text": "```\\nx\\n```"}\n```<｜tool▁call▁end｜><｜tool▁calls▁end｜>',
         note('{"text": "```\\nx\\n```"}'), content="Look."),
    case("deepseek_v3_1", "plain",
         f"<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>play<｜tool▁sep｜>{ODE}<｜tool▁call▁end｜>"
         "<｜tool▁call▁begin｜>stop<｜tool▁sep｜>{}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
         play(ODE), STOP),
    case("deepseek_v3_1", "no section, cut in a string",
         '<｜tool▁call▁begin｜>note<｜tool▁sep｜>{"text": "<｜tool▁call▁e',
         cut("note", '{"text": "<｜tool▁call▁e')),
    case("kimi_k2", "plain",
         "<|tool_calls_section_begin|><|tool_call_begin|>functions.play:0<|tool_call_argument_begin|>"
         f"{ODE}<|tool_call_end|><|tool_calls_section_end|>",
         play(ODE)),
    case("kimi_k2", "a dotted name, a section in the singular",
         "<|tool_call_section_begin|><|tool_call_begin|>functions.music.seek:12"
         '<|tool_call_argument_begin|>{"to": [[1], "]"]}<|tool_call_end|><|tool_call_section_end|>',
         ("music.seek", '{"to": [[1], "]"]}', True)),
    case("mistral", "plain", f"[TOOL_CALLS]play[ARGS]{ODE}[TOOL_CALLS]stop[ARGS]{{}}", play(ODE),
         STOP),
    case("mistral", "an array, its marker in a string",
         '[TOOL_CALLS][{"name": "note", "arguments": {"text": "[TOOL_CALLS][ARGS]"}}]',
         note('{"text": "[TOOL_CALLS][ARGS]"}')),
    case("mistral", "with an id", f"[TOOL_CALLS]play[CALL_ID]aB3dE6gH9[ARGS]{ODE}", play(ODE)),
    case("plamo3", "plain",
         "Yes.<|plamo:begin_tool_requests:plamo|>"
         "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>play"
         "<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>"
         f"<|plamo:constrain|>json<|plamo:msg|>{ODE}<|plamo:end_tool_arguments:plamo|>"
         "<|plamo:end_tool_request:plamo|><|plamo:end_tool_requests:plamo|>",
         play(ODE), content="Yes."),
    case("plamo3", "nothing says that it is JSON, then no arguments, then cut",
         "<|plamo:begin_tool_requests:plamo|>"
         "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>play"
         f"<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>{ODE}"
         "<|plamo:end_tool_arguments:plamo|><|plamo:end_tool_request:plamo|>"
         "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>stop"
         "<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>"
         "<|plamo:constrain|>json<|plamo:msg|><|plamo:end_tool_arguments:plamo|>"
         "<|plamo:end_tool_request:plamo|>"
         "<|plamo:begin_tool_request:plamo|><|plamo:begin_tool_name:plamo|>note"
         "<|plamo:end_tool_name:plamo|><|plamo:begin_tool_arguments:plamo|>"
         '<|plamo:constrain|>json<|plamo:msg|>{"text": "<|plamo:end_tool_arguments:plamo|> x',
         play(ODE), STOP, cut("note", '{"text": "<|plamo:end_tool_arguments:plamo|> x')),
    case("solar_open", "plain, with ids",
         "<|tool_calls|><|tool_call:begin|>abcdefghij<|tool_call:name|>play<|tool_call:args|>"
         f"{ODE}<|tool_call:end|><|tool_call:begin|>0123456789<|tool_call:name|>stop"
         "<|tool_call:args|>{}<|tool_call:end|><|calls|>",
         play(ODE), STOP),
    case("solar_open", "no id, its closer in a string",
         "So.<|begin|>assistant<|tool_calls|><|tool_call:begin|><|tool_call:name|>note"
         '<|tool_call:args|>{"text": "<|tool_call:end|><|calls|> x"}<|tool_call:end|>',
         note('{"text": "<|tool_call:end|><|calls|> x"}'), content="So."),
    case("functionary", "plain", f"<function=play>{ODE}</function><function=stop>{{}}</function>",
         play(ODE), STOP),
    case("functionary", "its closer in a string",
         'So.\n<function=note>{"text": "f(x) </function>"}</function>',
         note('{"text": "f(x) </function>"}'), content="So."),
]  # fmt: skip
