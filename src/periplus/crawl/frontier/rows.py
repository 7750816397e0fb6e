"""What the frontier's tables hold, as structs, and what one group commit carries to them."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from msgspec import Struct, field

from periplus.archive import ArchivePart
from periplus.records import ArchiveLocation, Document

NEVER = 1e15  # a next visit that does not come

QUEUED, FETCHED, FAILED, REFUSED = range(4)
STATE_NAMES = ("queued", "fetched", "failed", "refused")
PAGE, SITEMAP, FEED, ICON, PICTURE = range(5)
SAID, WAITING, LATER = range(3)  # pending: its document is in a batch, is on its way to one, is made by the backlog
# What a host's row says of its addresses, counted anew; of all hosts, unless ``WHERE key = ?`` follows.
_OF_HOST = "SELECT COUNT(*) FROM urls u WHERE u.host = hosts.key AND"
COUNT_QUEUED = f"UPDATE hosts SET queued = ({_OF_HOST} u.state = {QUEUED})"  # noqa: S608
COUNT_QUEUED_AND_PAGES = f"{COUNT_QUEUED}, pages = ({_OF_HOST} u.state = {FETCHED} AND u.kind = {PAGE})"


class UrlRow(Struct):
    """One address of the frontier. The fields are the columns of ``urls``."""

    key: int
    url: str
    host: int
    kind: int = PAGE
    depth: int = 0
    priority: int = 0
    state: int = QUEUED
    next_at: float = 0.0
    attempts: int = 0
    reason: str = ""
    detail: str = ""
    status: int = 0
    parent: int = 0
    hops: int = 0  # redirects, and sitemaps that list sitemaps, on the way here
    chain: str = ""  # keys of the redirects that led here
    found_at: float = 0.0
    tried_at: float = 0.0
    fetched_at: float = 0.0
    etag: str = ""
    last_modified: str = ""
    body_hash: int = 0
    fingerprint: int = 0
    file: str = ""
    place: int = 0
    length: int = 0
    visits: int = 0
    changes: int = 0
    missing: int = 0
    refusal: str = ""  # of the document
    same_as: int = 0
    pending: int = 0
    batch: int = 0

    @property
    def location(self) -> ArchiveLocation | None:
        return ArchiveLocation(self.file, self.place, self.length) if self.file else None


URL_COLUMNS = UrlRow.__struct_fields__
NEW_COLUMNS = (
    "key", "url", "host", "kind", "depth", "priority", "state", "next_at", "reason", "detail", "parent", "hops",
    "chain", "found_at",
)  # fmt: skip
CHANGED_COLUMNS = (
    "state", "next_at", "attempts", "reason", "detail", "status", "tried_at", "fetched_at", "etag", "last_modified",
    "body_hash", "fingerprint", "file", "place", "length", "visits", "changes", "missing", "refusal", "same_as",
    "pending",
)  # fmt: skip


class FoundAddress(Struct):
    """An address that a page, a sitemap, a redirect or the operator named."""

    key: int
    url: str
    host: str
    kind: int = PAGE
    depth: int = 0
    priority: int = 0
    state: int = QUEUED
    next_at: float = 0.0
    reason: str = ""
    detail: str = ""
    parent: int = 0
    hops: int = 0
    chain: str = ""


class HostRow(Struct):
    """One host as the worker takes it over."""

    key: int
    name: str
    level: int
    ready_at: float
    last_at: float
    delay: float
    failures: int
    pages: int
    queued: int
    reason: str = ""
    linked: int = 0  # other sites that link to it
    judged: int = 0  # bodies of it, lately …
    findable: int = 0  # … and those that became documents of their own


class HostChange(Struct):
    """What requests to a host did to it since the last commit."""

    ready_at: float
    last_at: float
    delay: float
    failures: int
    reason: str
    ip: str
    requests: int = 0


class Rest(IntEnum):
    """What is left at a host that is given back."""

    MORE = 0  # addresses that are due
    LATER = 1  # to be looked up: nothing is due now
    REVISITS = 2  # the crawl takes no new pages: only revisits count


class RobotsRow(Struct):
    origin: str
    host: int
    fetched_at: float
    expires_at: float
    status: int
    reason: str
    body: str


class JournalRow(NamedTuple):
    """One request, as the audit reads it."""

    at: float
    host: str
    ip: str
    exempt: int
    url: str
    rule: str
    gap: float  # seconds since the end of the last request to the host; negative when there was none
    delay: float
    ip_delay: float
    outcome: str
    status: int
    bytes: int
    ms: float
    not_before: float


class Trap(NamedTuple):
    """A path pattern of a host that turned out to be a trap."""

    host: str
    pattern: str
    reason: str


class Visited(Struct):
    """An address after a visit: its new row, the state it was in, and what came out of it."""

    row: UrlRow
    was: int
    document: Document | None = None
    found: list[FoundAddress] = field(default_factory=list)
    fresh_body: bool = False  # a body that must be tested against all others
    echoes: bool = False  # its text says what another page of its host says
    seed: str = ""  # where a seed moved within its site: a seed too
    links: int = 0  # in the page


class Batched(NamedTuple):
    batch: int
    key: int
    tried_at: float


class Bundle(Struct):
    """Everything that one transaction of the group commit writes."""

    visited: list[Visited] = field(default_factory=list)
    found: list[FoundAddress] = field(default_factory=list)  # not from a page: seeds, robots.txt
    seeds: list[str] = field(default_factory=list)  # addresses from which scope is measured
    journal: list[JournalRow] = field(default_factory=list)
    robots: list[RobotsRow] = field(default_factory=list)
    hosts: dict[int, HostChange] = field(default_factory=dict)
    resting: dict[int, Rest] = field(default_factory=dict)  # hosts that are given back
    traps: list[Trap] = field(default_factory=list)
    linked: dict[str, set[str]] = field(default_factory=dict)  # hosts, and sites that link to them
    marks: dict[str, int] = field(default_factory=dict)
    cut: dict[str, set[int]] = field(default_factory=dict)  # archive files that travel, and the hosts of their records
    parts: list[ArchivePart] = field(default_factory=list)  # those that the object store has …
    settled: dict[str, int] = field(default_factory=dict)  # … and marks in them
    batched: list[Batched] = field(default_factory=list)
    began: float = 0.0
    urgent: bool = False

    def __bool__(self) -> bool:
        return bool(
            self.visited or self.found or self.seeds or self.journal or self.robots or self.hosts or self.resting
            or self.traps or self.batched
        )  # fmt: skip


class Committed(Struct):
    """What a commit found out: the documents to be stored, and how many addresses were new."""

    documents: list[tuple[Document, float]] = field(default_factory=list)  # with the time of their visit
    new: int = 0
    queued: int = 0
    gained: int = 0  # pages that are stored now and were not before
    hosts: set[int] = field(default_factory=set)  # that have new addresses in their queue
    duplicates: int = 0
    yields: dict[int, tuple[int, int]] = field(default_factory=dict)  # hosts, with bodies judged and findable
    dropped: list[int] = field(default_factory=list)  # keys that were not kept: a duplicate's links, a full queue


class Outlook(NamedTuple):
    """What the whole frontier has to offer, whoever may take it."""

    busy: bool  # some worker has a host
    next_at: float  # when the first host that waits is due for anything at all
    soonest: float  # … for an address never fetched, at a host that has not failed too often


class ActiveRow(Struct):
    """A host handed to the worker, with the first of its addresses and its robots files."""

    host: HostRow
    urls: list[UrlRow]
    robots: list[RobotsRow]


def refusal_document(row: UrlRow, refusal: str) -> Document:
    """A row of the log of batches that takes an address out of the index; one that redirects says where to."""
    canonical = row.detail if refusal == "redirected" else ""
    return Document(
        url=row.url, key=row.key, fetched=row.tried_at, status=row.status, refusal=refusal, canonical=canonical
    )
