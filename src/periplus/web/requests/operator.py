"""The operator's key: shown once when it is made, kept as digests, renewed by ``periplus keys operator --new``.

A browser that showed the key carries a cookie made from it (``session_of``). Of that only the digest is kept, too, so
who can read the state can neither show the key nor make the cookie. Both stay valid over a restart, and end
in all servers of a collection within seconds when the key is renewed.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from periplus.errors import Corrupt, StorageError
from periplus.storage import mark_taken, note_change, take_over
from periplus.web.requests.keys import KEYS, digest_of, same

if TYPE_CHECKING:
    from periplus.storage import Database, LocalFiles, State, Transaction

FILE_NAME = "console.key"  # of earlier versions, in clear
SHORTEST_KEY = 8  # characters: less was cut off, or is easily guessed
ROW = "operator.key"  # in meta
_PUT = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"


class KeptKey(Struct, frozen=True):
    """What is kept of the key."""

    digest: str
    session: str  # digest of the cookie
    created: float

    @classmethod
    def of(cls, key: str) -> KeptKey:
        return cls(digest_of(key), digest_of(session_of(key)), time.time())


def session_of(key: str) -> str:
    """What a browser carries instead of the key."""
    return hmac.new(key.encode("utf-8", "replace"), b"periplus operator's cookie", hashlib.sha256).hexdigest()


class Operator:
    """The key of one collection's operator; safe for several threads and processes."""

    shares = KEYS

    def __init__(self, state: State | None = None, files: LocalFiles | None = None, *, key: str = "") -> None:
        """With a ``key`` and no state, that one and no other. ``files`` may hold the key of an earlier version."""
        self._state = state
        self._files = files
        self.shown = key  # in clear, where this process made it
        self.trouble = ""  # why a key could not be kept
        self._kept = KeptKey.of(key) if key else None

    @property
    def has_key(self) -> bool:
        return self._kept is not None

    @property
    def created(self) -> float:
        """When the key was made and shown."""
        return self._kept.created if self._kept else 0.0

    def is_key(self, text: str) -> bool:
        return self._kept is not None and same(digest_of(text), self._kept.digest)

    def is_session(self, cookie: str) -> bool:
        return self._kept is not None and same(digest_of(cookie), self._kept.session)

    def begin(self) -> str:
        """See to it that there is a key; in clear where that made one, else empty.

        A collection that cannot be written to and has none gets one for this process only.
        """
        if self._kept is not None:
            return self.shown
        try:
            self._refresh()
            if self._kept is None:
                self._make(replace=False)
        except Corrupt:
            raise
        except StorageError as error:
            self.trouble = str(error)
            self.shown = self.shown or secrets.token_urlsafe(18)
            self._kept = self._kept or KeptKey.of(self.shown)
        return self.shown

    def renew(self) -> str:
        """A new key, in clear; the old one and the browsers that showed it are refused from now on."""
        return self._make(replace=True)

    def check(self) -> bool:
        """Whether there is a key; raises ``Corrupt`` where what is kept of it is damaged."""
        self._refresh()
        return self.has_key

    def share(self, *, changed: bool) -> None:
        if changed or self._kept is None:
            self._refresh()

    def _make(self, *, replace: bool) -> str:
        if self._state is None:
            raise StorageError("this server was given its operator's key; there is no state to keep another in")
        key = secrets.token_urlsafe(18)
        kept = KeptKey.of(key)
        with self._state().write() as tx:
            note_change(tx, KEYS)
            mark_taken(tx, FILE_NAME)
            is_new = _put(tx, kept, replace=replace)
        if not is_new:  # another process was first, and showed its own
            self._refresh()
            return ""
        self._kept, self.shown = kept, key
        return key

    def _refresh(self) -> None:
        """What was read last stays in force where the row cannot be read or is gone: that opens nothing."""
        if self._state is None:
            return
        files = self._files
        if files is None or not files.exists(FILE_NAME):
            self._kept = _row(self._state()) or self._kept
            return
        try:
            database = self._state()
            take_over(database, files, FILE_NAME, lambda tx: _take(tx, _of_file(files)))
            self._kept = _row(database) or self._kept
        except Corrupt:
            raise
        except StorageError:
            if self._kept is not None:
                raise
            self._kept = KeptKey.of(_of_file(files))  # of an earlier version, in a folder that cannot be written to


def _row(database: Database) -> KeptKey | None:
    with database.read() as tx:
        row = tx.value("SELECT value FROM meta WHERE key = ?", (ROW,))
    try:
        return None if row is None else msgspec.json.decode(row, type=KeptKey)
    except (msgspec.MsgspecError, ValueError) as error:
        advice = "periplus keys operator --new makes another"
        raise Corrupt(f"the operator's key in {database.name} is damaged ({error}); {advice}") from error


def _of_file(files: LocalFiles) -> str:
    """The key as an earlier version kept it, in clear."""
    key = files.read(FILE_NAME).decode("utf-8", "replace").strip()
    if len(key) < SHORTEST_KEY or not key.isascii():
        path = files.path(FILE_NAME)
        raise Corrupt(f"{path} holds no key; remove it, and the next start makes a new one")
    return key


def _put(tx: Transaction, kept: KeptKey, *, replace: bool) -> bool:
    row = (ROW, msgspec.json.encode(kept).decode())
    return bool(tx.execute(_PUT, row) if replace else tx.insert_new("meta", ("key", "value"), [row], "key"))


def _take(tx: Transaction, key: str) -> None:
    _put(tx, KeptKey.of(key), replace=False)
    note_change(tx, KEYS)
