"""The results that SGLang's detectors give, made as quickly as may be."""

from __future__ import annotations

from typing import Any

from sglang.srt.function_call.core_types import StreamingParseResult, ToolCallItem

from .unchecked import Maker, choose, filler


def _checked_result(text: str, calls: list[Any]) -> Any:
    return StreamingParseResult(normal_text=text, calls=calls)


def _checked_item(number: int, name: str | None, arguments: str) -> Any:
    return ToolCallItem(tool_index=number, name=name, parameters=arguments)


def _quick_result() -> Maker:
    fill = filler(StreamingParseResult, extra=False)

    def result(text: str, calls: list[Any]) -> Any:
        return fill({"normal_text": text, "calls": calls}, {"normal_text", "calls"})

    return result


def _quick_item() -> Maker:
    fill = filler(ToolCallItem, extra=False)

    def item(number: int, name: str | None, arguments: str) -> Any:
        values = {"tool_index": number, "name": name, "parameters": arguments}
        return fill(values, {"tool_index", "name", "parameters"})

    return item


#: `item(number, name, arguments)`, where name is None for all but a call's first piece
item = choose(_quick_item, _checked_item, 0, None, "{")
#: `result(text, items)`
result = choose(_quick_result, _checked_result, "text", [_checked_item(0, "f", "{")])
