"""What a template makes of each shape that a conversation may have, case by case."""

from typing import Any

import pytest

from .template_renderers import FRAMES, NAMES, STYLES, render_everywhere

WEATHER: dict[str, Any] = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "description": "The weather in a city",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Which city"},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
                "where": {"type": "object", "properties": {"lat": {"type": "number"}}},
            },
            "required": ["city"],
        },
    },
}
BARE: dict[str, Any] = {"type": "function", "function": {"name": "ring_bell"}}

CALLS: dict[str, str] = {
    "hermes": '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Zürich", "days": 2}}\n'
    '</tool_call>\n<tool_call>\n{"name": "ring_bell", "arguments": {}}\n</tool_call>',
    "special_token": '<|tool_call|>get_weather\n{"city": "Zürich", "days": 2}<|end_tool_call|>\n'
    "<|tool_call|>ring_bell\n{}<|end_tool_call|>",
    "json": '{"tool_calls": [{"name": "get_weather", "arguments": {"city": "Zürich", "days": 2}}, '
    '{"name": "ring_bell", "arguments": {}}]}',
    "labeled": '<tool_call>\nname: get_weather\narguments: {"city": "Zürich", "days": 2}\n'
    "</tool_call>\n<tool_call>\nname: ring_bell\narguments: {}\n</tool_call>",
    "qwen3_coder": "<tool_call>\n<function=get_weather>\n<parameter=city>\nZürich\n</parameter>\n"
    "<parameter=days>\n2\n</parameter>\n</function>\n</tool_call>\n"
    "<tool_call>\n<function=ring_bell>\n</function>\n</tool_call>",
    "call_text": 'get_weather(city="Zürich", days=2)\nring_bell()',
    "pythonic": '[get_weather(city="Zürich", days=2), ring_bell()]',
}

CALLS_FROM_STRINGS: dict[str, str] = {
    "hermes": '<tool_call>\n{"name": "get_weather", "arguments": {"city":"Z\\u00fcrich"}}\n'
    "</tool_call>",
    "special_token": '<|tool_call|>get_weather\n{"city":"Z\\u00fcrich"}<|end_tool_call|>',
    "json": '{"tool_calls": [{"name": "get_weather", "arguments": {"city":"Z\\u00fcrich"}}]}',
    "labeled": '<tool_call>\nname: get_weather\narguments: {"city":"Z\\u00fcrich"}\n</tool_call>',
    "qwen3_coder": '<tool_call>\n{"name": "get_weather", "arguments": {"city":"Z\\u00fcrich"}}\n'
    "</tool_call>",
    "call_text": 'get_weather({"city":"Z\\u00fcrich"})',
    "pythonic": '[get_weather({"city":"Z\\u00fcrich"})]',
}

RESULTS: dict[str, str] = {
    "hermes": "<tool_response>\nmild\n</tool_response>\n<tool_response>\nding\n</tool_response>",
    "special_token": "<|tool_result|>get_weather\nmild<|end_tool_result|>\n"
    "<|tool_result|>ring_bell\nding<|end_tool_result|>",
    "json": "Result of get_weather:\nmild\nResult of ring_bell:\nding",
    "labeled": "<tool_result>\nname: get_weather\nresult: mild\n</tool_result>\n"
    "<tool_result>\nname: ring_bell\nresult: ding\n</tool_result>",
    "qwen3_coder": "<tool_response>\nmild\n</tool_response>\n"
    "<tool_response>\nding\n</tool_response>",
    "call_text": "Result of get_weather:\nmild\nResult of ring_bell:\nding",
    "pythonic": "Result of get_weather:\nmild\nResult of ring_bell:\nding",
}

# System text, what the user says, the answer, a result, and the beginning of the next answer.
TURNS: dict[str, str] = {
    "chatml": "<|im_start|>system\n{S}<|im_end|>\n<|im_start|>user\n{U}<|im_end|>\n"
    "<|im_start|>assistant\n{A}<|im_end|>\n<|im_start|>user\n{R}<|im_end|>\n<|im_start|>assistant\n",
    "llama3": "<|begin_of_text|><|start_header_id|>system<|end_header_id|>\n\n{S}<|eot_id|>"
    "<|start_header_id|>user<|end_header_id|>\n\n{U}<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\n{A}<|eot_id|>"
    "<|start_header_id|>ipython<|end_header_id|>\n\n{R}<|eot_id|>"
    "<|start_header_id|>assistant<|end_header_id|>\n\n",
    "mistral": "<s>[INST]{S}\n\n{U}[/INST]{A}</s>[INST]{R}[/INST]",
    "gemma": "<bos><start_of_turn>user\n{S}\n\n{U}<end_of_turn>\n"
    "<start_of_turn>model\n{A}<end_of_turn>\n<start_of_turn>user\n{R}<end_of_turn>\n<start_of_turn>model\n",
    "phi": "<|system|>\n{S}<|end|>\n<|user|>\n{U}<|end|>\n<|assistant|>\n{A}<|end|>\n"
    "<|user|>\n{R}<|end|>\n<|assistant|>\n",
    "deepseek": "<｜begin▁of▁sentence｜>{S}<｜User｜>{U}<｜Assistant｜>{A}<｜end▁of▁sentence｜>"
    "<｜User｜>{R}<｜Assistant｜>",
    "zephyr": "<|system|>\n{S}</s>\n<|user|>\n{U}</s>\n<|assistant|>\n{A}</s>\n"
    "<|user|>\n{R}</s>\n<|assistant|>\n",
    "plain": "### System:\n{S}\n\n### User:\n{U}\n\n### Assistant:\n{A}\n\n### Tool:\n{R}\n\n"
    "### Assistant:\n",
}


def said(role: str, content: Any) -> dict[str, Any]:
    return {"role": role, "content": content}


def called(*calls: tuple[str, str, Any], content: Any = None) -> dict[str, Any]:
    return {
        "role": "assistant",
        "content": content,
        "tool_calls": [
            {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
            for id_, name, arguments in calls
        ],
    }


def answered(id_: str, content: Any) -> dict[str, Any]:
    return {"role": "tool", "tool_call_id": id_, "content": content}


TWO_CALLS = called(
    ("call_1", "get_weather", {"city": "Zürich", "days": 2}), ("call_2", "ring_bell", {})
)


def answer_text(style: str, answer: dict[str, Any]) -> str:
    """What stands in the assistant's turn."""
    rendered = render_everywhere(f"plain-{style}", [answer])
    return rendered.removeprefix("### Assistant:\n").removesuffix("\n\n")


def result_text(style: str, *messages: dict[str, Any]) -> str:
    """What stands in the turn with the results, at the end of a conversation."""
    rendered = render_everywhere(f"plain-{style}", list(messages))
    return rendered.rpartition("### Tool:\n")[2].removesuffix("\n\n")


@pytest.mark.parametrize("frame", FRAMES)
def test_each_turn_is_marked_as_the_frame_does(frame: str) -> None:
    messages = [
        said("system", "Be kind."),
        said("user", "Ring!"),
        called(("call_1", "ring_bell", {})),
        answered("call_1", "ding"),
    ]
    assert render_everywhere(f"{frame}-call_text", messages, add_generation_prompt=True) == TURNS[
        frame
    ].format(S="Be kind.", U="Ring!", A="ring_bell()", R="Result of ring_bell:\nding")


@pytest.mark.parametrize("style", STYLES)
def test_calls_are_written_as_the_style_does(style: str) -> None:
    assert answer_text(style, TWO_CALLS) == CALLS[style]


@pytest.mark.parametrize("style", STYLES)
def test_text_stands_before_the_calls(style: str) -> None:
    answer = {**TWO_CALLS, "content": "Let me see."}
    assert answer_text(style, answer) == "Let me see.\n" + CALLS[style]


@pytest.mark.parametrize("style", STYLES)
def test_arguments_in_a_string_keep_their_bytes(style: str) -> None:
    answer = called(("call_1", "get_weather", '{"city":"Z\\u00fcrich"}'))
    assert answer_text(style, answer) == CALLS_FROM_STRINGS[style]


@pytest.mark.parametrize("style", STYLES)
def test_no_arguments_are_an_empty_object(style: str) -> None:
    empty = answer_text(style, called(("call_1", "ring_bell", {})))
    for nothing in (None, ""):
        assert answer_text(style, called(("call_1", "ring_bell", nothing))) == empty
    spaces = answer_text(style, called(("call_1", "ring_bell", " \n")))
    assert spaces == answer_text(style, called(("call_1", "ring_bell", "{}")))


@pytest.mark.parametrize("style", STYLES)
def test_a_call_without_the_arguments_key_is_written(style: str) -> None:
    answer = {"role": "assistant", "tool_calls": [{"function": {"name": "ring_bell"}}]}
    assert answer_text(style, answer) == answer_text(style, called(("1", "ring_bell", {})))


@pytest.mark.parametrize("style", STYLES)
def test_results_are_shown_as_the_style_does(style: str) -> None:
    results = [answered("call_1", "mild"), answered("call_2", "ding")]
    assert result_text(style, TWO_CALLS, *results) == RESULTS[style]


@pytest.mark.parametrize("style", STYLES)
def test_results_are_put_back_into_the_order_of_the_calls(style: str) -> None:
    results = [answered("call_2", "ding"), answered("call_1", "mild")]
    assert result_text(style, TWO_CALLS, *results) == RESULTS[style]


def test_each_turn_has_its_own_calls_though_their_ids_repeat() -> None:
    second = called(("call_1", "ring_bell", {}))
    messages = [TWO_CALLS, answered("call_1", "mild"), second, answered("call_1", "dong")]
    assert result_text("json", *messages) == "Result of ring_bell:\ndong"


def test_calls_with_the_same_id_are_answered_in_their_order() -> None:
    calls = called(("call_1", "get_weather", {}), ("call_1", "ring_bell", {}))
    results = [answered("call_1", "mild"), answered("call_1", "ding")]
    assert result_text("json", calls, *results) == RESULTS["json"]


def test_results_without_ids_are_told_apart_by_name_and_then_by_order() -> None:
    by_name = [
        {"role": "tool", "name": "ring_bell", "content": "ding"},
        {"role": "tool", "name": "get_weather", "content": "mild"},
    ]
    by_order = [said("tool", "mild"), said("tool", "ding")]
    assert result_text("json", TWO_CALLS, *by_name) == RESULTS["json"]
    assert result_text("json", TWO_CALLS, *by_order) == RESULTS["json"]


@pytest.mark.parametrize("name", NAMES)
def test_calls_that_nobody_answered_are_shown(name: str) -> None:
    style = name.split("-")[1]
    rendered = render_everywhere(name, [said("user", "Hi"), TWO_CALLS, said("user", "And?")])
    assert CALLS[style] in rendered
    assert rendered.index(CALLS[style]) < rendered.index("And?")


def test_a_part_of_the_results_is_shown() -> None:
    assert (
        result_text("json", TWO_CALLS, answered("call_2", "ding")) == "Result of ring_bell:\nding"
    )


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("mild", "mild"),
        ('{"t": 5}', '{"t": 5}'),
        ([{"type": "text", "text": "mild"}, {"type": "text", "text": "dry"}], "mild\ndry"),
        ([], ""),
        (None, ""),
        ("", ""),
        ({"t": 5.0, "sky": "<grau> & süß"}, '{"t": 5.0, "sky": "<grau> & süß"}'),
        ([1, "two"], '[1, "two"]'),
        ([{"type": "text"}], '[{"type": "text"}]'),
        (True, "true"),
        (5, "5"),
    ],
)
def test_a_result_may_be_text_or_parts_or_json(content: Any, shown: str) -> None:
    call = called(("call_1", "ring_bell", {}))
    expected = f"Result of ring_bell:\n{shown}"
    assert result_text("json", call, answered("call_1", content)) == expected


@pytest.mark.parametrize("style", STYLES)
def test_the_deprecated_function_call_is_a_call(style: str) -> None:
    function = {"name": "get_weather", "arguments": {"city": "Oslo"}}
    old: list[dict[str, Any]] = [
        {"role": "assistant", "content": None, "function_call": function},
        {"role": "function", "name": "get_weather", "content": "mild"},
    ]
    new = [called(("call_1", "get_weather", {"city": "Oslo"})), answered("call_1", "mild")]
    assert render_everywhere(f"chatml-{style}", old) == render_everywhere(f"chatml-{style}", new)


def test_calls_and_tools_may_be_flat() -> None:
    flat_call = {"role": "assistant", "tool_calls": [{"name": "ring_bell", "arguments": {}}]}
    assert answer_text("hermes", flat_call) == answer_text(
        "hermes", called(("call_1", "ring_bell", {}))
    )
    for style in STYLES:
        nested = render_everywhere(f"chatml-{style}", [said("user", "Hi")], [WEATHER, BARE])
        flat = [WEATHER["function"], BARE["function"]]
        assert render_everywhere(f"chatml-{style}", [said("user", "Hi")], flat) == nested


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("nothing", [None, []])
def test_without_tools_the_prompt_says_nothing_of_them(name: str, nothing: Any) -> None:
    rendered = render_everywhere(name, [said("user", "Hi")], nothing, add_generation_prompt=True)
    assert "tool" not in rendered.lower()
    assert "call" not in rendered.lower()


@pytest.mark.parametrize("name", NAMES)
def test_the_tools_stand_once_and_after_the_system_text(name: str) -> None:
    messages = [said("system", "Be kind."), said("user", "Hi")]
    rendered = render_everywhere(name, messages, [WEATHER, BARE])
    assert rendered.count("The weather in a city") == 1
    assert rendered.count("ring_bell") == 1
    places = [rendered.index(text) for text in ("Be kind.", "# Tools", "get_weather", "Hi")]
    assert places == sorted(places)


@pytest.mark.parametrize("style", STYLES)
def test_fields_that_say_nothing_to_the_model_are_not_shown(style: str) -> None:
    function = BARE["function"] | {"strict": True, "description": None, "parameters": None}
    full = [{"type": "function", "function": function}]
    name = f"chatml-{style}"
    bare = render_everywhere(name, [said("user", "Hi")], [BARE])
    assert render_everywhere(name, [said("user", "Hi")], full) == bare


def test_call_text_describes_tools_in_words() -> None:
    rendered = render_everywhere("chatml-call_text", [said("user", "Hi")], [WEATHER, BARE])
    assert (
        "\n- get_weather(city, unit, where): The weather in a city"
        "\n  city: string. Which city"
        '\n  unit (optional): "celsius" or "fahrenheit"'
        "\n  where (optional): a value that fits the JSON Schema "
        '{"type": "object", "properties": {"lat": {"type": "number"}}}'
        "\n- ring_bell()\n"
    ) in rendered


def test_call_text_shows_a_schema_that_refers_to_itself_whole() -> None:
    parameters = {
        "type": "object",
        "$defs": {"node": {"type": "object"}},
        "properties": {"root": {"$ref": "#/$defs/node"}, "anything": True, "odd": {}},
    }
    tool = {"type": "function", "function": {"name": "walk", "parameters": parameters}}
    rendered = render_everywhere("chatml-call_text", [said("user", "Hi")], [tool])
    assert (
        '\n  root (optional): a value that fits the JSON Schema {"$ref": "#/$defs/node"}'
        in rendered
    )
    assert "\n  odd (optional): any value" in rendered
    assert '\n  All arguments together fit the JSON Schema {"type": "object", "$defs"' in rendered


@pytest.mark.parametrize("name", NAMES)
def test_content_may_be_a_list_of_parts(name: str) -> None:
    def parts(*texts: str) -> list[dict[str, str]]:
        return [{"type": "text", "text": text} for text in texts]

    as_parts = [
        said("system", parts("Be kind.", "Be brief.")),
        said("user", parts("Hi")),
        said("assistant", parts("Hello", "you")),
        said("assistant", [{"type": "refusal", "refusal": "No."}]),
    ]
    as_text = [
        said("system", "Be kind.\nBe brief."),
        said("user", "Hi"),
        said("assistant", "Hello\nyou"),
        {"role": "assistant", "content": None, "refusal": "No."},
    ]
    tools = [WEATHER]
    assert render_everywhere(name, as_parts, tools) == render_everywhere(name, as_text, tools)


@pytest.mark.parametrize("name", NAMES)
def test_a_developer_message_is_a_system_message(name: str) -> None:
    system = [said("system", "Be kind."), said("user", "Hi"), said("system", "Be brief.")]
    developer = [
        {**message, "role": message["role"].replace("system", "developer")} for message in system
    ]
    assert render_everywhere(name, developer) == render_everywhere(name, system)


@pytest.mark.parametrize("frame", ["mistral", "gemma"])
def test_system_text_without_a_user_behind_it_is_a_turn_of_its_own(frame: str) -> None:
    close, begin = {
        "mistral": ("[/INST]", "<s>[INST]"),
        "gemma": ("<end_of_turn>\n<start_of_turn>model\n", "<bos><start_of_turn>user\n"),
    }[frame]
    messages = [said("system", "Be kind."), said("assistant", "Hello")]
    rendered = render_everywhere(f"{frame}-json", messages)
    assert rendered.startswith(f"{begin}Be kind.{close}Hello")
    prompt = render_everywhere(f"{frame}-json", messages[:1], add_generation_prompt=True)
    assert prompt == f"{begin}Be kind.{close}"


@pytest.mark.parametrize(
    ("frame", "last_turn"),
    [
        ("deepseek", "<｜User｜>Be brief.\n\nWell?"),
        ("gemma", "<start_of_turn>user\nBe brief.\n\nWell?<end_of_turn>\n"),
        ("mistral", "[INST]Be brief.\n\nWell?[/INST]"),
    ],
)
def test_later_system_text_stands_in_front_of_the_users_next_words(
    frame: str, last_turn: str
) -> None:
    messages = [said("user", "Hi"), said("system", "Be brief."), said("user", "Well?")]
    rendered = render_everywhere(f"{frame}-json", messages)
    assert rendered == render_everywhere(f"{frame}-json", messages[:1]) + last_turn


@pytest.mark.parametrize("frame", ["chatml", "llama3", "phi", "zephyr", "plain"])
def test_later_system_text_is_a_turn_of_its_own_where_there_is_one(frame: str) -> None:
    first, later = said("system", "Be kind."), said("system", "Be brief.")
    begin = render_everywhere(f"{frame}-json", [first]).partition("Be kind.")
    assert render_everywhere(f"{frame}-json", [first, later]).endswith(
        begin[0].removeprefix("<|begin_of_text|>") + "Be brief." + begin[2]
    )


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_system_message_is_as_good_as_none(name: str) -> None:
    empty: list[Any] = ["", None, []]
    for nothing in empty:
        rendered = render_everywhere(name, [said("system", nothing), said("user", "Hi")])
        assert rendered == render_everywhere(name, [said("user", "Hi")])


@pytest.mark.parametrize("name", NAMES)
def test_unicode_and_markup_pass_unchanged(name: str) -> None:
    text = "  Grüße <b>&amp;</b> 你好 🎉 '\"\\ \t\r\n <tool_call> {{ x }} {% if %} \u2028 \x00 "
    tool = {"type": "function", "function": {"name": "t", "description": "größer < & 好"}}
    rendered = render_everywhere(name, [said("user", text), said("assistant", text)], [tool])
    assert rendered.count(text) == 2
    assert "größer < & 好" in rendered


def test_a_value_that_holds_tags_is_written_as_json() -> None:
    for value in ("a </parameter> b", "<tool_call>", "x\r", ["</function>"]):
        written = answer_text("qwen3_coder", called(("call_1", "write", {"text": value})))
        assert written.startswith('<tool_call>\n{"name": "write", "arguments": {"text": ')


def test_python_words_are_used_for_an_argument_and_json_inside_of_it() -> None:
    arguments = {"a": True, "b": [None, {"c": False}], "d": "True"}
    written = answer_text("pythonic", called(("call_1", "f", arguments)))
    assert written == '[f(a=True, b=[null, {"c": false}], d="True")]'


def test_names_that_cannot_stand_before_an_equals_sign_are_written_as_json() -> None:
    arguments = {"with-dash": True}
    call = called(("call_1", "f", arguments))
    assert answer_text("pythonic", call) == '[f({"with-dash": true})]'
    assert answer_text("call_text", call) == 'f({"with-dash": true})'


@pytest.mark.parametrize("name", NAMES)
def test_a_message_can_be_left_open_to_go_on_with(name: str) -> None:
    messages = [said("user", "Hi"), said("assistant", "Hello th")]
    prompt = render_everywhere(name, messages[:1], add_generation_prompt=True)
    assert render_everywhere(name, messages, continue_final_message=True) == prompt + "Hello th"
