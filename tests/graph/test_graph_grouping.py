"""What is published of links does not depend on the order of pages, nor on how they are grouped into batches."""

from __future__ import annotations

import random
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import NamedTuple

from graph_samples import page
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus import addresses
from periplus.documents import BatchLog
from periplus.documents.compaction import Compaction
from periplus.graph import anchors
from periplus.graph.backlinks import backlinks_of
from periplus.graph.citations import citations_of
from periplus.graph.link_texts import link_texts_of
from periplus.graph.links import newest_pages
from periplus.graph.runs import Runs
from periplus.graph.site_links import site_links_of
from periplus.records import Anchor, Link
from periplus.storage import Database, LocalFiles

TIDES, PILOTS = "https://port.example/tides", "https://port.example/pilots"
HOSTS = ("port.example", "s1.example", "t1.example")
SPELLINGS = (str, str.upper, str.title)
PAGES = [
    page(TIDES, PILOTS, "https://s1.example/"),
    page(PILOTS),
    *(page(f"https://s{n}.example/", Link(TIDES, SPELLINGS[n % 3](f"berth {n % 40}"))) for n in range(60)),
    *(page(f"https://t{n}.example/", Link(PILOTS, "pilot"), Link(TIDES, f"berth {n % 3}")) for n in range(9)),
    *(page(f"https://u.example/{n}", Link(PILOTS, "quay"), Link(PILOTS, "anchorage")) for n in range(3)),
]
FORMER = [page(document.url, Link(PILOTS, "a former text")) for document in PAGES[2:22]]


class Published(NamedTuple):
    phrases: dict[str, tuple[Anchor, ...]]
    said: list[tuple[str, int]]
    neighbours: list[object]
    linking: dict[str, list[int]]
    cited: list[list[int]]


def published(sizes: list[int], seed: int, *, merged: bool) -> Published:
    """Of ``PAGES`` in an order of chance, in batches of these sizes in turn, with former versions of some before."""
    shuffled = random.Random(seed).sample(PAGES, len(PAGES))
    with tempfile.TemporaryDirectory() as folder, closing(Database.open(Path(folder) / "state.db")) as database:
        files = LocalFiles(Path(folder))
        log = BatchLog(files, database)
        log.append(FORMER)
        while shuffled:
            sizes = [*sizes[1:], sizes[0]]
            log.append(shuffled[: sizes[-1]])
            del shuffled[: sizes[-1]]
        if merged:
            Compaction(log, files, database).run(max(log.numbers()))
        runs = Runs(log)
        pages = newest_pages(runs)
        backlinks, sites = backlinks_of(runs, pages), site_links_of(runs, pages)
        texts = link_texts_of(log, runs, pages, backlinks.link_targets)
        phrases = anchors(log, pages, runs)
        keys = {url: addresses.page_key(url) for url in (TIDES, PILOTS)}
        return Published(
            {url: phrases(key) for url, key in keys.items()},
            list(texts.counts().items()),
            [sites.of(host) for host in HOSTS],
            {url: backlinks.to(key).tolist() for url, key in keys.items()},
            [column.tolist() for column in citations_of(log, runs, pages)],
        )


@cache
def together() -> Published:
    return published([len(PAGES)], 0, merged=False)


@settings(max_examples=10)
@given(st.lists(st.integers(5, 90), min_size=1, max_size=4), st.integers(0, 999), st.booleans())
def test_no_order_and_no_grouping_makes_a_difference(sizes: list[int], seed: int, merged: bool) -> None:
    assert published(sizes, seed, merged=merged) == together()


def test_there_are_ties_to_break() -> None:
    assert len(together().phrases[TIDES]) == 32  # of more
    assert [said for said in together().said if said[0] in ("quay", "anchorage")] == [("anchorage", 3), ("quay", 3)]
    assert len(together().linking[TIDES]) == 69


def test_batches_are_merged_in_these_tests() -> None:
    """Else nothing would be shown of compacted batches."""
    with tempfile.TemporaryDirectory() as folder, closing(Database.open(Path(folder) / "state.db")) as database:
        files = LocalFiles(Path(folder))
        log = BatchLog(files, database)
        for start in range(0, len(PAGES), 5):
            log.append(PAGES[start : start + 5])
        assert Compaction(log, files, database).run(max(log.numbers()))
