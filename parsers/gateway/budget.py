"""How many bytes may be held: for one exchange, and for all of them together.

An exchange has an account for what it holds of its answer, and one for its request. Whoever holds
something says how much that is now (`hold`); closing an account gives everything back.
"""

from __future__ import annotations

from types import TracebackType

MIB = 1024 * 1024


class OverBudget(Exception):
    """More would be held than may be: the status and the sentence for the client."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class Budget:
    """What all exchanges hold together."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.held = 0

    def account(self, limit: int | None = None) -> Account:
        return Account(self, limit)


class Account:
    """What one exchange holds. `limit` is its own; the budget's holds too."""

    def __init__(self, budget: Budget, limit: int | None = None) -> None:
        self._budget = budget
        self._limit = limit
        self._held = 0

    def hold(self, size: int) -> None:
        """So many bytes are held now. Raises `OverBudget`, and counts as before, if they may not be."""
        if self._limit is not None and size > self._limit:
            raise OverBudget(
                502,
                f"The upstream's answer needs more than the {in_mib(self._limit)} that the gateway "
                "holds for one: ask for a shorter one, or raise --max-exchange-mib",
            )
        if self._budget.held + size - self._held > self._budget.limit:
            raise OverBudget(
                503,
                f"All requests together need more than the {in_mib(self._budget.limit)} that the "
                "gateway holds: try again later, or raise --max-held-mib",
            )
        self.count(size)

    def count(self, size: int) -> None:
        """So many bytes are held now, and it is too late to refuse them."""
        self._budget.held += size - self._held
        self._held = size

    def __enter__(self) -> Account:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.count(0)


def in_mib(size: int) -> str:
    return f"{size // MIB} MiB" if size >= MIB else f"{size} bytes"
