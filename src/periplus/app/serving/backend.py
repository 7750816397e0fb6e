"""What the web pages ask, answered from a collection."""

from __future__ import annotations

import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from periplus import __version__, addresses
from periplus.app.console.figures import CollectionFigures, SearchFigures
from periplus.app.console.panels import CollectionPanels
from periplus.app.console.setting_changes import SettingChanges
from periplus.app.console.starting import CrawlStarter
from periplus.app.console.steering import Steering
from periplus.app.pages.icons import stored_icon
from periplus.app.pages.page_content import page_content
from periplus.app.pages.side_panels import CollectionVerticals
from periplus.app.pages.site_list import SiteList
from periplus.app.pages.site_pages import LOOKED_AT, best_pages, description
from periplus.app.parts.commanding import command
from periplus.app.state import state_damage
from periplus.crawl import host_report
from periplus.errors import NotFound, PeriplusError, StorageError
from periplus.storage import Blocklist, write_event

if TYPE_CHECKING:
    from periplus.app.collection import Collection
    from periplus.crawl import Submission
    from periplus.graph import Linked, RankTable
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
    from periplus.web import Figures


class CollectionBackend:
    """Fulfils ``web.backend.Backend``; every call may come from any thread."""

    def __init__(self, collection: Collection) -> None:
        self._collection = collection
        self._counts = collection.query_counts
        self.panels = CollectionPanels(collection, self._counts)
        self._sites = SiteList(collection)
        self._starter = CrawlStarter(collection)
        self._changes = SettingChanges(collection)
        self._steering = Steering(collection, self._starter)
        self._verticals = CollectionVerticals(collection)
        self._searches = SearchFigures()
        self._figures = CollectionFigures(collection, self._searches)

    def search(self, request: SearchRequest, *, beside: bool = False) -> SearchAnswer:
        try:
            answer = self._collection.engine.search(request)
        except PeriplusError:
            self._searches.failed()
            raise
        self._searches.answered(request, answer)
        if request.page == 1:
            found = self._is_answered(request, answer)
            if found or not beside:
                self._count(request, found=found)
        return answer

    def _is_answered(self, request: SearchRequest, answer: SearchAnswer) -> bool:
        """By a page, or by an instant answer."""
        return bool(answer.total.value or self.answers(request.query))

    def _count(self, request: SearchRequest, *, found: bool) -> None:
        plain = None if request.lens or request.explain or request.counts else request
        self._counts.add(request.query, found=found, request=plain)
        if not found:
            self._searches.found_nothing()

    def clicked(self, query: str) -> None:
        self._counts.clicked(query)

    def answers(self, query: str, *, explain: bool = False) -> tuple[InstantAnswer, ...]:
        return self._collection.answers(query, explain=explain)

    def side_panels(
        self, request: SearchRequest, position: Position | None, answer: SearchAnswer | None = None
    ) -> PendingPanels:
        pending = self._verticals.begin(request, position, answer)
        if answer is not None and request.page == 1 and not self._is_answered(request, answer):
            pending.when_known(lambda shown: self._count(request, found=shown))
        return pending

    def whereabouts(self, address: str) -> Position | None:
        return self._verticals.whereabouts(address)

    def figures(self) -> Figures:
        return self._figures.figures()

    def asked(self, query: str, person: str) -> None:
        self._collection.engine.asked(query, person)

    def tabs(self) -> tuple[str, ...]:
        return self._verticals.tabs()

    def search_tab(self, request: SearchRequest, name: str) -> tuple[SearchAnswer, dict[str, dict[str, str]]]:
        return self._collection.engine.search_tab(request, name)

    def suggest(self, text: str, limit: int = 8) -> list[Suggestion]:
        started = time.perf_counter()
        found = self._collection.suggest(text, limit)
        self._searches.took("suggest", time.perf_counter() - started)
        return found

    def explain(self, query: str, url: str, profile: str = "", reader: str = "") -> Explanation:
        return self._collection.explain(query, url, profile=profile, reader=reader)

    def inspect(self, url: str) -> Inspection:
        return self._collection.inspect(url)

    def analyze(self, text: str, language: str = "") -> list[dict[str, Any]]:
        from periplus.text import analysis_steps

        return analysis_steps(text, language)

    def status(self) -> dict[str, Any]:
        status = self._collection.status()
        plain: dict[str, Any] = msgspec.to_builtins(status)
        plain["version"] = __version__
        plain["damage"] = list(dict.fromkeys((*status.damage, *self._collection.damage)))
        plain["hosts"] = status.crawl.hosts
        plain["crawl"]["since"] = _iso(status.crawl.since) if status.crawl.since else None
        if status.index:
            plain["index"]["published"] = _iso(status.index.created)
        plain["last_write"] = _iso(status.last_write) if status.last_write else None
        return plain

    def site(self, host: str) -> dict[str, Any] | None:
        """What the state database, the index and the ranks know of one host."""
        report = self.bot_report(host)
        ready = self._collection.engine.ready
        best = self._collection.search("", LOOKED_AT, site=host, counts=True) if ready else None
        if report is None and not best:
            return None
        known: dict[str, Any] = {"documents": 0, "best": [], "languages": []}
        if best is not None:
            known["documents"] = best.total.value
            known["best"] = best_pages(best.results)
            known["description"] = description(best.results)
            counted = best.counts.language if best.counts else ()
            known["languages"] = [{"language": one.value, "documents": one.count} for one in counted if one.value]
        table = self._collection.stores.ranks.whole()
        ranked = {**_standing(table, host), **self._links(table, host)} if table else {}
        return {**(report or {}), **known, **ranked, "host": host}

    def _links(self, table: RankTable, host: str) -> dict[str, Any]:
        """The hosts that link to it and those that it links to, as of the last ranking."""
        if table.site_links is None:
            return {}
        found = table.site_links.of(host)
        return {
            "links_in": self._named(found.inwards),
            "links_out": self._named(found.outwards),
            "hosts_in": found.hosts_in,
            "hosts_out": found.hosts_out,
        }

    def _named(self, linked: tuple[Linked, ...]) -> list[dict[str, Any]]:
        """As rows for a page; ``known`` are those that the crawl has heard of."""
        keys = {addresses.host_key(one.host): one.host for one in linked}
        places = ", ".join("?" * len(keys))
        with self._collection.database.read() as tx:
            rows = tx.rows(f"SELECT key FROM hosts WHERE key IN ({places})", tuple(keys)) if keys else []  # noqa: S608
        known = {keys[int(key)] for (key,) in rows}
        return [{"host": one.host, "links": one.links, "known": one.host in known} for one in linked]

    def sites(self, text: str, page: int) -> dict[str, Any]:
        return self._sites.page(text, page)

    def bot_report(self, host: str) -> dict[str, Any] | None:
        report = host_report(self._collection.database, host.strip().lower())
        return None if report is None else dict(msgspec.to_builtins(report))

    def cached(self, url: str) -> dict[str, Any] | None:
        stored = self._collection.engine.stored(addresses.canonical(url))
        if stored is None or stored.noarchive:
            return None
        return {
            "title": stored.title,
            "text": stored.text,
            "headings": list({heading.text for heading in stored.headings}),
            "fetched": _iso(stored.fetched),
            "language": stored.language,
        }

    def page(self, url: str) -> PageContent:
        return page_content(self._collection, url)

    def ready(self) -> bool:
        """A generation is open and warm; ``Corrupt`` while it must not be searched."""
        Blocklist(self._collection.files).targets()
        if self._collection.cold and self._collection.known_engine is None:
            return False  # files may be on their way for long: nobody who looks waits for them
        return bool(self._collection.engine.ready) and not self._collection.cold

    def unsound(self) -> str:
        wrong = state_damage(self._collection.database)
        return f"{self._collection.database.name} is damaged ({wrong})" if wrong else ""

    def similar(self, url: str, k: int = 10) -> list[SearchResult]:
        started = time.perf_counter()
        found = self._collection.engine.similar(addresses.canonical(url), k)
        self._searches.took("similar", time.perf_counter() - started)
        return found

    def page_pictures(self, answer: SearchAnswer) -> dict[str, tuple[str, str]]:
        return self._verticals.page_pictures(answer)

    def picture(self, url: str) -> bytes:
        return self._verticals.picture(url)

    def icon(self, host: str) -> bytes | None:
        return stored_icon(self._collection, host)

    def command(self, name: str) -> None:
        command(self._collection, name, self._starter.go_on)

    def start(self, seeds: list[str], options: dict[str, Any] | None = None) -> list[str]:
        return self._starter.start(seeds, options)

    def steer(self, action: str, target: str) -> int:
        return self._steering.steer(action, target)

    def order_shard(self, order: str, server: str) -> None:
        """Tell a shard server to end, or to start again."""
        orders = self._collection.shard_orders
        if orders is None:
            raise NotFound("this process searches by itself; there is no shard server to order")
        orders.order(server, order)
        with suppress(StorageError), self._collection.database.write() as tx:  # it is done, noted or not
            write_event(tx, "console", f"{order} {server}")

    def order_machine(self, order: str, node: str) -> None:
        """Tell a machine of the cluster to run nothing, to work again or to leave; or all of them to end."""
        from periplus.app.machines import order_machine

        order_machine(self._collection, order, node)

    def change_setting(self, setting: str, text: str, who: str = "") -> bool:
        changed = self._changes.change(setting, text, who) is not None
        self._take_up()
        return changed

    def undo_setting(self, number: int, who: str = "") -> str:
        setting = self._changes.of(number).setting
        self._changes.undo(number, who)
        self._take_up()
        return setting

    def forget(self, setting: str, who: str = "") -> None:
        self._changes.reset(setting, who)
        self._take_up()

    def _take_up(self) -> None:
        """Go by what was changed from now on; other servers hear of it within a second."""
        with suppress(PeriplusError, OSError):  # it is written down, and tried again by whoever looks for changes
            self._collection.live.share(changed=True)

    def add_page(self, url: str, *, trusted: bool = True) -> Submission:
        return self._starter.add(url, trusted=trusted)


def _standing(table: RankTable, host: str) -> dict[str, Any]:
    """How the host stands among all: its rank, its place, and the sites that link to it."""
    key = addresses.host_key(host)
    rank = table.host_rank(key)
    if not rank:
        return {}
    note = table.host_note(key)
    place = 1 + int((table.host_ranks > rank).sum())
    return {"rank": rank, "place": place, "hosts": table.hosts, "sites": note.sites if note else 0}


def _iso(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
