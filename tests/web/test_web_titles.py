"""Titles as a list shows them: what a site repeats in each of them is left out."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.web.pages.titles import listed_titles, without_common_part


class Result:
    def __init__(self, place, title):
        self.display_url, self.title = place, title


@pytest.mark.parametrize(
    ("titles", "shown"),
    [
        (["Tide tables | Tide Office", "Ostrel | Tide Office"], ["Tide tables", "Ostrel"]),
        (["Tide Office | Tide tables", "Tide Office | Ostrel – bar"], ["Tide tables", "Ostrel – bar"]),
        (["Go - Languages - Wiki", "Rust - Languages - Wiki"], ["Go - Languages", "Rust - Languages"]),
        (["Ostrel | Tide Office", "Ostrel | Tide Office"], None),  # nothing else tells them apart
        (["Ostrel | Tide Office", "Brannock | The Log"], None),
        (["Ostrel | Tide Office", "Tide Office"], None),
        (["Tide Office", "Ostrel | Tide Office", "Bar | Tide Office"], ["Tide Office", "Ostrel", "Bar"]),
        (["Tide Office", "Tide Office | Ostrel", "Tide Office | Bar"], ["Tide Office", "Ostrel", "Bar"]),
        (["The Log", "Ostrel | Tide Office", "Bar | Tide Office"], None),
        (["Install — Python 2.7", "Remove — Python 2.7"], None),  # versions are told apart by it
        (["... | Tide Office", "Ostrel | Tide Office"], None),  # one would be without a word
        (["Ostrel|Tide Office", "Brannock|Tide Office"], None),  # part of a name, without blanks
        (["Ostrel | Tide Office", "Brannock | Tide Office", "A very long…"], ["Ostrel", "Brannock", "A very long…"]),
        (["A very long…", "Another long…"], None),
        (["", ""], None),
    ],
)
def test_what_all_titles_of_a_site_repeat_is_left_out(titles, shown):
    assert list(without_common_part(titles)) == (shown or titles)


def test_each_host_of_a_list_is_looked_at_by_itself():
    results = [
        Result("tides.test › tables", "Tables | Tide Office"),
        Result("log.test › news", "News | The Log"),
        Result("tides.test › ostrel", "Ostrel | Tide Office"),
    ]
    assert listed_titles(results) == ["Tables", "News | The Log", "Ostrel"]


@given(st.lists(st.text(st.sampled_from("ab1 |-…")), max_size=5))
def test_every_title_keeps_a_part_of_itself(titles):
    shown = without_common_part(titles)
    assert len(shown) == len(titles)
    assert all(own in title for own, title in zip(shown, titles, strict=True))
    assert all(bool(own.strip()) == bool(title.strip()) for own, title in zip(shown, titles, strict=True))
