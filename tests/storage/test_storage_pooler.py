"""Behind PgBouncer with transaction pooling: what a session knows is gone with its transaction; nothing misses it."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from periplus.errors import DatabaseBusy
from periplus.storage import Database, Leases
from periplus.storage.postgres import ROWS_TO_COPY
from support.pgbouncer import POOL, pooled_address  # noqa: F401 (fixture)
from support.postgres import server

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.postgres
CLIENTS = 4 * POOL
ROUNDS = 12  # more than psycopg waits before it prepares a statement


@pytest.fixture
def pooled(pooled_address: str) -> Iterator[Database]:  # noqa: F811
    with Database.open(pooled_address) as database:
        yield database


def test_many_clients_share_few_connections(pooled: Database) -> None:
    def work(client: int) -> int:
        leases = Leases(pooled)
        lease = leases.acquire(f"lease {client}", f"owner {client}", 30)
        assert lease is not None
        for number in range(ROUNDS):
            with pooled.write() as tx:
                leases.check(tx, lease)
                rows = [(f"{client} {number} {row}", "x") for row in range(ROWS_TO_COPY if number % 4 == 0 else 3)]
                tx.insert_new("meta", ("key", "value"), rows, "key")
            lease = leases.renew(lease)
        with pooled.read() as tx:
            return sum(1 for _ in tx.stream("SELECT key FROM meta WHERE key LIKE ?", (f"{client} %",)))

    with ThreadPoolExecutor(CLIENTS) as threads:
        found = list(threads.map(work, range(CLIENTS)))
    assert found == [3 * ROWS_TO_COPY + 9 * 3] * CLIENTS


def test_a_row_that_others_hold_is_not_waited_for_without_end(pooled_address: str) -> None:  # noqa: F811
    with Database.open(pooled_address, busy_seconds=0.2) as database, ThreadPoolExecutor(1) as threads:
        with database.write() as tx:
            tx.execute("INSERT INTO meta (key, value) VALUES ('one', '1')")

        def change() -> None:
            with database.write() as tx:
                tx.execute("UPDATE meta SET value = '2' WHERE key = 'one'")

        with database.write() as tx:
            tx.execute("UPDATE meta SET value = '3' WHERE key = 'one'")
            with pytest.raises(DatabaseBusy):
                threads.submit(change).result()


def test_statements_are_prepared_only_where_sessions_last(pooled: Database, request: pytest.FixtureRequest) -> None:
    with Database.open(server(request.config).create()) as direct:
        for database, is_kept in ((pooled, False), (direct, True)):
            connection = database.backend.connect(writable=False)
            assert (connection.prepare_threshold is not None) == is_kept
            connection.close()
