"""What models write, and what has to come out of it: cases for every format, written out by hand.

Each format has a plain case and at least one that is nasty: delimiters inside strings, closers that are
missing or too many, answers that break off, prose about tools, values that look like another type. What
is expected was taken from docs/rules.md and not from what any parser gives.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .support import INTEGER, STRING, tool

#: Invented for these cases: a parameter of each kind, and a tool without any.
TOOLS = [
    tool(
        "play",
        song=STRING,
        volume=INTEGER,
        loop={"type": "boolean"},
        queue={"type": "array"},
        at={"type": "object"},
    ),
    tool("stop"),
    tool("note", text=STRING, title=STRING),
]

#: Name, arguments, and whether the model finished them.
Call = tuple[str, str, bool]


@dataclass(frozen=True)
class Case:
    format: str
    name: str
    text: str
    calls: tuple[Call, ...]
    content: str | None
    tools: Any

    def __str__(self) -> str:
        return f"{self.format}-{self.name}"


def case(
    format: str, name: str, text: str, *calls: Call, content: str | None = None, tools: Any = TOOLS
) -> Case:
    return Case(format, name, text, calls, content, tools)


def prose(format: str, name: str, text: str) -> Case:
    """All of it is content."""
    return case(format, name, text, content=text)


def play(arguments: str) -> Call:
    return ("play", arguments, True)


def note(arguments: str) -> Call:
    return ("note", arguments, True)


def cut(name: str, arguments: str) -> Call:
    """A call that the model did not finish."""
    return (name, arguments, False)


STOP: Call = ("stop", "{}", True)
ODE = '{"song": "Ode", "volume": 7}'
CALL_PLAY = f'{{"name": "play", "arguments": {ODE}}}'
CALL_STOP = '{"name": "stop", "arguments": {}}'
TWO = f"{CALL_PLAY}, {CALL_STOP}"

# -- objects and arrays of JSON --------------------------------------------------------------------

JSON_BODIES = [
    case("hermes", "plain", f"On it.\n<tool_call>\n{CALL_PLAY}\n</tool_call>", play(ODE),
         content="On it."),
    case("hermes", "tags in a string",
         '<tool_call>{"name": "note", "arguments": {"text": "</tool_call> and <tool_call>"}}'
         "</tool_call>",
         note('{"text": "</tool_call> and <tool_call>"}')),
    case("hermes", "name last, another name inside",
         '<tool_call>{"id": 4, "arguments": {"name": "stop", "text": "é"}, "name": "note"}</tool_call>',
         note('{"name": "stop", "text": "é"}')),
    case("hermes", "two line ends", f"<tool_call>\r\n{CALL_STOP}\r\n</tool_call>\r\n", STOP),
    case("hermes", "closer twice", f"<tool_call>{CALL_STOP}</tool_call></tool_call>\nDone.", STOP,
         content="Done."),
    case("hermes", "no closer, then words", f"<tool_call>{CALL_STOP} and then I wait.", STOP,
         content="and then I wait."),
    case("hermes", "broken arguments are passed on",
         f'<tool_call>{{"name": "play", "arguments": {{"song": , }}}}</tool_call>'
         f"<tool_call>{CALL_STOP}</tool_call>",
         play('{"song": , }'), STOP),
    prose("hermes", "words about tags", "Put it between `<tool_call>` and `</tool_call>`."),
    prose("hermes", "cut before the name is whole", 'Well.\n<tool_call>\n{"name": "pla'),
    case("granite4", "plain", f"<tool_call>\n{CALL_PLAY}\n</tool_call>", play(ODE)),
    case("granite4", "arguments in a string",
         '<tool_call>{"name": "note", "arguments": "{\\"text\\": \\"a\\\\nb \\u00e9\\"}"}</tool_call>',
         note('{"text": "a\\nb é"}')),
    case("longcat", "plain", f"<longcat_tool_call>{CALL_PLAY}</longcat_tool_call>", play(ODE)),
    case("longcat", "half a closer in a string",
         '<longcat_tool_call>{"name": "note", "arguments": {"text": "</longcat_tool_"}}'
         "</longcat_tool_call>",
         note('{"text": "</longcat_tool_"}')),
    case("granite_20b_fc", "plain", f"<function_call> {CALL_PLAY}", play(ODE)),
    case("granite_20b_fc", "words between, opener in a string",
         f"<function_call> {CALL_STOP}\nNow the other.\n"
         '<function_call> {"name": "note", "arguments": {"text": "<function_call> {"}}',
         STOP, note('{"text": "<function_call> {"}'), content="Now the other."),
    case("llama3_json", "plain", f'{{"name": "play", "parameters": {ODE}}}', play(ODE)),
    case("llama3_json", "an answer in JSON before a call",
         '{"mood": "calm"}\n{"name": "stop", "parameters": {}}', STOP,
         content='{"mood": "calm"}'),
    case("llama3_json", "behind its token any name is a call",
         '<|python_tag|>{"name": "fly", "parameters": {"to": [1, {"y": "}"}]}}',
         ("fly", '{"to": [1, {"y": "}"}]}', True)),
    prose("llama3_json", "an undeclared name", '{"name": "fly", "parameters": {"to": 1}}'),
    case("internlm", "plain",
         f'<|action_start|><|plugin|>\n{{"name": "play", "parameters": {ODE}}}<|action_end|>',
         play(ODE)),
    case("internlm", "closer in a string",
         'Yes.<|action_start|><|plugin|>{"name": "note", "parameters": {"text": "<|action_end|>"}}'
         "<|action_end|>\n",
         note('{"text": "<|action_end|>"}'), content="Yes."),
    case("minimax_m1", "plain", f"<tool_calls>\n{CALL_PLAY}\n{CALL_STOP}\n</tool_calls>", play(ODE),
         STOP),
    case("minimax_m1", "its closer in a string, then words",
         'Ok.\n<tool_calls>\n{"name": "note", "arguments": {"text": "a\\n</tool_calls>\\nb"}}\n'
         "</tool_calls>\nDone.",
         note('{"text": "a\\n</tool_calls>\\nb"}'), content="Ok.\n\nDone."),
    case("pangu_v2", "plain", f"<|tool_call_start|>[{TWO}]<|tool_call_end|>", play(ODE), STOP),
    case("pangu_v2", "cut in a string",
         '<|tool_call_start|>[{"name": "note", "arguments": {"text": "it <|tool_call_e',
         cut("note", '{"text": "it <|tool_call_e')),
    case("gigachat3", "plain", f"<|function_call|>{CALL_PLAY}", play(ODE)),
    case("gigachat3", "the older marker", f"function call<|role_sep|>\n{CALL_STOP}", STOP),
    prose("gigachat3", "half a marker", "A function call<|role_se"),
    case("json", "plain", f'{{"tool_calls": [{TWO}]}}', play(ODE), STOP),
    case("json", "in a fence, between words", f"Here:\n```json\n{CALL_STOP}\n```\nDone.", STOP,
         content="Here:\n\nDone."),
    prose("json", "an answer in JSON", '{"answer": [1, {"name": 5}], "arguments": "none"}'),
    case("json", "cut in a string", '{"name": "note", "arguments": {"text": "unti',
         cut("note", '{"text": "unti')),
    case("granite", "plain", f"<|tool_call|> [{TWO}]", play(ODE), STOP),
    case("granite", "cut in the second call",
         f'<|tool_call|>[{CALL_STOP}, {{"name": "note", "arguments": {{"title": "a", "te',
         STOP, cut("note", '{"title": "a", "te')),
    case("jamba", "plain", f"<tool_calls>[{TWO}]</tool_calls>", play(ODE), STOP),
    case("jamba", "closer in a string",
         '<tool_calls>[\n{"name": "note", "arguments": {"text": "]</tool_calls>\\""}}\n]</tool_calls>',
         note('{"text": "]</tool_calls>\\""}')),
    case("hunyuan", "plain", f"<tool_calls>[{CALL_PLAY}]</tool_calls>", play(ODE)),
    prose("hunyuan", "no call at all", "<tool_calls>[]</tool_calls>"),
    case("apriel", "plain", f"Sure.\n<tool_calls>[{CALL_PLAY}]</tool_calls>", play(ODE),
         content="Sure."),
    case("apriel", "no arguments, in three ways",
         '<tool_calls>[{"name": "stop", "arguments": null, "id": "1"}, {"id": "2", "name": "stop"}, '
         '{"name": "stop", "arguments": ""}]</tool_calls>',
         STOP, STOP, STOP),
    case("nemotron", "plain", f"<TOOLCALL>[{TWO}]</TOOLCALL>", play(ODE), STOP),
    case("nemotron", "brackets missing", f"<TOOLCALL>[{CALL_PLAY[:-1]}</TOOLCALL>\nSo.", play(ODE),
         content="So."),
    case("phi4", "plain", f"functools[{TWO}]", play(ODE), STOP),
    prose("phi4", "the library", "Use functools.partial, or functools[0] of the list."),
    case("cohere", "plain",
         f'<|START_ACTION|>[\n    {{"tool_call_id": "0", "tool_name": "play", "parameters": {ODE}}}\n]'
         "<|END_ACTION|>",
         play(ODE)),
    case("cohere", "keys in another order, closer in a string",
         '<|START_ACTION|>[{"parameters": {"text": "<|END_ACTION|>"}, "tool_name": "note", '
         '"tool_call_id": "7"}]<|END_ACTION|>',
         note('{"text": "<|END_ACTION|>"}')),
    case("command_r", "plain",
         'Plan: play it.\nAction:\n```json\n[\n    {\n        "tool_name": "play",\n'
         f'        "parameters": {ODE}\n    }},\n    {{\n        "tool_name": "stop",\n'
         '        "parameters": {}\n    }\n]```',
         play(ODE), STOP, content="Plan: play it."),
    case("command_r", "nothing is called, then a call, and words",
         'Action: ```json\n[{"tool_name": "directly-answer", "parameters": {"a": "]}"}}, '
         '{"parameters": {}, "tool_name": "directly_answer"}, {"tool_name": "directly-answer"}, '
         '{"tool_name": "stop", "parameters": {}}]\n```\nDone.',
         STOP, content="Done."),
    case("command_r", "nothing is called at all",
         'Well.\nAction:\n```json\n[\n    {\n        "tool_name": "directly-answer",\n'
         '        "parameters": {}\n    }\n]```',
         content="Well."),
    prose("command_r", "words about actions", "Action: wait.\nAction:\n```sh\nls\n```\nAction:"),
    case("sarashina", "plain",
         "Yes.<|tool_calls|>[{'name': 'play', 'arguments': {'song': 'Ode', 'volume': 7}}, "
         "{'name': 'stop', 'arguments': {}}]",
         play(ODE), STOP, content="Yes."),
    case("sarashina", "no marker, quotes of both kinds, Python's words",
         "[{'name': 'play', 'arguments': {'song': \"it's\", 'loop': True, 'queue': ['it\\'s', None], "
         "'at': {'x': 1.50}}}]",
         play('{"song": "it\'s", "loop": true, "queue": ["it\'s", null], "at": {"x": 1.50}}')),
    case("sarashina", "arguments first, in a string, and none",
         "<|tool_calls|>[{'arguments': {'text': 'a'}, 'name': 'note'}, "
         "{'name': 'note', 'arguments': '{\"text\": \"b\"}'}, {'name': 'stop', 'arguments': None}]",
         note('{"text": "a"}'), note('{"text": "b"}'), STOP),
    case("sarashina", "cut in a string", "<|tool_calls|>[{'name': 'note', 'arguments': {'text': 'it\\'s",
         cut("note", '{"text": "it\'s')),
    prose("sarashina", "lists that are no calls", "[1, 2, 3]\n[{'a': 'b'}]\n[{'name': 'fly'}]"),
    case("apertus", "plain", f'<|tools_prefix|>[{{"play": {ODE}}}, {{"stop": {{}}}}]<|tools_suffix|>',
         play(ODE), STOP),
    case("apertus", "null, and a closer in a string",
         '<|tools_prefix|>[{"stop": null}, {"note": {"text": "<|tools_suffix|>"}}]<|tools_suffix|>',
         STOP, note('{"text": "<|tools_suffix|>"}')),
    case("xlam", "plain", f"[{TWO}]", play(ODE), STOP),
    prose("xlam", "a list of numbers", "[1, 2, 3] are the first ones."),
    case("xlam", "numbers as written",
         '[{"name": "play", "arguments": {"volume": 1e3, "at": {"t": 00.50}}}]',
         play('{"volume": 1e3, "at": {"t": 00.50}}')),
]  # fmt: skip

# -- a name in markup, then JSON -------------------------------------------------------------------

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

# -- tags ------------------------------------------------------------------------------------------

PLAY_ODE = (
    "<function=play>\n<parameter=song>\nOde\n</parameter>\n<parameter=volume>\n7\n</parameter>\n"
)
TAGS = [
    case("qwen3_coder", "plain", f"<tool_call>\n{PLAY_ODE}</function>\n</tool_call>", play(ODE)),
    case("qwen3_coder", "every kind of value",
         "<tool_call>\n<function=play>\n<parameter=loop>\nTrue\n</parameter>\n"
         '<parameter=queue>\n["a", 2.0]\n</parameter>\n<parameter=at>\n{"s": null}\n</parameter>\n'
         "<parameter=volume>\nloud\n</parameter>\n<parameter=other>\n5\n</parameter>\n"
         "</function>\n</tool_call>",
         play('{"loop": true, "queue": ["a", 2.0], "at": {"s": null}, "volume": "loud", "other": "5"}')),
    case("qwen3_coder", "closers that break off belong to the value",
         "<tool_call>\n<function=note>\n<parameter=text>\na </parameter>\n</function>\nb\n\n"
         "</parameter>\n</function>\n</tool_call>",
         note('{"text": "a </parameter>\\n</function>\\nb\\n"}')),
    case("qwen3_coder", "inner closers are missing",
         "<tool_call>\n<function=note>\n<parameter=text>\nx\n</tool_call>\n"
         "<tool_call>\n<function=stop>\n</function>\n</tool_call>",
         note('{"text": "x"}'), STOP),
    case("qwen3_coder", "no opener", f"Yes.\n{PLAY_ODE}</function>", play(ODE), content="Yes."),
    case("qwen3_coder", "cut in a value",
         "<tool_call>\n<function=note>\n<parameter=title>\nA\n</parameter>\n<parameter=text>\nonce up",
         cut("note", '{"title": "A", "text": "once up')),
    prose("qwen3_coder", "words about tags", "A call begins with `<function=play>`, and that is it."),
    case("seed_oss", "plain",
         "<seed:tool_call>\n<function=play>\n<parameter=song>Ode</parameter>\n"
         "<parameter=volume>7</parameter>\n</function>\n</seed:tool_call>",
         play(ODE)),
    case("seed_oss", "a newline is the value's own",
         "<seed:tool_call>\n<function=note>\n<parameter=text>\n hi\n</parameter>\n</function>\n"
         "</seed:tool_call>",
         note('{"text": "\\n hi\\n"}')),
    case("minimax_m2", "plain",
         '<minimax:tool_call>\n<invoke name="play">\n<parameter name="song">Ode</parameter>\n'
         '<parameter name="volume">7</parameter>\n</invoke>\n<invoke name="stop">\n</invoke>\n'
         "</minimax:tool_call>",
         play(ODE), STOP),
    case("minimax_m2", "a closer in mid-line",
         '<minimax:tool_call>\n<invoke name="note">\n<parameter name="text">a </invoke> b "c"'
         "</parameter>\n</invoke>\n</minimax:tool_call>",
         note('{"text": "a </invoke> b \\"c\\""}')),
    case("dots", "plain",
         '<dots_function_call>\n<invoke name="play">\n<parameter name="song">Ode</parameter>\n'
         '<parameter name="volume">7</parameter>\n</invoke>\n</dots_function_call>',
         play(ODE)),
    case("dots", "the call's own closer is missing",
         '<dots_function_call>\n<invoke name="note">\n<parameter name="text">x</parameter>\n'
         "</dots_function_call>\nDone.",
         note('{"text": "x"}'), content="Done."),
    case("deepseek_v3_2", "plain",
         '<｜DSML｜function_calls>\n<｜DSML｜invoke name="play">\n'
         '<｜DSML｜parameter name="song" string="true">Ode</｜DSML｜parameter>\n'
         '<｜DSML｜parameter name="volume" string="false">7</｜DSML｜parameter>\n'
         "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
         play(ODE)),
    case("deepseek_v3_2", "a string that looks like a number, and an object",
         '<｜DSML｜function_calls>\n<｜DSML｜invoke name="play">\n'
         '<｜DSML｜parameter name="song" string="true">0042</｜DSML｜parameter>\n'
         '<｜DSML｜parameter name="at" string="false">{"a": [1, "b"]}</｜DSML｜parameter>\n'
         "</｜DSML｜invoke>\n</｜DSML｜function_calls>",
         play('{"song": "0042", "at": {"a": [1, "b"]}}')),
    case("deepseek_v4", "plain",
         'Yes.\n\n<｜DSML｜tool_calls>\n<｜DSML｜invoke name="stop">\n</｜DSML｜invoke>\n'
         "</｜DSML｜tool_calls>",
         STOP, content="Yes."),
    case("deepseek_v4", "its closer in mid-line, then cut",
         '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="note">\n'
         '<｜DSML｜parameter name="text" string="true">write </｜DSML｜invoke> here, and',
         cut("note", '{"text": "write </｜DSML｜invoke> here, and')),
    case("deepseek_v4", "closed in itself",
         '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="stop"/>\n<｜DSML｜invoke name="stop" />\n'
         "</｜DSML｜tool_calls>",
         STOP, STOP),
    case("deepseek_v4", "other bars, and other words around the calls",
         '<|DSML|toolcalls>\n<|DSML|invoke name="note">\n'
         '<|DSML|parameter name="text" string="true">a</|DSML|parameter>\n</|DSML|invoke>\n'
         '</｜DSML｜tool_calls>\n<｜｜DSML｜｜tool>\n<｜｜DSML｜｜invoke name="stop">\n'
         "</｜｜DSML｜｜invoke>\n</｜｜DSML｜｜tool>",
         note('{"text": "a"}'), STOP),
    case("deepseek_v4", "numbers that are said to be text",
         '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="play">\n'
         '<｜DSML｜parameter name="song" string="true">7</｜DSML｜parameter>\n'
         '<｜DSML｜parameter name="volume" string="true">7</｜DSML｜parameter>\n'
         '<｜DSML｜parameter name="loop" string="true">maybe</｜DSML｜parameter>\n'
         "</｜DSML｜invoke>\n</｜DSML｜tool_calls>",
         play('{"song": "7", "volume": 7, "loop": "maybe"}')),
    case("deepseek_v4", "all arguments in one parameter that the tool does not have",
         '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="play">\n'
         f'<｜DSML｜parameter name="arguments" string="false">{ODE}</｜DSML｜parameter>\n'
         '</｜DSML｜invoke>\n<｜DSML｜invoke name="note">\n'
         '<｜DSML｜parameter name="input" string="true">{"text": "a"</｜DSML｜parameter>\n'
         '</｜DSML｜invoke>\n<｜DSML｜invoke name="play">\n'
         '<｜DSML｜parameter name="input" string="false">{"a": 1}</｜DSML｜parameter>\n'
         '<｜DSML｜parameter name="volume" string="false">7</｜DSML｜parameter>\n'
         '</｜DSML｜invoke>\n<｜DSML｜invoke name="note">\n'
         '<｜DSML｜parameter name="input" string="false">{"text": "on',
         play(ODE), note('{"input": "{\\"text\\": \\"a\\""}'),
         play('{"input": {"a": 1}, "volume": 7}'), cut("note", '{"text": "on')),
    case("deepseek_v4", "no section, in the middle of a line",
         'Now <｜DSML｜invoke name="stop"></｜DSML｜invoke> it is off.', STOP,
         content="Now  it is off."),
    prose("deepseek_v4", "words about tags",
          'It begins with <｜DSML｜invoke name="stop"> or <｜DSML｜invoke name="fly"></｜DSML｜invoke>'),
    case("deepseek_v41", "plain",
         'Yes.\n\n<｜DSML｜ calls>\n<｜DSML｜ invoke name="play">\n'
         '<｜DSML｜ parameter name="song" string="true">Ode</｜DSML｜ parameter>\n'
         '<｜DSML｜ parameter name="volume" string="false">7</｜DSML｜ parameter>\n'
         "</｜DSML｜ invoke>\n</｜DSML｜ calls>",
         play(ODE), content="Yes."),
    case("deepseek_v41", "no blanks, a closer in mid-line",
         '<｜DSML｜calls>\n<｜DSML｜invoke name="note">\n'
         '<｜DSML｜parameter name="text" string="true">a </｜DSML｜invoke> b</｜DSML｜parameter>\n'
         "</｜DSML｜invoke>\n</｜DSML｜calls>\nDone.",
         note('{"text": "a </｜DSML｜invoke> b"}'), content="Done."),
    case("gigachat35", "plain",
         '<｜GCML｜tool_calls>\n<｜GCML｜invoke name="play">\n'
         '<｜GCML｜parameter name="song" string="true">Ode</｜GCML｜parameter>\n'
         '<｜GCML｜parameter name="volume" string="false">7</｜GCML｜parameter>\n'
         '</｜GCML｜invoke>\n<｜GCML｜invoke name="stop">\n</｜GCML｜invoke>\n</｜GCML｜tool_calls>',
         play(ODE), STOP),
    case("gigachat35", "no closer, cut in a value",
         '<｜GCML｜tool_calls>\n<｜GCML｜invoke name="note">\n'
         '<｜GCML｜parameter name="text" string="true">once </｜GCML｜par',
         cut("note", '{"text": "once </｜GCML｜par')),
    case("minicpm5", "plain",
         '<function name="play"><param name="song">Ode</param><param name="volume">7</param></function>',
         play(ODE)),
    case("minicpm5", "other quotes, a tag in a value",
         "<function name='note'><param name='text'>a <param> b</param></function>",
         note('{"text": "a <param> b"}')),
    case("step3", "plain",
         '<｜tool_calls_begin｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="play">'
         '<steptml:parameter name="song">Ode</steptml:parameter>'
         '<steptml:parameter name="volume">7</steptml:parameter>'
         "</steptml:invoke><｜tool_call_end｜><｜tool_calls_end｜>",
         play(ODE)),
    case("step3", "one of two calls without its section",
         '<｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="stop"></steptml:invoke>'
         '<｜tool_call_end｜><｜tool_call_begin｜>function<｜tool_sep｜><steptml:invoke name="note">'
         '<steptml:parameter name="text">&amp; <b></steptml:parameter></steptml:invoke>'
         "<｜tool_call_end｜>",
         STOP, note('{"text": "&amp; <b>"}')),
    case("glm45", "plain",
         "<tool_call>play\n<arg_key>song</arg_key>\n<arg_value>Ode</arg_value>\n"
         "<arg_key>volume</arg_key>\n<arg_value>7</arg_value>\n</tool_call>",
         play(ODE)),
    case("glm45", "a newline is the value's own",
         "<tool_call>note\n<arg_key>text</arg_key>\n<arg_value>a\n</arg_value>\n</tool_call>",
         note('{"text": "a\\n"}')),
    case("spark25", "plain",
         "<tool_call>play\n<arg_key>song</arg_key><arg_value>Ode</arg_value>\n"
         "<arg_key>volume</arg_key><arg_value>7</arg_value>\n</tool_call>\n<tool_call>stop\n"
         "</tool_call>",
         play(ODE), STOP),
    case("spark25", "cut in a number, behind words",
         "So.\n<tool_call>play\n<arg_key>volume</arg_key><arg_value>1",
         cut("play", '{"volume": 1'), content="So."),
    case("glm47", "plain",
         "<tool_call>play<arg_key>song</arg_key><arg_value>Ode</arg_value><arg_key>volume</arg_key>"
         "<arg_value>7</arg_value></tool_call><tool_call>stop</tool_call>",
         play(ODE), STOP),
    case("glm47", "strings stay strings, the rest does not",
         "<tool_call>play<arg_key>song</arg_key><arg_value>null</arg_value><arg_key>loop</arg_key>"
         "<arg_value> false </arg_value><arg_key>queue</arg_key><arg_value>[[], {}]</arg_value>"
         "</tool_call>",
         play('{"song": "null", "loop": false, "queue": [[], {}]}')),
    case("iquest_q1", "plain",
         "<iquest_tool_call>play<arg_key>song</arg_key><arg_value>Ode</arg_value><arg_key>volume"
         "</arg_key><arg_value>7</arg_value></iquest_tool_call><iquest_tool_call>stop"
         "</iquest_tool_call>",
         play(ODE), STOP),
    case("iquest_q1", "on lines, a newline is the value's own",
         "<iquest_tool_call>note\n<arg_key>text</arg_key>\n<arg_value>\n x \n</arg_value>\n"
         "</iquest_tool_call>",
         note('{"text": "\\n x \\n"}')),
    case("iquest_coder", "plain",
         "So.<iquestcoder_tool_call>play<arg_key>song</arg_key><arg_value>Ode</arg_value>"
         "<arg_key>volume</arg_key><arg_value>7</arg_value></iquestcoder_tool_call>",
         play(ODE), content="So."),
    case("iquest_coder", "a closer in mid-line, then cut",
         "<iquestcoder_tool_call>note<arg_key>text</arg_key>"
         "<arg_value>the </iquestcoder_tool_call> tag",
         cut("note", '{"text": "the </iquestcoder_tool_call> tag')),
    case("solar_open2", "plain",
         "<|tool_call:start|>play\n<|tool_arg:start|>song<|tool_arg:value|>Ode<|tool_arg:end|>\n"
         "<|tool_arg:start|>volume<|tool_arg:value|>7<|tool_arg:end|>\n<|tool_call:end|>",
         play(ODE)),
    case("solar_open2", "values as they are, then cut in a tag",
         "<|tool_call:start|>stop\n<|tool_call:end|>\n<|tool_call:start|>note\n"
         "<|tool_arg:start|>text<|tool_arg:value|> a\n<|tool_arg:end|>\n<|tool_arg:start|>title"
         "<|tool_arg:va",
         STOP, cut("note", '{"text": " a\\n"')),
    case("hy3", "plain",
         "<tool_calls>\n<tool_call>play<tool_sep>\n<arg_key>song</arg_key>\n<arg_value>Ode</arg_value>\n"
         "<arg_key>volume</arg_key>\n<arg_value>7</arg_value>\n</tool_call>\n</tool_calls>",
         play(ODE)),
    case("hy3", "with the suffix of the released models",
         "Yes.\n<tool_calls:opensource>\n<tool_call:opensource>note<tool_sep:opensource>\n"
         "<arg_key:opensource>text</arg_key:opensource>\n"
         "<arg_value:opensource>a </tool_call:opensource> b\n</arg_value:opensource>\n"
         "</tool_call:opensource>\n<tool_call:opensource>stop<tool_sep:opensource>\n"
         "</tool_call:opensource>\n</tool_calls:opensource>",
         note('{"text": "a </tool_call:opensource> b\\n"}'), STOP, content="Yes."),
    case("hy3", "cut in a suffix",
         "<tool_calls:opensource>\n<tool_call:opensource>note<tool_sep:opensource>\n"
         "<arg_key:opensource>text</arg_key:opensource>\n"
         "<arg_value:opensource>a</arg_value:opensource>\n<arg_key:opensource>title</arg_key:open",
         cut("note", '{"text": "a"')),
    prose("hy3", "no suffix, but words", "The tags <tool_calls: x> and <tool_calls:> are none."),
    case("hy4", "plain",
         "<tool_calls><tool_call>play<arg_key>song</arg_key><arg_value>Ode</arg_value>"
         "<arg_key>volume</arg_key><arg_value>7</arg_value></tool_call></tool_calls>",
         play(ODE)),
    case("hy4", "a suffix, no closers at the end",
         "On it.<tool_calls:6124c78e><tool_call:6124c78e>stop</tool_call:6124c78e>"
         "<tool_call:6124c78e>play<arg_key:6124c78e>song</arg_key:6124c78e>"
         "<arg_value:6124c78e>Ode</arg_value:6124c78e><arg_key:6124c78e>volume</arg_key:6124c78e>"
         "<arg_value:6124c78e>7</arg_value:6124c78e></tool_call:6124c78e>",
         STOP, play(ODE), content="On it."),
    case("hy3", "a closer in mid-line, and two calls",
         "<tool_calls>\n<tool_call>note<tool_sep>\n<arg_key>text</arg_key>\n"
         "<arg_value>the tag </tool_call> ends it</arg_value>\n</tool_call>\n"
         "<tool_call>stop<tool_sep>\n</tool_call>\n</tool_calls>",
         note('{"text": "the tag </tool_call> ends it"}'), STOP),
    case("k2_horizon", "plain",
         "<ifm|tool_calls>\n<ifm|tool_call>play\n<ifm|arg_key>song</ifm|arg_key>\n"
         "<ifm|arg_value>Ode</ifm|arg_value>\n<ifm|arg_key>volume</ifm|arg_key>\n"
         "<ifm|arg_value>7</ifm|arg_value>\n</ifm|tool_call>\n</ifm|tool_calls>",
         play(ODE)),
    case("k2_horizon", "with types, also of what is not declared",
         "Yes.\n<ifm|tool_calls>\n<ifm|tool_call>play\n<ifm|arg_key>song</ifm|arg_key>\n"
         "<ifm|arg_type>string</ifm|arg_type>\n<ifm|arg_value> 7\n</ifm|arg_value>\n"
         "<ifm|arg_key>more</ifm|arg_key>\n<ifm|arg_type>array[string]</ifm|arg_type>\n"
         '<ifm|arg_value>["a"]</ifm|arg_value>\n<ifm|arg_key>loop</ifm|arg_key>\n'
         "<ifm|arg_type>any</ifm|arg_type>\n<ifm|arg_value>true</ifm|arg_value>\n"
         "</ifm|tool_call>\n</ifm|tool_calls>",
         play('{"song": " 7\\n", "more": ["a"], "loop": true}'), content="Yes."),
    case("k2_horizon", "as JSON, and one without its group",
         f"<ifm|tool_calls>\n<ifm|tool_call>{CALL_PLAY}</ifm|tool_call>\n</ifm|tool_calls>\n"
         "<ifm|tool_call>stop\n</ifm|tool_call> Done.",
         play(ODE), STOP, content="Done."),
    case("k2_horizon", "cut in a type",
         "<ifm|tool_calls>\n<ifm|tool_call>note\n<ifm|arg_key>text</ifm|arg_key>\n"
         "<ifm|arg_value>a</ifm|arg_value>\n<ifm|arg_key>title</ifm|arg_key>\n<ifm|arg_type>str",
         cut("note", '{"text": "a"')),
    case("kimi_k3", "plain",
         'Yes.<|open|>tools<|sep|><|open|>call tool="play" index="1"<|sep|>'
         '<|open|>argument key="song" type="string"<|sep|>Ode<|close|>argument<|sep|>'
         '<|open|>argument key="volume" type="number"<|sep|>7<|close|>argument<|sep|>'
         '<|close|>call<|sep|><|open|>call tool="stop" index="2"<|sep|><|close|>call<|sep|>'
         "<|close|>tools<|sep|>",
         play(ODE), STOP, content="Yes."),
    case("kimi_k3", "all arguments at once",
         '<|open|>tools<|sep|><|open|>call tool="play" index="1"<|sep|>'
         f'<|open|>json type="object"<|sep|>{ODE}<|close|>json<|sep|><|close|>call<|sep|>'
         "<|close|>tools<|sep|>",
         play(ODE)),
    case("kimi_k3", "signs in names, and values as they are",
         '<|open|>tools<|sep|><|open|>call tool="a&amp;b &quot;c&quot;" index="1"<|sep|>'
         '<|open|>argument key="k&amp;amp;" type="string"<|sep|>&amp; "x" <|close|>call\n'
         '<|close|>argument<|sep|><|open|>argument key="n" type="number"<|sep|>many'
         "<|close|>argument<|sep|><|close|>call<|sep|><|close|>tools<|sep|>",
         ('a&b "c"', '{"k&amp;": "&amp; \\"x\\" <|close|>call\\n", "n": "many"}', True)),
    case("kimi_k3", "blanks in the tags, then cut in one",
         '<|open|> tools <|sep|><|open|> call tool="note" index="1" <|sep|>'
         '<|open|> argument key="text" type="string"<|sep|>a<|close|> argument <|sep|>'
         '<|open|> argument key="title" type="str',
         cut("note", '{"text": "a"')),
]  # fmt: skip

# -- a tree of elements ----------------------------------------------------------------------------

#: A tool whose arguments have parts: what these are, only its schema tells.
TRACK = {"type": "object", "properties": {"title": STRING, "seconds": INTEGER}}
ALBUM = tool(
    "album",
    title=STRING,
    year=INTEGER,
    artist={"type": "object", "properties": {"name": STRING, "born": INTEGER}},
    tracks={"type": "array", "items": TRACK},
    genres={"type": "array", "items": STRING},
    label={"type": ["string", "null"]},
)


def m3(name: str, elements: str, *calls: Call, content: str | None = None) -> Case:
    """A call to `album` in MiniMax M3's elements; ~ is its marker."""
    text = f'~<tool_call>\n~<invoke name="album">{elements}~</invoke>\n~</tool_call>'
    return m3_text(name, text, *calls, content=content)


def m3_text(name: str, text: str, *calls: Call, content: str | None = None) -> Case:
    written = text.replace("~", "]<]minimax[>[")
    return case("minimax_m3", name, written, *calls, content=content, tools=[*TOOLS, ALBUM])


def album(arguments: str) -> Call:
    return ("album", arguments.replace("~", "]<]minimax[>["), True)


def cofl(name: str, values: str, *calls: Call) -> Case:
    """A call to `album` in Command 5's elements."""
    text = f'<cofl:tool_call id="0" name="album">{values}</cofl:tool_call>'
    text = f"<cofl:tool_calls>{text}</cofl:tool_calls>"
    return case("cohere_command5", name, text, *calls, tools=[*TOOLS, ALBUM])


TREES = [
    m3_text("plain",
            'Sure.\n~<tool_call>\n~<invoke name="play">~<song>Ode~</song>~<volume>7~</volume>'
            '~</invoke>\n~<invoke name="stop">~</invoke>\n~</tool_call>',
            play(ODE), STOP, content="Sure."),
    m3("parts of parts",
       "~<artist>~<name>Åse~</name>~<born>1970~</born>~</artist>~<tracks>~<item>~<title>One~</title>"
       "~<seconds>90~</seconds>~</item>~<item>~<title>2~</title>~</item>~</tracks>"
       "~<genres>~<item>a~</item>~<item>7~</item>~</genres>~<label>null~</label>",
       album('{"artist": {"name": "Åse", "born": 1970}, "tracks": [{"title": "One", "seconds": 90}, '
             '{"title": "2"}], "genres": ["a", "7"], "label": null}')),
    m3("on lines of their own",
       "\n  ~<artist>\n    ~<name> A\n~</name>\n  ~</artist>\n",
       album('{"artist": {"name": " A\\n"}}')),
    m3("empty elements",
       "~<tracks>~</tracks>~<artist>\n~</artist>~<label>~</label>~<title>~</title>~<other>~</other>",
       album('{"tracks": [], "artist": {}, "label": "", "title": "", "other": ""}')),
    m3("JSON where elements could be",
       '~<artist>{"name": "B"}~</artist>~<genres> ["x", "y"] ~</genres>~<tracks>no list~</tracks>',
       album('{"artist": {"name": "B"}, "genres": ["x", "y"], "tracks": "no list"}')),
    m3("an element that comes again",
       "~<genres>a~</genres>~<genres>b~</genres>~<year>1~</year>~<genres>c~</genres>",
       album('{"genres": ["a", "b"], "year": 1, "genres": "c"}')),
    m3("objects that come again",
       "~<tracks>~<title>A~</title>~</tracks>~<tracks>~<title>B~</title>~</tracks>",
       album('{"tracks": [{"title": "A"}, {"title": "B"}]}')),
    m3("items of another name", "~<genres>~<genre>a~</genre>~<genre>b~</genre>~</genres>",
       album('{"genres": ["a", "b"]}')),
    m3("what nobody declared",
       "~<x>~<y>1~</y>~<z>~<item>true~</item>~</z>~</x>~<year>soon~</year>",
       album('{"x": {"y": "1", "z": ["true"]}, "year": "soon"}')),
    m3("text beside elements", "~<artist>the ~<name>A~</name> late~</artist>",
       album('{"artist": {"$text": "the ", "name": "A", "$text": " late"}}')),
    m3("closers without the marker",
       "~<title>A</title>~<artist>~<name>B</name>~<born>5</born></artist>~<year>6</year>",
       album('{"title": "A", "artist": {"name": "B", "born": 5}, "year": 6}')),
    m3("a closer without the marker that is text",
       "~<title>see </title> and </title>~</title>~<label></label>~</label>",
       album('{"title": "see </title> and </title>", "label": "</label>"}')),
    m3("closers that are text", "~<title>a~</title> b~</invoke> c ~</tool_call> d~</title>",
       album('{"title": "a~</title> b~</invoke> c ~</tool_call> d"}')),
    m3("closers that are too many", "~<title>a~</title>~</title>\n~</x>~<year>1~</year>",
       album('{"title": "a", "year": 1}')),
    m3("a closer that is missing", "~<title>a\n~<year>1~</year>",
       album('{"title": "a", "year": 1}')),
    m3("closers of parts that are missing", "~<artist>~<name>a~</name>~<born>5~</born>",
       album('{"artist": {"name": "a", "born": 5}}')),
    m3_text("quotes and markers that drift",
            "<tool_call>\n~<invoke name='stop'>~</invoke>\n~<invoke name=album>~<year>1</year>"
            "~</invoke>\n</tool_call>\nDone.",
            STOP, album('{"year": 1}'), content="Done."),
    m3_text("no closer but those of elements", "~<tool_call>~<invoke name=\"album\">~<year>1~</year>\n",
            album('{"year": 1}')),
    m3_text("cut in a string", '~<tool_call>~<invoke name="album">~<artist>~<name>Ås',
            cut("album", '{"artist": {"name": "Ås')),
    m3_text("cut behind a part", '~<tool_call>~<invoke name="album">~<artist>~<born>12~</born>',
            cut("album", '{"artist": {"born": 12')),
    m3_text("no wrapper", 'So:\n~<invoke name="stop">~</invoke>', STOP, content="So:"),
    m3_text("JSON for the elements",
            '~<tool_call>~<invoke name="album">{"year": 1}~</invoke>~</tool_call>',
            album('{"year": 1}')),
    m3_text("JSON for the call", f"~<tool_call>\n{CALL_PLAY}\n~</tool_call>", play(ODE)),
    prose("minimax_m3", "words about tags",
          'Write <tool_call> and ]<]minimax[>[<invoke name="x"> there.'),
    cofl("plain",
         '<cofl:value name="title" type="raw">A <b> & "c" &amp;</cofl:value>'
         '<cofl:value name="year" type="json">7</cofl:value>',
         album('{"title": "A <b> & \\"c\\" &amp;", "year": 7}')),
    cofl("lists and objects",
         '<cofl:value name="l" type="list"><cofl:value type="raw">1</cofl:value><cofl:value type="json">'
         '1</cofl:value><cofl:value type="list"></cofl:value></cofl:value><cofl:value name="o" '
         'type="dict"><cofl:value name="a b" type="json">null</cofl:value><cofl:value name="d" '
         'type="dict"></cofl:value></cofl:value>',
         album('{"l": ["1", 1, []], "o": {"a b": null, "d": {}}}')),
    cofl("any JSON",
         "<cofl:value type='json' name='j'> {\"a\": \"</cofl:value>\", \"b\": 1.50} </cofl:value>",
         album('{"j": {"a": "</cofl:value>", "b": 1.50}}')),
    cofl("JSON where elements could be", '<cofl:value name="l" type="list">[1]</cofl:value>',
         album('{"l": [1]}')),
    cofl("no type: the schema's",
         '<cofl:value name="year">7</cofl:value><cofl:value name="title">7</cofl:value>',
         album('{"year": 7, "title": "7"}')),
    cofl("its closer in a string", '<cofl:value name="title" type="raw">a</cofl:value> b</cofl:value>',
         album('{"title": "a</cofl:value> b"}')),
    case("cohere_command5", "cut in a part of a part",
         '<cofl:tool_calls><cofl:tool_call id="0" name="note"><cofl:value name="l" type="list">'
         '<cofl:value type="json">tr',
         cut("note", '{"l": [tr')),
]  # fmt: skip

# -- like Python, and keys without quotes ----------------------------------------------------------

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

CASES = [*JSON_BODIES, *NAMED, *TAGS, *TREES, *PYTHON_LIKE]
