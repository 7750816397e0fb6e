"""The Python surface, as the README shows it."""

from __future__ import annotations

import json

import pytest

from periplus import Collection
from periplus.app.importing import import_paths
from periplus.demo import DemoWeb
from periplus.errors import CollectionMissing, Incompatible, UsageError


def test_the_readme_in_python(tmp_path):
    with DemoWeb() as web, Collection(tmp_path / "c") as c:
        c.crawl(web.seeds(), max_pages=12, scope="host", delay=0.01, resolve=web.resolve)
        c.index()
        c.rank()
        hits = list(c.search("tide tables", k=5))

    assert 1 <= len(hits) <= 5
    assert all(hit.title and hit.url.startswith("http://") for hit in hits)


def test_reading_a_folder_without_a_collection_says_so(tmp_path):
    collection = Collection(tmp_path / "none")

    for read in (collection.index, collection.rank, collection.status, lambda: collection.search("x")):
        with pytest.raises(CollectionMissing, match="none"):
            read()
    assert not (tmp_path / "none").exists()


def rights(folder):
    return folder.stat().st_mode & 0o777


def test_a_new_folder_is_for_its_owner_alone(tmp_path):
    """The one above it is made with the usual rights, and one that was there keeps its own."""
    (tmp_path / "usual").mkdir()
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    for folder in (tmp_path / "above" / "new", tmp_path / "open"):
        Collection(folder).create().close()

    assert rights(tmp_path / "above" / "new") == 0o700
    assert rights(tmp_path / "above") == rights(tmp_path / "usual")
    assert rights(tmp_path / "open") == 0o755


def test_an_unknown_option_is_named(tmp_path):
    with pytest.raises(UsageError, match="speed"):
        Collection(tmp_path / "c").crawl(["http://a.test/"], speed=11)


def write_lines(path, *records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_lines_of_json_become_documents_known_by_their_id(tmp_path):
    lines = write_lines(
        tmp_path / "docs.jsonl",
        {"id": "1", "title": "Tides", "text": "The moon pulls the sea."},
        {"id": 2, "title": "Winds", "text": "The trade winds are steady.", "url": "http://winds.test/trade"},
        {"id": "3", "title": "Winds again", "text": "The trade winds drop.", "url": "http://winds.test/trade"},
    )
    with Collection(tmp_path / "c") as collection:
        report = import_paths(collection, [lines])
        collection.index()

        moon = list(collection.search("moon"))
        trade = list(collection.search("trade"))
        ranking = collection.engine.ranking("trade winds", 10, "bm25")

    assert report.documents == 3
    assert [hit.title for hit in moon] == ["Tides"]
    assert {hit.url for hit in trade} == {"http://winds.test/trade"}
    assert len(trade) == 2
    assert {name for name, _ in ranking} == {"2", "3"}


def test_a_folder_of_pages_is_imported_under_its_address(tmp_path):
    folder = tmp_path / "pages" / "guide"
    folder.mkdir(parents=True)
    (folder / "knots.html").write_text("<title>Knots</title><p>The bowline does not slip.</p>", encoding="utf-8")
    (folder / "picture.png").write_bytes(b"\x89PNG")
    with Collection(tmp_path / "c") as collection:
        report = import_paths(collection, [tmp_path / "pages"], "https://ropes.test/")
        collection.index()
        hits = list(collection.search("bowline"))

    assert report.documents == 1
    assert [hit.url for hit in hits] == ["https://ropes.test/guide/knots.html"]


def test_an_archive_of_one_collection_can_be_imported_into_another(tmp_path):
    with DemoWeb() as web, Collection(tmp_path / "a") as first:
        first.crawl(web.seeds(), max_pages=5, scope="host", delay=0.01, resolve=web.resolve)
        archives = sorted((tmp_path / "a" / "archive").glob("*.warc.gz"))
    with Collection(tmp_path / "b") as second:
        report = import_paths(second, archives)

    assert report.documents >= 3


@pytest.mark.parametrize("name", ["x.zip", "x.txt"])
def test_an_unknown_kind_is_refused_before_anything_is_made(tmp_path, name):
    (tmp_path / name).write_text("x", encoding="utf-8")

    with pytest.raises(Incompatible, match="unknown kind"):
        import_paths(Collection(tmp_path / "c"), [tmp_path / name])
    assert not (tmp_path / "c").exists()
