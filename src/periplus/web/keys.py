"""Keys that programs show to the API: each with a name, scopes, and only its digest on disk.

A key is 24 random bytes, so one round of a hash keeps it: there is no dictionary to try. The file is read again when
it changed, so a key that was revoked stops working at once, in every server process.
"""

from __future__ import annotations

import hashlib
import re
import secrets
import time
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from periplus.errors import Corrupt, NotFound, OverBudget, UsageError, WrongState
from periplus.storage import folder_lock

if TYPE_CHECKING:
    from collections.abc import Iterable

    from periplus.storage import LocalFiles

FILE_NAME = "api-keys.json"
LOCK = "api-keys.lock"
PREFIX = "periplus_"
SCOPES = {
    "search": "search, explain, similar pages, analysis of texts",
    "inspect": "the state of addresses and of the collection",
    "crawl": "start, stop and steer the crawl, add pages",
}
MOST = 1_000  # keys of one collection
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,59}")


class ApiKey(Struct, frozen=True):
    name: str
    digest: str
    scopes: tuple[str, ...]
    created: float

    def allows(self, scope: str) -> bool:
        return scope in self.scopes


def digest_of(key: str) -> str:
    return hashlib.blake2b(key.encode("utf-8", "replace"), digest_size=32).hexdigest()


class KeyRing:
    """The keys of one collection; safe for several threads and processes."""

    def __init__(self, files: LocalFiles) -> None:
        self._files = files
        self._path = files.path(FILE_NAME)
        self._stamp: tuple[int, int, int] | None = None
        self._by_digest: dict[str, ApiKey] = {}

    def all(self) -> list[ApiKey]:
        """Oldest first."""
        return sorted(self._current().values(), key=lambda key: (key.created, key.name))

    def find(self, text: str) -> ApiKey | None:
        """The key that ``text`` is, or nothing."""
        return self._current().get(digest_of(text)) if text.startswith(PREFIX) else None

    def create(self, name: str, scopes: Iterable[str]) -> str:
        """A new key; what is returned is kept nowhere and cannot be shown again."""
        wanted = tuple(scope for scope in SCOPES if scope in set(scopes))
        unknown = sorted(set(scopes) - set(SCOPES))
        if unknown or not wanted:
            raise UsageError(f"{', '.join(unknown) or 'no scope'} given; scopes are {', '.join(SCOPES)}")
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r} is no name for a key; use up to 60 letters, digits, dots and dashes")
        text = PREFIX + secrets.token_urlsafe(24)
        with folder_lock(self._files.path(LOCK), "changing keys"):
            kept = self.all()
            if any(key.name == name for key in kept):
                raise WrongState(f"there is a key {name!r} already; revoke it first, or choose another name")
            if len(kept) >= MOST:
                raise OverBudget(f"{MOST} keys are kept; revoke one first")
            self._write([*kept, ApiKey(name, digest_of(text), wanted, time.time())])
        return text

    def revoke(self, name: str) -> None:
        with folder_lock(self._files.path(LOCK), "changing keys"):
            kept = self.all()
            if all(key.name != name for key in kept):
                raise NotFound(f"there is no key {name!r}; periplus keys lists them")
            self._write([key for key in kept if key.name != name])

    def _write(self, keys: list[ApiKey]) -> None:
        with self._files.create(FILE_NAME) as temporary:
            temporary.chmod(0o600)
            temporary.write_bytes(msgspec.json.encode(keys))

    def _current(self) -> dict[str, ApiKey]:
        try:
            status = self._path.stat()
        except FileNotFoundError:
            return {}
        stamp = (status.st_mtime_ns, status.st_ino, status.st_size)
        if stamp != self._stamp:
            self._by_digest = {key.digest: key for key in self._read()}
            self._stamp = stamp
        return self._by_digest

    def _read(self) -> list[ApiKey]:
        try:
            return msgspec.json.decode(self._files.read(FILE_NAME), type=list[ApiKey])
        except (msgspec.MsgspecError, ValueError) as error:
            raise Corrupt(f"{self._path} is damaged ({error}); move it away and make new keys") from error
