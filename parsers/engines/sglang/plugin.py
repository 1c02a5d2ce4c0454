"""Makes every toolwire format a tool call parser of SGLang, named `toolwire_<format>`, and every style
of reasoning a reasoning parser, `toolwire_<style>`.

SGLang finds `register` by its entry point (group `sglang.srt.plugins`) and calls it in each of its
processes. It does five things:

* It puts one detector for each format into SGLang's table. With `TOOLWIRE_OVERRIDE=1` SGLang's own
  names stand for our parsers, too.
* It puts one detector for each style of reasoning into SGLang's other table (`reasoning`).
* It puts rules for toolwire's own chat templates before those by which `auto` chooses parsers (`auto`).
* It names `app` below as the application of SGLang's HTTP workers. With `--tokenizer-worker-num`
  above 1 these are processes of their own, and SGLang does not load plugins in them. How that is done,
  and what else differs between releases, is in `contract`.
* It has SGLang check at its start whether the model fits the parser (`checks`).

A format of your own: a TOML file that `TOOLWIRE_FORMATS` names (docs/adding-a-format.md); or call
`toolwire.register_format(spec)` and then `register()` again.
"""

from __future__ import annotations

import logging
from functools import cache
from importlib import import_module
from typing import Any

from ...errors import ToolwireError
from ...models.releases import SGLANG
from ...openai.repairs import environment_repairs
from ..names import overrides
from ..versions import check_version, contract_changed, warn_of_rust

PREFIX = "toolwire_"

log = logging.getLogger("sglang.srt.toolwire")


def register() -> None:
    """Tells SGLang all parsers. May be called any number of times."""
    check_version(SGLANG, _version(), log)
    warn_of_rust(SGLANG, log)
    environment_repairs()  # says so now where it asks for what there is not
    parsers = import_module("sglang.srt.function_call.function_call_parser").FunctionCallParser
    _add_detectors(parsers.ToolCallParserEnum)
    _add_reasoning()
    _add_rules()
    _name_app()
    _add_check()
    if not SGLANG.has(_version()):
        try_out()


def __getattr__(attribute: str) -> Any:
    """`app`: SGLang's own application, in a process that has the plugins loaded."""
    if attribute != "app":
        raise AttributeError(f"module {__name__!r} has no attribute {attribute!r}")
    import_module("sglang.srt.plugins").load_plugins()
    _keep_special_tokens()
    _make_ids_our_way()
    _read_all_tools()
    return import_module("sglang.srt.entrypoints.http_server").app


def _add_reasoning() -> None:
    from .reasoning import add_reasoning

    add_reasoning()


def _add_rules() -> None:
    from .auto import add_rules

    add_rules()


def _keep_special_tokens() -> None:
    from .reasoning import keep_special_tokens

    keep_special_tokens()


def _make_ids_our_way() -> None:
    from .ids import make_ids_our_way

    make_ids_our_way()


def _read_all_tools() -> None:
    from .responses import read_all_tools

    read_all_tools()


@cache
def _name_app() -> None:
    from .contract import find_contract, name_app

    name_app(find_contract(), f"{__name__}:app")


@cache
def try_out() -> None:
    """A release that nobody has tested: does a scripted call come out as it should?"""
    from .self_test import self_test

    problem = self_test()
    if problem is not None:
        log.error("%s", contract_changed(SGLANG, _version(), problem))


def _add_check() -> None:
    from .checks import add_check

    add_check()


# -- versions -------------------------------------------------------------------------------------


def _version() -> str:
    try:
        return str(import_module("sglang").__version__)
    except ModuleNotFoundError as error:
        if error.name != "sglang":
            raise  # something SGLang itself needs is missing: that is the better message
        raise ToolwireError("SGLang is not installed here: pip install sglang.") from None


# -- parsers --------------------------------------------------------------------------------------


def _add_detectors(table: dict[str, Any]) -> None:
    from ...formats import ANY, list_formats
    from ...formats.user_files import load_user_formats
    from ..names import sglang_kept, sglang_names
    from .adapter import detector_class

    load_user_formats(complain=log.error)  # without its format, SGLang refuses a parser by itself
    for name in (*list_formats(), ANY):
        table[PREFIX + name] = detector_class(name)
    if overrides():
        theirs = [name for name in table if not name.startswith(PREFIX)]
        for sentence in sglang_kept(theirs):
            log.warning("%s", sentence)
        for name, ours in sglang_names(theirs).items():
            table[name] = detector_class(ours)
