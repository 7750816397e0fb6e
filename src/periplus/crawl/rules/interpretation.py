"""What a response means for its address: the new row, the document, the addresses it names.

The same functions serve the worker and the replay of the archive after a crash, so both come to the same state.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypedDict

from msgspec.structs import replace
from xxhash import xxh3_64_intdigest

from periplus import addresses
from periplus.crawl.frontier.rows import (
    FAILED,
    FEED,
    FETCHED,
    ICON,
    LATER,
    NEVER,
    PAGE,
    PICTURE,
    REFUSED,
    SITEMAP,
    WAITING,
    UrlRow,
    Visited,
    refusal_document,
)
from periplus.crawl.rules import icons, pictures, schedule
from periplus.crawl.rules.content_types import is_chosen
from periplus.crawl.rules.echoes import Echoes
from periplus.crawl.rules.host_rules import rules_of
from periplus.crawl.rules.politeness import BUSY_STATUSES, back_off
from periplus.errors import ParseError
from periplus.reasons import may_retry
from periplus.records import Document, Page

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from periplus.crawl.fetching.fetcher import Fetched
    from periplus.crawl.frontier.rows import FoundAddress, RobotsRow
    from periplus.crawl.rules.links import LinkFilter
    from periplus.crawl.rules.traps import TrapRules
    from periplus.documents import Outline, Sitemap
    from periplus.records import ArchiveLocation, Exchange
    from periplus.settings import CrawlSettings

    Reading: TypeAlias = "Document | Outline | SitemapReading"  # what a body may be read as
    Ask: TypeAlias = Callable[[int, Page], Awaitable[Any]]  # what a reader of ``documents.apart`` says of a page

REDIRECTS = frozenset({301, 302, 303, 307, 308})
LOCATION_SHOWN = 200  # characters of a redirect to what is no address of ours
ETAG_LIMIT, DATE_LIMIT = 500, 100  # characters
READABLE = frozenset({200, 203, 206})
DROPPING = frozenset({"robots-disallowed", "removed", "banned-host"})
POINTING = frozenset({"canonical-elsewhere", "redirected"})  # refusals that name another address


def outcome_of(fetched: Fetched) -> str:
    """The reason code of a request for the journal and for the host; empty when it went well."""
    if fetched.exchange is None:
        return fetched.reason
    status = fetched.exchange.status
    if status in BUSY_STATUSES:
        return "asked-to-wait"
    if status in REDIRECTS:
        return "redirected"
    if status >= 500:
        return "http-5xx"
    return "http-4xx" if status >= 400 else ""


class Interpreter:
    """Judges responses; holds no state of its own but the filters it is given."""

    def __init__(self, settings: CrawlSettings, links: LinkFilter, traps: TrapRules) -> None:
        self._settings = settings
        self._links = links
        self._traps = traps
        self._echoes = Echoes()

    def failed(self, row: UrlRow, reason: str, detail: str, at: float, delay: float, status: int = 0) -> Visited:
        """No usable response: again later where that can help, and at most so often."""
        new = replace(row, reason=reason, detail=detail, tried_at=at, status=status, attempts=row.attempts + 1)
        if may_retry(reason) and row.attempts < self._settings.retries:
            new.next_at = at + back_off(new.attempts, max(delay, self._settings.delay))
            return Visited(new, row.state)
        new.attempts = 0
        if row.state == FETCHED:  # what we have stays good
            new.next_at = at + schedule.FAILED_AGAIN
            return Visited(new, row.state)
        new.state = REFUSED if reason == "private-address" else FAILED
        new.next_at = at + schedule.FAILED_AGAIN
        return Visited(new, row.state)

    def refused(self, row: UrlRow, reason: str, detail: str, at: float) -> Visited:
        """Not asked for: a rule forbids it. A page that we had is dropped, unless only a filter passes it over now."""
        if row.state == FETCHED and reason not in DROPPING:
            return Visited(replace(row, next_at=at + schedule.REFUSED_AGAIN), row.state)
        later = at + schedule.REFUSED_AGAIN if reason == "robots-disallowed" else NEVER
        new = replace(row, state=REFUSED, reason=reason, detail=detail, tried_at=at, next_at=later, attempts=0)
        return _dropping(new, row, reason)

    def response(
        self,
        row: UrlRow,
        fetched: Fetched,
        location: ArchiveLocation | None,
        delay: float,
        reading: Reading | None = None,
    ) -> Visited:
        """What came back, whatever it is; ``reading`` when the body was read already."""
        exchange = fetched.exchange
        at = fetched.started + fetched.elapsed
        if row.kind in (ICON, PICTURE):
            most = pictures.MAX_BYTES if row.kind == PICTURE else icons.MAX_BYTES
            icon = icons.settled(row, fetched, location, signed_hash(exchange.body) if exchange else 0, most)
            if icon is not None:
                return Visited(icon, row.state)
        if exchange is None:
            return self.failed(row, fetched.reason, fetched.detail, at, delay)
        if exchange.status in REDIRECTS:
            return self._redirect(row, exchange, at)
        if exchange.status == 304 and row.state == FETCHED:
            return self._unchanged(row, exchange, at)
        if exchange.status in READABLE:
            return self._body(row, exchange, location, at, reading)
        return self._problem(row, exchange, at, delay)

    # Statuses

    def _problem(self, row: UrlRow, exchange: Exchange, at: float, delay: float) -> Visited:
        status = exchange.status
        if status in BUSY_STATUSES:
            return self.failed(row, "asked-to-wait", f"HTTP {status}", at, delay, status)
        if status >= 500:
            return self.failed(row, "http-5xx", f"HTTP {status}", at, delay, status)
        if status >= 400:
            return self._missing(row, status, at)
        if status == 204 or 200 <= status < 300:
            return self.failed(row, "no-content", f"HTTP {status}", at, delay, status)
        return self.failed(row, "bad-response", f"HTTP {status}", at, delay, status)

    def _missing(self, row: UrlRow, status: int, at: float) -> Visited:
        new = replace(row, reason="http-4xx", detail=f"HTTP {status}", status=status, tried_at=at, attempts=0)
        new.missing = row.missing + 1
        new.next_at = at + schedule.missing_interval(new.missing, first=self._settings.recrawl_after)
        if row.state != FETCHED:
            new.state = FAILED
            return Visited(new, row.state)
        if new.missing < schedule.GONE_AFTER and status != 410:
            return Visited(new, row.state)
        new.state, new.reason = FAILED, "gone"
        return _dropping(new, row, "gone")

    def _redirect(self, row: UrlRow, exchange: Exchange, at: float) -> Visited:
        location = exchange.header("location")
        target = addresses.try_canonical(location, row.url) if location else None
        new = replace(row, status=exchange.status, tried_at=at, attempts=0, detail=target or location[:LOCATION_SHOWN])
        reason = self._redirect_fault(row, target)
        if reason or target is None:
            new.state, new.reason, new.next_at = FAILED, reason, at + schedule.FAILED_AGAIN
            return _dropping(new, row, reason)
        new.state, new.reason, new.next_at = REFUSED, "redirected", at + schedule.REFUSED_AGAIN
        visited = _pointing(new, row)
        if row.depth == 0 and addresses.site(target) == addresses.site(row.url):
            self._links.scope = self._links.scope.with_seed(target)
            visited.seed = target
        found = self._links.of_redirect(target, row)
        visited.found = [found] if found is not None else []
        return visited

    def _redirect_fault(self, row: UrlRow, target: str | None) -> str:
        if target is None:
            return "bad-redirect"
        key = str(addresses.key(target))
        if target == row.url or key in row.chain.split(","):
            return "redirect-loop"
        return "too-many-redirects" if row.hops + 1 > self._settings.max_redirects else ""

    def _unchanged(self, row: UrlRow, exchange: Exchange, at: float) -> Visited:
        """304, or the very same body: the page as we have it stays; only the time of the next look changes."""
        new = replace(
            row, state=FETCHED, status=row.status or 200, reason="", tried_at=at, attempts=0, missing=0,
            visits=row.visits + 1, etag=_etag(exchange) or row.etag,
            last_modified=_last_modified(exchange) or row.last_modified,
        )  # fmt: skip
        new.next_at = at + self._interval(new, row, at)
        return Visited(new, row.state)

    # Bodies

    def _body(
        self,
        row: UrlRow,
        exchange: Exchange,
        location: ArchiveLocation | None,
        at: float,
        reading: Reading | None,
    ) -> Visited:
        body_hash = signed_hash(exchange.body)
        if _is_known(row, body_hash):
            return self._unchanged(row, exchange, at)
        new = replace(
            row, state=FETCHED, status=exchange.status, reason="", detail="", tried_at=at, fetched_at=exchange.started,
            attempts=0, missing=0, etag=_etag(exchange), visits=row.visits + 1,
            last_modified=_last_modified(exchange), body_hash=body_hash, refusal="", same_as=0,
            changes=row.changes + (row.body_hash not in (0, body_hash)),
        )  # fmt: skip
        if _repeats(row, body_hash):
            location = row.location  # with its payload, whatever was written down of this visit
        if location is not None:
            new.file, new.place, new.length = location.file, location.offset, location.length
        new.next_at = at + self._interval(new, row, at)
        if row.kind == PAGE and row.state != FETCHED and _is_sitemap(exchange.body):
            new.kind = SITEMAP  # a link to it was met before the robots.txt that announces it, if any does
        visited = Visited(new, row.state, fresh_body=bool(exchange.body) and new.kind == PAGE)
        if new.kind == SITEMAP:
            self._take_sitemap(
                visited, reading if isinstance(reading, SitemapReading) else sitemap_of(row.url, exchange)
            )
        else:
            found = None if isinstance(reading, SitemapReading) else reading
            self._read_page(visited, found or self.read(row.url, exchange, location), location)
        return visited

    def _read_page(self, visited: Visited, reading: Document | Outline, location: ArchiveLocation | None) -> None:
        from periplus.documents import outline_of

        row = visited.row
        outline = outline_of(reading) if isinstance(reading, Document) else reading
        if row.kind == FEED:
            outline = replace(outline, feeds=())  # one that names further feeds would never end
        visited.found = self._links.of_page(outline, row)
        visited.links = outline.links
        if self._settings.icons and row.kind == PAGE:
            visited.found += self._links.of_icon(row, outline.favicon)
        if self._settings.pictures and row.kind == PAGE and isinstance(reading, Document) and reading.indexable:
            visited.found += self._links.of_picture(row, pictures.picture_of(reading))
        if row.kind == FEED:
            return  # a feed is read for its links only
        row.refusal = outline.refusal
        row.detail = outline.canonical if outline.refusal in POINTING else ""
        if isinstance(reading, Document):
            row.fingerprint, row.pending = reading.fingerprint, WAITING
            self._traps.learn(row.url, reading.fingerprint)
            visited.echoes = self._echoes.hears(addresses.host(row.url), reading)
            visited.document = reading if reading.archive == location else replace(reading, archive=location)
        else:
            row.fingerprint, row.pending = 0, LATER

    async def read_by(
        self, ask: Ask, row: UrlRow, exchange: Exchange, location: ArchiveLocation | None
    ) -> Reading | None:
        """What ``response`` will want of a body, by asking a reader elsewhere; nothing where it wants nothing."""
        from periplus.documents import apart

        if row.kind == ICON or exchange.status not in READABLE or _is_known(row, signed_hash(exchange.body)):
            return None
        page = _page(row.url, exchange)
        if row.kind == SITEMAP or (row.kind == PAGE and row.state != FETCHED and _is_sitemap(exchange.body)):
            try:
                return _listed(await ask(apart.SITEMAP, page))
            except ParseError as error:
                return SitemapReading(reason=error.reason, detail=error.detail)
        if self._leaves_for_later(row.url, location):
            with suppress(Exception):  # what is wrong with a page shows when its document is made
                found: Outline | None = await ask(apart.OUTLINE, page)
                if found is not None:
                    return found
        try:
            parsed: Document | Exception = await ask(apart.PARSE, page)
        except Exception as error:  # noqa: BLE001 - told as its refusal
            parsed = error
        return self._judged(row.url, exchange, location, parsed)

    def _leaves_for_later(self, url: str, location: ArchiveLocation | None) -> bool:
        return self._settings.documents == "later" and location is not None and not self._traps.samples(url)

    def read(self, url: str, exchange: Exchange, location: ArchiveLocation | None) -> Document | Outline:
        """The document in a response; only its outline where the rest can wait. Safe in any thread."""
        if self._leaves_for_later(url, location):
            from periplus.documents import outline_apart

            with suppress(Exception):  # what is wrong with a page shows when its document is made
                found = outline_apart(_page(url, exchange))
                if found is not None:
                    return found
        return self.document(url, exchange, location)

    def document(self, url: str, exchange: Exchange, location: ArchiveLocation | None) -> Document:
        """The document in a response; one with a refusal where there is none to be read. Safe in any thread."""
        return self._judged(url, exchange, location)

    def _judged(
        self, url: str, exchange: Exchange, location: ArchiveLocation | None, parsed: Document | Exception | None = None
    ) -> Document:
        if not self.takes(exchange.header("content-type")):
            return _no_document(url, exchange, "unwanted-type", location)
        document = document_of(url, exchange, location, self._settings.languages, parsed)
        if not document.refusal and not self.takes(document.content_type):  # told by its bytes
            return _no_document(url, exchange, "unwanted-type", location)
        return document

    def takes(self, content_type: str) -> bool:
        """Whether the settings want pages of this type."""
        return is_chosen(content_type, self._settings.types)

    def announced(self, row: RobotsRow, depth: int) -> list[FoundAddress]:
        """The sitemaps that a robots.txt names, whoever it speaks to."""
        return self._links.of_announced(rules_of(row, "").file.sitemaps, row.origin, depth)

    def _take_sitemap(self, visited: Visited, sitemap: SitemapReading) -> None:
        row = visited.row
        row.reason, row.detail = sitemap.reason, sitemap.detail
        visited.found = [
            *self._links.of_sitemap_index(sitemap.sitemaps, row),
            *self._links.of_sitemap(sitemap.pages, row),
        ]

    def _interval(self, new: UrlRow, old: UrlRow, at: float) -> float:
        first = self._settings.recrawl_after
        seen = _Seen(
            visits=new.visits,
            changes=new.changes,
            span=at - (old.found_at or at),
            last=at - old.tried_at if old.tried_at else 0.0,
        )
        if new.kind == FEED:
            first = min(first, schedule.FEED_FIRST)
            return schedule.polled_interval(**seen, first=first, most=schedule.FEED_MOST)
        if new.kind == SITEMAP or not new.depth:  # what is new on a host is told there first
            return schedule.polled_interval(**seen, first=first)
        return schedule.worthwhile_interval(**seen, first=first)


class _Seen(TypedDict):
    """What the rules of ``schedule`` want to know of an address."""

    visits: int
    changes: int
    span: float
    last: float


class SitemapReading(NamedTuple):
    """What a sitemap lists, or why it could not be read."""

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()
    reason: str = ""
    detail: str = ""


def sitemap_of(url: str, exchange: Exchange) -> SitemapReading:
    """Read a sitemap; safe in any thread."""
    from periplus.documents import read_sitemap_apart

    try:
        sitemap = read_sitemap_apart(exchange.body, url)
    except ParseError as error:
        return SitemapReading(reason=error.reason, detail=error.detail)
    return _listed(sitemap)


def _listed(sitemap: Sitemap) -> SitemapReading:
    return SitemapReading(tuple(entry.url for entry in sitemap.pages), sitemap.sitemaps)


def document_of(
    url: str,
    exchange: Exchange,
    location: ArchiveLocation | None,
    languages: tuple[str, ...] = (),
    parsed: Document | Exception | None = None,
) -> Document:
    """The document in a response; one with a refusal where there is none to be read, or in no language wanted.

    ``parsed`` is what a reader said of it, or its error, where it was asked already.
    """
    document = parsed if parsed is not None else _parsed(_page(url, exchange))
    if isinstance(document, Exception):  # a page that breaks a reader must not stop the crawl now and at every start
        reason = document.reason if isinstance(document, ParseError) else "unreadable"
        return _no_document(url, exchange, reason, location)
    refusal = document.refusal
    is_wanted = not languages or not document.language or document.language in languages
    if not is_wanted and refusal in ("", "canonical-elsewhere"):  # which may be found until its canonical address is
        refusal = "wrong-language"
    return replace(document, refusal=refusal, archive=location)


def _parsed(page: Page) -> Document | Exception:
    from periplus.documents import parse_apart

    try:
        return parse_apart(page)
    except Exception as error:  # noqa: BLE001 - told as its refusal
        return error


def _is_known(row: UrlRow, body_hash: int) -> bool:
    """Whether a body is the very one that we have."""
    return body_hash == row.body_hash and row.state == FETCHED and not row.same_as and row.pending != WAITING


def _repeats(row: UrlRow, body_hash: int) -> bool:
    """Whether a body is that of the response that the row names, although the page has to be judged again."""
    return row.state == FETCHED and row.location is not None and body_hash == row.body_hash != 0


def _etag(exchange: Exchange) -> str:
    """What tells versions of a page apart, to be sent back as it came; none that is longer than anyone needs."""
    value = exchange.header("etag")
    return value if len(value) <= ETAG_LIMIT else ""


def _last_modified(exchange: Exchange) -> str:
    value = exchange.header("last-modified")
    return value if len(value) <= DATE_LIMIT else ""


def _is_sitemap(body: bytes) -> bool:
    from periplus.documents import looks_like_sitemap

    return looks_like_sitemap(body)


def _page(url: str, exchange: Exchange) -> Page:
    kind = exchange.header("content-type")
    return Page(url, exchange.body, kind, exchange.headers, exchange.status, exchange.started)


def _dropping(new: UrlRow, old: UrlRow, refusal: str) -> Visited:
    """A page that we had goes out of the index; one that we never had needs no word."""
    visited = Visited(new, old.state)
    if old.fetched_at and old.kind == PAGE and old.refusal != refusal:
        new.refusal, new.pending, new.body_hash = refusal, WAITING, 0
        visited.document = refusal_document(new, refusal)
    return visited


def _pointing(new: UrlRow, old: UrlRow) -> Visited:
    """An address that redirects is worth a word even when we never had it: links to it count for its target."""
    visited = Visited(new, old.state)
    said = old.refusal == "redirected" and old.detail == new.detail and old.batch and not old.pending
    if old.kind == PAGE and not said:
        new.refusal, new.pending, new.body_hash = "redirected", WAITING, 0
        visited.document = refusal_document(new, "redirected")
    return visited


def _no_document(url: str, exchange: Exchange, reason: str, location: ArchiveLocation | None) -> Document:
    kind = exchange.header("content-type").partition(";")[0].strip().lower()
    return Document(
        url=url, key=addresses.key(url), fetched=exchange.started, status=exchange.status, content_type=kind,
        refusal=reason, content_hash=signed_hash(exchange.body), archive=location,
    )  # fmt: skip


def signed_hash(body: bytes) -> int:
    """The key of a body in the content-seen test; 0 for none."""
    if not body:
        return 0
    digest = xxh3_64_intdigest(body)
    return digest - (1 << 64) if digest >= 1 << 63 else digest
