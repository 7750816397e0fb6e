"""Import by several processes: the same log as by one."""

from __future__ import annotations

import json

import pytest

from periplus import Collection
from periplus.app import importing
from periplus.documents import BatchLog
from periplus.errors import Corrupt


def logged(collection: Collection) -> list[tuple[str, str]]:
    log = BatchLog(collection.files, collection.database)
    return [(document.id, document.text) for number in log.numbers() for document in log.documents(number)]


@pytest.fixture
def lines(tmp_path):
    path = tmp_path / "docs.jsonl"
    records = [
        {"id": str(number % 20), "title": "Tides", "text": f"Version {number} of the page."} for number in range(47)
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_helpers_append_in_the_order_of_the_file(tmp_path, lines, monkeypatch):
    monkeypatch.setattr(importing, "BATCH", 5)
    told: list[int] = []
    with Collection(tmp_path / "two", flags={"index.workers": 2}) as two:
        report = importing.import_paths(two, [lines], progress=told.append)
        rows = logged(two)
    with Collection(tmp_path / "one", flags={"index.workers": 1}) as one:
        importing.import_paths(one, [lines])
        assert rows == logged(one)
    assert (report.documents, report.refused) == (47, 0)
    assert [number for number, _ in rows] == [str(number % 20) for number in range(47)]
    assert told == sorted(told)


def test_what_came_before_a_damaged_line_is_kept_by_helpers_too(tmp_path, lines, monkeypatch):
    monkeypatch.setattr(importing, "BATCH", 10)
    with lines.open("a", encoding="utf-8") as file:
        file.write("{broken\n")
    with Collection(tmp_path / "two", flags={"index.workers": 2}) as two:
        with pytest.raises(Corrupt, match="line 48"):
            importing.import_paths(two, [lines])
        assert len(logged(two)) == 47
