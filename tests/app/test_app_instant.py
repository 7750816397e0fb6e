"""Instant answers follow the settings of a collection."""

from __future__ import annotations

from periplus import Collection

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
