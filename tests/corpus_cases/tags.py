"""Tags for calls and parameters."""

from __future__ import annotations

from .case import CALL_PLAY, ODE, STOP, case, cut, note, play, prose

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
    case("deepseek_v4", "cut in the next parameter's tag",
         '<｜DSML｜tool_calls>\n<｜DSML｜invoke name="note">\n'
         '<｜DSML｜parameter name="text" string="true">a</｜DSML｜parameter>\n<｜DSML｜',
         cut("note", '{"text": "a"')),
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
