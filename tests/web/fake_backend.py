"""A backend of our own for tests of pages: a few dozen notes from a coast, searched by plain word overlap.

Deterministic and complete: every call of the protocol really answers from these notes.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from periplus.answers import Answerer
from periplus.crawl import Submission
from periplus.errors import InvalidAddress, NotFound, NotReady, SettingError, StorageBusy, UsageError
from periplus.records import (
    Count,
    Explanation,
    FilterCounts,
    Heading,
    Inspection,
    InstantAnswer,
    Link,
    PageContent,
    QueryReading,
    SearchAnswer,
    SearchRequest,
    SearchResult,
    StepRecord,
    Suggestion,
    Total,
)
from periplus.verticals import OwnIndex, Verticals, Whereabouts, pictures_of
from periplus.web import Figures

if TYPE_CHECKING:
    from collections.abc import Iterable

WORD = re.compile(r"\w+")
LENS_STEPS = {"": 0, "pin": 1_000, "raise": 3, "lower": -3, "block": 0}


class Note(Struct, frozen=True):
    url: str
    title: str
    text: str
    language: str = "en"
    type: str = "text/html"
    published: str | None = None

    @property
    def host(self) -> str:
        return self.url.split("/")[2] if "//" in self.url else ""


PORTS = (
    "Aldmouth", "Brackwater", "Carn Head", "Dunsey", "Eelport", "Farrow Sound", "Gullwick", "Hythe Ness", "Ickle Bay",
    "Jettyford", "Kelphaven", "Longstrand", "Marram", "Netherquay", "Oyster Reach", "Pilots Rest", "Quarry Cove",
    "Rundle", "Saltburn Bar", "Tern Rock", "Underhill", "Vane Point", "Wickness", "Yarrow Steps",
)  # fmt: skip


def notes() -> list[Note]:
    """Written for these tests; the odd ones (other languages, types and hostile ones) are data beside this file."""
    listed = [
        Note(
            f"http://harbours.test/ports/{name.lower().replace(' ', '-')}",
            f"{name}: harbour notes",
            f"The harbour of {name} lies {number + 2} miles along the coast. At springs the tide runs hard across the "
            f"entrance, so arrive at slack water and keep the white beacon open of the church tower. "
            f"Depth over the bar is {number % 5 + 1} metres at low water.",
            published=f"2025-{number % 12 + 1:02d}-14" if number % 3 else None,
        )
        for number, name in enumerate(PORTS)
    ]
    odd = msgspec.json.decode(Path(__file__).with_name("odd_notes.json").read_bytes(), type=list[Note])
    return [*listed, *odd]


class FakePanels:
    """Fulfils ``periplus.web.backend.Panels``: a crawl at work, with a few things going wrong."""

    def __init__(self, backend: FakeBackend) -> None:
        self.backend = backend
        self.judged: dict[str, dict[str, int]] = {}
        self.events_kept = [
            {"at": 1_763_240_000.0, "room": "crawl", "level": "warning", "text": "the disk is nearly full"}
        ]

    def overview(self) -> dict[str, Any]:
        history = [
            {
                "at": 1_763_240_000.0 + 10 * step,
                "requests": 20 + 6 * math.sin(step / 4),
                "bytes": 400_000 + 9_000 * step,
                "errors": 1.0 if step % 17 == 0 else 0.0,
                "milliseconds": 40 + step % 7,
            }
            for step in range(60)
        ]
        worker = {
            "number": 1, "address": "quay:4242", "state": "running", "pages": 1_234, "rate": 3.2, "average_rate": 2.9,
            "max_rate": 8.0, "bytes": 3_456_789, "answers_2xx": 1_200, "answers_3xx": 30, "answers_404": 3,
            "answers_other": 1, "links": 40_000, "active": 4, "last_write": 1_763_240_600.0,
        }  # fmt: skip
        slots = [
            {"worker": 1, "url": "http://harbours.test/ports/dunsey", "step": "fetching", "since": 1_763_240_599.0}
        ]
        second = {**worker, "number": 2, "address": "quay:4243", "pages": 987, "state": "paused"}
        return {"workers": [worker, second], "slots": slots, "history": history, "events": self.events_kept}

    def hosts(self, order: str = "queue", text: str = "", limit: int = 100) -> dict[str, Any]:
        names = sorted({note.host for note in self.backend.notes if note.host})
        rows = [
            {
                "host": name, "queued": 10 * place, "pages": place, "budget": 10_000, "requests": place + 1,
                "delay": 1.0 + place, "failures": place % 3, "reason": "timeout" if place % 3 else "",
                "sentence": "the server took longer than the limit" if place % 3 else "", "ip": "192.0.2.1",
                "last_visit": 1_763_240_000.0, "next_visit": 1_763_240_060.0, "due_in": 60.0, "active": place == 0,
                "preferred": place == 1, "blocked": place == 2,
            }
            for place, name in enumerate(names) if text in name
        ]  # fmt: skip
        return {"total": len(names), "order": order, "text": text, "hosts": rows[:limit]}

    def errors(self) -> dict[str, Any]:
        sample = {"url": "http://hostile.test/<script>", "status": 500, "at": 1_763_240_000.0}
        error = {"reason": "http-5xx", "sentence": "the server failed", "advice": "", "count": 12, "hosts": 2}
        return {
            "requests": 20_000,
            "errors": [{**error, "samples": [sample]}],
            "hosts": [{"host": "hostile.test", "count": 12, "reasons": {"http-5xx": 12}}],
            "refused": [
                {
                    "reason": "robots-disallowed",
                    "sentence": "robots.txt forbids the address",
                    "advice": "the site's owner decides",
                    "count": 7,
                    "sample": "http://harbours.test/private",
                }
            ],
        }

    def events(self, limit: int = 100) -> dict[str, Any]:
        return {"events": self.events_kept[:limit]}

    def queries(self, query: str, profiles: tuple[str, ...] = ("",)) -> dict[str, Any]:
        chosen = [name or "periplus" for name in profiles]
        known = {"profiles": ["periplus", "bm25"], "chosen": chosen, "query": query, "queries": len(self.judged)}
        known["counts"] = {
            "asked": 1_234, "without_result": 56, "clicks": 70, "primed": 12,
            "top": [{"query": "tide tables", "count": 40}],
            "top_without_result": [{"query": "<img src=x onerror=alert(1)>", "count": 3}],
            "days": [
                {"day": f"2026-11-{day:02}", "searches": 40 + day, "without_result": day % 5, "clicks": day}
                for day in range(1, 31)
            ],
        }  # fmt: skip
        if not query:
            return known
        words = WORD.findall(query)
        return {
            **known,
            "parsed": query,
            "terms": [],
            "plan": {"should": [{"forms": [{"term": word, "share": 1.0}]} for word in words], "must": []},
            "ignored": [],
            "words": [
                {"word": word, "weight": 1.0, "forms": [{"term": word, "share": 1.0, "documents": 3}]} for word in words
            ],
            "timings": {"read": 0.1, "plan": 0.2},
            "judged": self.judged.get(query, {}),
            "runs": [
                {
                    "profile": name,
                    "timings": {"search": 3.25, "again": 0.1},
                    "answer": msgspec.to_builtins(self.backend.search(SearchRequest(query, profile=name))),
                }
                for name in chosen
            ],
        }

    def index(self) -> dict[str, Any]:
        return {
            "generation": 7, "created": 1_763_240_000.0, "documents": 48_213, "last_batch": 12, "batches": 13,
            "serving": 6, "statistics": {"average_body": 171.5, "bytes": 1_005_449.0},
            "segments": [
                {"name": "00000001-a", "documents": 48_300, "live": 48_213, "bytes": 90_000_000, "tier": 2, "made": 2e9}
            ],
            "merged_at": 8, "events": [{"at": 1_763_240_000.0, "text": "generation 7 is published: 48,213 documents"}],
        }  # fmt: skip

    def shards(self) -> dict[str, Any]:
        row = {
            "url": "http://127.0.0.1:8650", "shards": {0: {6: 24_000, 7: 24_100}}, "state": "", "load": 2,
            "p50_ms": 1.2, "p95_ms": 4.5, "questions": 900, "hedges": 12, "failures": 1, "timeouts": 0, "refusals": 3,
        }  # fmt: skip
        gone = {**row, "url": "http://127.0.0.1:8651", "shards": {}, "state": "it did not answer in time"}
        return {"generation": 7, "documents": [24_100, 24_113], "servers": [row, gone]}

    def shard_orders(self) -> dict[str, tuple[str, ...]]:
        return {"http://127.0.0.1:8650": ("drain", "restart"), "http://127.0.0.1:8651": ("restart",)}

    def machines(self) -> dict[str, Any]:
        first = {
            "id": "quay-1a2b", "address": "10.0.0.1", "cores": 8, "memory": 16 << 30, "folder": "/srv", "is_head": True,
            "process": "", "joined": 1_763_240_000.0, "seen": 1_763_240_600.0, "leaving": "", "is_alive": True,
        }  # fmt: skip
        drained = {**first, "id": "mole-3c4d", "address": "10.0.0.2", "is_head": False, "leaving": "drain"}
        silent = {**first, "id": "pier-5e6f", "address": "10.0.0.3", "is_head": False, "is_alive": False}
        slot = {
            "name": "shard:0:0", "node": "quay-1a2b", "state": "running", "process": 4242, "starts": 1,
            "since": 1_763_240_000.0, "seen": 1_763_240_600.0, "note": "",
        }  # fmt: skip
        broken = {**slot, "name": "broker:quay-1a2b", "state": "resting", "process": 0, "starts": 3,
                  "note": "ended with code 1: periplus: the port 8080 is in use <b>"}  # fmt: skip
        lease = {"name": "cluster.slot.shard:0:0", "owner": "quay-1a2b/77", "token": 2, "expires": 1_763_240_620.0}
        return {
            "head": "10.0.0.1:6379", "conductor": "boot/4200/1", "services": ["serve"],
            "nodes": [first, drained, silent], "slots": [slot, broken], "leases": [lease], "more_leases": 3,
            "tasks": [{"job": "index", "kind": "segment", "state": "done", "count": 1_204}],
        }  # fmt: skip

    def ranks(self) -> dict[str, Any]:
        steps = [{"iteration": n, "difference": 10.0**-n, "seconds": n / 1000} for n in range(1, 11)]
        return {
            "generation": 6, "created": 1_763_240_000.0, "last_batch": 12, "pages": 48_000, "hosts": 1_207,
            "links": 400_000, "host_links": 9_000, "page_history": steps, "host_history": steps,
            "origin": None, "top_pages": [{"name": "http://harbours.test/ports/dunsey", "rank": 0.01}],
            "top_hosts": [{"name": "harbours.test", "rank": 0.2}, {"name": "tides.test", "rank": 0.1}],
        }  # fmt: skip

    def settings(self) -> dict[str, Any]:
        row = {
            "section": "crawl", "help": "what it means", "variable": "PERIPLUS_CRAWL_DELAY", "kind": "text",
            "choices": [], "fixed": "", "overruled": "", "in_force": "with the next crawl", "origin": "default",
        }  # fmt: skip
        change = {
            "number": 3, "at": 1_763_240_000.0, "who": "203.0.113.9", "setting": "crawl.types", "old": [],
            "old_from": "default", "new": ["html"], "new_from": "console", "undoes": 2,
        }  # fmt: skip
        return {
            "settings": [
                {**row, "key": "crawl.delay", "value": 2.5, "origin": "flag", "kind": "number"},
                {**row, "key": "crawl.headers", "value": "(kept secret)", "origin": "periplus.toml",
                 "fixed": "a secret"},
                {**row, "key": "crawl.include", "value": ["/a", "/b<"], "kind": "list"},
                {**row, "key": "crawl.icons", "value": True, "kind": "flag"},
                {**row, "key": "crawl.scope", "value": "site", "kind": "choice", "choices": ["host", "site", "any"]},
                {**row, "key": "crawl.types", "value": [], "kind": "list", "origin": "console", "forgets": "console"},
                {**row, "key": "crawl.hours", "value": "22-06", "origin": "PERIPLUS_CRAWL_HOURS", "forgets": "console",
                 "kept": "20-06", "overruled": "PERIPLUS_CRAWL_HOURS"},
                {**row, "key": "serve.cors", "section": "serve", "value": ["https://a.test"], "kind": "list",
                 "running": [], "in_force": "when the server starts again"},
            ],
            "changes": [change, {**change, "number": 2, "who": "", "undoes": 0}],
        }  # fmt: skip

    def judge(self, query: str, document: str, grade: int | None) -> None:
        grades = self.judged.setdefault(query, {})
        grades.pop(document, None)
        if grade is not None:
            grades[document] = grade

    def asked(self) -> list[dict[str, Any]]:
        return [{"query": "=tide, tables", "asked": 40, "without_result": 0, "clicks": 7}]

    def judgements(self) -> dict[str, dict[str, int]]:
        return {query: dict(grades) for query, grades in self.judged.items() if grades}


class FakeBackend:
    """Fulfils ``periplus.web.Backend``; set ``error`` to have every call raise it, ``is_ready`` to close the index."""

    def __init__(self) -> None:
        self.notes = notes()
        self.panels = FakePanels(self)
        self.kinds: dict[str, dict[str, dict[str, str]]] = {}  # tab → address → facts
        self.answerer = Answerer()
        self.verticals = Verticals(OwnIndex(self.search_tab))
        self.where = Whereabouts()
        self.positions: list[Any] = []  # of visitors, as panels were asked
        self.icons: dict[str, bytes] = {}
        self.pictures: dict[str, bytes] = {}
        self.long_texts: dict[str, str] = {}  # by address
        self.links_of: dict[str, tuple[Link, ...]] = {}
        self.is_ready = True
        self.error: Exception | None = None
        self.requests: list[SearchRequest] = []
        self.people: list[tuple[str, str]] = []  # queries, with who asked
        self.opened: list[str] = []  # queries of which a result was opened
        self.commands: list[str] = []
        self.steered: list[tuple[str, ...]] = []
        self.options: dict[str, Any] = {}
        self.corrections: tuple[str, ...] = ()
        self.corrected: str | None = None
        self.degraded: tuple[str, ...] = ()

    def _check(self) -> None:
        if self.error:
            raise self.error
        if not self.is_ready:
            raise NotReady("no generation is published yet; run periplus index")

    def answers(self, query: str, *, explain: bool = False) -> tuple[InstantAnswer, ...]:
        return self.answerer.answers(query, explain=explain)

    def side_panels(self, request: SearchRequest, position: Any, answer: SearchAnswer | None = None) -> Any:
        self.positions.append(position)
        found = answer or self.search(request)
        kinds = {tab: sum(result.url in known for result in found.results[:10]) for tab, known in self.kinds.items()}
        return self.verticals.begin(request.query, kinds, self.tabs(), position, request.reader)

    def whereabouts(self, address: str) -> Any:
        return self.where.of(address)

    def clicked(self, query: str) -> None:
        self.opened.append(query)

    def asked(self, query: str, person: str) -> None:
        self.people.append((query, person))

    def search(self, request: SearchRequest, *, beside: bool = False) -> SearchAnswer:
        self._check()
        self.requests.append(request)
        if request.profile not in ("", "periplus", "bm25"):
            raise UsageError(f"unknown profile {request.profile!r}; known are periplus, bm25")
        words = {word.casefold() for word in WORD.findall(request.query)}
        scored = [(score, note) for note in self.notes if (score := _score(note, words)) and _admitted(note, request)]
        entries = [entry.partition(":") for entry in request.lens.split(",") if entry]
        lens = {site: level for level, _, site in entries}
        if set(lens.values()) - set(LENS_STEPS):
            raise UsageError(f"lens={request.lens!r} is unknown; use raise:HOST, lower:HOST, block:HOST, pin:HOST")
        scored = [(score, note) for score, note in scored if lens.get(note.host) != "block"]
        scored.sort(key=lambda pair: (-pair[0] - LENS_STEPS.get(lens.get(pair[1].host, ""), 0), pair[1].url))
        found = [note for _, note in scored]
        start = (request.page - 1) * request.size
        results = [
            _result(note, score, words, rank, request.explain)
            for rank, (score, note) in enumerate(scored[start : start + request.size], start + 1)
        ]
        return SearchAnswer(
            query=QueryReading(request.query, " ".join(sorted(words)), self.corrected if request.correct else None),
            results=tuple(results),
            total=Total(len(scored)),
            page=request.page,
            size=request.size,
            next=f"/api/v1/search?page={request.page + 1}" if len(scored) > start + request.size else None,
            corrections=self.corrections,
            suggestions=("tide tables",) if "tide" in words else (),
            took_ms=1.5,
            degraded=self.degraded,
            generation=7,
            counts=_counts(found) if request.counts else None,
            lens=request.lens,
        )

    def tabs(self) -> tuple[str, ...]:
        return tuple(self.kinds)

    def search_tab(self, request: SearchRequest, name: str) -> tuple[SearchAnswer, dict[str, dict[str, str]]]:
        whole = self.search(msgspec.structs.replace(request, page=1, size=100))
        known = self.kinds.get(name, {})
        results = tuple(result for result in whole.results if result.url in known)
        total = Total(len(results))
        answer = msgspec.structs.replace(whole, results=results, total=total, page=request.page, size=request.size)
        return answer, {result.id: known[result.url] for result in results}

    def suggest(self, text: str, limit: int = 8) -> list[Suggestion]:
        self._check()
        titles = sorted({note.title.lower() for note in self.notes[:26]} | {"tide tables", "tide", "harbour lights"})
        return [Suggestion(title) for title in titles if text and title.startswith(text.lower())][:limit]

    def explain(self, query: str, url: str, profile: str = "", reader: str = "") -> Explanation:
        self._check()
        words = {word.casefold() for word in WORD.findall(query)}
        return _explanation(self._note(url), words)

    def _note(self, url: str) -> Note:
        if not url.startswith("http"):
            raise InvalidAddress(f"{url!r} is not an http or https URL")
        found = next((note for note in self.notes if note.url == url), None)
        if found is None:
            raise NotFound(f"{url} is not in the index; periplus inspect says why")
        return found

    def inspect(self, url: str) -> Inspection:
        self._check()
        if not url.startswith("http"):
            raise InvalidAddress(f"{url!r} is not an http or https URL")
        known = any(note.url == url for note in self.notes)
        steps = (
            StepRecord("discovered", "ok", detail="a link on http://harbours.test/", at=1_760_000_000.0),
            StepRecord("robots", "ok", detail="robots.txt line 4: Allow: /"),
            StepRecord("index", "ok")
            if known
            else StepRecord("index", "refused", "noindex", advice="remove noindex from the page"),
        )
        return Inspection(url, "can be found" if known else "not indexed", steps)

    def analyze(self, text: str, language: str = "") -> list[dict[str, Any]]:
        self._check()
        return [{"term": word.casefold(), "start": 0, "language": language} for word in WORD.findall(text)]

    def status(self) -> dict[str, Any]:
        if self.error:
            raise self.error
        return {
            "collection": "coast",
            "crawl": {
                "state": "running",
                "pages": 1234,
                "queued": 56,
                "rate": 3.2,
                "failed": 2,
                "current": "http://a.test/",
            },
            "index": {"generation": 7, "documents": 48_213, "segments": 3, "published": "2026-11-15T20:00:00+00:00"},
            "ranks": {"generation": 6, "pages": 48_000, "iterations": 41},
            "hosts": 1_207,
            "disk": 123_456_789,
            "version": "0.1.0",
            "last_write": "2026-11-15T20:00:00+00:00",
            "examples": ["tide tables", "harbour entrance", "portolan charts", "Gezeiten"],
        }

    def site(self, host: str) -> dict[str, Any] | None:
        self._check()
        pages = [note for note in self.notes if note.host == host]
        if not pages:
            return None
        best = [{"url": note.url, "title": note.title} for note in pages[:5]]
        links = [{"host": "tides.test", "links": 41, "known": True}, {"host": "far.test", "links": 3, "known": False}]
        return {
            "host": host, "description": "Ports <in> their order.",
            "pages": len(pages), "rank": 0.42, "robots": {"state": "allowed"}, "best": best,
            "links_in": links, "hosts_in": 30, "links_out": [], "hosts_out": 0,
            "languages": [{"language": "en", "documents": 12}, {"language": "de", "documents": 1}],
        }  # fmt: skip

    def sites(self, text: str, page: int) -> dict[str, Any]:
        self._check()
        hosts = [host for host in sorted({note.host for note in self.notes if note.host}) if text in host]
        first = (page - 1) * 4
        return {
            "text": text, "total": len(hosts), "first": first + 1, "hosts": hosts[first : first + 4], "page": page,
            "pages": -(-len(hosts) // 4),
        }  # fmt: skip

    def bot_report(self, host: str) -> dict[str, Any] | None:
        self._check()
        return {"host": host, "requests": 24, "shortest_gap": 1.02} if host == "harbours.test" else None

    def cached(self, url: str) -> dict[str, Any] | None:
        self._check()
        found = next((note for note in self.notes if note.url == url), None)
        if found is None:
            return None
        return {
            "title": found.title,
            "text": f"{found.title}\n{found.text}\nA heading\nA second paragraph.",
            "headings": [found.title, "A heading"],
            "fetched": 1_760_000_000.0,
            "language": found.language,
        }

    def page(self, url: str) -> PageContent:
        self._check()
        note = self._note(url)
        return PageContent(
            f"n{abs(hash_text(note.url))}",
            note.url,
            note.host,
            note.title,
            "",
            note.language,
            note.type,
            "A. Pilot",
            note.published,
            None,
            "2026-11-15T19:00:00Z",
            (Heading(1, note.title), Heading(2, "A heading")),
            self.long_texts.get(url) or f"{note.title}\n{note.text}\nA heading\nA second paragraph.",
            self.links_of.get(url),
            ({"@type": "Article"},) if url in self.links_of else None,
        )

    def similar(self, url: str, k: int = 10) -> list[SearchResult]:
        self._check()
        note = self._note(url)
        words = {word.casefold() for word in WORD.findall(note.title)}
        alike = [other for other in self.notes if other != note and _score(other, words)]
        return [
            _result(other, _score(other, words), words, rank, explain=False) for rank, other in enumerate(alike[:k], 1)
        ]

    def page_pictures(self, answer: SearchAnswer) -> dict[str, tuple[str, str]]:
        known = self.kinds.get("images", {})
        listed = {result.id: pictures_of(known.get(result.url, {})) for result in answer.results}
        return {name: some[0] for name, some in listed.items() if some and some[0][0] in self.pictures}

    def picture(self, url: str) -> bytes:
        return self.pictures.get(url, b"")

    def icon(self, host: str) -> bytes | None:
        return self.icons.get(host)

    def unsound(self) -> str:
        return ""

    def ready(self) -> bool:
        if self.error:
            raise self.error
        return self.is_ready

    def command(self, name: str) -> None:
        self._check()
        self.commands.append(name)

    def forget(self, setting: str, who: str = "") -> None:
        self._check()
        self.steered.append(("forget", setting))

    def change_setting(self, setting: str, text: str, who: str = "") -> bool:
        self._check()
        if text == "wrong":
            raise SettingError(f"{setting} = 'wrong' (from console): choose <another>")
        self.steered.append((f"change by {who}", setting, text))
        return text != "same"

    def undo_setting(self, number: int, who: str = "") -> str:
        self._check()
        self.steered.append((f"undo by {who}", str(number)))
        return "crawl.types"

    def order_shard(self, order: str, server: str) -> None:
        self._check()
        if order not in self.panels.shard_orders().get(server, ()):
            raise NotFound(f"{server} cannot be told to {order}; look at what it does now")
        self.steered.append((order, server))

    def order_machine(self, order: str, node: str) -> None:
        self._check()
        if order != "stop" and node not in ("quay-1a2b", "mole-3c4d"):
            raise NotFound(f"no node {node} in the cluster; there are: quay-1a2b")
        self.steered.append((order, node))

    def steer(self, action: str, target: str) -> int:
        self._check()
        if target == "nowhere.test":
            raise NotFound(f"nothing is known of {target}; start a crawl there first")
        self.steered.append((action, target))
        return 1

    def start(self, seeds: list[str], options: dict[str, Any] | None = None) -> list[str]:
        self._check()
        self.options = dict(options or {})
        if "start" in self.commands:
            raise StorageBusy("a crawl is under way; stop it first, or wait for its end")
        self.commands.append("start")
        return seeds

    def figures(self) -> Figures:
        return Figures({"periplus_index_documents": {(): len(self.notes)}})

    def add_page(self, url: str, *, trusted: bool = True) -> Submission:
        self._check()
        if not url.startswith("http"):
            raise InvalidAddress(f"{url!r} is not an http or https URL")
        if not trusted and "tides.test" not in url:
            return Submission(url, "refused", "out-of-scope")
        return Submission(url, "known" if any(note.url == url for note in self.notes) else "queued")


def _score(note: Note, words: set[str]) -> float:
    title = [word.casefold() for word in WORD.findall(note.title)]
    body = [word.casefold() for word in WORD.findall(note.text)]
    return sum(2.0 * title.count(word) + body.count(word) for word in words)


def _admitted(note: Note, request: SearchRequest) -> bool:
    return (
        request.site in ("", note.host)
        and request.language in ("", note.language)
        and request.type in ("", note.type)
        and (not request.after or (note.published or "") >= request.after)
    )


def _counts(found: list[Note]) -> FilterCounts:
    return FilterCounts(
        _count(note.host for note in found),
        _count(note.language for note in found),
        _count(note.type for note in found),
        tuple(sorted(_count((note.published or "")[:4] for note in found), key=lambda item: item.value, reverse=True)),
    )


def _count(items: Iterable[str]) -> tuple[Count, ...]:
    return tuple(Count(value, number) for value, number in Counter(item for item in items if item).most_common())


def _result(note: Note, score: float, words: set[str], rank: int, explain: bool) -> SearchResult:
    spans = tuple(found.span() for found in WORD.finditer(note.text) if found.group().casefold() in words)
    parts = note.url.split("/")
    return SearchResult(
        rank=rank,
        id=f"n{abs(hash_text(note.url))}",
        url=note.url,
        display_url=" › ".join(part for part in parts[2:] if part) or note.url,
        site=note.host,
        title=note.title,
        snippet=note.text,
        highlights=spans,
        language=note.language,
        published=note.published,
        fetched="2026-11-15T19:00:00+00:00",
        type=note.type,
        score=score,
        more_from_site=21 if note.host == "harbours.test" else 0,
        duplicates=2 if note.url.endswith("/springs") else 0,
        explain=_explanation(note, words) if explain else None,
    )


def _explanation(note: Note, words: set[str]) -> Explanation:
    score = _score(note, words)
    terms = tuple(Explanation(word, _score(note, {word}) * 1.7, "idf × impact") for word in sorted(words))
    parts = (
        Explanation("text", score * 1.7, "sum of terms", terms),
        Explanation("page rank", 0.83, "log of PageRank"),
        Explanation("freshness", -0.2),
    )
    return Explanation("score", sum(part.value for part in parts), "text + page rank + freshness", parts)


def hash_text(text: str) -> int:
    return sum(ord(letter) * 31**place % 1_000_003 for place, letter in enumerate(text))
