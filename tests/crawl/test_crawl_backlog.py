"""Documents left for later come to what they would have been now, whatever happens in between."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from msgspec.structs import replace

from crawl.test_crawl_crash import kill_after, start
from crawl.voyages import Voyage, settings_for
from periplus import archive
from periplus.crawl import Backlog, backlog_size, inspect, remove
from periplus.crawl.frontier.rows import LATER, WAITING
from periplus.crawl.rules import traps
from periplus.documents import BatchLog
from periplus.settings import Settings
from periplus.storage import Database, LocalFiles

if TYPE_CHECKING:
    from pathlib import Path

    from mockweb.mock_web import MockWeb
    from periplus.records import Document

TEXT = "<p>The harbour lies behind a long wall, and boats wait there for the tide to turn in the evening."
FRENCH = "<p>Le port se trouve derrière un long mur, et les bateaux y attendent que la marée tourne le soir."
COMPARED = "url, state, refusal, detail, same_as, fingerprint, body_hash, pending, kind, depth, reason"


def read_backlog(voyage: Voyage, **options: Any) -> int:
    settings = settings_for((), **options).crawl
    return Backlog(voyage.folder, voyage.database, log_of(voyage), settings).work()


def log_of(voyage: Voyage) -> BatchLog:
    return BatchLog(LocalFiles(voyage.folder), voyage.database)


def newest(voyage: Voyage) -> dict[str, Document]:
    """What the log says of every address, but for the moments and places of a crawl."""
    log = log_of(voyage)
    found = {doc.url: doc for number in log.numbers() for doc in log.documents(number, links=True)}
    return {url: replace(doc, fetched=0.0, archive=None) for url, doc in found.items()}


def varied_web(web: MockWeb) -> str:
    """Everything that decides about documents: robots, copies, other names, scripts, languages, other types."""
    names = [
        "plain",
        "noindex",
        "nofollow",
        "copy",
        "named",
        "moved",
        "shell",
        "empty",
        "french",
        "paper",
        "data",
        "far",
    ]
    seed = web.page("http://a.test/", TEXT, links=[f"/{name}" for name in names])
    web.page("http://a.test/plain", TEXT + " A first page.", links=["/copy", ("/far", "far away")])
    web.page(
        "http://a.test/copy",
        TEXT + " A first page.",
        links=["/copy", ("/far", "far away")],
        title="http://a.test/plain",
    )
    web.page("http://a.test/noindex", TEXT + " Not to be found.", headers=[("X-Robots-Tag", "noindex")])
    web.page("http://a.test/nofollow", TEXT + " Secret.", ["/secret"], headers=[("X-Robots-Tag", "nofollow")])
    web.text("http://a.test/named", f'<link rel="canonical" href="/plain"><title>n</title>{TEXT}', "text/html")
    web.text("http://a.test/moved", '<meta http-equiv="refresh" content="0; url=/target">moved', "text/html")
    web.page("http://a.test/target", TEXT + " Where it moved.")
    web.text("http://a.test/shell", '<script src="/b.js"></script><noscript>Needs JavaScript.</noscript>', "text/html")
    web.text("http://a.test/empty", b"", "text/html")
    web.page("http://a.test/french", FRENCH, lang="fr")
    web.text("http://a.test/paper", "Plain words on paper, long enough to tell that they are English words.")
    web.text("http://a.test/data", b"\x00\x01\x02\x03" * 50, "application/octet-stream")
    web.redirect("http://a.test/far", "http://a.test/target")
    return seed


@pytest.mark.parametrize("languages", [(), ("en",)])
def test_documents_later_are_documents_now(tmp_path: Path, mock_web: MockWeb, languages: tuple[str, ...]) -> None:
    seed = varied_web(mock_web)
    found = {}
    for name in ("now", "later"):
        (tmp_path / name).mkdir()
        with Database.open(tmp_path / name / "state.db") as database:
            voyage = Voyage(tmp_path / name, database)
            status = voyage.run(mock_web, seed, documents=name, languages=languages)
            waiting = backlog_size(database)
            made = read_backlog(voyage)  # without the flag of the crawl: it was kept
            rows = voyage.rows(f"SELECT {COMPARED} FROM urls ORDER BY url")
            found[name] = (newest(voyage), rows, (status.pages, status.refused, status.failed))
            assert made == waiting == (10 if name == "later" else 0)
            assert backlog_size(database) == 0
            voyage.prove_polite()
    assert found["later"] == found["now"]
    refusals = {url.removeprefix("http://a.test/"): doc.refusal for url, doc in found["later"][0].items()}
    assert {refusals["plain"], refusals["copy"]} == {"", "duplicate"}
    assert refusals["french"] == ("wrong-language" if languages else "")
    assert "secret" not in refusals


def test_nothing_is_found_twice_and_work_ends(voyage_anywhere: Voyage, mock_web: MockWeb) -> None:
    voyage = voyage_anywhere
    pages = mock_web.site("a.test", 12)
    voyage.run(mock_web, "http://a.test/", documents="later")
    assert voyage.documents() == {}
    assert backlog_size(voyage.database) == len(pages)
    assert read_backlog(voyage) == len(pages)
    assert read_backlog(voyage) == 0
    assert voyage.documents() == dict.fromkeys(pages, "")
    assert len(log_of(voyage).numbers()) == 1


def test_a_backlog_is_read_in_parts(voyage: Voyage, mock_web: MockWeb, monkeypatch: pytest.MonkeyPatch) -> None:
    pages = mock_web.site("a.test", 12)
    voyage.run(mock_web, "http://a.test/", documents="later")
    monkeypatch.setattr("periplus.crawl.keeping.backlog.BYTES_AT_ONCE", 100)
    seen: list[int] = []
    Backlog(voyage.folder, voyage.database, log_of(voyage), Settings().crawl).work(seen.append)
    assert seen[-1] == len(pages)
    assert len(log_of(voyage).numbers()) == len(seen) > 2
    assert voyage.documents() == dict.fromkeys(pages, "")


def test_inspect_and_status_say_that_it_waits(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://a.test/", TEXT)
    status = voyage.run(mock_web, "http://a.test/", documents="later")
    assert (status.pages, status.documents) == (1, 0)
    step = inspect(voyage.database, "http://a.test/", Settings())[-1]
    assert (step.step, step.state) == ("parse", "waiting")
    assert "periplus index" in step.detail
    read_backlog(voyage)
    assert inspect(voyage.database, "http://a.test/", Settings())[-1].state == "ok"


def test_revisits_before_and_after_the_documents(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.conditional("http://a.test/", TEXT)
    voyage.run(mock_web, "http://a.test/", documents="later")
    again = voyage.run(mock_web, recrawl=True, documents="later")
    assert again.unchanged == 1  # asked conditionally although its document is not made
    assert read_backlog(voyage) == 1
    mock_web.page("http://a.test/", TEXT + " It has changed since.")
    changed = voyage.run(mock_web, recrawl=True, documents="later")
    assert changed.pages == 1
    assert read_backlog(voyage) == 1
    assert "changed since" in newest(voyage)["http://a.test/"].text


def test_a_page_visited_again_meanwhile_comes_with_its_newest_version(
    voyage: Voyage, mock_web: MockWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    mock_web.page("http://a.test/", TEXT, links=["/b"])
    mock_web.page("http://a.test/b", TEXT + " The second page.")
    voyage.run(mock_web, "http://a.test/", documents="later")
    mock_web.page("http://a.test/b", TEXT + " It is another now.")
    real = archive.read

    def read_slowly(folder: Path, location: Any) -> Any:
        exchange = real(folder, location)
        if exchange.url.endswith("/b") and b"second page" in exchange.body:
            voyage.run(mock_web, recrawl=True, documents="now")
        return exchange

    monkeypatch.setattr(archive, "read", read_slowly)
    assert read_backlog(voyage) == 0  # both were visited, one has changed and is in a batch of that crawl
    assert "another now" in newest(voyage)["http://a.test/b"].text
    assert read_backlog(voyage) == 1
    assert "another now" in newest(voyage)["http://a.test/b"].text
    assert backlog_size(voyage.database) == 0


def test_what_is_taken_down_before_its_document_is_made_stays_out(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://a.test/", TEXT, links=["/b"])
    mock_web.page("http://a.test/b", TEXT + " The second page.")
    voyage.run(mock_web, "http://a.test/", documents="later")
    remove(voyage.database, "http://a.test/b", log_of(voyage), voyage.folder)
    assert read_backlog(voyage) == 1
    assert voyage.documents() == {"http://a.test/": "", "http://a.test/b": "removed"}


def test_a_page_gone_before_its_document_is_made(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://a.test/", TEXT, links=["/b"])
    mock_web.page("http://a.test/b", TEXT + " The second page.")
    voyage.run(mock_web, "http://a.test/", documents="later")
    mock_web.page("http://a.test/b", "gone", status=410)
    voyage.run(mock_web, recrawl=True, documents="later")
    read_backlog(voyage)
    assert voyage.documents()["http://a.test/b"] == "gone"


def test_a_lost_record_is_asked_for_again(voyage: Voyage, mock_web: MockWeb) -> None:
    mock_web.page("http://a.test/", TEXT)
    voyage.run(mock_web, "http://a.test/", documents="later")
    for path in (voyage.folder / "archive").glob("*.warc.gz"):
        path.unlink()
    assert read_backlog(voyage) == 0
    assert voyage.rows("SELECT pending FROM urls") == [(WAITING,)]
    voyage.run(mock_web, documents="later")
    assert voyage.rows("SELECT pending FROM urls") == [(LATER,)]
    assert read_backlog(voyage) == 1
    assert voyage.documents() == {"http://a.test/": ""}


def test_a_failed_batch_leaves_the_pages_waiting(
    voyage: Voyage, mock_web: MockWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    mock_web.page("http://a.test/", TEXT)
    voyage.run(mock_web, "http://a.test/", documents="later")

    def fail(*_: object) -> None:
        raise OSError("no more room")

    with monkeypatch.context() as patch:
        patch.setattr("periplus.crawl.keeping.backlog._settle", fail)
        with pytest.raises(OSError, match="no more room"):
            read_backlog(voyage)
    assert (voyage.documents(), backlog_size(voyage.database)) == ({}, 1)
    assert read_backlog(voyage) == 1


def test_a_kill_loses_nothing(voyage: Voyage, mock_web: MockWeb) -> None:
    pages = set(mock_web.site("a.test", 25)) | set(mock_web.site("b.test", 25))
    seeds = ("http://a.test/", "http://b.test/")
    kill_after(start(voyage, mock_web, "documents=later", *seeds), mock_web, 24)
    voyage.run(mock_web, *seeds, documents="later")
    assert voyage.fetched() == pages
    assert read_backlog(voyage) == len(pages)
    assert set(voyage.documents()) == pages


def test_traps_by_their_texts_end_although_texts_are_read_later(
    voyage: Voyage, mock_web: MockWeb, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(traps, "SAMPLED_FROM", 10)
    most = 10 + (traps.MAX_NEAR_DUPLICATES + 2) * traps.SAMPLED_EVERY
    words = "<p>" + " ".join(f"word{number}" for number in range(200))
    for number in range(2 * most):
        mock_web.page(f"http://a.test/item/{number}", words, links=[f"/item/{number + 1}"])
    voyage.run(mock_web, "http://a.test/item/0", documents="later", max_depth=1000)
    assert voyage.rows("SELECT reason FROM closed_patterns") == [("trap-near-duplicates",)]
    assert len(voyage.fetched()) <= most
