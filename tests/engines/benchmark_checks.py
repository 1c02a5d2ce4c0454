"""Runs the benchmark's workers as the benchmark does, in the Python of the engine that is tested."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).resolve().parents[2] / "benchmarks"


def run(script: str, engine: str, folder: Path, *options: str) -> dict[str, Any]:
    file = folder / "result.json"
    command = [sys.executable, str(BENCHMARKS / script), engine, "--json", str(file), *options]
    subprocess.run(command, check=True, timeout=1800)
    found: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    assert not found["interrupted"]
    assert found["versions"]["toolwire"]
    return found


def check_parsers(engine: str, label: str, folder: Path) -> None:
    """Every parser was measured in every cell, and reads the calls right; so does the engine's."""
    found = run("parsers_worker.py", engine, folder, "--tiny")
    labels = [
        *("nothing, as text", "nothing, as arguments", "nothing, unchecked"),
        *("toolwire hermes", "toolwire qwen3_coder", "toolwire hermes, uncounted"),
        *(f"{label} hermes", f"{label} qwen3_coder"),
    ]
    places = [("prose", 1), ("file", 1), ("unicode", 1), ("file", 4)]
    cells = [(cell["workload"], cell["group"], cell["label"]) for cell in found["cells"]]
    assert cells == [(*place, name) for place in places for name in labels]
    assert all(cell["us"] > 0 and min(cell["rounds"]) > 0 for cell in found["cells"])
    assert all(40 < cell["tokens"] < 120 for cell in found["cells"])
    looks = {look["label"]: look for look in found["looks"]}
    assert list(looks) == labels
    for name in labels[3:]:
        look = looks[name]
        assert look["right"] is True, name
        assert 0 < look["name_after"] <= look["argument_after"] <= look["tokens"]
        assert look["name_us"] > 0
        assert look["peak_bytes"] > 0
    assert looks["nothing, as text"]["right"] is False
    assert looks["toolwire hermes"]["deltas"] > looks["toolwire hermes"]["tokens"] / 2


def check_thoughts(folder: Path) -> None:
    """Every pair was measured, at every size; what ours read was right, or it would have stopped."""
    file = folder / "thoughts.json"
    command = [sys.executable, str(BENCHMARKS / "vllm_thoughts.py"), "--json", str(file)]
    subprocess.run([*command, "--sizes", "80", "160"], check=True, timeout=1800)
    found = json.loads(file.read_text(encoding="utf-8"))
    labels = [parser["label"] for parser in found["parsers"]]
    assert labels[:3] == ["toolwire hermes", "toolwire think, hermes", "vLLM qwen3, hermes"]
    assert {"vLLM deepseek_r1, deepseek_v3", "vLLM glm45, glm45"} <= set(labels)
    for parser in found["parsers"]:
        assert list(parser["median"]) == ["80", "160"]
        assert min(parser["median"].values()) > 0


def check_correctness(engine: str, folder: Path) -> None:
    found = run("correctness_worker.py", engine, folder, "--formats", "hermes", "--splits", "4")
    rows = {row["case"]: row for row in found["rows"]}
    assert {"one call", "cut off", "H12", "H20"} <= set(rows)
    assert [name for name, row in rows.items() if not row["ours"]["same"]] == []
    assert [name for name, row in rows.items() if row["ours"]["right"] is False] == []
    assert rows["cut off"]["ours"]["right"] is None
    assert rows["one call"]["ours"]["answers"] == [[["get_weather", {"city": "Oslo", "unit": "C"}]]]
    # The engine's own parser is really asked: it is known to fail on some of these.
    assert any(row["theirs"]["right"] is False for row in found["rows"])
    assert any(row["theirs"]["right"] for row in found["rows"])


def check_cache(engine: str, folder: Path) -> None:
    """The engine's own parsers are asked for whole texts, with thoughts and without."""
    parameters = {"type": "object", "properties": {"city": {"type": "string"}}}
    function = {"name": "get_weather", "parameters": parameters}
    call = '<tool_call>\n{"name": "get_weather", "arguments": {"city": "Oslo"}}\n</tool_call>'
    turn = {
        "template": "one",
        "format": "hermes",
        "tools": [{"type": "function", "function": function}],
        "text": f"Let me see.\n{call}",
        "thought": "",
        "in_thought": False,
        "prompt": "Weather?",
        "variables": {},
    }
    thoughtful = {"text": f"<think>\nHm.\n</think>\n\n{call}", "thought": "Hm."}
    turns = [turn, {**turn, **thoughtful}, {**turn, "format": "call_text"}]
    file = folder / "turns.json"
    file.write_text(json.dumps(turns), encoding="utf-8")
    found = run("cache_worker.py", engine, folder, "--turns", str(file))
    plain, thinking, nobody = found["messages"]
    assert nobody is None  # the engine has no parser for that
    for message in (plain, thinking):
        (made,) = message["tool_calls"]
        assert made["function"]["name"] == "get_weather"
        assert json.loads(made["function"]["arguments"]) == {"city": "Oslo"}
    assert plain["content"].strip() == "Let me see."
    assert thinking["reasoning_content"].strip() == "Hm."
    assert found["reasoning"]["one"]
