"""The inspector's story of pages that came by import."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from periplus import Collection
from periplus.app.importing import import_paths

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from periplus.records import StepRecord

PAGE = "<html lang=en><head><title>{0}</title>{1}</head><p>The harbour of {0} has a story of its own.</html>"


@pytest.fixture
def collection(tmp_path: Path) -> Iterator[Collection]:
    with Collection(tmp_path / "c") as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "site"
    made.mkdir()
    heads = {
        "page": "",
        "copy": "<link rel=canonical href='page.html'>",
        "hidden": "<meta name=robots content=noindex>",
    }
    for name, head in heads.items():
        (made / f"{name}.html").write_text(PAGE.format(name, head), encoding="utf-8")
    return made


def story(collection: Collection, url: str) -> tuple[str, dict[str, StepRecord]]:
    inspection = collection.inspect(url)
    return inspection.verdict, {step.step: step for step in inspection.steps}


def test_an_imported_page_tells_from_where_and_what_became_of_it(collection: Collection, folder: Path) -> None:
    import_paths(collection, [folder], "http://b.test/")
    verdict, steps = story(collection, "http://b.test/page.html")
    assert verdict == "not found by search yet: no generation is published yet"
    assert steps["discovered"].detail == "imported from site"
    assert steps["discovered"].at > 0
    assert steps["parse"].detail == "batch 1, imported from site"
    assert {steps[name].state for name in ("discovered", "scope", "robots", "queue", "fetch", "parse")} == {"ok"}
    collection.index()
    collection.rank()
    verdict, steps = story(collection, "http://b.test/page.html")
    assert verdict == "found by search"
    assert (steps["index"].state, steps["rank"].step) == ("ok", "rank")


def test_what_keeps_it_from_being_found_is_said(collection: Collection, folder: Path) -> None:
    import_paths(collection, [folder], "http://b.test/")
    collection.index()
    verdict, steps = story(collection, "http://b.test/hidden.html")
    assert verdict.startswith("not found by search: ")
    assert (steps["parse"].state, steps["parse"].reason) == ("refused", "noindex")
    _, steps = story(collection, "http://b.test/copy.html")
    assert (steps["canonical"].reason, steps["canonical"].detail) == ("canonical-elsewhere", "http://b.test/page.html")
    collection.remove("http://b.test/page.html")
    verdict, steps = story(collection, "http://b.test/page.html")
    assert "taken down" in verdict
    verdict, _ = story(collection, "http://b.test/nowhere.html")
    assert verdict.startswith("not found by search: ")


def test_the_newest_import_tells(collection: Collection, folder: Path) -> None:
    import_paths(collection, [folder], "http://b.test/")
    page = folder / "page.html"
    page.write_text(PAGE.format("another", ""), encoding="utf-8")
    os.utime(page, (2_000_000_000, 2_000_000_000))
    import_paths(collection, [folder], "http://b.test/")
    _, steps = story(collection, "http://b.test/page.html")
    assert steps["parse"].detail.startswith("batch 2, ")


def test_what_the_index_has_not_seen_yet_waits(collection: Collection, folder: Path) -> None:
    import_paths(collection, [folder], "http://b.test/")
    collection.index()
    import_paths(collection, [folder], "http://c.test/")
    verdict, steps = story(collection, "http://c.test/page.html")
    assert verdict == "not found by search yet: 1 batch is not in the index yet"
    assert steps["index"].advice == "periplus index"


def test_a_record_with_an_id_is_found_by_its_address(collection: Collection, tmp_path: Path) -> None:
    lines = tmp_path / "records.jsonl"
    record = {"id": "seven", "url": "http://b.test/seven", "title": "Seven", "text": "The harbour of seven."}
    lines.write_text(json.dumps(record), encoding="utf-8")
    import_paths(collection, [lines])
    collection.index()
    verdict, steps = story(collection, "http://b.test/seven")
    assert verdict == "found by search"
    assert steps["discovered"].detail == "imported from records.jsonl"


def test_an_import_whose_batches_do_not_say_so_any_more(collection: Collection, folder: Path) -> None:
    import_paths(collection, [folder], "http://b.test/")
    collection.index()
    with collection.database.write() as tx:  # as an older version left it
        tx.execute("UPDATE batches SET source = ''")
    verdict, steps = story(collection, "http://b.test/page.html")
    assert verdict == "found by search"
    assert (steps["discovered"].detail, steps["parse"].detail) == ("imported", "batch 1")
