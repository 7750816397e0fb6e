"""Keys that programs show to the API: each with a name and scopes, and of each only its digest in the state.

A key is 24 random bytes, so one round of a hash keeps it: there is no dictionary to try. Requests look only at what
was read last. ``share`` reads again what another process changed, every few seconds, so a key that was revoked
stops working in all servers of a collection.
"""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
import time
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from periplus.errors import Corrupt, NotFound, OverBudget, PeriplusError, StorageError, UsageError, WrongState
from periplus.storage import note_change, take_over

if TYPE_CHECKING:
    from collections.abc import Iterable

    from periplus.storage import Database, LocalFiles, State, Transaction

FILE_NAME = "api-keys.json"  # of earlier versions
KEYS = "keys"
PREFIX = "periplus_"
SCOPES = {
    "search": "search, explain, similar pages, analysis of texts",
    "inspect": "the state of addresses and of the collection",
    "crawl": "start, stop and steer the crawl, add pages",
}
MOST = 1_000  # keys of one collection
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")
_COLUMNS = ("name", "digest", "scopes", "created")


class ApiKey(Struct, frozen=True):
    name: str
    digest: str
    scopes: tuple[str, ...]
    created: float

    def allows(self, scope: str) -> bool:
        return scope in self.scopes


def digest_of(key: str) -> str:
    return hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=32).hexdigest()


def same(given: str, wanted: str) -> bool:
    """Whether two digests are the same, in a time that tells nothing."""
    return hmac.compare_digest(given.encode(), wanted.encode())


class KeyRing:
    """The keys of one collection; safe for several threads and processes."""

    shares = KEYS

    def __init__(self, state: State, files: LocalFiles | None = None) -> None:
        """``files`` may hold the keys of an earlier version."""
        self._state = state
        self._files = files
        self._by_digest: dict[str, ApiKey] | None = None  # as read last
        self._trouble: PeriplusError | None = None  # why they could not be read

    def all(self) -> list[ApiKey]:
        """Oldest first."""
        return sorted(self._refresh().values(), key=lambda key: (key.created, key.name))

    def find(self, text: str) -> ApiKey | None:
        """The key that ``text`` is, or nothing. Raises where keys could not be read since this began."""
        if not text.startswith(PREFIX):
            return None
        known = self._by_digest
        if known is None:
            if self._trouble is not None:  # ``share`` tries again: a request does not wait for a database
                raise self._trouble
            known = self._refresh()
        digest = digest_of(text)
        found = known.get(digest)
        return found if found is not None and same(digest, found.digest) else None

    def share(self, *, changed: bool) -> None:
        if changed or self._by_digest is None:
            self._refresh()

    def create(self, name: str, scopes: Iterable[str]) -> str:
        """A new key; what is returned is kept nowhere and cannot be shown again."""
        wanted = tuple(scope for scope in SCOPES if scope in set(scopes))
        unknown = sorted(set(scopes) - set(SCOPES))
        if unknown or not wanted:
            raise UsageError(f"{', '.join(unknown) or 'no scope'} given; scopes are {', '.join(SCOPES)}")
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} is no name for a key; use up to 60 letters, digits, dots and dashes")
        text = PREFIX + secrets.token_urlsafe(24)
        with self._writable().write() as tx:
            note_change(tx, KEYS)  # first: its row is locked, so that two do not both add the last one
            if int(tx.value("SELECT COUNT(*) FROM api_keys")) >= MOST:
                raise OverBudget(f"{MOST} keys are kept; revoke one first")
            if not _insert(tx, [ApiKey(name, digest_of(text), wanted, time.time())]):
                raise WrongState(f"there is a key {name!r} already; revoke it first, or choose another name")
        self._refresh()
        return text

    def revoke(self, name: str) -> None:
        with self._writable().write() as tx:
            note_change(tx, KEYS)
            if not tx.execute("DELETE FROM api_keys WHERE name = ?", (name,)):
                raise NotFound(f"there is no key {name!r}; periplus keys lists them")
        self._refresh()

    def _writable(self) -> Database:
        self._refresh()  # takes over what an earlier version kept
        return self._state()

    def _refresh(self) -> dict[str, ApiKey]:
        """Read the keys again; where that fails, those that were read last stay in force."""
        try:
            found = {key.digest: key for key in self._read()}
        except PeriplusError as error:
            self._trouble = error
            raise
        self._by_digest, self._trouble = found, None
        return found

    def _read(self) -> list[ApiKey]:
        files = self._files
        if files is None or not files.exists(FILE_NAME):
            return _rows(self._state())
        try:
            database = self._state()
            take_over(database, files, FILE_NAME, lambda tx: _take(tx, _of_file(files)))
            return _rows(database)
        except Corrupt:
            raise
        except StorageError:
            if self._by_digest is not None:
                raise
            return _of_file(files)  # of an earlier version, in a folder that cannot be written to


def _rows(database: Database) -> list[ApiKey]:
    with database.read() as tx:
        rows = tx.rows("SELECT name, digest, scopes, created FROM api_keys")
    return [ApiKey(name, digest, tuple(scopes.split()), created) for name, digest, scopes, created in rows]


def _of_file(files: LocalFiles) -> list[ApiKey]:
    """The keys as an earlier version kept them."""
    try:
        return msgspec.json.decode(files.read(FILE_NAME), type=list[ApiKey])
    except (msgspec.MsgspecError, ValueError) as error:
        path = files.path(FILE_NAME)
        raise Corrupt(f"{path} is damaged ({error}); move it away and make new keys") from error


def _insert(tx: Transaction, keys: list[ApiKey]) -> bool:
    rows = [(key.name, key.digest, " ".join(key.scopes), key.created) for key in keys]
    return bool(tx.insert_new("api_keys", _COLUMNS, rows, "name"))


def _take(tx: Transaction, keys: list[ApiKey]) -> None:
    _insert(tx, keys)
    note_change(tx, KEYS)
