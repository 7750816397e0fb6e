"""``safe``: pages that parsing found unfit are left out of every kind of list, and only then."""

from __future__ import annotations

import pytest
from search_samples import PATIENT, build, page

from periplus.index.format.marks import MOST_ADULT as MOST
from periplus.records import SearchRequest
from periplus.search import Engine

UNFIT = {"adult_words": MOST}
PAGES = [
    *(page(f"https://port.example/{i}", f"Port {i}", "A port on the coast, with a quay.") for i in range(6)),
    page("https://dark.example/", "Port of another kind", "A port on the coast.", signals={**UNFIT, "scripts": 0.1}),
    page("https://dark.example/little", "Port hardly", "A port.", signals={"adult_words": MOST / 2}),
]


@pytest.fixture
def engine(tmp_path):
    build(tmp_path, PAGES)
    opened = Engine(tmp_path, PATIENT)
    yield opened
    opened.close()


def found(engine, query="port", **options):
    answer = engine.search(SearchRequest(query, size=50, duplicates=True, **options))
    assert answer.degraded == () or answer.degraded == ("ranks",)
    return {result.url for result in answer}, answer.total


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"sort": "date"},
        {"query": "", "site": "dark.example"},
        {"query": "port -quay"},
        {"query": "dark.example"},
        {"lens": "pin:dark.example"},
        {"profile": "bm25"},
    ],
)
def test_unfit_pages_are_left_out_when_asked_for(engine, options):
    every, total = found(engine, **options)
    fit, fewer = found(engine, **options, safe=True)
    assert every - fit == {"https://dark.example/"}
    assert fewer.value == total.value - 1
    assert found(engine, **options)[0] == every  # answers are kept apart


def test_a_newer_version_decides(engine, tmp_path):
    better = page("https://dark.example/", "Port of another kind", "A port on the coast.")
    build(tmp_path, [better], 2)
    engine.reload()
    assert "https://dark.example/" in found(engine, safe=True)[0]
