"""The operator's rules that are in force: those of the file, unless another machine has a later edition.

The file stays the source. When it changes, the server beside it publishes it as a row, with the time of the change; the
servers of other machines, whose file is missing or was changed earlier, go by that row. A file that is wrong is
an error where it lies, and is not published.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from periplus.errors import PeriplusError, SettingError
from periplus.search.query.rules import Rules, read_file, rules_of
from periplus.storage import note_change

if TYPE_CHECKING:
    from pathlib import Path

    from periplus.storage import Database, State, Transaction

RULES = "rules"
_PUT = (
    "INSERT INTO published (name, content, changed) VALUES (?, ?, ?) ON CONFLICT (name)"
    " DO UPDATE SET content = excluded.content, changed = excluded.changed WHERE published.changed < excluded.changed"
)


class Edition(NamedTuple):
    """The text of a rules file, and when it was changed."""

    text: str
    changed: float


class RuleBook:
    """Rules by the setting ``name``; safe for several threads."""

    shares = RULES

    def __init__(self, folder: Path, name: str, state: State | None = None) -> None:
        """Without a ``state`` the file is all there is."""
        self._folder = folder
        self._name = name
        self._state = state
        self._stamp: tuple[int, int, int] | None = None
        self._written: Edition | None = None  # as the file was read last
        self._published: Edition | None = None  # as the row was read last
        self._made: tuple[Edition | None, Rules] = (None, Rules())

    def current(self) -> Rules:
        """The rules in force; the same object until they change. A wrong file is a ``SettingError`` that says where."""
        if not self._name:
            return self._made[1]
        try:
            self._look()
        except SettingError:
            if (self._folder / self._name).exists() or not self._is_published():
                raise
            self._stamp = self._written = None
        later = _later(self._written, self._published)
        if later is not None and later != self._made[0]:
            self._made = (later, rules_of(self._folder / self._name, later.text))
        return self._made[1]

    def share(self, *, changed: bool) -> None:
        """Publish the file where it is later than the row, and read the row where another published."""
        if not self._name or self._state is None:
            return
        if changed:
            self._published = _row(self._state())
        self.current()  # what is wrong is not published
        written, row = self._written, self._published
        if written is not None and (row is None or (written.text != row.text and written.changed > row.changed)):
            with self._state().write() as tx:
                _publish(tx, written)
            self._published = written

    def _look(self) -> None:
        """Read the file again where it changed."""
        path = self._folder / self._name
        try:
            status = path.stat()
            stamp = (status.st_mtime_ns, status.st_ino, status.st_size)
            changed = status.st_mtime
        except OSError:
            stamp, changed = None, 0.0
        if stamp is None or stamp != self._stamp:
            _, text = read_file(self._folder, self._name)
            rules_of(path, text)
            self._written, self._stamp = Edition(text, changed), stamp

    def _is_published(self) -> bool:
        """Whether a row stands in for a missing file."""
        if self._published is None and self._state is not None:
            try:
                self._published = _row(self._state())
            except PeriplusError:  # the missing file is what to tell of
                return False
        return self._published is not None


def _later(written: Edition | None, published: Edition | None) -> Edition | None:
    if written is None or published is None or written.text == published.text:
        return written or published
    return published if published.changed >= written.changed else written


def _row(database: Database) -> Edition | None:
    with database.read() as tx:
        found = tx.row("SELECT content, changed FROM published WHERE name = ?", (RULES,))
    return Edition(*found) if found else None


def _publish(tx: Transaction, edition: Edition) -> None:
    if tx.execute(_PUT, (RULES, *edition)):
        note_change(tx, RULES)
