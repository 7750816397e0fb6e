"""Takedown from the outside: a page is found, is taken down, and is found nowhere any more."""

from __future__ import annotations

import json

import pytest

from periplus import Collection
from periplus.app.importing import import_paths
from periplus.cli.main import run
from periplus.demo import DemoWeb
from periplus.storage import folder_lock


@pytest.fixture
def collection(tmp_path):
    with DemoWeb() as web, Collection(tmp_path / "c") as made:
        made.crawl(web.seeds(), max_pages=15, scope="host", delay=0.01, resolve=web.resolve)
        made.index()
        made.rank()
        yield made


def _bytes_with(folder, text):
    needle = text.encode()
    return [path.name for path in folder.rglob("*") if path.is_file() and needle in path.read_bytes()]


def test_a_page_is_found_by_nothing_any_more(collection):
    victim = next(iter(collection.search("tide")))
    words = victim.title.split()[0].lower()
    assert collection.inspect(victim.url).verdict == "found by search"
    removal = collection.remove(victim.url)
    assert removal.indexed
    assert removal.addresses == (victim.url,)
    assert removal.documents == 1
    assert len(removal.archived) == 2
    assert victim.url not in [hit.url for hit in collection.search(victim.title, k=50)]
    assert victim.title not in [suggestion.text for suggestion in collection.suggest(words, 50)]
    assert collection.engine.stored(victim.url) is None  # what the cached view shows
    assert "taken down" in collection.inspect(victim.url).verdict
    collection.rank()
    collection.index(rebuild=True)
    assert victim.url not in [hit.url for hit in collection.search(victim.title, k=50)]
    assert collection.politeness().clean


def test_a_host_by_the_command_line(collection, capsys):
    victim = next(iter(collection.search("tide")))
    host = victim.url.split("/")[2]
    collection.close()
    assert run(["remove", host, "--dir", str(collection.folder), "--json", "--rebuild"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["target"], told["is_host"], told["indexed"]) == (host, True, True)
    assert len(told["addresses"]) >= told["documents"] > 0
    assert all(host not in hit.url for hit in collection.search("tide", k=50))
    assert run(["remove", "not a host", "--dir", str(collection.folder)]) == 2


def test_while_another_process_indexes_it_follows_later(collection):
    victim = next(iter(collection.search("tide")))
    with folder_lock(collection.folder / "building.lock", "indexing"):
        assert not collection.remove(victim.url).indexed
    collection.index()
    assert victim.url not in [hit.url for hit in collection.search(victim.title, k=50)]


def test_imported_documents_are_taken_down_too(tmp_path):
    lines = tmp_path / "docs.jsonl"
    lines.write_text(
        '{"id": "1", "url": "http://a.test/x", "title": "Winds", "text": "The trade winds are zephyrical."}\n'
        '{"id": "2", "url": "http://b.test/y", "title": "Tides", "text": "The tides are not."}\n'
    )
    with Collection(tmp_path / "c") as collection:
        import_paths(collection, [lines])
        collection.index()
        assert len(collection.search("zephyrical")) == 1
        removal = collection.remove("a.test", rebuild=True)
        assert (removal.documents, removal.indexed) == (1, True)
        assert len(collection.search("zephyrical")) == 0
        assert len(collection.search("tides")) == 1
        assert not any("zephyrical" in document.text for document in collection.documents())
        assert _bytes_with(tmp_path / "c", "zephyrical") == []
