"""vLLM's real servers: how the tests start them, and what each is for.

Most tests script what the model writes (see `plugins/scripted_output.py`), and then it does not
matter what the model would have liked to write. So most servers have a model of one small layer
and random weights, which writes ten times as fast; everything else about them is real.
"""

from __future__ import annotations

import json
import os
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import toolwire.templates
from engine_client import MODEL
from engine_server import BOOT_SECONDS, EngineServer
from page_blocks import pasted

HERE = Path(__file__).resolve().parent
PLUGINS = HERE / "plugins"
CHECKOUT = HERE.parents[2]
COMMAND = [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
FLAGS = [
    *("--served-model-name", MODEL, "--enforce-eager", "--dtype", "float32"),
    *("--max-model-len", "2048", "--block-size", "32", "--max-num-seqs", "32", "--seed", "0"),
]
#: What the model writes is said with a request. With speculative decoding, vLLM takes no such thing.
SCRIPTS = ("--logits-processors", "scripted_output:ScriptedOutput")
ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    # One thread: with more, they wait for one another wherever something else runs, too. And not on
    # the one core that every server would choose.
    "OMP_NUM_THREADS": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "PYTHONPATH": os.pathsep.join(
        filter(None, [str(PLUGINS), str(HERE.parent / "plugins"), os.environ.get("PYTHONPATH")])
    ),
    # Where much else runs, all of this takes longer than vLLM allows by itself.
    "VLLM_ENGINE_READY_TIMEOUT_S": str(BOOT_SECONDS),
    "VLLM_REGEX_COMPILATION_TIMEOUT_S": "600",
    "VLLM_CHAT_TEMPLATE_RENDER_TIMEOUT": "600",
}
#: The command `vllm` of the build for CPUs needs help, see there.
COMMANDS = HERE / "bin"
PATH = os.pathsep.join([str(COMMANDS), str(Path(sys.executable).parent), os.environ["PATH"]])


ONE_LAYER = {
    "num_hidden_layers": 1,
    "hidden_size": 64,
    "intermediate_size": 64,
    "head_dim": 64,
    "num_attention_heads": 1,
    "num_key_value_heads": 1,
}
SCRIPTED = (
    *("--load-format", "dummy", "--hf-overrides", json.dumps(ONE_LAYER)),
    *("--kv-cache-memory-bytes", "64M"),
)
REAL = ("--kv-cache-memory-bytes", "384M")


def parser(name: str) -> tuple[str, ...]:
    return ("--enable-auto-tool-choice", "--tool-call-parser", name)


def template(name: str) -> str:
    return str(toolwire.templates.get_template(name).path)


@dataclass(frozen=True)
class Plan:
    """What one server is started with, besides what all are."""

    flags: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)
    pasted: str = ""
    """The page that tells people to paste what it is started by."""
    command: bool = False
    """Whether it is started by the command `vllm serve`: some flags are for that only."""
    settings: dict[str, Any] = field(default_factory=dict)
    """What it is told in a file (`--config`)."""
    scripts: tuple[str, ...] = SCRIPTS

    def start(self, model: Path, folder: Path) -> EngineServer:
        folder.mkdir()
        begin = [*COMMAND, "--model", str(model)]
        if self.pasted:
            begin = pasted(self.pasted, "vllm serve", model)
        elif self.command:
            begin = [sys.executable, str(COMMANDS / "vllm"), "serve", str(model)]
        environment = {**ENVIRONMENT, **self.environment, "PATH": PATH}
        command = [*begin, *FLAGS, *self.scripts, *self.flags]
        if self.settings:
            config = folder / "settings.yaml"
            config.write_text(json.dumps(self.settings), encoding="utf-8")
            command += ["--config", str(config)]
        return EngineServer(command, folder / "vllm.log", environment)


HERMES_TEMPLATE = ("--chat-template", template("chatml-hermes"))
MIDDLEWARE = ("--middleware", "toolwire.gateway.ToolCallMiddleware")
ADMIN_KEY = "a-key-for-tests"

#: toolwire by its entry point; each request says its format.
ANY_FORMAT = (
    *("--tool-parser-plugin", str(PLUGINS / "switching_parser.py"), *parser("switching")),
    *HERMES_TEMPLATE,
    # For the tests of the other templates:
    *("--trust-request-chat-template", "--enable-scale-out"),
)
# The template is for one format, and the tests use all.
UNCHECKED = {"TOOLWIRE_SKIP_CHECKS": "1"}

#: Speculative decoding that needs no model for its drafts.
NGRAMS = {"method": "ngram", "num_speculative_tokens": 4, "prompt_lookup_max": 4}

PLUGIN_FILE = str(CHECKOUT / "parsers" / "engines" / "vllm" / "plugin.py")
#: Names no plugin: the entry point of an installed package is not used, so what runs is the checkout's.
NO_ENTRY_POINTS = {"VLLM_PLUGINS": ""}

#: By the name of the fixture that gives the server, in the order in which the tests come to them.
SERVERS = {
    "server": Plan((*ANY_FORMAT, *SCRIPTED), UNCHECKED),
    # The same with the model's own words.
    "real_server": Plan((*ANY_FORMAT, *REAL), UNCHECKED),
    # The plugin as a file of the checkout, behind a reasoning parser, many tokens a step.
    "file_server": Plan(
        (
            *("--tool-parser-plugin", PLUGIN_FILE),
            *(*parser("toolwire_hermes"), *HERMES_TEMPLATE, *SCRIPTED),
            *("--reasoning-parser", "deepseek_r1", "--stream-interval", "4"),
        ),
        {**NO_ENTRY_POINTS, "VLLM_ENFORCE_STRICT_TOOL_CALLING": "0"},
    ),
    # The same with a reasoning parser of toolwire's own in front.
    "thinking_server": Plan(
        (
            *("--tool-parser-plugin", PLUGIN_FILE, "--reasoning-parser-plugin", PLUGIN_FILE),
            *(*parser("toolwire_hermes"), *HERMES_TEMPLATE, *SCRIPTED),
            *("--reasoning-parser", "toolwire_think"),
        ),
        NO_ENTRY_POINTS,
    ),
    # Both parsers are toolwire's, by its entry point; each request says their style and format, and what
    # the prompt has written of the answer.
    "switching_server": Plan(
        (
            *("--tool-parser-plugin", "switching_thoughts", *parser("switching"), *SCRIPTED),
            *("--reasoning-parser-plugin", "switching_thoughts", "--reasoning-parser", "switching"),
            *("--chat-template", str(HERE.parent / "plugins" / "prefilled.jinja")),
        ),
        UNCHECKED,
    ),
    # The README's own command, which finds the parser by the template, and with it the gateway inside
    # vLLM; every call is held to its schema.
    "gateway_server": Plan(
        (*HERMES_TEMPLATE, *MIDDLEWARE, *SCRIPTED, "--tool-strict-level", "parameter"),
        {"TOOLWIRE_FORMAT": "call_text", "APISIX_ADMIN_KEY": ADMIN_KEY},
        pasted="README.md",
    ),
    # The gateway inside a vLLM that has no tool parser at all; no key, so no debug routes.
    "parserless_server": Plan(
        (*HERMES_TEMPLATE, *MIDDLEWARE, *SCRIPTED), {"TOOLWIRE_FORMAT": "hermes"}
    ),
    # No flag for tools at all, and the model's own template, which knows none.
    "bare_server": Plan(REAL),
    # One whose template shows another format: in a file of settings, where no command line tells it. It
    # schedules a step before the last one is read, and streams many tokens at once.
    "mismatched_server": Plan(
        SCRIPTED,
        settings={
            "enable-auto-tool-choice": True,
            "tool-call-parser": "toolwire_hermes",
            "chat-template": template("chatml-pythonic"),
            "async-scheduling": True,
            "stream-interval": 16,
        },
    ),
    # Several tokens a step, as a draft has them: what the model copies from the prompt is guessed. Its
    # parser and template are named, as for a model that was never trained on tools.
    "speculative_server": Plan(
        (*REAL, "--speculative-config", json.dumps(NGRAMS), "--stream-interval", "2"),
        pasted="docs/vllm.md",
        scripts=(),
    ),
    # Two that must refuse to start.
    "misspelt_server": Plan(parser("toolwire_hermse")),
    "tokenless_server": Plan((*parser("toolwire_kimi_k2"), *SCRIPTED)),
}
