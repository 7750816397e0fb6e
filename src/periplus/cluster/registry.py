"""Registry: shard servers report themselves in the state database, and brokers find them there.

A report is good for ``GOOD_FOR`` seconds. A server that ends takes its rows along; what a dead one left is removed by
whoever reports a day later. A database that cannot be written costs one line in the log and nothing else.
"""

from __future__ import annotations

import logging
import time
from typing import TYPE_CHECKING

from periplus.errors import StorageError

if TYPE_CHECKING:
    from collections.abc import Callable

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
        self._is_writable = True

    def report(self, server: ShardServer) -> None:
        """Say how a server is, when it is time to."""
        now = self._clock()
        if not self._is_writable or now - self._reported < REPORT_EVERY:
            return
        self._reported = now
        readiness = server.application.readiness()
        rows = [
            (shard, server.address, max(held), held[max(held)], readiness.load, now)
            for shard, held in readiness.shards.items()
            if held and not readiness.draining
        ]
        try:
            with self._database.write() as transaction:
                transaction.execute("DELETE FROM servers WHERE address = ?", (server.address,))
                transaction.execute("DELETE FROM servers WHERE seen < ?", (now - FORGOTTEN_AFTER,))
                transaction.executemany(
                    "INSERT INTO servers (shard, address, generation, documents, load, seen) VALUES (?, ?, ?, ?, ?, ?)",
                    rows,
                )
        except StorageError as error:
            self._is_writable = False
            _logger.warning("this server does not report itself: %s; name it with serve --shards", error)

    def leave(self, server: ShardServer) -> None:
        """Take the reports of a server away."""
        if not self._is_writable:
            return
        try:
            with self._database.write() as transaction:
                transaction.execute("DELETE FROM servers WHERE address = ?", (server.address,))
        except StorageError as error:
            _logger.warning("reports of this server stay for %.0f s: %s", GOOD_FOR, error)

    def addresses(self) -> list[str]:
        """The servers that have reported themselves lately."""
        with self._database.read() as transaction:
            rows = transaction.rows(
                "SELECT DISTINCT address FROM servers WHERE seen > ? ORDER BY address", (self._clock() - GOOD_FOR,)
            )
        return [address for (address,) in rows]
