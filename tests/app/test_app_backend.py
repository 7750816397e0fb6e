"""The console's panels and the answers of the pages, read from a collection that was really crawled."""

from __future__ import annotations

import time

import pytest

from periplus import Collection
from periplus.app.console.panels import INTERVALS, LONGEST, curves
from periplus.app.console.starting import CrawlStarter
from periplus.app.serving.backend import CollectionBackend
from periplus.demo import DemoWeb
from periplus.errors import Corrupt, StorageBusy, UsageError


@pytest.fixture(scope="module")
def backend(tmp_path_factory):
    """The demo's web, crawled up to its robots files, errors and redirects."""
    flags = {"crawl.delay": 0.0, "crawl.ip_delay": 0.0, "crawl.workers": 1, "crawl.scope": "any"}
    with DemoWeb() as web:
        flags |= {"crawl.allow_private": True, "crawl.resolve": [f"*.localhost=127.0.0.1:{web.port}"]}
        folder = tmp_path_factory.mktemp("collection")
        with Collection(folder / "c", flags={**flags, "crawl.headers": ["x.test=Authorization: hush"]}) as collection:
            collection.crawl(web.seeds(), max_pages=120)
            collection.index()
            collection.rank()
            yield CollectionBackend(collection)


def test_hosts_with_their_queues_and_delays(backend):
    listed = backend.panels.hosts("pages")

    assert listed["total"] == len(listed["hosts"]) > 3
    assert [row["pages"] for row in listed["hosts"]] == sorted((row["pages"] for row in listed["hosts"]), reverse=True)
    some = listed["hosts"][0]["host"]
    assert [row["host"] for row in backend.panels.hosts(text=some)["hosts"]] == [some]
    assert backend.panels.hosts(text="%")["hosts"] == []
    assert len(backend.panels.hosts(limit=2)["hosts"]) == 2


def test_errors_come_with_sentences_and_samples(backend):
    found = backend.panels.errors()

    assert found["requests"] >= 120
    for error in found["errors"]:
        assert error["sentence"]
        assert 1 <= len(error["samples"]) <= 3
    assert sum(error["count"] for error in found["errors"]) == sum(row["count"] for row in found["hosts"])
    assert {"robots-disallowed", "redirected"} & {row["reason"] for row in found["refused"]}


def test_curves_add_up_to_what_was_requested(backend):
    history = backend.panels.overview()["history"]
    width = history[1]["at"] - history[0]["at"]

    assert len(history) == INTERVALS
    requests = backend.panels.errors()["requests"]
    assert sum(sample["requests"] * width for sample in history) == pytest.approx(requests, rel=1e-3)


def test_curves_reach_back_an_hour_at_most():
    rows = [(float(second), 10, "", 5.0) for second in range(0, 10_000, 10)]
    drawn = curves(rows, 9_990.0)

    assert curves([], 9_990.0) == []
    assert curves(rows, 9_991.0 + LONGEST) == []
    assert drawn[-1]["at"] - drawn[0]["at"] < LONGEST
    assert drawn[-2]["requests"] == pytest.approx(0.1, rel=0.2)
    assert len(curves(rows[:1], 0.0)) == INTERVALS


def test_curves_fall_when_nothing_is_asked_any_more():
    rows = [(float(second), 10, "", 5.0) for second in range(60)]
    assert curves(rows, 60.0)[-1]["requests"] > 0.5
    assert curves(rows, 180.0)[-1] == {"at": 180.0, "requests": 0.0, "bytes": 0.0, "errors": 0.0, "milliseconds": 0.0}


def test_index_and_ranks(backend):
    index, ranks = backend.panels.index(), backend.panels.ranks()

    assert index["documents"] == sum(segment["live"] for segment in index["segments"])
    assert index["last_batch"] == index["batches"]
    assert index["serving"] == index["generation"]
    assert all(segment["bytes"] for segment in index["segments"])
    assert ranks["page_history"][-1]["difference"] < 1e-9
    assert ranks["top_hosts"][0]["rank"] >= ranks["top_hosts"][-1]["rank"]


def test_settings_tell_where_they_came_from_and_keep_secrets(backend):
    rows = {row["key"]: row for row in backend.panels.settings()["settings"]}

    assert rows["crawl.delay"]["origin"] == "flag"
    assert rows["rank.damping"] | {"value": 0.85, "origin": "default"} == rows["rank.damping"]
    assert rows["crawl.headers"]["value"] == "(kept secret)"
    assert rows["storage.database"]["value"] == ""


def test_events_newest_first(backend):
    with backend._collection.database.write() as tx:
        for number in range(3):
            tx.execute(
                "INSERT INTO events (at, room, level, text) VALUES (?, ?, ?, ?)",
                (number, "crawl", "info", f"e{number}"),
            )

    assert [event["text"] for event in backend.panels.events(2)["events"]] == ["e2", "e1"]


def test_a_query_taken_apart(backend):
    taken = backend.panels.queries("the lighthouse", ("", "bm25"))

    assert taken["chosen"] == ["periplus", "bm25"]
    assert [word["word"] for word in taken["words"]] == ["the", "lighthouse"]  # of few words all count
    assert taken["words"][1]["forms"][0]["documents"] > 0
    assert [run["profile"] for run in taken["runs"]] == ["periplus", "bm25"]
    assert taken["runs"][0]["answer"]["results"]
    assert backend.panels.queries("")["query"] == ""
    with pytest.raises(UsageError, match="unknown profile"):
        backend.panels.queries("tide", ("nonsense",))


def test_judgements_are_kept_in_the_collection(backend):
    panels = backend.panels
    panels.judge("tide", "a", 3)
    panels.judge("tide", "b", 0)
    panels.judge("tide", "b", None)

    assert panels.judgements() == {"tide": {"a": 3}}
    assert panels.queries("tide")["judged"] == {"a": 3}
    assert CollectionBackend(backend._collection).panels.judgements() == {"tide": {"a": 3}}
    with pytest.raises(UsageError, match="0 to 3"):
        panels.judge("tide", "a", 4)
    backend._collection.files.write("judgements.json", b"{")
    with pytest.raises(Corrupt, match="damaged"):
        panels.judgements()
    backend._collection.files.remove("judgements.json")


CHAIN = ["discovered", "scope", "robots", "queue", "fetch", "parse", "canonical", "duplicate", "index", "rank"]


def test_the_inspector_tells_the_whole_chain(backend):
    database = backend._collection.database
    with database.read() as tx:
        (key, url), (other, first) = tx.rows(
            "SELECT key, url FROM urls WHERE state = 1 AND kind = 0 AND refusal = '' ORDER BY url LIMIT 2"
        )
    good = backend.inspect(url).steps
    assert [step.step for step in good] == CHAIN
    assert {step.state for step in good} == {"ok"}
    told = {}
    for refusal in ("canonical-elsewhere", "duplicate"):
        with database.write() as tx:
            sql = "UPDATE urls SET refusal = ?, detail = ?, same_as = ? WHERE key = ?"
            tx.execute(sql, (refusal, "http://x.test/", other, key))
        told[refusal] = {step.step: step for step in backend.inspect(url).steps}
    with database.write() as tx:
        tx.execute("UPDATE urls SET refusal = '', detail = '', same_as = 0 WHERE key = ?", (key,))
    elsewhere = told["canonical-elsewhere"]
    assert (elsewhere["parse"].state, elsewhere["duplicate"].state) == ("ok", "unknown")
    standing = "stands in for http://x.test/, which is not in the index"  # for the index still has the page itself
    assert (elsewhere["canonical"].state, elsewhere["canonical"].detail) == ("ok", standing)
    twice = told["duplicate"]
    assert (twice["parse"].state, twice["canonical"].state, twice["duplicate"].state) == ("ok", "ok", "refused")
    assert twice["duplicate"].detail == f"the same as {first}"


def test_times_that_never_were_are_null(tmp_path):
    with Collection(tmp_path / "empty") as collection:
        collection.create()
        status = CollectionBackend(collection).status()

    assert (status["crawl"]["since"], status["last_write"]) == (None, None)


def test_status_and_site_are_plain(backend):
    status = backend.status()
    host = backend.panels.hosts("pages")["hosts"][0]["host"]
    site = backend.site(host)

    assert status["last_write"].endswith("Z")
    assert status["crawl"]["since"] is None or status["crawl"]["since"].endswith("Z")
    assert site["host"] == host
    assert site["best"]
    assert sum(row["documents"] for row in site["languages"]) == site["documents"]
    assert site["robots"]
    assert site["last_visit"] > 0
    assert site["links_in"][0]["links"] > 0
    assert all(row["known"] for row in site["links_in"])
    assert host not in {row["host"] for row in site["links_out"]}
    assert backend.site("nowhere.test") is None
    assert backend.bot_report("nowhere.test") is None


def test_a_crawl_started_from_the_pages_makes_them_findable(tmp_path):
    with DemoWeb() as web:
        flags = {
            "crawl.delay": 0.0, "crawl.ip_delay": 0.0, "crawl.workers": 1, "crawl.max_pages": 3,
            "crawl.allow_private": True, "crawl.resolve": [f"*.localhost=127.0.0.1:{web.port}"],
        }  # fmt: skip
        with Collection(tmp_path / "c", flags=flags).create() as collection:
            starter = CrawlStarter(collection)
            seed = web.seeds()[0]
            try:
                assert starter.start([seed]) == [seed]
                starter._child._thread.join(60)
                assert starter.add(seed).state == "known"
                assert collection.status().pages == 3
                assert collection.status().ranks is not None
                assert collection.engine.ready
            finally:
                starter.close()
            with collection.database.write() as tx:
                sql = "UPDATE crawls SET state = 'running', ended = 0, at = ?, status = ?"
                tx.execute(sql, (time.time(), '{"state":"running"}'))
            with pytest.raises(StorageBusy, match="under way"):
                starter.start([seed])
