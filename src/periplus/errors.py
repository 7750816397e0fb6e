"""Every error that Periplus raises on purpose, in one tree.

A message is one line: what is wrong, then what to do about it; values are given as they were read.
The command line prints it and exits with the class's ``exit_code``; the HTTP surface answers a problem
document with the class's ``code``. Third-party errors are turned into these at the edge of a room.

    PeriplusError
    ├── UsageError                 the caller asked for something that cannot be (exit 2)
    │   ├── SettingError           a setting is unknown, malformed or out of range (exit 2 when a flag gave it, else 1)
    │   ├── InvalidAddress         a text is not an http(s) URL
    │   └── UnfitFile              a file, or what is in it, cannot be used for what was asked (exit 1)
    ├── NotFound                   a thing that was named does not exist
    │   ├── CollectionMissing      no collection in that folder
    │   └── MissingExtra           a package that only some verbs need is not installed
    ├── StorageError               files or the state database
    │   ├── StorageFull            no space left; what was acknowledged is kept
    │   ├── StorageAway            the object store does not answer for now; what waits for it is kept
    │   ├── AlreadyThere           a file whose number is in use is never overwritten
    │   ├── StateLost              stored files without the state database that belongs to them
    │   ├── Incompatible           written by another format version
    │   ├── Corrupt                damaged: checksum, length or structure
    │   │   ├── Truncated          shorter than it says it is
    │   │   └── Missing            a file that was written is not there any more (also a NotFound)
    │   ├── StorageBusy            another process does the same work in the same folder
    │   ├── DatabaseBusy           another process holds the write lock for too long
    │   └── LeaseLost              another worker owns the partition now
    ├── FetchError                 a request that gave no usable response (``reason`` says why)
    ├── ParseError                 a body that gave no document (``reason`` says why)
    ├── OverBudget                 a stated bound of time, size or count was reached
    │   └── Overloaded             more is asked than can be answered in time; ask again later (HTTP: Retry-After)
    ├── CannotListen               the address or port cannot be listened on
    │   └── PortInUse              another program listens there
    ├── Occupied                   the folder holds something that this would mix with
    ├── WrongState                 it is not in a state in which that can be done (HTTP: 409)
    └── NotReady                   no generation is published yet
        └── ShardsMissing          none of the shard servers answers
"""

from __future__ import annotations


class PeriplusError(Exception):
    """Base of all errors raised on purpose."""

    code = "error"
    exit_code = 1


# What the caller asked for


class UsageError(PeriplusError):
    code = "usage"
    exit_code = 2


class SettingError(UsageError):
    """A wrong setting; ``key`` names it, and ``by_flag`` says that it stood on the command line itself."""

    code = "setting"

    def __init__(self, message: str, key: str = "", *, by_flag: bool = False) -> None:
        super().__init__(message)
        self.key = key
        self.exit_code = 2 if by_flag else 1


class InvalidAddress(UsageError):
    code = "invalid-address"


class UnfitFile(UsageError):
    code = "unfit-file"
    exit_code = 1


class NotFound(PeriplusError):
    code = "not-found"


class CollectionMissing(NotFound):
    code = "collection-missing"


class MissingExtra(NotFound):
    code = "missing-extra"


# Files and state


class StorageError(PeriplusError):
    code = "storage"


class StorageFull(StorageError):
    code = "storage-full"


class StorageAway(StorageError):
    code = "storage-away"


class AlreadyThere(StorageError):
    code = "already-there"


class StateLost(StorageError):
    code = "state-lost"


class Incompatible(StorageError):
    code = "incompatible"


INDEX_PART = "index"  # the part of a collection that is made of its documents alone


class Corrupt(StorageError):
    """``part`` is the folder of the collection that holds the file, where that decides what is done about it."""

    code = "corrupt"

    def __init__(self, message: str = "", part: str = "") -> None:
        super().__init__(message)
        self.part = part


class Truncated(Corrupt):
    code = "truncated"


class Missing(Corrupt, NotFound):
    code = "missing"


class StorageBusy(StorageError):
    code = "storage-busy"


class DatabaseBusy(StorageError):
    code = "database-busy"


class LeaseLost(StorageError):
    code = "lease-lost"


# The web


class FetchError(PeriplusError):
    """A request that gave no usable response; ``reason`` is one of ``periplus.reasons``."""

    code = "fetch"

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


class ParseError(PeriplusError):
    """A body that gave no document; ``reason`` is one of ``periplus.reasons``."""

    code = "parse"

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(f"{reason}: {detail}" if detail else reason)
        self.reason = reason
        self.detail = detail


# Running


class OverBudget(PeriplusError):
    code = "over-budget"


class Overloaded(OverBudget):
    """More than can be answered in time; ``retry_after`` is in seconds."""

    code = "overloaded"

    def __init__(self, message: str, retry_after: float = 1.0) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class CannotListen(PeriplusError):
    code = "cannot-listen"


class PortInUse(CannotListen):
    code = "port-in-use"


class Occupied(PeriplusError):
    code = "occupied"


class WrongState(PeriplusError):
    code = "conflict"


class NotReady(PeriplusError):
    code = "not-ready"


class ShardsMissing(NotReady):
    code = "shards-missing"
