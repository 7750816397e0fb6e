"""What the web room needs from a collection: a protocol that ``app.Collection`` fulfils and tests can play.

All calls block and may be made from several threads at once; the app runs them off the event loop, but for searches
that are known to be quick. They raise only ``periplus.errors``. Shapes of the dictionaries (keys beyond these are shown
too, absent ones are left out):

* ``status``: ``collection`` (name), ``crawl`` (fields of ``CrawlStatus``), ``index`` (``generation``, ``documents``,
  ``segments``, ``published`` as ISO time …), ``ranks`` or None, ``hosts``, ``disk`` (bytes), ``version``,
  ``last_write`` (ISO time), ``examples`` (queries to show on the landing page).
* ``site``: ``host``, and any of ``pages``, ``documents``, ``rank``, ``place`` of ``hosts``, ``robots``, ``last_visit``,
  ``best`` (list of ``{"url", "title"}``), ``languages`` (list of ``{"language", "documents"}``), ``links_in`` and
  ``links_out`` (lists of ``{"host", "links", "known"}``, the first of ``hosts_in`` and ``hosts_out``).
* ``sites``: ``hosts`` (names, the best linked first, of those that hold ``text``), ``total``, ``first`` (its place),
  ``page``, ``pages``, ``text``.
* ``bot_report``: ``host``, and what the journal knows of our visits there.
* ``cached``: ``title``, ``text`` (paragraphs parted by newlines), ``headings`` (of these), ``fetched``, ``language``;
  None when the page is unknown or asks not to be kept.
* ``page``: ``NotFound`` when the page is unknown or asks not to be kept.
* ``search``: ``beside`` says that ``side_panels`` is asked with the answer: a list without results that has a panel
  beside it is not counted as one that found nothing.
* ``search_tab``: the answer, and facts by result id: ``source``, ``author``; ``address``, ``telephone``, ``hours`` …
* ``start``: ``options`` are names of crawl settings (``scope``, ``max_pages``, ``max_depth``), which are remembered.
* ``command``: raises ``WrongState`` when no crawl would obey; ``resume`` also goes on with one that was stopped.
* ``panels``: what ``app.console.panels`` documents; a panel leaves out what its backend does not know.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct, field

if TYPE_CHECKING:
    from periplus.crawl import Submission
    from periplus.records import (
        Explanation,
        Inspection,
        InstantAnswer,
        PageContent,
        SearchAnswer,
        SearchRequest,
        SearchResult,
        Suggestion,
    )
    from periplus.verticals import PendingPanels, Position

COMMANDS = ("pause", "resume", "stop")
TABS = {"news": "News", "places": "Places", "products": "Products", "images": "Images"}
ACTIONS = ("recrawl", "boost", "block", "unblock", "remove")
SHARD_ORDERS = ("drain", "restart")
WORKER_ORDERS = ("pause", "resume", "restart", "shutdown")
MACHINE_ORDERS = ("drain", "work", "leave", "stop")  # the last to all of them

Values = dict[tuple[str, ...], float]
Times = dict[tuple[str, ...], tuple[list[int], float]]  # counts by bucket, and the sum of seconds


class Figures(Struct, frozen=True):
    """What a backend tells of its collection, by names of ``metric_table`` and values of their labels."""

    values: dict[str, Values] = field(default_factory=dict)
    times: dict[str, Times] = field(default_factory=dict)


class Panels(Protocol):
    """What the operator's console shows; every answer is a JSON object, bounded in size."""

    def overview(self) -> dict[str, Any]: ...
    def hosts(self, order: str = "queue", text: str = "", limit: int = 100) -> dict[str, Any]: ...
    def errors(self) -> dict[str, Any]: ...
    def events(self, limit: int = 100) -> dict[str, Any]: ...
    def queries(self, query: str, profiles: tuple[str, ...] = ("",)) -> dict[str, Any]: ...
    def index(self) -> dict[str, Any]: ...
    def shards(self) -> dict[str, Any]: ...  # empty where this process searches by itself
    def shard_orders(self) -> dict[str, tuple[str, ...]]: ...  # of SHARD_ORDERS, by server
    def machines(self) -> dict[str, Any]: ...  # empty where none has joined
    def ranks(self) -> dict[str, Any]: ...
    def settings(self) -> dict[str, Any]: ...
    def judge(self, query: str, document: str, grade: int | None) -> None: ...
    def judgements(self) -> dict[str, dict[str, int]]: ...
    def asked(self) -> list[dict[str, Any]]: ...  # queries with their counts: asked, without_result, clicks


class Backend(Protocol):
    @property
    def panels(self) -> Panels: ...

    def search(self, request: SearchRequest, *, beside: bool = False) -> SearchAnswer: ...
    def answers(self, query: str, *, explain: bool = False) -> tuple[InstantAnswer, ...]: ...  # computed, not found
    def side_panels(
        self, request: SearchRequest, position: Position | None, answer: SearchAnswer | None = None
    ) -> PendingPanels: ...  # ``answer`` where the request was answered already; services are asked in the background
    def whereabouts(self, address: str) -> Position | None: ...  # of a visitor who does not say so
    def asked(self, query: str, person: str) -> None: ...  # somebody was shown results; ``person`` is not kept
    def clicked(self, query: str) -> None: ...  # a result was opened; counted where the operator wants that
    def tabs(self) -> tuple[str, ...]: ...  # of TABS, those that the collection has pages for; does not wait
    def search_tab(self, request: SearchRequest, name: str) -> tuple[SearchAnswer, dict[str, dict[str, str]]]: ...
    def suggest(self, text: str, limit: int = 8) -> list[Suggestion]: ...
    def explain(self, query: str, url: str, profile: str = "", reader: str = "") -> Explanation: ...
    def similar(self, url: str, k: int = 10) -> list[SearchResult]: ...
    def inspect(self, url: str) -> Inspection: ...
    def analyze(self, text: str, language: str = "") -> list[dict[str, Any]]: ...
    def status(self) -> dict[str, Any]: ...
    def site(self, host: str) -> dict[str, Any] | None: ...
    def sites(self, text: str, page: int) -> dict[str, Any]: ...
    def bot_report(self, host: str) -> dict[str, Any] | None: ...
    def cached(self, url: str) -> dict[str, Any] | None: ...
    def page(self, url: str) -> PageContent: ...
    def page_pictures(self, answer: SearchAnswer) -> dict[str, tuple[str, str]]: ...  # address and text, by result id
    def picture(self, url: str) -> bytes: ...  # a small JPEG of a picture of a page or service; empty: there is none
    def icon(self, host: str) -> bytes | None: ...  # the picture of a site, when our own store holds one
    def ready(self) -> bool: ...
    def unsound(self) -> str: ...  # what is wrong inside the state; looked into when something failed that must not
    def command(self, name: str) -> None: ...
    def start(self, seeds: list[str], options: dict[str, Any] | None = None) -> list[str]: ...  # or StorageBusy
    def steer(self, action: str, target: str) -> int: ...  # one of ACTIONS on a host or an address
    def order_shard(self, order: str, server: str) -> None: ...  # one of SHARD_ORDERS; NotFound when it cannot be told
    def order_machine(self, order: str, node: str) -> None: ...  # one of MACHINE_ORDERS; NotFound when it is not there
    def change_setting(self, setting: str, text: str, who: str = "") -> bool: ...  # false: it was so; UsageError: wrong
    def undo_setting(self, number: int, who: str = "") -> str: ...  # a change, which NotFound misses; the setting
    def forget(
        self, setting: str, who: str = ""
    ) -> None: ...  # what is remembered of it; NotFound when that is nothing
    def figures(self) -> Figures: ...  # for /metrics, by the names of ``metric_table``
    def add_page(self, url: str, *, trusted: bool = True) -> Submission: ...  # visited as soon as politeness allows
