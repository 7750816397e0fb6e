"""Registry: shard servers report themselves in the state database, and brokers find them there.

An order for a server (``DRAIN``) is written into its rows by anybody, and read by the server when it reports itself.

A report is good for ``GOOD_FOR`` seconds by the clock of the database, which all machines share. A server that ends
takes its rows along; what a dead one left is removed by whoever reports a day later. A database that cannot be reached
costs one line in the log: a server tries again with its next report, and a broker goes on with the servers that it
knows.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from periplus.errors import NotFound, StorageError, UsageError
from periplus.storage import database_time

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.cluster.server import ShardServer
    from periplus.storage import Database, Transaction

REPORT_EVERY = 2.0  # seconds
GOOD_FOR = 10.0  # seconds: five reports
FORGOTTEN_AFTER = 86_400.0  # seconds
DRAIN = "drain"  # an order: finish what there is, and end

_PUT = (
    "INSERT INTO servers (shard, address, generation, documents, load, seen) VALUES (?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (shard, address) DO UPDATE SET generation = excluded.generation, documents = excluded.documents,"
    " load = excluded.load, seen = excluded.seen"
)

_logger = logging.getLogger(__name__)


class Registry:
    def __init__(
        self,
        database: Database,
        clock: Callable[[], float] | None = None,
        on_drain: Callable[[], None] | None = None,
    ) -> None:
        """``on_drain`` is called when the server that reports itself is wanted to end; ``clock`` is for tests."""
        self._database = database
        self._on_drain = on_drain
        self._clock = clock
        self._reported = float("-inf")  # by a clock of this process
        self._was_draining = False
        self._found: list[str] | None = None  # what was read last
        self._trouble = ""  # that was told of

    def report(self, server: ShardServer) -> None:
        """Say how a server is, when it is time to; that it ends, at once."""
        now, readiness = (self._clock or time.monotonic)(), server.application.readiness()
        if now - self._reported < REPORT_EVERY and readiness.draining == self._was_draining:
            return
        is_first = self._reported == float("-inf")
        self._reported, self._was_draining = now, readiness.draining
        rows = [
            (shard, server.advertised, max(held), held[max(held)], readiness.load)
            for shard, held in readiness.shards.items()
            if held and not readiness.draining
        ]
        try:
            wanted = self._put(server.advertised, rows, is_first=is_first)
        except StorageError as error:
            self._tell(f"this server does not report itself: {error}; name it with serve --shards")
        else:
            self._trouble = ""
            if wanted == DRAIN and self._on_drain is not None:
                self._on_drain()

    def _put(self, address: str, rows: Sequence[tuple[object, ...]], *, is_first: bool) -> str:
        """Gives what is wanted of the server. An order for one that was here before is not for this one."""
        with self._database.write() as transaction:
            now = self._now(transaction)
            if is_first or not rows:
                transaction.execute("DELETE FROM servers WHERE address = ?", (address,))
            transaction.execute("DELETE FROM servers WHERE seen < ?", (now - FORGOTTEN_AFTER,))
            transaction.executemany(_PUT, [(*row, now) for row in rows])
            return str(transaction.value("SELECT MAX(wanted) FROM servers WHERE address = ?", (address,)) or "")

    def leave(self, server: ShardServer) -> None:
        """Take the reports of a server away."""
        try:
            with self._database.write() as transaction:
                transaction.execute("DELETE FROM servers WHERE address = ?", (server.advertised,))
        except StorageError as error:
            _logger.warning("reports of this server stay for %.0f s: %s", GOOD_FOR, error)

    def addresses(self) -> list[str]:
        """The servers that have reported themselves lately; those of the last time while the database is away."""
        try:
            with self._database.read() as transaction:
                lately = self._now(transaction) - GOOD_FOR
                rows = transaction.rows(
                    "SELECT DISTINCT address FROM servers WHERE seen > ? ORDER BY address", (lately,)
                )
        except StorageError as error:
            if self._found is None:
                raise
            self._tell(f"shard servers cannot be looked up: {error}; those that are known are asked")
            return self._found
        self._trouble = ""
        self._found = [address for (address,) in rows]
        return self._found

    def _now(self, transaction: Transaction) -> float:
        return self._clock() if self._clock is not None else database_time(transaction)

    # Orders

    def orders(self) -> dict[str, tuple[str, ...]]:
        """What can be ordered, by server."""
        return dict.fromkeys(self.addresses(), (DRAIN,))

    def order(self, address: str, order: str) -> None:
        """Tell a server that reports itself to end; it reads that with its next report."""
        if order != DRAIN:
            raise UsageError(f"{address} can be told to {DRAIN}, not to {order}; whoever supervises it restarts it")
        with self._database.write() as transaction:
            told = transaction.execute("UPDATE servers SET wanted = ? WHERE address = ?", (order, address))
        if not told:
            raise NotFound(f"{address} does not report itself in the table of servers; end it where it runs")

    def _tell(self, line: str) -> None:
        """One line for as long as it is the same trouble."""
        if line != self._trouble:
            self._trouble = line
            _logger.warning(line)
