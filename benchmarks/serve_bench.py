"""Has vLLM's own `vllm bench serve` measure the same server, to check our client by.

It knows nothing of tool calls (neither whether they are right nor when their name came), but what it
does measure, it measures with a client that is not ours. It needs vLLM in this Python, and pandas,
which reads its list of prompts.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from serve_client import percentiles
from serve_local import telling
from toolwire.errors import ToolwireError

#: `vllm bench serve` itself: the `vllm` command does not start where only the CPU build is installed.
_COMMAND = """
import argparse
from vllm.benchmarks.serve import add_cli_args, main
parser = argparse.ArgumentParser()
add_cli_args(parser)
main(parser.parse_args())
"""


def available() -> bool:
    return all(importlib.util.find_spec(name) for name in ("vllm", "pandas"))


def bench(
    base_url: str, body: dict[str, Any], streams: int, requests: int, api_key: str | None
) -> dict[str, Any]:
    """So many of these requests, so many at a time: what `vllm bench serve` found."""
    root, _, path = base_url.rstrip("/").rpartition("/")
    question = body["messages"][-1]["content"]
    extra = {key: value for key, value in body.items() if key not in ("model", "messages")}
    extra["max_completion_tokens"] = extra.pop("max_tokens")
    with tempfile.TemporaryDirectory(prefix="toolwire-bench-") as scratch:
        prompts = Path(scratch) / "prompts.jsonl"
        prompts.write_text((json.dumps({"prompt": question}) + "\n") * requests)
        command = [
            *(sys.executable, "-c", _COMMAND, "--backend", "openai-chat", "--base-url", root),
            *("--endpoint", f"/{path}/chat/completions", "--model", str(body["model"])),
            *("--skip-tokenizer-init", "--dataset-name", "custom", "--dataset-path", str(prompts)),
            *("--num-prompts", str(requests), "--max-concurrency", str(streams)),
            *("--extra-body", json.dumps(extra), "--disable-tqdm"),
            *("--save-result", "--save-detailed", "--result-dir", scratch),
            *("--result-filename", "result.json"),
        ]
        environment = os.environ | ({"OPENAI_API_KEY": api_key} if api_key else {})
        with telling("vllm bench serve"):
            done = subprocess.run(
                command, env=environment, cwd=scratch, capture_output=True, text=True
            )
        if done.returncode:
            last = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
            raise ToolwireError(f"vllm bench serve failed: {' '.join(last)}")
        return _figures(json.loads((Path(scratch) / "result.json").read_text()))


def _figures(found: dict[str, Any]) -> dict[str, Any]:
    """Without the model's tokenizer it leaves the percentiles to others; they are made here."""
    gaps = [gap for answer in found["itls"] for gap in answer]
    return {
        "requests": found["completed"],
        "errors": found["failed"],
        "tokens_per_second": round(found["output_throughput"], 1),
        "times": {"first": percentiles(found["ttfts"]), "gap": percentiles(gaps)},
    }
