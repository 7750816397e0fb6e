"""Judgements that an operator gives while looking at results: how well a page answers a query, from 0 to 3.

Kept in one small file of the collection, which ``evaluate`` can use after it was exported as qrels.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import msgspec

from periplus.errors import Corrupt, OverBudget, UsageError

if TYPE_CHECKING:
    from periplus.storage import LocalFiles

FILE_NAME = "judgements.json"
BEST_GRADE = 3
MOST = 100_000  # judgements in one collection

Judged = dict[str, dict[str, int]]  # query → id of a document → grade


class Judgements:
    def __init__(self, files: LocalFiles) -> None:
        self._files = files
        self._lock = threading.Lock()

    def all(self) -> Judged:
        if not self._files.exists(FILE_NAME):
            return {}
        try:
            return msgspec.json.decode(self._files.read(FILE_NAME), type=Judged)
        except (msgspec.MsgspecError, ValueError) as error:
            raise Corrupt(f"{self._files.path(FILE_NAME)} is damaged ({error}); move it away") from error

    def add(self, query: str, document: str, grade: int | None) -> None:
        """Keep a grade, or take it back with ``None``."""
        if grade is not None and not 0 <= grade <= BEST_GRADE:
            raise UsageError(f"a grade is 0 to {BEST_GRADE}, not {grade}")
        with self._lock:
            judged = self.all()
            if sum(map(len, judged.values())) >= MOST:
                raise OverBudget(f"{MOST} judgements are kept; export them and move {FILE_NAME} away")
            grades = judged.setdefault(query, {})
            if grade is None:
                grades.pop(document, None)
            else:
                grades[document] = grade
            kept = {text: found for text, found in judged.items() if found}
            self._files.write(FILE_NAME, msgspec.json.encode(kept))
