"""Makes every toolwire format a tool parser of vLLM, named `toolwire_<format>`, with `toolwire_any` and
`toolwire_auto`; and every style of reasoning a reasoning parser, `toolwire_<style>`.

Two ways in, and both end in `register()`:

* Installed with pip: vLLM finds `register` by its entry point (group `vllm.general_plugins`).
* From a checkout: `--tool-parser-plugin parsers/engines/vllm/plugin.py`. vLLM then runs this file
  by itself, outside its package, so it looks for the package by its own place on the disk first.

Registering only leaves names with vLLM. The class behind a name is made when vLLM asks for it (the
module's `__getattr__`), and only then are vLLM's own classes imported.

A format of your own: a TOML file that `TOOLWIRE_FORMATS` names (docs/adding-a-format.md); or call
`toolwire.register_format(spec)` and then `register()` again.
"""

from __future__ import annotations

import sys
from typing import Any

PREFIX = "toolwire_"
_REASONING = f"{__package__}.reasoning"  # where their classes are made
AUTO = "auto"  # the parser that finds the format out by itself


def register() -> None:
    """Tells vLLM the names of all parsers. May be called any number of times."""
    from ...formats import ANY, list_formats
    from ...formats.user_files import load_user_formats
    from ...models.releases import VLLM
    from ...openai.repairs import environment_repairs
    from ..names import overrides, vllm_kept, vllm_names
    from ..thinking import styles
    from ..versions import warn_of_rust
    from .api import log, parser_manager, reasoning_manager

    warn_of_rust(VLLM, log)
    environment_repairs()  # says so now where it asks for what there is not
    manager = parser_manager()
    load_user_formats(complain=log.error)  # without its format, vLLM refuses a parser by itself
    for name in (*list_formats(), ANY, AUTO):
        manager.register_lazy_module(PREFIX + name, __name__, PREFIX + name)
    for name in styles():
        reasoning_manager().register_lazy_module(PREFIX + name, _REASONING, PREFIX + name)
    if overrides():
        known = [name for name in manager.list_registered() if not name.startswith(PREFIX)]
        for sentence in vllm_kept(known):
            log.warning("%s", sentence)
        for theirs, name in vllm_names(known).items():
            # A class that was made already wins over a lazy name, so it has to go.
            manager.tool_parsers.pop(theirs, None)
            manager.register_lazy_module(theirs, __name__, PREFIX + name)


def __getattr__(attribute: str) -> Any:
    """`toolwire_hermes` is the parser class of the format hermes, made when it is asked for."""
    if not attribute.startswith(PREFIX):
        raise AttributeError(f"module {__name__!r} has no attribute {attribute!r}")
    if attribute == PREFIX + AUTO:
        from .auto import auto_class

        return auto_class()
    from .adapter import parser_class

    return parser_class(attribute.removeprefix(PREFIX))


def _package_of_this_file() -> None:
    """Makes `import toolwire` mean the package this file lies in, unless one is loaded already."""
    from importlib.util import module_from_spec, spec_from_file_location
    from pathlib import Path

    if "toolwire" in sys.modules:
        return
    folder = Path(__file__).resolve().parents[2]
    spec = spec_from_file_location(
        "toolwire", folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None:
        raise ImportError(f"There is no toolwire package in {folder}.")
    package = module_from_spec(spec)
    sys.modules["toolwire"] = package
    spec.loader.exec_module(package)


if not __package__:  # run by vLLM as a bare file
    _package_of_this_file()
    from importlib import import_module

    import_module("toolwire.engines.vllm.plugin").register()
