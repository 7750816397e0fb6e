"""News and places, by what pages say of themselves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from periplus import Collection, addresses
from periplus.app.serving.backend import CollectionBackend
from periplus.documents import BatchLog
from periplus.index.format.marks import LONGEST, TABS, kinds_of
from periplus.records import Document, SearchRequest

ARTICLE = {
    "@type": "NewsArticle",
    "datePublished": "2025-03-01",
    "publisher": {"name": "The Log"},
    "author": ["A", "B"],
}
INN = {
    "@type": ["Restaurant"],
    "name": "The Anchor",
    "address": {"streetAddress": "1 Quay", "addressLocality": "Dunsey"},
    "telephone": "+44 1234 567",
    "aggregateRating": {"ratingValue": 4.5},
    "openingHours": ["Mo-Fr 10-18", "Sa 10-12"],
}
LAMP = {
    "@type": "Product",
    "name": "Storm lamp",
    "brand": {"name": "Quayside"},
    "image": ["http://one.test/lamp.jpg"],
    "aggregateRating": {"ratingValue": "9", "bestRating": 10, "reviewCount": 12},
    "offers": {"price": 49.5, "priceCurrency": "CHF", "availability": "https://schema.org/InStock"},
}


def page(number: int, structured=(), **fields) -> Document:
    url = f"http://one.test/{number}"
    text = f"The tide at port {number}, as it was seen from the quay."
    return Document(url, addresses.key(url), 1.7e9, title=f"Port {number}", text=text, structured=structured, **fields)


@pytest.fixture
def collection(tmp_path):
    with Collection(tmp_path / "c", flags={"search.budget_ms": 30_000}) as made:
        yield made.create()


def publish(collection: Collection, documents: list[Document]) -> None:
    BatchLog(collection.files, collection.database).append(documents)
    collection.index()


def test_pages_of_a_kind_are_found_with_what_is_known_of_them(collection):
    plain = [page(number) for number in range(20)]
    news = [page(number, (ARTICLE,)) for number in range(20, 35)]
    publish(collection, [*plain, *news, page(40, (INN,)), page(41, (ARTICLE,), refusal="noindex"), page(42, (LAMP,))])
    backend = CollectionBackend(collection)
    assert backend.tabs() == ("news", "places", "products")

    first, facts = backend.search_tab(SearchRequest("tide"), "news")
    second, _ = backend.search_tab(SearchRequest("tide", page=2), "news")
    assert (len(first), len(second), second.total.value, second.total.relation) == (10, 5, 15, "eq")
    assert [result.rank for result in second] == [11, 12, 13, 14, 15]
    assert {result.url for result in (*first, *second)} == {document.url for document in news}  # more than three a host
    assert facts[first.results[0].id] == {"source": "The Log", "author": "A, B"}
    place, facts = backend.search_tab(SearchRequest("tide"), "places")
    assert facts[place.results[0].id] == {
        "address": "1 Quay, Dunsey",
        "telephone": "+44 1234 567",
        "hours": "Mo-Fr 10-18; Sa 10-12",
        "rating": "4.5 / 5",
        "name": "The Anchor",
    }
    lamp, facts = backend.search_tab(SearchRequest("tide"), "products")
    assert facts[lamp.results[0].id] == {
        "price": "CHF 49.5", "stock": "in stock", "rating": "9 / 10", "reviews": "12", "brand": "Quayside",
        "name": "Storm lamp", "image": "http://one.test/lamp.jpg",
    }  # fmt: skip
    assert collection.engine.kinds((*first.results, *place.results, *lamp.results)) == {
        "news": 10, "places": 1, "products": 1,
    }  # fmt: skip


def test_pictures_are_found_by_their_texts(tmp_path):
    images = (("http://one.test/logo.png", "Our fine logo"), ("http://one.test/a.jpg", "Cormorant on a pile"))
    with Collection(tmp_path / "c", flags={"crawl.pictures": True, "search.budget_ms": 30_000}) as made:
        collection = made.create()
        publish(collection, [page(1, images=images), page(2)])
        backend = CollectionBackend(collection)
        assert backend.tabs() == ("images",)
        found, facts = backend.search_tab(SearchRequest("cormorant"), "images")
        assert facts[found.results[0].id] == {"pictures": "http://one.test/a.jpg Cormorant on a pile"}
        assert backend.picture("http://one.test/a.jpg") == b""  # nobody fetched it


def test_a_term_that_a_page_defines_is_an_answer(tmp_path):
    glossary = (
        {"@type": "DefinedTerm", "name": "Neap tide", "description": "A tide with the least range."},
        {"@type": "DefinedTermSet", "hasDefinedTerm": [{"name": "Ebb", "description": "The tide that goes out."}, 7]},
    )
    with Collection(tmp_path / "c", flags={"search.budget_ms": 30_000}) as made:
        collection = made.create()
        publish(collection, [structs.replace(page(1, glossary), text="Neap tide and ebb, explained."), page(2)])
        (found,) = collection.answers("What is a neap tide?", explain=True)
        assert (found.kind, found.question, found.answer) == ("definition", "Neap tide", "A tide with the least range.")
        assert (found.url, found.explain.value) == ("http://one.test/1", 1.0)
        assert collection.answers("ebb definition")[0].answer == "The tide that goes out."
        assert collection.answers("neap tide") == collection.answers("define spring tide") == ()
        assert CollectionBackend(collection).tabs() == ()
    with Collection(tmp_path / "c", flags={"search.answers": False}) as off:
        assert off.answers("define ebb") == off.answers("2+2") == ()


def test_a_kind_is_found_however_far_down_the_list_it_stands(collection):
    # Words that stand more often rank higher: all 1,500 plain pages come before the two of a kind.
    plain = [structs.replace(page(number), title="Tide", text=f"tide tide tide {number}") for number in range(1_500)]
    publish(collection, [*plain, page(2_000, (ARTICLE,)), page(2_001, (ARTICLE,)), page(2_002, (INN,))])
    backend = CollectionBackend(collection)
    assert backend.tabs() == ("news", "places")

    found, facts = backend.search_tab(SearchRequest("tide"), "news")
    assert {result.url for result in found} == {"http://one.test/2000", "http://one.test/2001"}
    assert (found.total.value, found.total.relation) == (2, "eq")
    assert all(facts[result.id]["source"] == "The Log" for result in found)
    named, _ = backend.search_tab(SearchRequest("http://one.test/7"), "news")
    assert "http://one.test/7" not in {result.url for result in named}  # not even what the query names
    assert len(backend.search_tab(SearchRequest("tide", page=2), "news")[0]) == 0
    assert len(backend.search_tab(SearchRequest("tide"), "nonsense")[0]) == 0


def test_later_versions_of_a_page_count(collection):
    publish(collection, [page(1, (ARTICLE,)), page(2, (INN,))])
    backend = CollectionBackend(collection)
    assert backend.tabs() == ("news", "places")
    publish(collection, [page(1), page(2, refusal="gone")])

    assert backend.tabs() == ()


values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=300),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*INN, *ARTICLE]), inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(st.sampled_from([*INN, *ARTICLE]), values), max_size=4))
def test_no_structured_data_breaks_it(items):
    for name, facts in kinds_of(items):
        assert name in TABS
        assert all(text and len(text) <= 4 * LONGEST + 6 for text in facts.values())
