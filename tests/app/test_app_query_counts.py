"""Counts of searches across restarts, and popular queries made ready after a publication."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future

import pytest

from periplus import Collection, addresses
from periplus.app.pages import side_panels
from periplus.app.parts import priming, query_counts
from periplus.app.parts.priming import Priming
from periplus.app.parts.query_counts import MOST_KEPT, SAVE_EVERY, QueryCounts
from periplus.app.serving.backend import CollectionBackend
from periplus.app.serving.sharing import Sharing
from periplus.documents import BatchLog
from periplus.records import Document, SearchRequest
from periplus.storage import Database
from periplus.verticals import PendingPanels
from periplus.verticals import side_panels as late
from periplus.verticals.news import NewsApi
from periplus.verticals.side_panels import PendingPanel
from periplus.verticals.weather import OpenMeteo
from periplus.web import create_app
from support.databases import database, postgres_address  # noqa: F401 (fixtures)
from support.services import NEWS_KEY, PlayedServices
from web.asgi_client import Client


def counted(state: Database | None, **options) -> QueryCounts:
    return QueryCounts((lambda: state) if state else None, **options)


def test_counts_are_kept_across_restarts_and_added_up(database):  # noqa: F811
    first, second = counted(database, clicks=True), counted(database, clicks=True)
    for server in (first, second):
        for _ in range(3):
            server.add("Tide  tables", found=True)
        server.add("zzz", found=False)
        server.clicked("tide tables")
        server.save()
        server.save()  # once is enough
    later = counted(database).shown()
    assert (later["asked"], later["without_result"], later["clicks"]) == (8, 2, 2)
    assert later["top"] == [{"query": "tide tables", "count": 6}]
    assert later["days"][-1]["searches"] == 8
    assert len(later["days"]) == query_counts.DAYS_SHOWN
    assert counted(database).table() == [{"query": "tide tables", "asked": 6, "without_result": 0, "clicks": 2}]


def test_what_one_person_asked_once_is_no_row(database):  # noqa: F811
    counts = counted(database)
    counts.add("my name is nobody", found=False)
    counts.save()
    with database.read() as tx:
        names = [name for (name,) in tx.rows("SELECT name FROM counters")]
    assert not [name for name in names if "nobody" in name]
    counts.add("my name is nobody", found=False)
    counts.save()
    assert counted(database).shown()["top_without_result"] == [{"query": "my name is nobody", "count": 2}]


def test_clicks_are_counted_only_where_the_operator_wants_it(database):  # noqa: F811
    counts = counted(database)
    counts.clicked("tide")
    off = counted(database, on=False, clicks=True)
    for _ in range(2):
        off.add("tide", found=True)
    off.clicked("tide")
    assert (counts.shown()["clicks"], off.shown()["clicks"]) == (0, 1)
    assert off.shown()["top"] == []  # sums only


def test_rows_are_bounded_and_the_rarest_leave(database, monkeypatch):  # noqa: F811
    monkeypatch.setattr(query_counts, "MOST_KEPT", 3)
    counts = counted(database)
    for number in range(6):
        for _ in range(number + 2):
            counts.add(f"q{number}", found=True)
    counts.save()
    assert [row["query"] for row in counted(database).shown()["top"]] == ["q5", "q4", "q3"]
    assert MOST_KEPT == 1_000


def test_a_state_that_fails_loses_no_day():
    class Failing:
        def write(self):
            raise OSError("no space left")

        read = write

    counts = QueryCounts(Failing)
    counts.add("tide", found=True)
    with pytest.raises(OSError, match="space"):
        counts.save()
    counts._state = None
    assert counts.shown()["asked"] == 1


def test_a_server_saves_now_and_then_and_at_its_end(tmp_path):
    now = [0.0]
    with Collection(tmp_path / "c").create() as collection:
        collection.query_counts = QueryCounts(collection.sound_state, clock=lambda: now[0])
        sharing = Sharing(collection)
        collection.query_counts.add("tide", found=True)
        assert sharing.look() == []
        assert QueryCounts(collection.sound_state).shown()["asked"] == 0
        now[0] = SAVE_EVERY
        sharing.look()
        assert QueryCounts(collection.sound_state).shown()["asked"] == 1
        collection.query_counts.add("tide", found=True)
        sharing.__enter__()
        sharing.__exit__()
        assert QueryCounts(collection.sound_state).shown()["asked"] == 2


# Answered beside the list


@pytest.fixture
def served(tmp_path, monkeypatch):
    """A server over one page, whose services are played."""
    with PlayedServices() as services, Collection(tmp_path / "c", flags={"search.budget_ms": 30_000}) as collection:
        collection.create()
        publish(collection, 1)
        providers = (OpenMeteo(services.base, services.base), NewsApi(NEWS_KEY, services.base))
        monkeypatch.setattr(side_panels, "services", lambda _: providers)
        backend = CollectionBackend(collection)
        yield backend, Client(create_app(backend, collection.settings)), services


def said(backend, asked):
    """Searches, those without a result, and the metric, once so many were counted."""
    limit = time.monotonic() + 60
    while (counts := backend.panels.queries("")["counts"])["asked"] < asked:
        assert time.monotonic() < limit, "it was never counted"
        threading.Event().wait(0.01)  # the thread that asked the service is about to say so
    return counts["asked"], counts["without_result"], backend._searches.zero


@pytest.mark.parametrize(
    "path",
    ["/search?q=2%2B2", "/search?q=2%2B2&format=json", "/api/v1/search?q=2%2B2", "/api/v1/search?q=2%2B2&panels=1"],
)
def test_an_instant_answer_alone_is_an_answer(served, path):
    backend, client, _ = served
    page = client.get(path)
    assert page.status == 200
    assert backend._collection.engine.search(SearchRequest("2+2")).total.value == 0
    assert said(backend, 1) == (1, 0, 0)
    client.get("/search?q=zzzqq")
    assert said(backend, 2) == (2, 1, 1)


@pytest.mark.parametrize(
    ("path", "fruitless"),
    [
        ("/search?q=weather+z%C3%BCrich", 0),
        ("/api/v1/search?q=weather+z%C3%BCrich&panels=1", 0),
        ("/api/v1/search?q=weather+z%C3%BCrich", 1),  # who asks so sees no panel
        ("/search?q=weather+nowhere", 1),  # the service knows no such place
        ("/search?q=weather+z%C3%BCrich&page=2", 0),  # only first pages are counted
    ],
)
def test_a_panel_alone_is_an_answer_where_it_is_shown(served, path, fruitless):
    backend, client, _ = served
    assert client.get(path).status == 200
    client.get("/panels?q=weather+z%C3%BCrich")  # waits for what was asked
    client.get("/panels?q=weather+nowhere")
    asked = 0 if "page=2" in path else 1
    assert said(backend, asked) == (asked, fruitless, fruitless)


def test_a_late_panel_counts_and_a_service_that_fails_does_not(served, monkeypatch):
    backend, client, services = served
    monkeypatch.setattr(late, "SECONDS", 60.0)  # on a busy machine
    gate = services.answers["/v1/forecast"] = threading.Event()
    client.get("/search?q=weather+z%C3%BCrich")
    assert said(backend, 0) == (0, 0, 0)  # nobody knows yet
    gate.set()
    client.get("/panels?q=weather+z%C3%BCrich")
    assert said(backend, 1) == (1, 0, 0)
    services.answers["/v2/everything"] = (500, {})
    client.get("/search?q=zzzqq+news")
    client.get("/panels?q=zzzqq+news")
    assert said(backend, 2) == (2, 1, 1)


def futures(count):
    return [Future() for _ in range(count)]


def test_panels_are_known_with_the_first_card_or_the_last_failure():
    heard = []
    first, second, third = futures(3)
    PendingPanels([], [PendingPanel(None, None, one) for one in (first, second, third)]).when_known(heard.append)
    first.set_result(())
    assert heard == []
    second.set_result(("card",))
    third.set_exception(ValueError())
    assert heard == [True]
    first, second = futures(2)
    PendingPanels([], [PendingPanel(None, None, one) for one in (first, second)]).when_known(heard.append)
    first.cancel()
    second.set_exception(ValueError())
    assert heard == [True, False]
    PendingPanels().when_known(heard.append)
    assert heard == [True, False, False]


# Priming


def publish(collection: Collection, number: int) -> None:
    url = f"http://one.test/{number}"
    document = Document(url, addresses.key(url), 1.7e9, title=f"Tide {number}", text=f"The tide at port {number}.")
    BatchLog(collection.files, collection.database).append([document])
    collection.index()
    collection.engine.reload()


def test_popular_queries_are_answered_again_after_a_publication_when_idle(tmp_path):
    now = [100.0]
    with Collection(tmp_path / "c", flags={"search.budget_ms": 30_000}).create() as collection:
        publish(collection, 1)
        counts = QueryCounts(clock=lambda: now[0])
        made = Priming(counts, lambda: now[0])
        for query in ("tide", "port", "tide", "tide", "port", "once"):
            counts.add(query, found=True, request=SearchRequest(query, reader="en"))
        engine = collection.engine
        engine.warm()
        made.look(engine)
        assert made.answered == 0  # somebody has just asked
        now[0] += priming.IDLE
        made.look(engine)
        assert made.answered == 2  # "once" is nobody's business
        before = engine.kept_answers
        engine.search(SearchRequest("tide", reader="en"))
        assert engine.kept_answers == before + 1
        made.look(engine)
        assert made.answered == 2
        publish(collection, 2)
        made.look(engine)  # the words of a small generation are gathered by the first search
        assert made.answered == 4
        before = engine.kept_answers
        assert engine.search(SearchRequest("tide", reader="en")).total.value == 2
        assert engine.kept_answers == before + 1


def test_a_look_ends_after_its_time(tmp_path):
    now = [0.0]

    def clock() -> float:
        now[0] += 0.03
        return now[0]

    with Collection(tmp_path / "c").create() as collection:
        publish(collection, 1)
        counts = QueryCounts(clock=lambda: 1e9)
        for number in range(9):
            for _ in range(2):
                counts.add(f"tide {number}", found=True)
        counts.last_asked = 0.0
        made = Priming(counts, clock)
        collection.engine.warm()
        made.look(collection.engine)
        assert 0 < made.answered < 9
        for _ in range(9):
            made.look(collection.engine)
        assert made.answered == 9
