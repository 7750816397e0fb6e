"""The nouns that pass from room to room.

All are immutable ``msgspec`` structs: cheap to make, compared by value, and encoded to JSON without code.
Times are seconds since the epoch (``float``), in UTC; ``0.0`` means never. Keys are signed 64-bit hashes of
canonical addresses (``addresses.key``), so that SQL, numpy and Parquet hold them alike.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET, Struct, UnsetType, field

if TYPE_CHECKING:
    from collections.abc import Iterator

Headers = tuple[tuple[str, str], ...]

# Words that hardly occur outside pages for adults; a density of them, no single one, marks a page (``adult_words``).
ADULT_WORDS = frozenset({"porn", "porno", "xxx", "hentai", "milf", "camgirls", "pornstar", "pornstars", "upskirt"})


# Fetching and the archive


class Exchange(Struct, frozen=True):
    """One HTTP request and its response, as they went over the wire."""

    url: str
    method: str
    request_headers: Headers
    status: int
    reason: str
    headers: Headers
    payload: bytes  # content-encoded as sent, transfer encoding removed
    body: bytes  # content encoding removed
    ip: str
    started: float
    elapsed: float
    truncated: str = ""  # "", "length", "time" or "disconnect", as in WARC-Truncated

    def header(self, name: str) -> str:
        """The first header of that name, whatever its case; empty when there is none."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), "")


class ArchiveLocation(Struct, frozen=True):
    """Where a record stands: file name inside ``archive/``, and the bytes of its compressed member."""

    file: str
    offset: int
    length: int


class Page(Struct, frozen=True):
    """What the parser is given: a body with what is known about it."""

    url: str
    body: bytes
    content_type: str = ""  # the Content-Type header as sent
    headers: Headers = ()
    status: int = 200
    fetched: float = 0.0


# Documents


class Link(Struct, frozen=True):
    """A link from one page to another, as the page wrote it."""

    url: str  # canonical and absolute
    text: str = ""
    title: str = ""
    rel: tuple[str, ...] = ()  # of: nofollow, ugc, sponsored
    place: str = "content"  # content, navigation or footer

    @property
    def followed(self) -> bool:
        return not self.rel


class Heading(Struct, frozen=True):
    level: int
    text: str


class Document(Struct, frozen=True):
    """Everything that one parse found in one page.

    ``refusal`` holds the reason code of a page that must not be found (noindex, duplicate, gone …); such rows are
    stored all the same, because the inspector explains them and because they replace an older version.
    """

    url: str
    key: int
    fetched: float
    status: int = 200
    content_type: str = "text/html"
    refusal: str = ""
    title: str = ""
    headings: tuple[Heading, ...] = ()
    text: str = ""  # main text; paragraphs are parted by newlines
    boilerplate: str = ""  # navigation, footers, banners: searchable, hardly weighted
    description: str = ""
    language: str = ""  # detected, ISO 639-1; empty when unknown
    declared_language: str = ""
    charset: str = "utf-8"
    charset_sure: bool = True
    canonical: str = ""
    published: float = 0.0
    modified: float = 0.0
    date_source: str = ""
    author: str = ""
    site_name: str = ""
    favicon: str = ""
    feeds: tuple[str, ...] = ()
    hreflang: dict[str, str] = field(default_factory=dict)
    structured: tuple[dict[str, Any], ...] = ()
    images: tuple[tuple[str, str], ...] = ()  # address, alt text
    links: tuple[Link, ...] = ()
    noindex: bool = False
    nofollow: bool = False
    noarchive: bool = False
    content_hash: int = 0  # of the body's bytes
    fingerprint: int = 0  # 64-bit near-duplicate fingerprint of the main text
    word_count: int = 0
    signals: dict[str, float] = field(default_factory=dict)
    archive: ArchiveLocation | None = None
    id: str = ""  # given by an import; pages of the web are known by their address
    date_confidence: float = 0.0  # how far to believe the dates, 0..1

    @property
    def indexable(self) -> bool:
        return not self.refusal


# Ranks and anchors, as the graph hands them to the index


class Anchor(Struct, frozen=True):
    """A phrase by which other pages call a page, and from how many distinct sites."""

    text: str
    sites: int


# Answers; the shape of INTERFACES' /api/v1/search


class SearchRequest(Struct, frozen=True, gc=False):
    query: str
    page: int = 1
    size: int = 10
    profile: str = ""
    language: str = ""
    site: str = ""
    type: str = ""
    before: str = ""
    after: str = ""
    safe: bool = False
    lens: str = ""
    sort: str = "relevance"
    explain: bool = False
    correct: bool = True  # may the engine search for the query as it was probably meant
    duplicates: bool = False  # show near-duplicates instead of folding them
    counts: bool = False  # count the matches by site, language, type and year
    reader: str = ""  # a language: that of who asks, for queries that do not tell theirs; pages in it come first


class Explanation(Struct, frozen=True):
    """A named part of a score; a parent's value follows from its parts in the way ``formula`` says."""

    name: str
    value: float
    formula: str = ""
    parts: tuple[Explanation, ...] = ()


class QueryReading(Struct, frozen=True, gc=False):
    text: str
    parsed: str
    corrected: str | None = None


class SearchResult(Struct, frozen=True, gc=False):
    rank: int
    id: str
    url: str
    display_url: str
    site: str
    title: str
    snippet: str
    highlights: tuple[tuple[int, int], ...]  # in code points of the snippet
    language: str
    published: str | None
    fetched: str
    type: str
    score: float
    more_from_site: int = 0
    explain: Explanation | None = None
    duplicates: int = 0  # pages of nearly the same text that are folded into this one
    pinned: bool = False  # put here by the operator
    image: str | UnsetType = UNSET  # where this server has a small copy of the page's picture


class Total(Struct, frozen=True, gc=False):
    value: int
    relation: str = "eq"  # eq or gte


class Count(Struct, frozen=True):
    """How many of the matches a filter would leave; ``value`` is what the filter is given."""

    value: str
    count: int


class FilterCounts(Struct, frozen=True):
    """The matches by the values of the filters, most frequent first (years newest first)."""

    site: tuple[Count, ...] = ()
    language: tuple[Count, ...] = ()
    type: tuple[Count, ...] = ()
    year: tuple[Count, ...] = ()
    relation: str = "eq"  # gte: only the best of very many matches were counted


class InstantAnswer(Struct, frozen=True):
    """What was computed of a query; text, as people read it."""

    kind: str  # calculation, unit, currency, time, date, colour or definition
    question: str  # as it was read
    answer: str
    detail: str = ""
    exact: bool = True  # false: rounded
    score: float = 1.0  # how sure it is that this was asked
    colour: str = ""  # to be shown, as #rrggbb
    explain: Explanation | None = None
    url: str = ""  # the page that says so, of a definition


class PanelCard(Struct, frozen=True):
    """One thing that a panel shows, as text; what is not known is empty."""

    title: str
    url: str = ""
    text: str = ""
    source: str = ""  # who says so: a site, a newspaper, a shop
    published: str = ""
    image: str = ""  # an address; readers are given a copy from our origin, or nothing
    has_copy: bool = False  # the crawl brought that picture: /picture?url= has a small copy of it
    rating: float = 0.0  # of five; 0 is not known
    reviews: int = 0
    price: str = ""
    stock: str = ""
    categories: tuple[str, ...] = ()
    services: tuple[str, ...] = ()
    phone: str = ""
    address: str = ""
    hours: str = ""
    open_now: bool | None = None
    position: tuple[float, float] | None = None  # latitude and longitude
    distance: float | None = None  # metres from whom it was asked by
    facts: tuple[tuple[str, str], ...] = ()  # anything else, by name


class SidePanel(Struct, frozen=True):
    """What stands beside the results: things of one kind, from one source."""

    kind: str  # places, weather, news, products or images
    provider: str  # who gave them; empty: our own index
    cards: tuple[PanelCard, ...]
    home: str = ""  # where the provider wants to be named
    more: str = ""  # the tab that has more of them, where there is one
    score: float = 1.0  # how sure it is that this was asked for
    explain: Explanation | None = None


class SearchAnswer(Struct, frozen=True, gc=False):
    query: QueryReading
    results: tuple[SearchResult, ...]
    total: Total
    page: int
    size: int
    next: str | None
    corrections: tuple[str, ...]
    suggestions: tuple[str, ...]
    took_ms: float
    degraded: tuple[str, ...]
    generation: int
    counts: FilterCounts | None = None  # only when asked for
    lens: str = ""  # the preferences among sites in force, spelled out
    coverage: float = 1.0  # the share of the published documents that were searched
    answers: tuple[InstantAnswer, ...] | None = None  # only when asked for
    panels: tuple[SidePanel, ...] | None = None  # only when asked for

    def __iter__(self) -> Iterator[SearchResult]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)


class PageContent(Struct, frozen=True):
    """What is known of one page, for programs that read it; ``None``: not known here."""

    id: str
    url: str
    site: str
    title: str
    description: str
    language: str
    type: str
    author: str
    published: str | None
    modified: str | None
    fetched: str
    headings: tuple[Heading, ...]
    text: str  # paragraphs are parted by newlines
    links: tuple[Link, ...] | None = None
    structured: tuple[dict[str, Any], ...] | None = None


class Suggestion(Struct, frozen=True):
    text: str
    weight: float = 1.0


# What the operator sees


class StepRecord(Struct, frozen=True):
    """One stop of an address on its way: discovered, scope, robots, fetch, parse, index, rank …"""

    step: str
    state: str  # ok, refused, failed, waiting or unknown
    reason: str = ""
    detail: str = ""
    advice: str = ""
    at: float = 0.0


class Inspection(Struct, frozen=True):
    """The whole chain of one address, with the first stop that keeps it from being found."""

    url: str
    verdict: str
    steps: tuple[StepRecord, ...]


class CrawlStatus(Struct, frozen=True):
    """How far a crawl has come; sent to progress displays and kept for ``status``."""

    state: str = "idle"  # running, paused, stalled, stopped or done; idle when there was no crawl yet
    reason: str = ""  # why it is paused, stalled or stopped, in words
    since: float = 0.0  # when that began
    stored: int = 0  # pages of the collection in all, whichever crawl brought them
    pages: int = 0  # fetched with a body in this crawl
    unchanged: int = 0
    failed: int = 0
    refused: int = 0
    queued: int = 0
    hosts: int = 0
    withdrawn: int = 0  # hosts that lost their budget, as their pages repeat others (host-yield)
    active: int = 0  # requests under way
    bytes: int = 0
    documents: int = 0
    links: int = 0
    limit: int = 0  # --max-pages: of the collection in all
    rate: float = 0.0  # pages a second, lately
    seconds: float = 0.0
    current: str = ""  # an address being fetched now
