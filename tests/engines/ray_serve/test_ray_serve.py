"""Ray Serve LLM, on this machine: several replicas of vLLM, one of which is killed under load."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
import ray
from as_on_gpus import AsOnGpus
from conversation import CHAT, GO, ask_turns, check_turns
from engine_cases import TOOLS, block
from engine_client import MODEL, Answer, body, take_in
from engine_server import BOOT_SECONDS
from psutil import process_iter
from ray import serve
from ray.serve.llm import build_openai_app
from tokenizers import Tokenizer
from toolwire.engines.ray import llm_config
from vllm_server import ENVIRONMENT, ONE_LAYER

from tests.ports import free_port

APP = "calls"
REPLICAS = 2
#: Streams at once. So many are taken by each replica and no more, so that both have some.
STREAMS, EACH = 8, 4
HERE = Path(__file__).resolve().parent
PYTHONPATH = os.pathsep.join([ENVIRONMENT["PYTHONPATH"], str(HERE)])
ENGINE = {
    "load_format": "dummy",
    "hf_overrides": ONE_LAYER,
    "kv_cache_memory_bytes": 64 << 20,
    "enforce_eager": True,
    "dtype": "float32",
    "max_model_len": 2048,
    "block_size": 32,
    "logits_processors": ["scripted_output:ScriptedOutput"],
}
#: A stream that lasts: each of its tokens takes some time.
LONG = json.dumps({"path": "a.txt", "content": " a" * 1200})
LONG_CALL = block(f'{{"name": "write_file", "arguments": {LONG}}}')


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Where Serve listens."""
    port = free_port()
    # What it writes has a folder of its own, with a short name: there are sockets in it.
    folder = Path("/tmp") / f"toolwire-ray-{os.getpid()}"
    ray.init(num_cpus=8, include_dashboard=False, log_to_driver=False, _temp_dir=str(folder))
    serve.start(http_options={"host": "127.0.0.1", "port": port})
    yield f"http://127.0.0.1:{port}"
    serve.shutdown()
    ray.shutdown()


@contextmanager
def running(model: Path, template: str, replicas: int, **more: Any) -> Iterator[None]:
    config = llm_config(
        "hermes",
        template=template,
        model_loading_config={"model_id": MODEL, "model_source": str(model)},
        accelerator_config={"kind": "cpu"},
        engine_kwargs=ENGINE,
        runtime_env={"env_vars": {**ENVIRONMENT, "PYTHONPATH": PYTHONPATH}},
        deployment_config={
            "autoscaling_config": {"min_replicas": replicas, "max_replicas": replicas},
            "max_ongoing_requests": EACH,
            "health_check_timeout_s": BOOT_SECONDS,
        },
        **more,
    )
    serve.run(build_openai_app({"llm_configs": [config]}), name=APP)
    try:
        yield
    finally:
        serve.delete(APP)


def ids(tokenizer: Tokenizer, text: str) -> list[int]:
    found: list[int] = tokenizer.encode(text, add_special_tokens=False).ids
    return found


def check(url: str, tokenizer: Tokenizer) -> None:
    """Every turn of the conversation, whole and streamed, comes to what it should."""
    check_turns(ask_turns(url, tokenizer, CHAT))


def test_a_replica_is_killed_under_load(url: str, model: Path, tokenizer: Tokenizer) -> None:
    """Only what it was writing is lost, and none of that looks whole. The other goes on, and Ray starts
    a new one."""
    with running(model, "chatml-hermes", REPLICAS, server_cls=AsOnGpus):
        check(url, tokenizer)
        assert warnings() == [], "parser and template fit"
        first = replicas()
        assert len(first) == REPLICAS
        outcomes = asyncio.run(streams_and_a_kill(url, min(first), ids(tokenizer, LONG_CALL)))
        whole = [one for one in outcomes if one.finish is not None]
        assert [(one.calls, one.finish) for one in whole] == [
            ([("write_file", LONG)], "tool_calls") for _ in range(STREAMS - EACH)
        ]
        cut = [one for one in outcomes if one.finish is None]
        assert len(cut) == EACH
        for answer in cut:
            ((name, arguments),) = answer.calls
            assert name == "write_file"
            assert LONG.startswith(arguments)
        check(url, tokenizer)
        again = wait_for_replicas(REPLICAS, without=min(first))
        assert len(again - first) == 1
        check(url, tokenizer)


async def streams_and_a_kill(url: str, pid: int, script: list[int]) -> list[Answer]:
    """The streams, one process being killed when each of them has begun to write its call."""
    answers, begun = [Answer() for _ in range(STREAMS)], asyncio.Semaphore(0)
    http = openai.DefaultAsyncHttpxClient(limits=httpx.Limits(max_connections=STREAMS))
    client = openai.AsyncOpenAI(
        base_url=f"{url}/v1", api_key="none", timeout=600, max_retries=0, http_client=http
    )

    async def read(answer: Answer) -> None:
        request = {**body(TOOLS, script), "messages": GO, "stream": True}
        stream = await client.chat.completions.create(**request)
        async for chunk in stream:
            for choice in chunk.choices:
                had = bool(answer.calls)
                take_in(answer, choice.delta.model_dump(exclude_unset=True))
                answer.finish = choice.finish_reason or answer.finish
                if answer.calls and not had:
                    begun.release()

    async def kill() -> None:
        for _ in answers:
            await begun.acquire()
        os.kill(pid, signal.SIGKILL)

    async with client:
        broken = (openai.APIError, httpx.HTTPError)
        done = await asyncio.gather(kill(), *map(read, answers), return_exceptions=True)
    assert all(one is None or isinstance(one, broken) for one in done), done
    return answers


def replicas() -> set[int]:
    """The processes that answer requests: not the ingress in front of them. Ray names them so."""
    commands = {one.pid: " ".join(one.info["cmdline"] or ()) for one in process_iter(["cmdline"])}
    return {
        pid
        for pid, command in commands.items()
        if command.startswith("ray::") and f"ServeReplica:{APP}:{AsOnGpus.__name__}" in command
    }


def wait_for_replicas(number: int, without: int) -> set[int]:
    """Until so many are ready."""
    deadline = time.monotonic() + BOOT_SECONDS
    while time.monotonic() < deadline:
        states = serve.status().applications[APP].deployments.values()
        ready = all(set(one.replica_states) <= {"RUNNING"} for one in states)
        found = replicas() - {without}
        if ready and len(found) == number:
            return found
        time.sleep(1)
    raise AssertionError(f"Ray did not start a new replica: {serve.status()}")


@pytest.mark.short
def test_a_template_that_does_not_fit_is_found(url: str, model: Path, tokenizer: Tokenizer) -> None:
    """The check reads the template of Ray's configuration; and it only warns."""
    with running(model, "chatml-pythonic", 1):
        check(url, tokenizer)
        expected = "The chat template shows the model another way to write calls than hermes"
        assert any(expected in line for line in warnings())


def warnings() -> list[str]:
    """What toolwire has said of templates, in all logs of Ray."""
    logs = Path(ray._private.worker._global_node.get_logs_dir_path()).glob("worker-*")
    lines = [line for path in logs for line in path.read_text(errors="replace").splitlines()]
    return [line for line in lines if "The chat template " in line]
