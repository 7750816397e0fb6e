"""Anchor phrases: distinct sites count, repetition and navigation do not."""

from __future__ import annotations

import pytest
from graph_samples import page

from periplus import addresses
from periplus.graph import anchors
from periplus.graph.anchors import MAX_PHRASES
from periplus.records import Anchor, Link

TARGET = "https://port.example/tides"
KEY = addresses.page_key(TARGET)


def found(log) -> dict[str, int]:
    return {anchor.text: anchor.sites for anchor in anchors(log)(KEY)}


def linking(number: int, text: str, **fields) -> object:
    return page(f"https://s{number}.example/", Link(TARGET, text, **fields))


def test_no_batches(log) -> None:
    assert list(anchors(log).items()) == []
    assert anchors(log)(KEY) == ()


def test_phrases_are_counted_by_distinct_sites(log) -> None:
    log.append(
        [
            page(TARGET),
            *(linking(number, "Tide  tables") for number in range(5)),
            *(page(f"https://www.s1.example/{number}", Link(TARGET, "tide tables")) for number in range(20)),
            linking(9, "harbour tides"),
        ]
    )
    assert anchors(log)(KEY) == (Anchor("Tide tables", 5), Anchor("harbour tides", 1))


def test_own_site_and_navigation_count_less(log) -> None:
    log.append(
        [
            page(TARGET),
            page("https://port.example/", Link(TARGET, "our tides"), Link(TARGET, "bar", place="navigation")),
            *(linking(number, "elsewhere", place="footer") for number in range(4)),
            *(linking(10 + number, "elsewhere in text") for number in range(4)),
        ]
    )
    assert found(log) == {"our tides": 1, "elsewhere": 2, "elsewhere in text": 4}


def test_what_a_site_calls_its_page_often_is_kept_and_weighs_more(log) -> None:
    """Its name is not dropped from a full list, and many uses by another site still count once."""
    rare = [Link(TARGET, f"a phrase of its own {number:02}") for number in range(40)]
    pages = [page(f"https://port.example/{number}", Link(TARGET, "tides of the port")) for number in range(1_000)]
    others = [
        page(f"https://other.example/{number}", Link(TARGET, "theirs", place="footer")) for number in range(1_000)
    ]
    log.append([page(TARGET), page("https://port.example/", *rare), *pages, *others])
    phrases = anchors(log)(KEY)
    assert phrases[0] == Anchor("tides of the port", 2)  # 1/2 and three times half a site for every tenfold use
    assert len(phrases) == MAX_PHRASES
    assert {anchor.sites for anchor in phrases[1:]} == {1}


@pytest.mark.parametrize(
    "text", ["", "click here", " Read more\u2026", "\u2192", "https://port.example/tides", "www.port.example", "Mehr"]
)
def test_phrases_that_say_nothing(log, text: str) -> None:
    log.append([page(TARGET), linking(1, text)])
    assert found(log) == {}


def test_the_title_stands_in_for_a_missing_text(log) -> None:
    log.append([page(TARGET), linking(1, " ", title="Tides of the port"), linking(2, "Tides", title="ignored")])
    assert found(log) == {"Tides of the port": 1, "Tides": 1}


def test_links_that_are_not_followed_say_nothing(log) -> None:
    log.append([page(TARGET), linking(1, "cheap tides", rel=("ugc",))])
    assert found(log) == {}


def test_old_versions_and_unread_targets_are_left_out(log) -> None:
    log.append(
        [page(TARGET), linking(1, "old words"), page("https://x.example/", Link("https://unread.example/", "words"))]
    )
    log.append([linking(1, "new words")])
    assert found(log) == {"new words": 1}
    assert [key for key, _ in anchors(log).items()] == [KEY]


def test_an_alias_gives_its_phrases_to_the_page_it_names(log) -> None:
    alias = "https://port.example/old"
    log.append(
        [
            page(TARGET),
            page(alias, refusal="canonical-elsewhere", canonical=TARGET),
            page("https://s1.example/", Link(alias, "the old name")),
        ]
    )
    assert found(log) == {"the old name": 1}


def test_phrases_of_a_page_are_capped(log) -> None:
    log.append([page(TARGET), *(linking(number, f"phrase {number % 50}") for number in range(60))])
    phrases = anchors(log)(KEY)
    assert len(phrases) == 32
    assert [anchor.sites for anchor in phrases] == sorted((anchor.sites for anchor in phrases), reverse=True)
    assert all(len(anchor.text) <= 120 for anchor in phrases)
    log.append([linking(1, "x" * 500)])
    assert max(len(text) for text in found(log)) <= 120


def test_of_the_spellings_of_a_phrase_one_in_capitals_comes_last(log) -> None:
    log.append([page(TARGET), linking(1, "TIDES"), linking(2, "tides"), linking(3, "Tides")])
    assert found(log) == {"Tides": 3}
