"""Registry: shard servers report themselves in the state database, and brokers find them there.

A report is good for ``GOOD_FOR`` seconds. A server that ends takes its rows along; what a dead one left is removed by
whoever reports a day later. A database that cannot be reached costs one line in the log: a server tries again with its
next report, and a broker goes on with the servers that it knows.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from periplus.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.cluster.server import ShardServer
    from periplus.storage import Database

REPORT_EVERY = 2.0  # seconds
GOOD_FOR = 10.0  # seconds: clocks of machines may differ by a few
FORGOTTEN_AFTER = 86_400.0  # seconds

_logger = logging.getLogger(__name__)


class Registry:
    def __init__(self, database: Database, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._clock = clock
        self._reported = 0.0
        self._was_draining = False
        self._found: list[str] | None = None  # what was read last
        self._trouble = ""  # that was told of

    def report(self, server: ShardServer) -> None:
        """Say how a server is, when it is time to; that it ends, at once."""
        now, readiness = self._clock(), server.application.readiness()
        if now - self._reported < REPORT_EVERY and readiness.draining == self._was_draining:
            return
        self._reported, self._was_draining = now, readiness.draining
        rows = [
            (shard, server.address, max(held), held[max(held)], readiness.load, now)
            for shard, held in readiness.shards.items()
            if held and not readiness.draining
        ]
        try:
            self._replace(server.address, rows, now)
        except StorageError as error:
            self._tell(f"this server does not report itself: {error}; name it with serve --shards")
        else:
            self._trouble = ""

    def _replace(self, address: str, rows: Sequence[tuple[object, ...]], now: float) -> None:
        with self._database.write() as transaction:
            transaction.execute("DELETE FROM servers WHERE address = ?", (address,))
            transaction.execute("DELETE FROM servers WHERE seen < ?", (now - FORGOTTEN_AFTER,))
            transaction.executemany(
                "INSERT INTO servers (shard, address, generation, documents, load, seen) VALUES (?, ?, ?, ?, ?, ?)",
                rows,
            )

    def leave(self, server: ShardServer) -> None:
        """Take the reports of a server away."""
        try:
            with self._database.write() as transaction:
                transaction.execute("DELETE FROM servers WHERE address = ?", (server.address,))
        except StorageError as error:
            _logger.warning("reports of this server stay for %.0f s: %s", GOOD_FOR, error)

    def addresses(self) -> list[str]:
        """The servers that have reported themselves lately; those of the last time while the database is away."""
        try:
            with self._database.read() as transaction:
                rows = transaction.rows(
                    "SELECT DISTINCT address FROM servers WHERE seen > ? ORDER BY address", (self._clock() - GOOD_FOR,)
                )
        except StorageError as error:
            if self._found is None:
                raise
            self._tell(f"shard servers cannot be looked up: {error}; those that are known are asked")
            return self._found
        self._trouble = ""
        self._found = [address for (address,) in rows]
        return self._found

    def _tell(self, line: str) -> None:
        """One line for as long as it is the same trouble."""
        if line != self._trouble:
            self._trouble = line
            _logger.warning(line)
