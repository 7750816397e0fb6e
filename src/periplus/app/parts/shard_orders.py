"""Orders to the shard servers that search a collection, whoever they are."""

from __future__ import annotations

from typing import Protocol


class ShardOrders(Protocol):
    """What an operator can tell shard servers."""

    def orders(self) -> dict[str, tuple[str, ...]]:
        """What can be ordered, by the server's address."""

    def order(self, address: str, order: str) -> None:
        """Order it; ``NotFound`` or ``UsageError`` where that cannot be done."""
