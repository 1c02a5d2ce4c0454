"""The local vLLM server of the benchmarks: on a CPU, at a GPU's pace.

The server is vLLM's own. Its model has one small layer with random weights: what it would say does
not matter, because every answer is scripted, and so two cores write over a thousand tokens a second,
fast enough for the rest of the server to show. Its vocabulary is a real one.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from part import progress
from toolwire.errors import ToolwireError
from workloads import ROOT, TOOLS, Step

from engine_server import BOOT_SECONDS, EngineServer  # isort: skip  # the tests' own; workloads has the path

MODEL = "model"
LONGEST = 16_384

_FLAGS = [
    *("--load-format", "dummy", "--served-model-name", MODEL),
    *("--enforce-eager", "--dtype", "float32", "--max-model-len", str(LONGEST)),
    *("--block-size", "32", "--max-num-seqs", "64", "--seed", "0"),
    *("--enable-auto-tool-choice", "--tool-parser-plugin", "local_engine"),
    *("--tool-call-parser", "by_request", "--logits-processors", "local_engine:PacedOutput"),
]
_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "OMP_NUM_THREADS": "1",
    "VLLM_ENGINE_READY_TIMEOUT_S": str(BOOT_SECONDS),
    "TOOLWIRE_SKIP_CHECKS": "1",  # one template stands for all formats here
    "PYTHONPATH": os.pathsep.join(
        str(ROOT / folder)
        for folder in (
            *("benchmarks/serve_plugins", "tests/engines/vllm/plugins", "tests/engines/plugins"),
        )
    ),
}


def request(
    parser: str, steps: Sequence[Step], pace: float = 0, tools: Sequence[dict[str, Any]] = TOOLS
) -> dict[str, Any]:
    """A request whose answer is these tokens, read by the tool parser of this name."""
    script = [number for _, ids in steps for number in ids]
    first, *others = tools
    named = {**first, "function": {**first["function"], "description": f"parser: {parser}"}}
    return {
        "model": MODEL,
        "messages": [{"role": "user", "content": "Go on."}],
        "tools": [named, *others],
        "temperature": 0,
        "max_tokens": len(script) + 1,
        "vllm_xargs": {"script": script, "pace": pace},
    }


@dataclass(frozen=True)
class Running:
    base_url: str
    pid: int  # of the process with the event loop: HTTP, detokenizer, parsers; not the engine

    def processor_seconds(self) -> float:
        import psutil  # vLLM brings it

        spent = psutil.Process(self.pid).cpu_times()
        return float(spent.user + spent.system)


@contextmanager
def server(tokenizer: Any) -> Iterator[Running]:
    """Starts it, and in the end stops it and all the processes it started."""
    with tempfile.TemporaryDirectory(prefix="toolwire-bench-") as scratch:
        model = Path(scratch) / "model"
        write_model(tokenizer, model)
        command = [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
        command += ["--model", str(model), *_FLAGS]
        started = EngineServer(command, Path(scratch) / "vllm.log", _ENVIRONMENT)
        try:
            with telling("starting vLLM"):
                started.wait()
            yield Running(f"{started.url}/v1", started.process.pid)
        except RuntimeError as error:  # it did not start, and this says why
            raise ToolwireError(str(error)) from error
        finally:
            started.stop()


def write_model(tokenizer: Any, folder: Path) -> None:
    tokenizer.save_pretrained(str(folder))
    config = {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "hidden_size": 64,
        "intermediate_size": 128,
        "num_hidden_layers": 1,
        "num_attention_heads": 1,
        "num_key_value_heads": 1,
        "max_position_embeddings": LONGEST,
        "rms_norm_eps": 1e-5,
        "rope_theta": 10_000.0,
        "tie_word_embeddings": True,
        "vocab_size": len(tokenizer),
        "bos_token_id": tokenizer.bos_token_id,
        "eos_token_id": tokenizer.eos_token_id,
        "torch_dtype": "float32",
    }
    (folder / "config.json").write_text(json.dumps(config))


@contextmanager
def telling(what: str) -> Iterator[None]:
    """Says every second what is being waited for, and for how long already."""
    done, started = threading.Event(), time.monotonic()

    def tell() -> None:
        while not done.wait(1):
            progress(f"{what}, {time.monotonic() - started:.0f} s")

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
