"""The whole numbers between two bounds, as a grammar: 1 to 100 is `[1-9] | [1-9][0-9] | [1][0][0]`."""

from __future__ import annotations

from ..core.shape import NotExpressible

#: Numbers of more digits than this are no bounds that anybody means.
_MOST_DIGITS = 20


def whole_numbers(least: int | None, most: int | None) -> str:
    """In xgrammar's notation, as JSON has them. None is no bound."""
    if least is not None and most is not None and least > most:
        raise NotExpressible("no number at all")
    found = []
    if least is None or least < 0:
        smallest = 1 if most is None or most >= 0 else -most
        found += [f'"-" {one}' for one in _up(smallest, None if least is None else -least)]
    if most is None or most >= 0:
        found += _up(max(least or 0, 0), most)
    return " | ".join(found)


def _up(least: int, most: int | None) -> list[str]:
    """The numbers from `least`, which is not below 0."""
    if most is None:
        return _without_end(least)
    begin, end = len(str(least)), len(str(most))
    found = []
    for digits in range(begin, _checked(end) + 1):
        first, last = max(least, 10 ** (digits - 1) if digits > 1 else 0), 10**digits - 1
        found += _between(str(first), str(min(most, last)))
    return found


def _without_end(least: int) -> list[str]:
    digits = _checked(len(str(least)))
    if least == 0:
        return ["[0]", *_without_end(1)]
    if least == 10 ** (digits - 1):
        return ["[1-9][0-9]" + ("*" if digits == 1 else f"{{{digits - 1},}}")]
    return [*_between(str(least), "9" * digits), *_without_end(10**digits)]


def _checked(digits: int) -> int:
    if digits > _MOST_DIGITS:
        raise NotExpressible("a bound of very many digits")
    return digits


def _between(first: str, last: str) -> list[str]:
    """The numbers of so many digits from one to the other."""
    rest = len(first) - 1
    if not rest or first[0] == last[0]:
        ends = _between(first[1:], last[1:]) if rest else [""]
        return [_digit(first[0], last[0]) + end for end in ends]
    lowest, highest = "0" * rest, "9" * rest
    low, high = int(first[0]), int(last[0])
    below, above = [], []
    if first[1:] != lowest:
        below = [_digit(first[0]) + end for end in _between(first[1:], highest)]
        low += 1
    if last[1:] != highest:
        above = [_digit(last[0]) + end for end in _between(lowest, last[1:])]
        high -= 1
    all_of_them = [_digit(str(low), str(high)) + "[0-9]" * rest] if low <= high else []
    return [*below, *all_of_them, *above]


def _digit(first: str, last: str = "") -> str:
    return f"[{first}-{last}]" if last and last != first else f"[{first}]"
