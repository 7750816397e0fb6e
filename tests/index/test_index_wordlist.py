"""The most frequent words: the same as asking for every prefix at once, over segments and deletions."""

import random

import pytest
from index_world import make_document

from periplus.index.reading import wordlist


@pytest.mark.parametrize("run", [3, 1 << 16])
def test_words_equal_the_prefix_of_everything(store, monkeypatch, run):
    monkeypatch.setattr(wordlist, "RUN", run)
    chance = random.Random(5)
    names = ["tide", "tides", "tidal", "chart", "charts", "port", "ebb", "flow", "naïve", "日本", "c++"]
    for batch in range(1, 5):
        texts = [" ".join(chance.choices(names[: 4 + 2 * batch], k=chance.randint(1, 6))) for _ in range(20)]
        store.update([(batch, [make_document(20 * batch + i, text, language="en") for i, text in enumerate(texts)])])
    store.update([(9, [make_document(number, refusal="gone") for number in range(20, 90, 3)])])
    with store.open() as snapshot:
        for limit in (0, 1, 3, 7, 500):
            assert snapshot.words(limit) == snapshot.prefix("", limit)
        assert all(not term.startswith("~") for term, _ in snapshot.words(500))


def test_an_empty_generation_has_no_words(store):
    store.update([])
    with store.open() as snapshot:
        assert snapshot.words(10) == []
