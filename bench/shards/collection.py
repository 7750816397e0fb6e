"""A made-up collection with the frequencies of words of real ones (Zipf), and queries to it; the same in every run."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import numpy as np

from periplus import addresses
from periplus.index import IndexStore
from periplus.records import Document

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

WORDS = 50_000
LETTERS = "aeioubcdfghklmnprstvw"
NOW = 1_790_000_000.0


def word(number: int) -> str:
    """A word that can be spoken, more or less; the same for a number always."""
    generator = random.Random(number)
    return "".join(generator.choice(LETTERS) for _ in range(4 + number % 6))


def documents(count: int, first: int = 0) -> Iterator[Document]:
    vocabulary = [word(number) for number in range(WORDS)]
    generator = np.random.default_rng(first + 1)
    for number in range(first, first + count):
        drawn = np.minimum(generator.zipf(1.3, int(generator.integers(40, 400))), WORDS) - 1
        text = " ".join(vocabulary[place] for place in drawn.tolist())
        url = f"https://host{number % 997}.example/{vocabulary[int(drawn[0])]}/{number}"
        yield Document(
            url=url,
            key=addresses.key(url),
            fetched=NOW,
            title=" ".join(vocabulary[place] for place in drawn[:5].tolist()),
            text=text,
            language="en",
            fingerprint=int(generator.integers(1, 2**62)),
        )


def build(folder: Path, count: int, shards: int) -> None:
    """Made once; kept for the next run."""
    store = IndexStore(folder / "index", shards=shards)
    if store.manifest() is None:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "periplus.toml").write_text("[search]\npast_queries = false\n")
        store.update([(1, documents(count))])


def queries(count: int, seed: int = 7) -> list[str]:
    """One to four words each, frequent and rare; no two alike, so that no answer is a kept one."""
    generator = random.Random(seed)
    found: dict[str, None] = {}
    while len(found) < count:
        drawn = [min(WORDS - 1, int(generator.paretovariate(0.7)) + 5) for _ in range(generator.randint(1, 4))]
        found[" ".join(word(place) for place in drawn)] = None
    return list(found)
