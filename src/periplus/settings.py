"""Settings as data: name, type, default, bounds and help in one place.

They come from ``COLLECTION/periplus.toml``, then what crawls were told or the console changed and the collection
remembers, then ``PERIPLUS_<SECTION>_<NAME>`` variables, then flags; a later source wins. A setting that was edited in
the file after that is taken from the file. ``load`` checks them all and says which source is wrong. ``origins`` tells
where each value came from. Every setting is documented in ``docs/settings.md``, which a test compares with this file.
"""

from __future__ import annotations

import difflib
import os
import tomllib
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args, get_origin

import msgspec
from msgspec import Meta, Struct, field

from periplus.errors import SettingError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

FILE_NAME = "periplus.toml"
# Their values are never shown.
SECRETS = frozenset({
    "crawl.headers", "crawl.proxy", "storage.database", "verticals.openweather_key", "verticals.yelp_key",
    "verticals.newsapi_key", "verticals.amazon_key",
})  # fmt: skip
# Of what a crawl is told these are not remembered: secrets, and the leave to visit private networks.
NOT_REMEMBERED = frozenset({"crawl.headers", "crawl.auth", "crawl.proxy", "crawl.allow_private"})
REMEMBERED, CONSOLE, FLAG = "remembered", "console", "flag"  # three of the origins
# When a change of a section comes into force, and of settings that differ from their section.
AT_ONCE, NEXT_CRAWL = "at once", "with the next crawl"
NEXT_UPDATE, NEXT_START = "with the next update of index or ranks", "when the server starts again"
IN_FORCE = {
    **dict.fromkeys(("bot", "crawl", "archive"), NEXT_CRAWL),
    **dict.fromkeys(("index", "rank", "archive.keep_days"), NEXT_UPDATE),
    **dict.fromkeys(("search", "serve"), AT_ONCE),
    "verticals": NEXT_START,
    **dict.fromkeys(("search.past_queries", "serve.cors", "serve.memory_limit", "serve.access_log"), NEXT_START),
}
# Settings, and sections, that the console does not change, and why.
_SECRET, _FILE = "it is secret, and the database would show it", "it names a file of the server"
_PRIVATE, _LISTENING = "it opens private networks to the crawl", "a wrong value could lock you out of the console"
NOT_ON_CONSOLE = {
    **dict.fromkeys(sorted(SECRETS), _SECRET),
    **dict.fromkeys(("crawl.allow_private", "crawl.resolve"), _PRIVATE),
    **dict.fromkeys(("crawl.auth", "crawl.banned_hosts", "search.rules", "search.popular", "search.rates"), _FILE),
    **dict.fromkeys(("search.vectors", "verticals.ip_database"), _FILE),
    "index.shards": "periplus reshard changes it",
    **{f"serve.{name}": _LISTENING for name in ("host", "port", "workers", "public_url", "tls_cert", "tls_key")},
    **{f"serve.{name}": _LISTENING for name in ("trusted_proxies", "connections", "client_connections")},
    "storage": "what the console changes is kept there",
    "cluster": "each machine of a cluster reads it when it starts",
}
SHARED = "settings"  # what the rows of remembered settings are called among those that servers share
ENVIRONMENT_PREFIX = "PERIPLUS_"
MOST = 1_000_000_000_000  # of anything that is counted: more does not fit where it is kept
DAY = 86_400.0


class BotSettings(Struct, frozen=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(pattern="^[A-Za-z_-]+$", description="product name in User-Agent and robots.txt")] = (
        "Periplus"
    )
    contact: Annotated[str, Meta(description="page or mail address where site owners reach you")] = ""


class CrawlSettings(Struct, frozen=True, forbid_unknown_fields=True):
    scope: Annotated[
        Literal["host", "site", "any"], Meta(description="follow links to: the seeds' hosts, their sites, any")
    ] = "site"
    max_pages: Annotated[int, Meta(ge=0, le=MOST, description="stop after so many pages; 0 is no limit")] = 10_000
    max_depth: Annotated[int, Meta(ge=0, le=MOST, description="links away from a seed, at most")] = 20
    delay: Annotated[float, Meta(ge=0, le=DAY, description="least seconds between two requests to a host")] = 1.0
    max_delay: Annotated[float, Meta(ge=0, le=DAY, description="longest Crawl-delay that is waited for")] = 300.0
    ip_delay: Annotated[
        float, Meta(ge=0, le=DAY, description="least seconds between two requests to an IP address")
    ] = 0.25
    concurrency: Annotated[int, Meta(ge=1, le=10_000, description="requests under way at once, a worker")] = 64
    workers: Annotated[int, Meta(ge=0, le=64, description="worker processes; 0 is one a core")] = 0
    include: Annotated[tuple[str, ...], Meta(description="patterns of which one must match an address")] = ()
    exclude: Annotated[tuple[str, ...], Meta(description="patterns of which none may match an address")] = ()
    languages: Annotated[tuple[str, ...], Meta(description="keep only pages in these languages")] = ()
    types: Annotated[
        tuple[Literal["html", "text", "xml", "pdf", "office", "epub"], ...],
        Meta(description="take only pages of these types; none named is all that can be read"),
    ] = ()
    resolve: Annotated[tuple[str, ...], Meta(description="HOST=IP[:PORT], with * for any prefix of the host")] = ()
    allow_private: Annotated[bool, Meta(description="fetch from private and loopback addresses")] = False
    banned_hosts: Annotated[str, Meta(description="file of host names never to visit, one a line")] = ""
    timeout: Annotated[float, Meta(gt=0, le=DAY, description="seconds for a whole request")] = 30.0
    connect_timeout: Annotated[float, Meta(gt=0, le=DAY, description="seconds for a connection")] = 10.0
    max_body: Annotated[int, Meta(ge=1, le=MOST, description="bytes of a body on the wire; the rest is cut")] = (
        8_000_000
    )
    max_unpacked: Annotated[int, Meta(ge=1, le=MOST, description="bytes of a body after decompression")] = 32_000_000
    max_redirects: Annotated[int, Meta(ge=0, le=MOST, description="hops of one chain of redirects")] = 8
    max_address: Annotated[int, Meta(ge=16, le=MOST, description="characters of an address")] = 2_000
    host_budget: Annotated[int, Meta(ge=1, le=MOST, description="pages of one host, at most")] = 10_000
    host_queue: Annotated[int, Meta(ge=1, le=MOST, description="addresses waiting for one host, at most")] = 100_000
    retries: Annotated[int, Meta(ge=0, le=MOST, description="further tries after a passing failure")] = 3
    recrawl_after: Annotated[float, Meta(ge=600, le=1e9, description="seconds to the second visit of a page")] = (
        86_400.0
    )
    headers: Annotated[tuple[str, ...], Meta(description="HOST=Name: value, sent to that host only; kept secret")] = ()
    auth: Annotated[tuple[str, ...], Meta(description="HOST=user:password-file, HTTP Basic login at that host")] = ()
    proxy: Annotated[
        str, Meta(description="HTTP proxy for all hosts but those of resolve: http://proxy:3128; kept secret")
    ] = ""
    max_bandwidth: Annotated[
        int, Meta(ge=0, le=MOST * 1_000, description="bytes a second of all bodies together; 0 is no cap")
    ] = 0
    documents: Annotated[
        Literal["now", "later"],
        Meta(description="make documents while crawling, or from the archive when the index is updated"),
    ] = "now"
    icons: Annotated[bool, Meta(description="ask a host for its small picture, once a month at most")] = True
    pictures: Annotated[
        bool, Meta(description="ask for one picture of each page that has one, for thumbnails and a tab of images")
    ] = False
    hours: Annotated[str, Meta(description="local hours in which to crawl, such as 22-06; empty is always")] = ""
    tls: Annotated[
        Literal["verify", "note"],
        Meta(description="a certificate that fails: refuse the page, or note it in the journal and go on"),
    ] = "verify"
    commit_pages: Annotated[int, Meta(ge=1, le=500, description="pages in one group commit, at most")] = 200
    commit_seconds: Annotated[float, Meta(gt=0, le=2, description="seconds between group commits, at most")] = 1.0


class ArchiveSettings(Struct, frozen=True, forbid_unknown_fields=True):
    rotate_bytes: Annotated[int, Meta(ge=1_000_000, description="size at which a WARC file is closed")] = 1_000_000_000
    keep_days: Annotated[int, Meta(ge=0, description="days of which all is kept, then the newest; 0 is for ever")] = 30


class IndexSettings(Struct, frozen=True, forbid_unknown_fields=True):
    memory: Annotated[
        int, Meta(ge=200_000_000, description="bytes of memory for building and merging, over all processes")
    ] = 1_000_000_000
    workers: Annotated[int, Meta(ge=0, description="processes that build segments; 0 is one a core")] = 0
    shards: Annotated[
        int, Meta(ge=1, le=1_024, description="shards of a new index; periplus reshard changes an existing one")
    ] = 1


class RankSettings(Struct, frozen=True, forbid_unknown_fields=True):
    damping: Annotated[float, Meta(gt=0, lt=1, description="share of rank that follows links")] = 0.85
    tolerance: Annotated[float, Meta(gt=0, description="L1 difference at which iteration ends")] = 1e-10
    max_iterations: Annotated[int, Meta(ge=1, description="iterations, at most")] = 200
    nofollow: Annotated[
        Literal["exclude", "discount", "keep"], Meta(description="links marked nofollow, ugc or sponsored")
    ] = "exclude"
    uncrawled: Annotated[bool, Meta(description="keep pages that links name and nobody has read")] = True
    trusted: Annotated[tuple[str, ...], Meta(description="hosts that trust starts from; empty finds the core")] = ()
    jump: Annotated[
        Literal["anywhere", "trusted"], Meta(description="where the random jumps lead: all pages, or trusted hosts")
    ] = "anywhere"
    one_voice: Annotated[
        Literal["site", "address"], Meta(description="hosts that count as one: of a site, or also of an IP address")
    ] = "address"
    memory: Annotated[
        int, Meta(ge=1, description="bytes that the graph of pages may take; a larger one is ranked in blocks on disk")
    ] = 4_000_000_000


class SearchSettings(Struct, frozen=True, forbid_unknown_fields=True):
    profile: Annotated[str, Meta(description="ranking profile when a query names none")] = "periplus"
    per_host: Annotated[
        int,
        Meta(ge=1, description="results of one host that count in full; more give way to comparable ones"),
    ] = 3
    budget_ms: Annotated[int, Meta(ge=1, description="milliseconds after which the best so far is given")] = 500
    rules: Annotated[str, Meta(description="TOML file of synonyms, pinned results, lenses, words not to suggest")] = ""
    popular: Annotated[str, Meta(description="file of popular queries to complete with: a line each, tab, count")] = ""
    rates: Annotated[
        str, Meta(description="file of exchange rates, ECB's XML or JSON; empty: currencies are not answered")
    ] = ""
    answers: Annotated[
        bool, Meta(description="answer what can be computed (2+2) or is defined by a page, above the results")
    ] = True
    vectors: Annotated[
        str, Meta(description="folder of word vectors, by which words find what nearly means the same")
    ] = ""
    past_queries: Annotated[bool, Meta(description="complete with what several people asked; kept as counts only")] = (
        True
    )
    clicks: Annotated[bool, Meta(description="count how often results are opened; kept as counts only")] = False


class VerticalsSettings(Struct, frozen=True, forbid_unknown_fields=True):
    panels: Annotated[bool, Meta(description="show places, news, products and pictures beside the results")] = True
    position: Annotated[
        str, Meta(description="latitude,longitude of visitors that do not say where they are, such as 47.37,8.54")
    ] = ""
    ip_database: Annotated[
        str, Meta(description="file in MaxMind's format that tells where an IP address is; what it tells stays here")
    ] = ""
    open_meteo: Annotated[bool, Meta(description="ask Open-Meteo for the weather; it needs no key")] = False
    openweather_key: Annotated[str, Meta(description="key of OpenWeather, for the weather; kept secret")] = ""
    yelp_key: Annotated[str, Meta(description="key of Yelp's business search, for places; kept secret")] = ""
    newsapi_key: Annotated[str, Meta(description="key of News API, for articles; kept secret")] = ""
    amazon_key: Annotated[
        str,
        Meta(description="credential of Amazon's Creators API: ID:SECRET:VERSION:TAG:MARKETPLACE; kept secret"),
    ] = ""


class ServeSettings(Struct, frozen=True, forbid_unknown_fields=True):
    host: Annotated[str, Meta(description="address to listen on")] = "127.0.0.1"
    port: Annotated[int, Meta(ge=0, le=65535, description="port to listen on; 0 takes a free one")] = 8080
    workers: Annotated[int, Meta(ge=1, description="server processes")] = 1
    cors: Annotated[tuple[str, ...], Meta(description="origins whose pages may read the API; * is any")] = ()
    rate: Annotated[float, Meta(ge=0, description="searches a second of one client, lastingly; 0 is no limit")] = 20.0
    burst: Annotated[int, Meta(ge=1, description="searches of one client at once")] = 100
    connections: Annotated[
        int, Meta(ge=1, le=MOST, description="connections at once, where the limit of open files leaves room for them")
    ] = 1_000
    client_connections: Annotated[int, Meta(ge=1, le=MOST, description="connections of one client at once")] = 100
    public_url: Annotated[
        str, Meta(description="address that readers use, behind a proxy: https://example.org/find/; empty is as asked")
    ] = ""
    trusted_proxies: Annotated[
        tuple[str, ...], Meta(description="addresses and networks of proxies whose X-Forwarded-For is believed")
    ] = ()
    public_status: Annotated[
        bool, Meta(description="/metrics and /api/v1/status answer everybody; false asks for a key")
    ] = True
    api_keys: Annotated[bool, Meta(description="programs need a key for the API; periplus keys makes them")] = False
    memory_limit: Annotated[
        int,
        Meta(
            ge=0,
            le=MOST,
            description="bytes of its own that a server process may hold: beyond, searches are refused; 0 is 90 % of"
            " what the container or unit may hold",
        ),
    ] = 0
    access_log: Annotated[
        Literal["off", "routes", "full"],
        Meta(
            description="logs/access.log in the collection: off; routes, which says nothing of what was asked for or by"
            " whom; or full, with addresses, queries and clients"
        ),
    ] = "off"
    submissions: Annotated[
        Literal["key", "visitors"],
        Meta(description="who may have a page visited now: who has a key, or anybody, within the scope of the crawl"),
    ] = "key"
    submission_rate: Annotated[
        int, Meta(ge=1, le=100_000, description="addresses an hour that one visitor may submit, and for one site")
    ] = 20
    tls_cert: Annotated[str, Meta(description="certificate file, for https; empty serves http")] = ""
    tls_key: Annotated[str, Meta(description="file of the certificate's key, where it is not in the same file")] = ""


class StorageSettings(Struct, frozen=True, forbid_unknown_fields=True):
    database: Annotated[
        str, Meta(description="postgresql://… address; empty is SQLite in the collection; kept secret")
    ] = ""
    files: Annotated[
        str,
        Meta(
            description="object store that all machines share: s3://bucket/prefix (credentials, endpoint and region"
            " from AWS_…), or file:///folder; empty is the collection's own folder; needs database"
        ),
    ] = ""


class ClusterSettings(Struct, frozen=True, forbid_unknown_fields=True):
    replicas: Annotated[
        int, Meta(ge=1, le=16, description="shard servers of each shard, on different machines of a cluster")
    ] = 1


class Settings(Struct, frozen=True, forbid_unknown_fields=True):
    """All settings of one collection."""

    bot: BotSettings = field(default_factory=BotSettings)
    crawl: CrawlSettings = field(default_factory=CrawlSettings)
    archive: ArchiveSettings = field(default_factory=ArchiveSettings)
    index: IndexSettings = field(default_factory=IndexSettings)
    rank: RankSettings = field(default_factory=RankSettings)
    search: SearchSettings = field(default_factory=SearchSettings)
    verticals: VerticalsSettings = field(default_factory=VerticalsSettings)
    serve: ServeSettings = field(default_factory=ServeSettings)
    storage: StorageSettings = field(default_factory=StorageSettings)
    cluster: ClusterSettings = field(default_factory=ClusterSettings)


class SettingInfo(Struct, frozen=True):
    """What the documentation and the console say of one setting."""

    section: str
    name: str
    default: Any
    help: str

    @property
    def key(self) -> str:
        return f"{self.section}.{self.name}"

    @property
    def variable(self) -> str:
        return f"{ENVIRONMENT_PREFIX}{self.section}_{self.name}".upper()

    @property
    def choices(self) -> tuple[str, ...]:
        """All values that it may have, where these are a few words."""
        return _choices(_types()[self.key])

    @property
    def fixed(self) -> str:
        """Why the console does not change it; empty where it does."""
        return NOT_ON_CONSOLE.get(self.key, NOT_ON_CONSOLE.get(self.section, ""))

    @property
    def in_force(self) -> str:
        """When a change comes into force."""
        usual = IN_FORCE.get(self.section, NEXT_START)
        return IN_FORCE.get(self.key, NEXT_START if self.fixed and usual == AT_ONCE else usual)


class Remembered(Struct, frozen=True):
    """A setting that a crawl was told or the console changed, and what the file said of it then, as JSON or nothing."""

    value: Any
    beside: str = ""
    at: float = 0.0
    by: str = REMEMBERED  # or CONSOLE


class LoadedSettings(Struct, frozen=True):
    values: Settings
    origins: dict[str, str]  # setting key → path of periplus.toml, "remembered", "console", a variable's name, "flag"
    outdated: dict[str, Remembered] = {}  # what is remembered of settings that the file was edited to since

    def value(self, key: str) -> Any:
        section, name = key.split(".", 1)
        return getattr(getattr(self.values, section), name)


def catalogue() -> list[SettingInfo]:
    """Every setting, in the order of this file."""
    return [
        SettingInfo(section, item.name, item.default, _description(item.type))
        for section, kind in _sections().items()
        for item in msgspec.structs.fields(kind)
    ]


def load(
    folder: Path | None = None,
    flags: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    remembered: Mapping[str, Remembered] | None = None,
) -> LoadedSettings:
    """Settings of the collection in ``folder``; ``flags`` are ``{"crawl.delay": 0.5}``, ``None`` values unset."""
    collected: dict[str, dict[str, Any]] = {section: {} for section in _sections()}
    origins: dict[str, str] = {}
    environment = os.environ if environ is None else environ
    outdated = _outdated(folder, remembered or {})
    for key, value, origin in (
        *_from_file(folder),
        *_from_memory(remembered or {}, outdated),
        *_from_environment(environment),
        *_from_flags(flags or {}),
    ):
        section, name = key.split(".", 1)
        collected[section][name] = _converted(key, value, origin)
        origins[key] = origin
    return LoadedSettings(msgspec.convert(collected, Settings), origins, outdated)


def described(key: str) -> SettingInfo:
    """What is known of one setting; ``SettingError`` where there is none of that name."""
    if key not in _types():
        raise SettingError(f"unknown setting {key}{_nearest(key, list(_types()))}")
    return next(one for one in catalogue() if one.key == key)


def typed(key: str, text: str) -> Any:
    """What somebody typed for a setting, as its value: of a list an item a line."""
    items = [line.strip() for line in text.splitlines() if line.strip()]
    return _converted(key, items if isinstance(described(key).default, tuple) else text, CONSOLE)


def renewed(running: Settings, fresh: Settings) -> Settings:
    """What a server that runs goes by once ``fresh`` is in force: some of it waits until the server starts again."""
    sections = {name: msgspec.structs.asdict(getattr(fresh, name)) for name in _sections()}
    for one in catalogue():
        if one.in_force == NEXT_START:
            sections[one.section][one.name] = getattr(getattr(running, one.section), one.name)
    return Settings(**{name: kind(**sections[name]) for name, kind in _sections().items()})


def is_same(key: str, one: Any, other: Any) -> bool:
    """Whether two texts or values of a setting mean the same."""
    return bool(_converted(key, one, FLAG) == _converted(key, other, FLAG))


def in_file(folder: Path | None) -> dict[str, str]:
    """What the file of a collection sets, each value as JSON; the same value has one spelling."""
    found = ((key, _converted(key, value, origin)) for key, value, origin in _from_file(folder))
    return {key: msgspec.json.encode(value).decode() for key, value in found}


@cache
def _sections() -> dict[str, Any]:
    return {item.name: item.type for item in msgspec.structs.fields(Settings)}


def _description(kind: Any) -> str:
    notes = getattr(kind, "__metadata__", ())
    return next((str(note.description) for note in notes if isinstance(note, Meta) and note.description), "")


def _from_file(folder: Path | None) -> Iterator[tuple[str, Any, str]]:
    path = Path(folder) / FILE_NAME if folder else None
    if path is None or not path.exists():
        return
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingError(f"{path} cannot be read: {error}; mend it or move it away") from error
    for section, values in content.items():
        if section not in _sections() or not isinstance(values, dict):
            raise SettingError(f"{path}: unknown section [{section}]{_nearest(section, list(_sections()))}")
        for name, value in values.items():
            key = f"{section}.{name}"
            if key not in _types():
                raise SettingError(f"{path}: unknown setting {key}{_nearest(key, list(_types()))}")
            yield key, value, str(path)


def _from_memory(
    remembered: Mapping[str, Remembered], outdated: Mapping[str, Remembered]
) -> Iterator[tuple[str, Any, str]]:
    """What crawls were told and the console changed; settings that this version does not know are passed over."""
    for key, told in remembered.items():
        if key in _types() and key not in outdated:
            yield key, told.value, told.by


def _outdated(folder: Path | None, remembered: Mapping[str, Remembered]) -> dict[str, Remembered]:
    """Settings that the file was edited to after they were told: what it says differs from what it said then."""
    said = in_file(folder) if remembered else {}
    return {key: told for key, told in remembered.items() if key in said and said[key] != told.beside}


def _from_environment(environ: Mapping[str, str]) -> Iterator[tuple[str, Any, str]]:
    for info in catalogue():
        text = environ.get(info.variable)
        if text is not None:
            is_list = isinstance(info.default, tuple)
            yield info.key, [part for part in text.split(",") if part] if is_list else text, info.variable


def _from_flags(flags: Mapping[str, Any]) -> Iterator[tuple[str, Any, str]]:
    for key, value in flags.items():
        if key not in _types():
            raise SettingError(f"unknown setting {key}{_nearest(key, list(_types()))}", by_flag=True)
        if value is not None:
            yield key, value, FLAG


@cache
def _types() -> dict[str, Any]:
    return {
        f"{section}.{item.name}": item.type
        for section, kind in _sections().items()
        for item in msgspec.structs.fields(kind)
    }


def _converted(key: str, value: Any, origin: str) -> Any:
    try:
        return msgspec.convert(value, _types()[key], strict=not isinstance(value, str))
    except msgspec.ValidationError as error:
        shown = "…" if key in SECRETS else repr(value)
        told = f"{key} = {shown} (from {origin}): {_wanted(key, error)}"
        raise SettingError(told, key, by_flag=origin == FLAG) from error


def _wanted(key: str, error: msgspec.ValidationError) -> str:
    """What would be right; of a few words, all of them."""
    choices = _choices(_types()[key])
    return f"choose one of {', '.join(choices)}" if choices else str(error)


def _choices(kind: Any) -> tuple[str, ...]:
    bare = get_args(kind)[0] if hasattr(kind, "__metadata__") else kind
    return tuple(map(str, get_args(bare))) if get_origin(bare) is Literal else ()


def _nearest(wrong: str, known: list[str]) -> str:
    close = difflib.get_close_matches(wrong, known, n=1)
    return f"; did you mean {close[0]}?" if close else ""
