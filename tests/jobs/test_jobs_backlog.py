"""An index is the same whether the crawl made the documents or left them for later."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from mockweb.fixtures import mock_web  # noqa: F401 (a fixture)
from periplus.app import Collection

if TYPE_CHECKING:
    from pathlib import Path

    from mockweb.mock_web import MockWeb

WORDS = ("harbour", "lighthouse", "spring tide", "pilot book", "storm warning")


@pytest.fixture
def sea(mock_web: MockWeb) -> MockWeb:  # noqa: F811
    for number in range(12):
        word = WORDS[number % len(WORDS)]
        text = (
            f"<h1>Leaf {number} of the {word}</h1><p>What the {word} says about the {WORDS[number % 3]}, leaf {number}."
        )
        mock_web.page(f"http://a.test/{number}", text * 2, links=[(f"/{number + 1}", f"more about {word}")])
    mock_web.page(
        "http://a.test/12", "<p>The harbour again, but not to be found.", headers=[("X-Robots-Tag", "noindex")]
    )
    return mock_web


def collection_of(folder: Path, web: MockWeb, documents: str) -> Collection:
    flags = {"crawl.resolve": web.resolve, "crawl.delay": 0.0, "crawl.documents": documents, "crawl.workers": 1}
    collection = Collection(folder, flags=flags)
    collection.crawl(["http://a.test/0"], seconds=30)
    return collection


def found(collection: Collection) -> dict[str, list[tuple[str, str, float]]]:
    return {
        query: [(hit.url, hit.title, round(hit.score, 6)) for hit in collection.search(query, k=20)]
        for query in (*WORDS, '"spring tide"', "leaf", "more about harbour")
    }


def test_both_ways_give_the_same_index(tmp_path: Path, sea: MockWeb) -> None:
    answers = []
    for documents in ("now", "later"):
        with collection_of(tmp_path / documents, sea, documents) as collection:
            assert collection.pipeline.due().backlog is (documents == "later")
            assert collection.status().backlog == (13 if documents == "later" else 0)
            links = collection.rank().links
            manifest = collection.index()
            assert collection.status().backlog == 0
            assert not collection.pipeline.due().backlog
            answers.append((manifest.documents, links, found(collection)))
    assert answers[0] == answers[1]
    assert answers[0][0] == 12
    assert answers[0][2]["harbour"]


def test_indexing_again_takes_what_a_recrawl_left(tmp_path: Path, sea: MockWeb) -> None:
    with collection_of(tmp_path / "c", sea, "later") as collection:
        collection.index()
        sea.page("http://a.test/3", "<p>A shipwreck was found here by divers.", links=["/4"])
        collection.crawl(recrawl=True, seconds=30)
        collection.index()
        assert [hit.url for hit in collection.search("shipwreck")] == ["http://a.test/3"]
