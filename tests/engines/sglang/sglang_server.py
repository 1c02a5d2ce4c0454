"""SGLang's real servers: how the tests start them, and what each is for.

One for everything, one started as a user would, and two that must not start.
"""

from __future__ import annotations

import json
import os
import re
import sys
from pathlib import Path

import toolwire.templates
from engine_client import MODEL
from engine_server import BOOT_SECONDS, EngineServer
from page_blocks import pasted

HERE = Path(__file__).resolve().parent
PLUGINS = (HERE / "plugins", HERE.parent / "plugins")
sys.path.append(str(PLUGINS[0]))  # a request names what is in it
PYTHONPATH = os.pathsep.join(filter(None, [*map(str, PLUGINS), os.environ.get("PYTHONPATH")]))
COMMAND = [sys.executable, "-m", "sglang.launch_server"]
FLAGS = [
    *("--served-model-name", MODEL, "--device", "cpu", "--dtype", "float32"),
    *("--attention-backend", "torch_native", "--sampling-backend", "pytorch"),
    *("--disable-cuda-graph", "--disable-overlap-schedule", "--mem-fraction-static", "0.2"),
    *("--max-total-tokens", "24576", "--context-length", "2048", "--max-running-requests", "32"),
    # An idle server would keep a core busy, and there are two servers.
    *("--random-seed", "0", "--sleep-on-idle"),
]
LAYERS = 6  # of 30
ENVIRONMENT = {
    "SGLANG_USE_CPU_ENGINE": "1",
    "HF_HUB_OFFLINE": "1",
    # One thread: with more, they wait for one another wherever something else runs, too.
    "OMP_NUM_THREADS": "1",
}


def template(name: str) -> str:
    return str(toolwire.templates.get_template(name).path)


def start(model: Path, log: Path, *flags: str, **environment: str) -> EngineServer:
    command = [*COMMAND, "--model-path", str(model), *FLAGS, *flags]
    return EngineServer(command, log, {**ENVIRONMENT, **environment})


def worker_pids(server: EngineServer) -> list[int]:
    """The HTTP workers of a server that has two, once both are there."""
    server.wait_for_log("(total: 2)")
    log = server.log.read_text(errors="replace")
    return sorted(map(int, set(re.findall(r"Start multi-tokenizer worker process (\d+)", log))))


def serve(model: Path, log: Path) -> EngineServer:
    """toolwire by its entry point; each request says its format and what the model writes.

    All it writes is scripted or forced, so a few of the model's layers will do. They babble, which a
    grammar has to put up with, too.
    """
    flags = ["--tool-call-parser", "switching", "--chat-template", template("chatml-hermes")]
    flags += ["--json-model-override-args", json.dumps({"num_hidden_layers": LAYERS})]
    flags += ["--enable-custom-logit-processor"]
    return start(model, log, *flags, PYTHONPATH=PYTHONPATH)


def serve_echoes(model: Path, log: Path) -> EngineServer:
    """Both parsers are toolwire's; each request says their format and style, and the model says what the
    user has said. One layer will do for that."""
    flags = ["--tool-call-parser", "switching", "--reasoning-parser", "switching"]
    flags += ["--chat-template", str(HERE.parent / "plugins" / "prefilled.jinja")]
    flags += ["--json-model-override-args", json.dumps({"num_hidden_layers": 1})]
    flags += ["--enable-custom-logit-processor"]
    return start(model, log, *flags, PYTHONPATH=PYTHONPATH, ECHO="1")


def serve_plainly(model: Path, log: Path) -> EngineServer:
    """The README's own command, with two HTTP workers and a reasoning parser in front, one for models
    that think only if they are told to."""
    command = [*pasted("docs/sglang.md", "sglang serve", model), *FLAGS]
    command += ["--tokenizer-worker-num", "2", "--reasoning-parser", "mimo"]
    environment = {
        **ENVIRONMENT,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        # Where much else runs, a worker takes longer to start than it is given by itself.
        "SGLANG_UVICORN_WORKER_HEALTHCHECK_TIMEOUT": str(BOOT_SECONDS),
    }
    return EngineServer(command, log, environment)


def serve_thoughts(model: Path, log: Path) -> EngineServer:
    """One of toolwire's reasoning parsers in front of one of its tool call parsers."""
    flags = ["--tool-call-parser", "toolwire_hermes", "--chat-template", template("chatml-hermes")]
    flags += ["--reasoning-parser", "toolwire_think"]
    flags += ["--json-model-override-args", json.dumps({"num_hidden_layers": LAYERS})]
    return start(model, log, *flags)


def serve_bare(model: Path, log: Path) -> EngineServer:
    """No flag for tools at all, and the model's own template, which knows none."""
    return start(model, log)


def refuse_name(model: Path, log: Path) -> EngineServer:
    """A parser that does not exist."""
    return start(model, log, "--tool-call-parser", "toolwire_hermse")


def refuse_tokenizer(model: Path, log: Path) -> EngineServer:
    """A format whose markers are tokens that the model does not have."""
    return start(model, log, "--tool-call-parser", "toolwire_kimi_k2")


#: By the names of their fixtures; some need `</think>` to be a token.
SERVERS = {
    "misspelt_server": (refuse_name, "plain_model"),
    "tokenless_server": (refuse_tokenizer, "plain_model"),
    "server": (serve, "plain_model"),
    "plain_server": (serve_plainly, "model"),
    "thinking_server": (serve_thoughts, "model"),
    "switching_server": (serve_echoes, "model"),
    "bare_server": (serve_bare, "plain_model"),
}
