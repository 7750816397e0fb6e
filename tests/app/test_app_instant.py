"""Instant answers follow the settings of a collection."""

from __future__ import annotations

import pytest

from periplus import Collection
from periplus.app.importing import import_paths

RATES = '{"base": "EUR", "date": "2026-11-16", "rates": {"USD": 1.25}}'


def test_answers_are_given_without_an_index(tmp_path):
    with Collection(tmp_path / "c").create() as collection:
        assert collection.answers("2+2")[0].answer == "4"
        assert collection.answers("tide tables") == ()


def test_rates_lie_beside_the_settings(tmp_path):
    with Collection(tmp_path / "c", flags={"search.rates": "rates.json"}).create() as collection:
        assert collection.answers("10 eur in usd") == ()
        (tmp_path / "c" / "rates.json").write_text(RATES)
        (found,) = collection.answers("10 eur in usd", explain=True)

    assert (found.answer, found.detail) == ("12.50 USD", "rates of 2026-11-16")
    assert found.explain.value == 1.0


@pytest.fixture(scope="module")
def glossary(tmp_path_factory):
    folder = tmp_path_factory.mktemp("glossary")
    (folder / "pages").mkdir()
    page = "<title>Glossary</title><p>The <dfn>ebb</dfn> is the tide that goes out, back to the sea.</p>"
    (folder / "pages" / "glossary.html").write_text(page)
    with Collection(folder / "c").create() as collection:
        import_paths(collection, [folder / "pages"], base_url="http://glossary.test/")
        collection.index()
        yield collection


@pytest.mark.parametrize(
    "query",
    ["define ebb", "define: ebb", "define:ebb", "what is an ebb?", "what is the ebb", "what's ebb", "what’s the ebb?",
     "ebb definition", "ebb meaning", "meaning of ebb", "what does ebb mean?", "DEFINE EBB"],
)  # fmt: skip
def test_what_a_word_means_is_asked_in_several_ways(glossary, query):
    (found,) = glossary.answers(query)
    assert (found.kind, found.url) == ("definition", "http://glossary.test/glossary.html")
    assert "goes out" in found.answer


@pytest.mark.parametrize(
    "query", ["ebb", "the ebb", "define flow", "what is love", "definegebb", "meaning", "what does mean"]
)
def test_other_questions_have_no_definition(glossary, query):
    assert glossary.answers(query) == ()
