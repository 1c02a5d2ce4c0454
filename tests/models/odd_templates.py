"""Templates that are hard to ask: each has a peculiarity that some model's own template has, too."""

from __future__ import annotations

#: A conversation between tags; TOOLS, TURN and RESULT are filled in.
_FRAME = """\
{%- if tools %}TOOLS{% endif %}
{%- for m in messages %}
{%- if m.role == 'tool' %}RESULT
{%- elif m.role == 'assistant' %}{{- '<|im_start|>assistant\\n' }}TURN{{- '<|im_end|>\\n' }}
{%- else %}{{- '<|im_start|>' ~ m.role ~ '\\n' ~ m.content ~ '<|im_end|>\\n' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{% endif %}
"""
_TOOLS = "{{- '<|im_start|>system\\n' ~ tools | tojson ~ '<|im_end|>\\n' }}"
_RESULT = "{{- '<|im_start|>user\\n' ~ m.content ~ '<|im_end|>\\n' }}"
_HERMES = """\
{{- m.content or '' }}
{%- for c in m.tool_calls or [] %}
{{- '<tool_call>\\n{"name": "' ~ c.function.name ~ '", "arguments": ' }}
{{- c.function.arguments | tojson ~ '}\\n</tool_call>' }}
{%- endfor %}"""
_CONTENT = "{{- m.content }}"


def frame(turn: str, tools: str = _TOOLS, result: str = _RESULT) -> str:
    return _FRAME.replace("TOOLS", tools).replace("TURN", turn).replace("RESULT", result)


def told(instruction: str) -> str:
    """Writes no call, but tells the model how to."""
    tools = (
        "{{- '<|im_start|>system\\nTools: ' ~ tools | tojson }}INSTRUCTION{{- '<|im_end|>\\n' }}"
    )
    return frame(_CONTENT, tools.replace("INSTRUCTION", "{% raw %}" + instruction + "{% endraw %}"))


def _headed(begin: str, end: str, eot: str) -> str:
    """Llama's way to mark turns, with a list of calls as Python code."""
    return (
        """\
{%- if tools %}{{- 'Tools: ' ~ tools | tojson }}{% endif %}
{%- for m in messages %}
{{- 'BEGIN' ~ m.role ~ 'END\\n\\n' ~ (m.content or '') }}
{%- if m.tool_calls %}{{- '[' }}
{%- for c in m.tool_calls %}
{{- c.function.name ~ '(' }}
{%- for k, v in c.function.arguments.items() %}
{{- k ~ '="' ~ v ~ '"' ~ (', ' if not loop.last else '') }}
{%- endfor %}
{{- ')' ~ (', ' if not loop.last else '') }}
{%- endfor %}{{- ']' }}{% endif %}
{{- 'EOT' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- 'BEGINassistantEND\\n\\n' }}{% endif %}
""".replace("BEGIN", begin)
        .replace("END", end)
        .replace("EOT", eot)
    )


#: Tokens that a family made alike: `<|python_start|>` goes with these, and not with the others.
LIKE_PYTHON_START = _headed("<|header_start|>", "<|header_end|>", "<|eot|>")
UNLIKE_PYTHON_START = _headed("<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>")

#: Writes no call, and says nothing about them; but marks what tools are, and what they say.
AKIN = frame(
    _CONTENT,
    "{{- '<|im_start|>system\\n<|tool_list_start|>' ~ tools | tojson }}"
    "{{- '<|tool_list_end|><|im_end|>\\n' }}",
    "{{- '<|im_start|>tool\\n<|tool_response_start|>' ~ m.content }}"
    "{{- '<|tool_response_end|><|im_end|>\\n' }}",
)

#: A message for each call, with a header that the prompt has begun.
CHANNELS = """\
{%- if tools %}{{- '<|start|>system<|message|>' ~ tools | tojson ~ '<|eot|>' }}{% endif %}
{%- for m in messages %}
{%- if m.role != 'assistant' %}{{- '<|start|>' ~ m.role ~ '<|message|>' ~ m.content ~ '<|eot|>' }}
{%- elif m.tool_calls %}
{%- for c in m.tool_calls %}
{{- '<|start|>assistant to=' ~ c.function.name ~ '<|message|>' ~ c.function.arguments | tojson }}
{{- '<|eom|>' if not loop.last else '<|eot|>' }}
{%- endfor %}
{%- else %}{{- '<|start|>assistant to=user<|message|>' ~ m.content ~ '<|eot|>' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start|>assistant' }}{% endif %}
"""

_BARE_KEYS = """\
{{- m.content }}
{%- for c in m.tool_calls or [] %}
{{- '<start_function_call>call:' ~ c.function.name ~ '{' }}
{%- for k, v in c.function.arguments.items() %}
{{- k + ':<escape>' + v + '<escape>' + (',' if not loop.last else '') }}
{%- endfor %}
{{- '}<end_function_call>' }}
{%- endfor %}"""

_PYTHON = """\
{{- m.content }}
{%- if m.tool_calls %}{{- '[' }}
{%- for c in m.tool_calls %}
{{- c.function.name ~ '(' }}
{%- for k, v in c.function.arguments.items() %}{{- k ~ '=' ~ VALUE }}{% endfor %}
{{- ')' ~ (', ' if not loop.last else '') }}
{%- endfor %}{{- ']' }}{% endif %}"""

#: What is peculiar: the template, and the format that it shows.
ODD: dict[str, tuple[str, str]] = {
    "shows tools only behind a system message": (
        "{%- if tools and messages[0].role != 'system' %}{% set tools = none %}{% endif %}"
        + frame(_HERMES),
        "hermes",
    ),
    "takes tools without a wrapper": (
        frame(_HERMES, "{%- for t in tools %}{{- t['name'] + ': ' + t | tojson }}{% endfor %}"),
        "hermes",
    ),
    "takes tools with simple parameters only": (
        frame(
            _HERMES,
            "{%- for t in tools %}{{- t.function.name }}"
            "{%- for v in t.function.parameters.properties.values() %}"
            "{{- ': ' + {'string': 'str', 'integer': 'int', 'boolean': 'bool'}[v.type] }}"
            "{% endfor %}{% endfor %}",
        ),
        "hermes",
    ),
    "takes tools as text, under another name": (
        frame(_HERMES, "").replace(
            "{%- if tools %}", "{{- functions + ' ' + datetime }}{%- if 0 %}"
        ),
        "hermes",
    ),
    "takes tools under another name": (
        frame(_HERMES, "{{- xml_tools | tojson }}").replace("if tools", "if xml_tools"),
        "hermes",
    ),
    "changes a list into JSON before it is made": (
        frame(_HERMES, "{{- tools | map(attribute='function') | tojson }}"),
        "hermes",
    ),
    "takes texts only": (frame(_BARE_KEYS), "functiongemma"),
    "forgets what stands between arguments": (
        frame(_PYTHON.replace("VALUE", "v | tojson")),
        "pythonic",
    ),
    "forgets the quotes": (frame(_PYTHON.replace("VALUE", "v | string")), "pythonic"),
    "changes a list of its own": (
        frame(
            "{%- set seen = [] %}{%- for c in m.tool_calls or [] %}"
            "{%- set _ = seen.append(c.function.name) %}{%- endfor %}" + _HERMES
        ),
        "hermes",
    ),
    "begins a turn with calls otherwise": (
        frame("{{- '\\n' if m.tool_calls }}" + _HERMES).replace(
            "{{- '<|im_start|>assistant\\n' }}{%", "{{- '\\n<|im_start|>assistant\\n\\n' }}{%"
        ),
        "hermes",
    ),
    "begins the tool's answer at once": (
        frame(
            _HERMES + "{%- if m.tool_calls %}{{- '<|answer>' }}{% endif %}",
            result="{{- m.content ~ '<answer|>' }}",
        ).replace(
            "{{- '<|im_end|>\\n' }}",
            "{%- if not m.tool_calls %}{{- '<|im_end|>\\n' }}{% endif %}",
            1,
        ),
        "hermes",
    ),
    "leaves the last answer open": (
        frame(_HERMES).replace(
            "{{- '<|im_end|>\\n' }}",
            "{%- if m.tool_calls or not loop.last %}{{- '<|im_end|>\\n' }}{% endif %}",
            1,
        ),
        "hermes",
    ),
    "shows an empty thought": (
        frame(
            "{%- if m.tool_calls %}{{- '<|BEGIN_THOUGHT|>' ~ m.reasoning_content ~ '<|END_THOUGHT|>' }}"
            "{% endif %}" + _HERMES
        ),
        "hermes",
    ),
    "wraps the text beside calls": (
        frame(
            _HERMES.replace(
                "{{- m.content or '' }}",
                "{{- '<|text|>' ~ m.content ~ '<|/text|>' if m.tool_calls else m.content }}",
            )
        ),
        "hermes",
    ),
    "shows a call in tags": (
        told(
            "\nWrite <tool_call>the_function\n<arg_key>its_parameter</arg_key>\n"
            "<arg_value>its_value</arg_value>\n</tool_call> for a call."
        ),
        "glm45",
    ),
    "shows a call in JSON, with places to fill in": (
        told(
            '\nAnswer with <tool_call>\n{"name": <the-name>, "arguments": <an-object>}\n</tool_call>'
        ),
        "hermes",
    ),
    "shows a list of calls": (
        told('\nAnswer with functools[{"name": [a name], "arguments": [an object]}, ...] to call.'),
        "phi4",
    ),
    "shows a call without tags": (
        told('\nAnswer in the format {"name": a name, "parameters": a dictionary}.\n'),
        "llama3_json",
    ),
    "shows a call as code": (
        told(
            "\nUse the format [a_function(its_parameter=its_value, other=value), another()] then."
        ),
        "pythonic",
    ),
    "names the token before calls": (
        told("\nWrite <|tool_call|> and then a JSON list."),
        "granite",
    ),
    "has tokens that are made alike": (AKIN, "lfm2"),
    "marks turns as Llama 4 does": (LIKE_PYTHON_START, "llama4_pythonic"),
    "marks turns as Llama 3 does": (UNLIKE_PYTHON_START, "pythonic"),
}
