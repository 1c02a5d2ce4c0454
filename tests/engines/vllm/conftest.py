"""The real servers, and what it takes to script their output."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from engine_client import Asker
from engine_fixtures import Servers, choose, order, running
from engine_server import EngineServer
from tokenizers import Tokenizer
from toolwire.engines.vllm import plugin as vllm_plugin
from transformers import AutoTokenizer
from vllm_server import SERVERS


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    choose(config, items, list(SERVERS))
    order(items, list(SERVERS))


@pytest.fixture(scope="session")
def plans(model: Path, tmp_path_factory: pytest.TempPathFactory) -> Servers:
    base = tmp_path_factory.mktemp("servers")
    return {name: partial(plan.start, model, base / name) for name, plan in SERVERS.items()}


real_server = running("real_server")
file_server = running("file_server")
thinking_server = running("thinking_server")
switching_server = running("switching_server")
gateway_server = running("gateway_server")
parserless_server = running("parserless_server")
bare_server = running("bare_server")
mismatched_server = running("mismatched_server")
speculative_server = running("speculative_server")


@pytest.fixture(scope="session")
def real_asker(real_server: EngineServer) -> Asker:
    return Asker(real_server.url)


@pytest.fixture(scope="session")
def tokenizer(model: Path) -> Tokenizer:
    return Tokenizer.from_file(str(model / "tokenizer.json"))


# -- for vLLM's own classes, without a server ------------------------------------------------------


@pytest.fixture(scope="session")
def registered() -> None:
    vllm_plugin.register()


@pytest.fixture
def unchecked(monkeypatch: pytest.MonkeyPatch) -> None:
    """One tokenizer stands for all models here; what it lacks is not the point."""
    monkeypatch.setenv("TOOLWIRE_SKIP_CHECKS", "1")


@pytest.fixture(scope="session")
def hf_tokenizer(model: Path) -> Any:
    return AutoTokenizer.from_pretrained(str(model))
