"""Judgements that an operator gives while looking at results: how well a page answers a query, from 0 to 3.

Rows of the state, which all servers of a collection share and ``evaluate`` can use after they were exported as qrels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from periplus.errors import Corrupt, OverBudget, StorageError, UsageError
from periplus.storage import take_over

if TYPE_CHECKING:
    from periplus.storage import Database, LocalFiles, State, Transaction

FILE_NAME = "judgements.json"  # of earlier versions
BEST_GRADE = 3
MOST = 100_000  # judgements in one collection

Judged = dict[str, dict[str, int]]  # query → id of a document → grade
_PUT = (
    "INSERT INTO judgements (query, document, grade) VALUES (?, ?, ?)"
    " ON CONFLICT (query, document) DO UPDATE SET grade = excluded.grade"
)


class Judgements:
    def __init__(self, state: State, files: LocalFiles | None = None) -> None:
        """``files`` may hold the judgements of an earlier version."""
        self._state = state
        self._files = files

    def all(self) -> Judged:
        try:
            database = self._taken_over()
        except Corrupt:
            raise
        except StorageError:
            if self._files is None or not self._files.exists(FILE_NAME):
                raise
            return _of_file(self._files)  # of an earlier version, in a folder that cannot be written to
        judged: Judged = {}
        with database.read() as tx:
            for query, document, grade in tx.rows("SELECT query, document, grade FROM judgements"):
                judged.setdefault(query, {})[document] = grade
        return judged

    def add(self, query: str, document: str, grade: int | None) -> None:
        """Keep a grade, or take it back with ``None``."""
        if grade is not None and not 0 <= grade <= BEST_GRADE:
            raise UsageError(f"a grade is 0 to {BEST_GRADE}, not {grade}")
        place = query.replace("\0", " "), document
        with self._taken_over().write() as tx:
            if grade is None:
                tx.execute("DELETE FROM judgements WHERE query = ? AND document = ?", place)
                return
            if int(tx.value("SELECT COUNT(*) FROM judgements")) >= MOST:
                raise OverBudget(f"{MOST:,} judgements are kept; export them, and take back those of old queries")
            tx.execute(_PUT, (*place, grade))

    def _taken_over(self) -> Database:
        """The state, with what an earlier version kept in a file."""
        database, files = self._state(), self._files
        if files is not None and files.exists(FILE_NAME):
            take_over(database, files, FILE_NAME, lambda tx: _take(tx, _of_file(files)))
        return database


def _take(tx: Transaction, judged: Judged) -> None:
    tx.executemany(_PUT, [(query, *graded) for query, grades in judged.items() for graded in grades.items()])


def _of_file(files: LocalFiles) -> Judged:
    try:
        return msgspec.json.decode(files.read(FILE_NAME), type=Judged)
    except (msgspec.MsgspecError, ValueError) as error:
        raise Corrupt(f"{files.path(FILE_NAME)} is damaged ({error}); move it away") from error
