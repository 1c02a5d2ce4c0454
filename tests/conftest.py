"""How hard the property tests search: `--hypothesis-profile=fast`, `full` (default) or `explore`.

The tests run on the Python files of the checkout, or on what PYTHONPATH has: see scripts/test.
"""

import gc
from collections.abc import Generator

import pytest
import toolwire
from hypothesis import HealthCheck, settings

SLOW_MACHINES = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}

# All but the last always search the same examples: a change is judged by itself. `explore` does not.
# There are many formats, each searched in many ways: who wants to search for long runs scripts/fuzz.py.
# `glance` is for another Python, where what could differ is not how hard one searches.
settings.register_profile("glance", max_examples=2, derandomize=True, **SLOW_MACHINES)
settings.register_profile("fast", max_examples=3, derandomize=True, **SLOW_MACHINES)
settings.register_profile("full", max_examples=8, derandomize=True, **SLOW_MACHINES)
settings.register_profile("explore", max_examples=1000, **SLOW_MACHINES)
settings.load_profile("full")

#: How many cases of each test `--fast` has.
FEW = 3


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--compiled", action="store_true", help="stop if the core is not compiled")
    parser.addoption(
        "--few-of",
        action="append",
        default=[],
        metavar="PATH",
        help="of the tests there, only what --fast has; may be repeated",
    )


def pytest_configure(config: pytest.Config) -> None:
    if config.getoption("--compiled") and not toolwire.COMPILED:
        raise pytest.UsageError(f"The core is not compiled: {toolwire.__file__}")


def pytest_report_header() -> str:
    return f"toolwire: {toolwire.__file__} (core: {'compiled' if toolwire.COMPILED else 'Python'})"


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collecting makes a great many objects that all stay: looking through them for garbage, again and
    again, takes a quarter of its time, and the tests would go on with it."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def _kind(name: str) -> tuple[object, ...]:
    """What makes the greatest difference to the machine: the shape, and how a call is found."""
    spec = toolwire.get_format(name)
    return type(spec.shape), spec.bare or spec.inline, bool(spec.channels), bool(spec.wrappers)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In `--fast`, a few cases of a test stand for the others, and one format of each kind; the whole
    run has all of them."""
    first = {_kind(name): name for name in reversed(toolwire.list_formats())}
    others = set(toolwire.list_formats()) - set(first.values()) - {"hermes", "qwen3_coder"}
    cases: dict[str, list[pytest.Item]] = {}
    for item in items:
        values = getattr(item, "callspec", None)
        if values is not None and others & {
            value for value in values.params.values() if isinstance(value, str)
        }:
            item.add_marker(pytest.mark.slow)
        elif item.get_closest_marker("slow") is None:
            cases.setdefault(item.nodeid.partition("[")[0], []).append(item)
    for several in cases.values():
        kept = {index * len(several) // FEW for index in range(FEW)}
        for index, item in enumerate(several):
            if index not in kept:
                item.add_marker(pytest.mark.slow)
    paths = [config.rootpath / path for path in config.getoption("--few-of")]
    left = [
        item
        for item in items
        if item.get_closest_marker("slow") and any(map(item.path.is_relative_to, paths))
    ]
    config.hook.pytest_deselected(items=left)
    gone = set(left)
    items[:] = [item for item in items if item not in gone]
