"""The object store of a collection on many machines: whole files by name, each written once and never changed.

``open_objects`` gives the store of an address: ``s3://bucket/prefix`` (any server that speaks S3; credentials, endpoint
and region are those of the usual ``AWS_…`` environment) or ``file:///folder`` (a folder that plays one). A name is
never used again for other content, so no put needs a condition: not all servers honour one.

What passes by itself (no answer, no connection, a server in trouble) is tried again with growing pauses for
``RETRY_SECONDS``, and is ``StorageAway`` then; what does not (credentials, a bucket that is not there) is said at once.
"""

from __future__ import annotations

import os
import re
import shutil
from datetime import timedelta
from pathlib import Path
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Protocol, TypeVar
from urllib.parse import unquote, urlsplit

from msgspec import Struct

from periplus.errors import AlreadyThere, NotFound, SettingError, StorageAway, StorageError, Truncated, UsageError
from periplus.storage.files import LocalFiles

if TYPE_CHECKING:
    from collections.abc import Callable

PART_BYTES: Final = 16 << 20  # of one request: larger objects are sent and fetched in parts
PARTS_AT_ONCE: Final = 2  # in memory, of an object that is sent
RETRY_SECONDS: Final = 10.0
RETRIES: Final = 8
FIRST_PAUSE: Final = 0.1
LONGEST_PAUSE: Final = 3.0
CONNECT_SECONDS: Final = 5.0
REQUEST_SECONDS: Final = 60.0  # a part has to pass in that time
_SETTING: Final = "storage.files"
Answer = TypeVar("Answer")


_users: Final[dict[str, int]] = {}  # the process in which the library has its threads, once it was used


def may_fork() -> bool:
    """Whether a copy of this process could use object stores: the library's threads are not copied with it."""
    return not _users


class ObjectEntry(Struct, frozen=True):
    """One object of a listing; ``modified`` is the store's own clock."""

    name: str
    bytes: int
    modified: float


class Objects(Protocol):
    """What every object store can do; may be used from many threads, and be sent to other processes."""

    address: str

    def check(self) -> None:
        """Raise ``StorageError`` unless the store answers us."""

    def put(self, name: str, data: bytes | Path) -> None:
        """Keep ``data``, or the content of a file, under a name of its own; durable when it returns."""

    def get(self, name: str) -> bytes:
        """All of an object; one that is not there is ``NotFound``."""

    def get_range(self, name: str, start: int, length: int) -> bytes:
        """``length`` bytes from ``start`` on; an object that is too short for that is ``Truncated``."""

    def download(self, name: str, path: Path) -> None:
        """Write all of an object into a file, a part at a time."""

    def size(self, name: str) -> int: ...

    def entries(self, prefix: str = "") -> list[ObjectEntry]:
        """Objects whose names begin with ``prefix``, by name."""

    def names(self, prefix: str = "") -> list[str]: ...

    def remove(self, name: str) -> None:
        """Remove an object; one that is not there is removed already."""


def open_objects(address: str) -> Objects:
    """The object store at an address; nothing is asked of it yet."""
    parts = urlsplit(address)
    if parts.scheme == "s3" and parts.netloc:
        return BucketObjects(address)
    if parts.scheme == "file" and not parts.netloc and len(parts.path) > 1:
        return FolderObjects(unquote(parts.path))
    raise SettingError(
        f"{_SETTING}: {address!r} is no object store; write s3://bucket/prefix or file:///folder", _SETTING
    )


class FolderObjects:
    """A folder that plays an object store: for tests, and for a folder that all machines mount."""

    def __init__(self, folder: str | Path) -> None:
        self._files = LocalFiles(folder)
        self.address = f"file://{self._files.root}"

    def check(self) -> None:
        try:
            self._files.root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise StorageError(f"{self._files.root} cannot be made: {error.strerror}; name another folder") from error

    def put(self, name: str, data: bytes | Path) -> None:
        try:
            with self._files.create(name, new=True) as temporary:
                if isinstance(data, Path):
                    shutil.copyfile(data, temporary)
                else:
                    temporary.write_bytes(data)
        except AlreadyThere:
            if self._files.read(name) != (data.read_bytes() if isinstance(data, Path) else data):
                raise  # the same content again is a second try of the same put

    def get(self, name: str) -> bytes:
        return self._files.read(name)

    def get_range(self, name: str, start: int, length: int) -> bytes:
        _check_range(name, start, length)
        with self._opened(name) as file:
            file.seek(start)
            return _whole(name, file.read(length), length)

    def download(self, name: str, path: Path) -> None:
        with self._opened(name) as file, path.open("wb") as copy:
            shutil.copyfileobj(file, copy, PART_BYTES)

    def _opened(self, name: str) -> BinaryIO:
        try:
            return self._files.path(name).open("rb")
        except FileNotFoundError as error:
            raise NotFound(f"{self.address}/{name} does not exist") from error

    def size(self, name: str) -> int:
        return self._files.size(name)

    def entries(self, prefix: str = "") -> list[ObjectEntry]:
        found = []
        for name in self._files.names(prefix):
            try:
                status = self._files.path(name).stat()
            except FileNotFoundError:
                continue  # removed meanwhile
            found.append(ObjectEntry(name, status.st_size, status.st_mtime))
        return found

    def names(self, prefix: str = "") -> list[str]:
        return self._files.names(prefix)

    def remove(self, name: str) -> None:
        try:
            self._files.remove(name)
        except NotFound:
            return


class BucketObjects:
    """Objects below a prefix of a bucket on a server that speaks S3."""

    def __init__(self, address: str) -> None:
        self.address = address.rstrip("/")
        parts = urlsplit(self.address)
        self._bucket = parts.netloc
        self._prefix = parts.path.strip("/")
        self._opened: tuple[Any, Any] | None = None

    def __reduce__(self) -> tuple[type[BucketObjects], tuple[str]]:
        return type(self), (self.address,)

    def check(self) -> None:
        """A listing of nothing: the one question that tells a missing bucket from a missing object."""
        self._ask("", lambda library, store: next(iter(library.list(store, prefix=".none", chunk_size=1)), None))

    def put(self, name: str, data: bytes | Path) -> None:
        size = data.stat().st_size if isinstance(data, Path) else len(data)
        parts = {"use_multipart": size > PART_BYTES, "chunk_size": PART_BYTES, "max_concurrency": PARTS_AT_ONCE}
        self._ask(name, lambda library, store: library.put(store, name, data, **parts))

    def get(self, name: str) -> bytes:
        return self._ask(name, lambda library, store: bytes(library.get(store, name).bytes()))

    def get_range(self, name: str, start: int, length: int) -> bytes:
        _check_range(name, start, length)
        data = self._ask(name, lambda library, store: bytes(library.get_range(store, name, start=start, length=length)))
        return _whole(name, data, length)

    def download(self, name: str, path: Path) -> None:
        size = self.size(name)
        with path.open("wb") as file:
            for start in range(0, size, PART_BYTES):
                file.write(self.get_range(name, start, min(PART_BYTES, size - start)))

    def size(self, name: str) -> int:
        return self._ask(name, lambda library, store: int(library.head(store, name)["size"]))

    def entries(self, prefix: str = "") -> list[ObjectEntry]:
        folder = prefix.rpartition("/")[0]  # the server's prefixes are whole parts of a path
        found = self._ask(
            "", lambda library, store: [one for part in library.list(store, prefix=folder or None) for one in part]
        )
        entries = (ObjectEntry(one["path"], one["size"], one["last_modified"].timestamp()) for one in found)
        return sorted((one for one in entries if one.name.startswith(prefix)), key=lambda one: one.name)

    def names(self, prefix: str = "") -> list[str]:
        return [one.name for one in self.entries(prefix)]

    def remove(self, name: str) -> None:
        try:
            self._ask(name, lambda library, store: library.delete(store, name))
        except NotFound:
            return

    def _ask(self, name: str, question: Callable[[Any, Any], Answer]) -> Answer:
        """Ask the library, again where what it raises may pass; what it raises becomes one of our errors.

        The library tries again by itself what had no answer, but not an answer that breaks off in its middle.
        """
        library, store = self._store()
        until = monotonic() + RETRY_SECONDS
        pause = FIRST_PAUSE
        while True:
            try:
                return question(library, store)
            except (FileNotFoundError, library.exceptions.BaseError) as error:
                failure = self._failure(name, str(error))
                if not isinstance(failure, StorageAway) or monotonic() + pause > until:
                    raise failure from error
            sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    def _store(self) -> tuple[Any, Any]:
        """Made when it is first used."""
        if self._opened is None:
            self._opened = _library(), _opened_store(self._bucket, self._prefix)
        if _users.setdefault("process", os.getpid()) != os.getpid():
            raise StorageError("this process is a copy of one that used s3://, and would wait for ever; start it anew")
        return self._opened

    def _failure(self, name: str, said: str) -> StorageError | NotFound:
        """By the status and words of the server: the library's own classes differ from one question to another."""
        where = f"{self.address}/{name}" if name else self.address
        found = re.search(r"status code: (\d{3})", said)
        status = found[1] if found else ""
        if "NoSuchBucket" in said:
            return StorageError(f"there is no bucket {self._bucket!r} at {_endpoint()}; make it, or change {_SETTING}")
        if "169.254." in said:  # where the library looks for credentials of a rented machine
            return StorageError(f"no credentials for {where}; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
        if status in ("401", "403"):
            advice = "check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and what they may do"
            return StorageError(f"{_endpoint()} refused us {where} ({_code(said)}); {advice}")
        if status == "404":
            return NotFound(f"{where} does not exist")
        if status == "416":
            return Truncated(f"{where} ends before the range that was asked for; the object is cut off")
        if status and status not in ("408", "429") and not status.startswith("5"):
            return StorageError(f"{where}: {_endpoint()} answered {_code(said)}; periplus doctor looks into it")
        what = f"answers {_code(said)}" if status else _silence(said)
        return StorageAway(f"{where}: {_endpoint()} {what}; tried again for {RETRY_SECONDS:g} s in vain")


def _library() -> Any:
    try:
        import obstore
        import obstore.exceptions
        import obstore.store
    except ImportError as error:
        raise UsageError(
            "obstore is needed for s3:// and is not installed; run: pip install 'periplus[cluster]'"
        ) from error
    return obstore


def _opened_store(bucket: str, prefix: str) -> Any:
    from obstore.store import S3Store

    return S3Store(
        bucket,
        prefix=prefix or None,
        retry_config={
            "max_retries": RETRIES,
            "retry_timeout": timedelta(seconds=RETRY_SECONDS),
            "backoff": {
                "init_backoff": timedelta(seconds=FIRST_PAUSE),
                "max_backoff": timedelta(seconds=LONGEST_PAUSE),
                "base": 2,
            },
        },
        client_options={
            "allow_http": _endpoint().startswith("http://"),
            "connect_timeout": timedelta(seconds=CONNECT_SECONDS),
            "timeout": timedelta(seconds=REQUEST_SECONDS),
        },
    )


def _endpoint() -> str:
    """The server that the environment names, for messages and for what is allowed."""
    named = (
        os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL") or os.environ.get("AWS_ENDPOINT")
    )
    return named or "https://s3.amazonaws.com"


def _code(said: str) -> str:
    """The server's own word for what is wrong, else the status."""
    code = re.search(r"<Code>(\w+)</Code>", said)
    status = re.search(r"status code: (\d{3}[ \w]*)", said)
    return code[1] if code else status[1].strip() if status else "no"


def _silence(said: str) -> str:
    if "timed out" in said.lower() or "timeout" in said.lower().replace("retry_timeout", ""):
        return "does not answer in time"
    if "connect" in said.lower():
        return "cannot be connected to"
    return "breaks off its answers"


def _check_range(name: str, start: int, length: int) -> None:
    if start < 0 or length < 1:
        raise UsageError(f"{length} bytes from {start} of {name} cannot be read; a range begins at 0 and has a byte")


def _whole(name: str, data: bytes, length: int) -> bytes:
    if len(data) != length:
        raise Truncated(f"{name} has {len(data)} bytes where {length} were asked for; the object is cut off")
    return data
