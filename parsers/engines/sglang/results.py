"""The results that SGLang's detectors give."""

from __future__ import annotations

from typing import Any

from ..model_construct import Filler, agree


class Results:
    """Makes SGLang's results with their own constructors."""

    def __init__(self, result: Any, item: Any) -> None:
        """SGLang's classes: StreamingParseResult and ToolCallItem."""
        self._result: Any = result
        self._item: Any = item

    def result(self, text: str, items: list[Any]) -> Any:
        return self._result(normal_text=text, calls=items)

    def item(self, number: int, name: str | None, arguments: str) -> Any:
        """A piece of a call; its name is None for all but the first."""
        return self._item(tool_index=number, name=name, parameters=arguments)

    def examples(self) -> list[Any]:
        """One of each."""
        items = [self.item(0, "f", "{"), self.item(0, None, "}")]
        return [self.result("text", []), self.result("", items)]


class QuickResults(Results):
    """Fills SGLang's results in without their constructors."""

    def __init__(self, result: Any, item: Any) -> None:
        super().__init__(result, item)
        self._results = Filler(result, extra=False)
        self._items = Filler(item, extra=False)

    def result(self, text: str, items: list[Any]) -> Any:
        return self._results.fill({"normal_text": text, "calls": items}, {"normal_text", "calls"})

    def item(self, number: int, name: str | None, arguments: str) -> Any:
        values = {"tool_index": number, "name": name, "parameters": arguments}
        return self._items.fill(values, {"tool_index", "name", "parameters"})


def results(result: Any, item: Any) -> Results:
    """The quick ones, or, where those differ, the constructors' own."""
    checked = Results(result, item)

    def quick_examples() -> list[Any]:
        return QuickResults(result, item).examples()

    return QuickResults(result, item) if agree(quick_examples, checked.examples()) else checked
