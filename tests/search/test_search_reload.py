"""Swapping generations under searches, ranks and links of the collection, and what happens when they are damaged."""

from __future__ import annotations

import io
import threading
import time
from types import SimpleNamespace

import numpy as np
import pytest
from search_samples import PATIENT, build, page

from periplus import addresses
from periplus.documents import BatchLog
from periplus.errors import NotReady
from periplus.graph import RankStore, VertexRanks, refresh_ranks
from periplus.index import IndexStore
from periplus.records import Link, SearchRequest
from periplus.search import Engine
from periplus.search.opening.apart import gathered_completion, gathered_words, received, send
from periplus.search.opening.generations import Generation
from periplus.search.suggesting.dictionary import SpellingDictionary
from periplus.storage import Database, LocalFiles

A, B, C = "https://a.example/", "https://b.example/x", "https://c.example/"
PAGES = [
    page(A, "Walrus", "All about the walrus."),
    page(B, "More walrus", "A walrus again."),
    page(C, "Seal", "walrus"),
]


def urls(answer):
    return [result.url for result in answer]


def test_reload_takes_up_a_new_generation(tmp_path):
    build(tmp_path, PAGES[:1], 1)
    engine = Engine(tmp_path, PATIENT)
    assert engine.generation == 1
    assert not engine.reload()
    build(tmp_path, PAGES[1:], 2)
    assert engine.search(SearchRequest("walrus")).total.value == 1
    assert engine.reload()
    answer = engine.search(SearchRequest("walrus"))
    assert answer.total.value == 3
    assert answer.generation == engine.generation == 2


def test_an_engine_opened_before_the_first_generation_finds_it(tmp_path):
    engine = Engine(tmp_path, PATIENT)
    build(tmp_path, PAGES)
    assert engine.search(SearchRequest("walrus")).total.value == 3


def test_a_closed_engine_is_not_ready(tmp_path):
    build(tmp_path, PAGES)
    engine = Engine(tmp_path, PATIENT)
    engine.close()
    assert not engine.ready
    with pytest.raises(NotReady):
        engine.search(SearchRequest("walrus"))
    engine.close()


def test_searches_run_on_while_generations_are_swapped(tmp_path):
    build(tmp_path, PAGES[:1], 1)
    engine = Engine(tmp_path, PATIENT)
    failures: list[BaseException] = []
    totals: set[tuple[int, int]] = set()
    expected = {engine.generation: 1}
    stop = threading.Event()

    def search() -> None:
        i = 0
        while not stop.is_set():
            i += 1
            try:
                answer = engine.search(SearchRequest("walrus", size=1 + i % 9))
                totals.add((answer.generation, answer.total.value))
                engine.suggest("wal")
            except BaseException as error:  # noqa: BLE001 - whatever it is, the test must see it
                failures.append(error)
                return

    threads = [threading.Thread(target=search) for _ in range(4)]
    for thread in threads:
        thread.start()
    for number in range(2, 12):
        documents = [page(f"https://h{number}.example/", "Walrus", "One more walrus.")]
        build(tmp_path, documents, number)
        assert engine.reload()
        expected[engine.generation] = number
    stop.set()
    for thread in threads:
        thread.join()
    assert not failures
    assert all(total == expected[generation] for generation, total in totals)


def test_a_snapshot_is_closed_by_the_last_to_leave(tmp_path, monkeypatch):
    build(tmp_path, PAGES[:1], 1)
    engine = Engine(tmp_path, PATIENT)
    generations = engine._generations
    closed: list[int] = []
    with generations.use() as old:
        monkeypatch.setattr(old.summary, "close", lambda: closed.append(old.number))
        build(tmp_path, PAGES[1:], 2)
        assert engine.reload()
        assert not closed
    assert closed == [1]


def published_ranks(folder):
    pages = np.array([addresses.page_key(url) for url in (A, B, C)], dtype=np.int64)
    hosts = np.array([addresses.host_key(addresses.host(url)) for url in (A, B, C)], dtype=np.int64)
    ranks = np.array([0.1, 0.85, 0.05])
    RankStore(folder / "ranks").publish(VertexRanks(pages, ranks), VertexRanks(hosts, ranks), last_batch=1)


def test_reference_profiles_read_published_ranks(tmp_path):
    build(tmp_path, [*PAGES, page("https://d.example/", "Otter", "No such animal.")])
    published_ranks(tmp_path)
    engine = Engine(tmp_path, PATIENT)
    answer = engine.search(SearchRequest("walrus", profile="tfidf-pagerank", explain=True))
    assert urls(answer)[0] == B
    rank = next(part.value for part in answer.results[0].explain.parts if part.name == "PageRank")
    assert rank == pytest.approx(0.85 * 3)  # the classic scale
    skipped = engine.search(SearchRequest("walrus", profile="bm25-pagerank"))
    assert set(urls(skipped)) == {A, B}  # 0.05 * 3 is not above 0.16
    assert skipped.total.value == 2
    assert "skips" in engine.explain("walrus", C, "bm25-pagerank").formula


def test_damaged_ranks_degrade_and_do_not_prevent(tmp_path):
    build(tmp_path, PAGES)
    published_ranks(tmp_path)
    (tmp_path / "ranks" / "current.json").write_bytes(b"nonsense")
    answer = Engine(tmp_path, PATIENT).search(SearchRequest("walrus", profile="grs2"))
    assert len(answer) == 3
    assert "ranks" in answer.degraded


def test_link_finds_the_pages_that_link(tmp_path):
    from msgspec import structs

    database = Database.open(tmp_path / "state.db")
    log = BatchLog(LocalFiles(tmp_path), database)
    linking = structs.replace(PAGES[1], links=(Link("http://a.example/", "walrus"),))
    log.append([PAGES[0], linking, structs.replace(PAGES[2], links=(Link(A, "seal"),))])
    store, ranks = IndexStore(tmp_path / "index"), RankStore(tmp_path / "ranks")
    refresh_ranks(log, ranks)
    store.update([(number, log.documents(number)) for number in log.numbers()])
    engine = Engine(tmp_path, PATIENT)
    assert set(urls(engine.search(SearchRequest("link:https://a.example/")))) == {B, C}
    found = engine.search(SearchRequest("again link:a.example"))
    assert urls(found) == [B]
    assert found.total.value == 1
    assert found.degraded == engine.search(SearchRequest("walrus")).degraded
    assert engine.explain("walrus link:a.example", A).parts[0].name == "filtered: link"

    log.append([PAGES[2]])  # a newer version without the link
    refresh_ranks(log, ranks)
    store.update([(number, log.documents(number)) for number in log.numbers()])
    assert engine.reload()
    assert urls(engine.search(SearchRequest("link:a.example"))) == [B]
    database.close()


def test_link_without_ranks_says_so(tmp_path):
    build(tmp_path, PAGES)
    answer = Engine(tmp_path, PATIENT).search(SearchRequest("walrus link:a.example"))
    assert not answer.results
    assert "links" in answer.degraded


def test_large_collections_build_in_the_background(tmp_path, monkeypatch):
    monkeypatch.setattr("periplus.search.opening.generations.SMALL", 0)
    build(tmp_path, PAGES)
    engine = Engine(tmp_path, PATIENT)
    assert {suggestion.text for suggestion in engine.suggest("wal")} <= {"walrus", "Walrus", "More walrus"}
    engine.search(SearchRequest("walris"))
    with engine._generations.use() as generation:
        generation.lazy_completion.join()
        generation.lazy_dictionary.join()
    assert "More walrus" in {suggestion.text for suggestion in engine.suggest("wal")}
    assert engine.search(SearchRequest("warlus")).query.corrected == "walrus"
    build(tmp_path, [page("https://d.example/", "Otter", "walrus")], 2)
    assert engine.reload()
    engine.warm()
    assert "Otter" in {suggestion.text for suggestion in engine.suggest("ot")}
    engine.close()


def test_new_pages_are_found_before_words_are_gathered_anew(tmp_path, monkeypatch):
    """Words and completions of the generation before stand in; pages do not wait for them."""
    monkeypatch.setattr("periplus.search.opening.generations.SMALL", 0)
    monkeypatch.setattr("periplus.search.opening.lazy.PAUSE", 0.0)
    build(tmp_path, PAGES)
    engine = Engine(tmp_path, PATIENT)
    engine.warm()
    gate = threading.Event()
    for name in ("lazy_dictionary", "lazy_completion"):
        hold_back(monkeypatch, name, gate)
    build(tmp_path, [page("https://d.example/", "Otter", "otter")], 2)
    assert engine.reload()
    assert urls(engine.search(SearchRequest("otter"))) == ["https://d.example/"]
    assert "More walrus" in {suggestion.text for suggestion in engine.suggest("wal")}
    assert engine.search(SearchRequest("warlus")).query.corrected == "walrus"
    assert engine.search(SearchRequest("oter")).query.corrected != "otter"
    gate.set()
    with engine._generations.use() as generation:
        generation.lazy_completion.join()
        generation.lazy_dictionary.join()
    assert "Otter" in {suggestion.text for suggestion in engine.suggest("ot")}
    assert engine.search(SearchRequest("oter")).query.corrected == "otter"
    engine.close()


def test_another_process_gathers_the_words_of_a_large_collection(tmp_path, monkeypatch):
    for name, value in (("generations.SMALL", 0), ("generations.APART", 0), ("lazy.PAUSE", 0.0)):
        monkeypatch.setattr(f"periplus.search.opening.{name}", value)
    built_here = []
    monkeypatch.setattr("periplus.search.opening.generations.dictionary_of", built_here.append)
    build(tmp_path, PAGES)
    engine = Engine(tmp_path, PATIENT)
    engine.suggest("wal")
    with engine._generations.use() as generation:
        generation.lazy_completion.join()
        generation.lazy_dictionary._value = SpellingDictionary([("walrus", 3)], 3)
    build(tmp_path, [page("https://d.example/", "Otter", "otter")], 2)
    assert engine.reload()
    with engine._generations.use() as generation:
        generation.lazy_completion.join()
        generation.lazy_dictionary.join()
    assert "Otter" in {suggestion.text for suggestion in engine.suggest("ot")}
    assert engine.search(SearchRequest("oter")).query.corrected == "otter"
    assert not built_here
    engine.close()


def test_where_no_other_process_can_the_words_are_gathered_here(tmp_path, monkeypatch):
    monkeypatch.setattr("sys.executable", str(tmp_path / "nowhere"))
    assert gathered_words(tmp_path) is None
    assert gathered_completion(tmp_path, {}) is None


def test_what_another_process_gathered_comes_back_whole():
    words = SpellingDictionary([("walrus", 3), ("w\u00e4lrus", 2), ("seal", 5)], 10)
    stream = io.BytesIO()
    send(stream, words)
    back = received(io.BytesIO(stream.getvalue()))
    assert back.words == words.words
    assert back.near("walruss") == words.near("walruss")
    for end in (0, 4, 20, len(stream.getvalue()) - 1):
        with pytest.raises(EOFError):
            received(io.BytesIO(stream.getvalue()[:end]))


def hold_back(monkeypatch, name, gate):
    """Generations from now on build ``name`` only when the gate is open."""
    make = Generation.__init__

    def made(generation, *arguments, **more):
        make(generation, *arguments, **more)
        lazy = getattr(generation, name)
        build_it = lazy._build
        lazy._build = lambda: gate.wait(60) and build_it()

    monkeypatch.setattr(Generation, "__init__", made)


def test_time_that_runs_out_is_said_and_not_kept(tmp_path, monkeypatch):
    """The references re-rank thousands of pages chunk by chunk; what was not reached keeps the first pass's order."""
    build(tmp_path, [page(f"https://h{i}.example/", f"Walrus {i}", "walrus " * (i % 7 + 1)) for i in range(600)])
    engine = Engine(tmp_path, PATIENT)
    late = SimpleNamespace(perf_counter=lambda: 1e12, time=time.time)
    monkeypatch.setattr("periplus.search.shards.evidence.time", late)
    request = SearchRequest("walrus", profile="bm25", size=20)
    answer = engine.search(request)
    assert "budget" in answer.degraded
    assert len(answer) == 20
    monkeypatch.undo()
    assert "budget" not in engine.search(request).degraded
    engine.close()


def test_spelling_that_is_still_being_gathered_is_said(tmp_path, monkeypatch):
    build(tmp_path, [page("https://a.example/", "Walrus", "walrus and more")])
    engine = Engine(tmp_path, PATIENT)
    monkeypatch.setattr("periplus.search.opening.generations.OpenGenerations.dictionary", lambda *_: None)
    assert "spelling" in engine.search(SearchRequest("walruss")).degraded
    monkeypatch.undo()
    answer = engine.search(SearchRequest("walruss"))
    assert answer.query.corrected == "walrus"
    assert "spelling" not in answer.degraded
    engine.close()


def test_everything_is_answered_while_generations_are_swapped(tmp_path):
    """Suggestions, explanations, similar pages, lenses and counts, from several threads, while pages are added."""
    build(tmp_path, [page(f"https://a.example/{i}", f"Walrus {i}", "walrus tide") for i in range(5)])
    engine = Engine(tmp_path, PATIENT)
    failures: list[BaseException] = []
    done = threading.Event()

    def ask() -> None:
        try:
            while not done.is_set():
                assert engine.search(SearchRequest("walrus", lens="raise:a.example", counts=True, explain=True)).results
                engine.suggest("wal")
                engine.explain("walrus", "https://a.example/1")
                engine.similar("https://a.example/1")
        except BaseException as error:
            failures.append(error)
            raise

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(2, 6):
        build(tmp_path, [page(f"https://b{number}.example/", "Walrus", "walrus again")], number)
        assert engine.reload()
    done.set()
    for thread in threads:
        thread.join()
    assert not failures
    assert engine.search(SearchRequest("walrus", size=50)).total.value == 9
    engine.close()
