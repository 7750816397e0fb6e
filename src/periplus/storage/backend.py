"""What the state database needs of a database engine; ``sqlite.py`` and ``postgres.py`` provide it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from periplus.errors import PeriplusError

Row = tuple[Any, ...]


class DatabaseBackend(Protocol):
    """An engine: opens connections, runs statements on them, and turns its errors into ours."""

    @property
    def dialect(self) -> str: ...  # "sqlite" or "postgresql"

    @property
    def name(self) -> str: ...  # for messages: the path, or the address without its password

    @property
    def errors(self) -> tuple[type[Exception], ...]: ...

    @property
    def types(self) -> Mapping[str, str]: ...  # what {int}, {blob} … mean in migrations

    @property
    def row_lock(self) -> str: ...  # suffix of a SELECT that keeps the row as it is until the transaction ends

    @property
    def single_writer(self) -> bool: ...

    @property
    def most_parameters(self) -> int: ...

    def create(self) -> None: ...  # where the engine can, what is to be opened and is not there yet

    def connect(self, *, writable: bool) -> Any: ...

    def usable(self, connection: Any) -> bool: ...

    def begin(self, connection: Any, *, writable: bool) -> None: ...

    def commit(self, connection: Any) -> None: ...

    def committed(self, connection: Any) -> None: ...  # upkeep after a commit, which fails for nobody

    def rollback(self, connection: Any) -> None: ...

    def close(self, connection: Any) -> None: ...

    def run(self, connection: Any, sql: str, arguments: Sequence[Any]) -> tuple[int, list[Row]]:
        """Rows touched, and the rows that the statement returns."""
        ...

    def end_sessions(self, connection: Any, process: str) -> int:
        """End all sessions of a process with the database, whatever they were doing; how many there were."""
        ...

    def run_each(self, connection: Any, sql: str, arguments: Sequence[Sequence[Any]]) -> list[list[Row]]:
        """The rows that the statement returns for each of ``arguments``."""
        ...

    def run_many(self, connection: Any, sql: str, rows: Iterable[Sequence[Any]]) -> None: ...

    def insert_bulk(
        self, connection: Any, table: str, columns: tuple[str, ...], rows: Sequence[Sequence[Any]], conflict: str
    ) -> list[Row] | None:
        """Insert what is new; the ``conflict`` columns of those rows. None where statements with values do better."""
        ...

    def stream(self, connection: Any, sql: str, arguments: Sequence[Any], size: int) -> Iterator[Row]: ...

    def lock_migrations(self, connection: Any) -> None:
        """Wait until no other process migrates; held until the transaction ends."""
        ...

    def has_table(self, connection: Any, table: str) -> bool: ...

    def checkpoint(self, connection: Any) -> None: ...

    def check(self, connection: Any) -> list[str]: ...

    def translated(self, error: Exception) -> PeriplusError: ...
