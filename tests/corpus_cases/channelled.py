"""Messages that are a row of parts: what stands in a part that is a call."""

from __future__ import annotations

from .case import CALL_STOP, ODE, STOP, case, cut, note, play


def _to(name: str, body: str, end: str = "<|call|>") -> str:
    return f"<|channel|>commentary to=functions.{name} <|constrain|>json<|message|>{body}{end}"


CHANNELLED = [
    case("harmony", "plain", _to("play", ODE), play(ODE)),
    case("harmony", "null is no arguments", _to("stop", "null"), STOP),
    case("harmony", "null and a newline", _to("stop", "\r\nnull\n") + "Done.", STOP, content="Done."),
    case("harmony", "an empty string is no arguments", _to("stop", '""'), STOP),
    case("harmony", "arguments in a string", _to("note", '"{\\"text\\": \\"a\\"}"'),
         note('{"text": "a"}')),
    case("harmony", "arguments in a code fence", _to("play", f"```json\n{ODE}\n```\n"), play(ODE)),
    case("harmony", "brackets and commas too many, then the next part",
         _to("play", ODE + "}],") + "<|start|>assistant<|channel|>final<|message|>Done.",
         play(ODE), content="Done."),
    case("harmony", "words behind the arguments", _to("play", ODE + "} for you"), play(ODE),
         content="for you"),
    case("harmony", "the prompt has begun the header, and a blank ends the name",
         f" to=functions.play <|channel|>commentary<|message|>{ODE}<|call|>", play(ODE)),
    case("harmony", "a function that is called as a built-in tool is", _to("python", "{}"),
         ("python", "{}", True)),
    case("harmony", "the built-in tool itself",
         "<|channel|>analysis to=python code<|message|>1 + 1<|call|>", content="1 + 1"),
    case("harmony", "cut in what ends the part", _to("play", ODE, "<|ca"), play(ODE)),
    case("harmony", "what begins like a token, before the one that ends the part",
         _to("play", ODE + "<"), play(ODE), content="<"),
    case("harmony", "cut in it, where the part is text", "<|channel|>final<|message|>Yes.<|ret",
         content="Yes.<|ret"),
    case("inkling", "plain",
         f'play<|content_invoke_tool_json|>{{"name":"play","args":{ODE}}}<|end_message|>', play(ODE)),
    case("inkling", "brackets and commas too many",
         f'<|content_invoke_tool_json|>{{"name":"play","args":{ODE}}}}}],;<|end_message|>', play(ODE)),
    case("inkling", "half a token before the next part",
         f'<|content_invoke_tool_json|>{{"name":"play","args":{ODE}}}<|end_me<|content_text|>Done.',
         play(ODE), content="<|end_meDone."),
    case("muse_glimmer", "half a token before the one that ends the part",
         f" to=play<|message|>{ODE}<|eo<|eot|>", play(ODE), content="<|eo"),
    case("muse_glimmer", "nothing in the part is no arguments", " to=stop<|message|><|eot|>", STOP),
    case("muse_glimmer", "just the arguments, as JSON",
         f" to=play<|message|>\n{ODE}}}\n<|eom|><|start|>assistant to=user<|message|>Done.<|eot|>",
         play(ODE), content="Done."),
    case("muse_glimmer", "cut in them", ' to=note<|message|>{"text": "a',
         cut("note", '{"text": "a')),
    case("muse_glimmer", "words for a tool stay words", " to=note<|message|>Hello there.<|eot|>",
         content="Hello there."),
    case("any", "just the arguments, as JSON", f" to=play <|message|>{ODE}<|eot|>", play(ODE)),
    case("deepseek_v3", "nothing in the code fence is no arguments",
         "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>function<｜tool▁sep｜>stop\n```json\n\n```"
         "<｜tool▁call▁end｜><｜tool▁calls▁end｜>", STOP),
    case("kimi_k2", "nothing in the code fence is no arguments",
         "<|tool_calls_section_begin|><|tool_call_begin|>functions.stop:0"
         "<|tool_call_argument_begin|>```\n```<|tool_call_end|><|tool_calls_section_end|>", STOP),
    case("harmony", "a call in JSON behind one", _to("play", f"{ODE} {CALL_STOP}"), play(ODE), STOP),
]  # fmt: skip
