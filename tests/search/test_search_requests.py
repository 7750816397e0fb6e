"""Parameters: what is refused, with which words, and what links to the next page."""

from __future__ import annotations

from typing import get_type_hints
from urllib.parse import quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from periplus.errors import UsageError
from periplus.index.retrieval.query import Filters
from periplus.records import SearchRequest
from periplus.search.answering.requests import check, page_link
from periplus.search.query.conditions import combined
from periplus.search.query.text import clean
from periplus.settings import Settings


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"page": 0}, "page=0 is too small"),
        ({"size": 0}, "size=0 is out of range"),
        ({"size": 101}, "size=101 is out of range; use 1 to 100"),
        ({"page": 101, "size": 10}, "beyond 1000 results"),
        ({"profile": "nonsense"}, "unknown profile 'nonsense'"),
        ({"sort": "random"}, "sort='random' is unknown"),
        ({"before": "soon"}, "before='soon' is not a date; write YYYY-MM-DD"),
        ({"after": "2025-02-30"}, "after='2025-02-30' is not a date"),
        ({"language": "12"}, "lang='12' is not a language code"),
        ({"site": "a b"}, "site='a b' is not a host name"),
        ({"type": "xyz"}, "type='xyz' is not a type"),
        ({"lens": "docs"}, "lens='docs' is unknown"),
    ],
)
def test_bad_parameters_are_named_in_one_line(options, said):
    with pytest.raises(UsageError) as refused:
        check(SearchRequest("tide", **options), Settings())
    assert said in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_last_reachable_page_is_allowed():
    assert check(SearchRequest("tide", page=100, size=10), Settings()).last == 1000


def test_parameters_become_filters():
    checked = check(SearchRequest("tide", site="Www.A.example", type="pdf", language="de-DE"), Settings())
    assert checked.filters == Filters(("www.a.example",), ("de",), ("application/pdf",))
    assert checked.language == "de"


def test_filters_of_parameters_and_operators_narrow_each_other():
    one = Filters(("a.example",), ("de", "en"), before=50.0)
    assert combined(one, Filters()) == one
    assert combined(one, Filters(("sub.a.example",), ("en",), before=40.0, after=10.0)) == Filters(
        ("sub.a.example",), ("en",), before=40.0, after=10.0
    )
    assert combined(one, Filters(("b.example",))) is None
    assert combined(one, Filters(languages=("fr",))) is None


def link(request):
    """To the second page."""
    return page_link(request, clean(request.query), 2)


def test_next_link_carries_what_was_asked():
    request = SearchRequest("tide & time", size=5, profile="bm25", sort="date", site="a.example")
    assert link(request) == ("/api/v1/search?q=tide+%26+time&page=2&size=5&profile=bm25&site=a.example&sort=date")


def test_the_link_to_the_next_page_survives_any_query():
    assert link(SearchRequest("tide \ud800\x00 tables")).endswith("?q=tide+tables&page=2")


@given(st.text(max_size=12) | st.text("ab1 +%&é", max_size=12))
def test_queries_are_quoted_in_links(query):
    assert link(SearchRequest(query)) == f"/api/v1/search?q={quote_plus(clean(query))}&page=2"


@pytest.mark.parametrize(("name", "kind"), get_type_hints(SearchRequest).items())
def test_everything_asked_for_is_in_links(name, kind):
    """But for the page itself, and who reads: a link means the same to everybody."""
    usual = SearchRequest("tide")
    other = {str: "x", int: 7, bool: not getattr(usual, name)}[kind]
    is_usual = link(structs.replace(usual, **{name: other})) == link(usual)
    assert is_usual == (name in ("page", "reader"))
