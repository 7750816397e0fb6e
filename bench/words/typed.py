"""``python -m bench.words.typed COLLECTION``: what is offered to people who type.

*Titles*: of titles that one page of its host alone has, without the name of the site and the number of a chapter, the
share that is among the first eight completions when so many of its letters were typed. *Furniture*: of the completions
of all two letters, those that a fiftieth of the pages of a host have as a heading, and no page as its title; *numbers*:
those that begin with one.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING

from bench.relevance.own_titles import titles_of
from bench.words.__main__ import LETTERS, PATIENT

from periplus import addresses
from periplus.app import Collection
from periplus.documents import BatchLog
from periplus.search import Engine
from periplus.search.query.text import folded
from periplus.search.suggesting.completion import title_parts

if TYPE_CHECKING:
    from collections.abc import Iterable

SEED = 11
EACH_HOST, SHOWN = 100, 8
TYPED = (3, 6, 10)  # letters
FURNITURE_SHARE, FEWEST = 0.02, 5  # of the pages of a host, at least


def furniture(collection: Collection, titles: set[str]) -> set[str]:
    """Headings that many pages of a host have and that are no titles."""
    log = BatchLog(collection.files, collection.database)
    said: dict[str, Counter[str]] = defaultdict(Counter)
    pages: Counter[str] = Counter()
    for document in (document for number in log.numbers() for document in log.documents(number)):
        host = addresses.host(document.url)
        pages[host] += 1
        said[host].update({folded(heading.text) for heading in document.headings})
    many = {
        text
        for host, counts in said.items()
        for text, count in counts.items()
        if count >= max(FEWEST, FURNITURE_SHARE * pages[host])
    }
    return many - titles


def offered(engine: Engine, typed: str) -> list[str]:
    return [folded(one.text) for one in engine.suggest(typed, SHOWN)]


def found(engine: Engine, titles: Iterable[str], letters: int) -> float:
    """The share of titles that are offered when so many letters were typed."""
    asked = [folded(title) for title in titles]
    return sum(title in offered(engine, title[:letters]) for title in asked) / max(1, len(asked))


def main() -> None:
    options = argparse.ArgumentParser(prog="typed", description=__doc__)
    options.add_argument("collection", type=Path)
    chosen = options.parse_args()
    chance = random.Random(SEED)
    with Collection(chosen.collection) as collection:
        titled = titles_of(collection)
        known = {folded(text) for pages in titled.values() for own, whole, _ in pages for text in (own, whole)}
        many = furniture(collection, known)
    titles: list[str] = []
    for pages in titled.values():
        counts = Counter(parts[0] for own, _, _ in pages if len(parts := title_parts(own)) == 1)
        alone = sorted(own for own, count in counts.items() if count == 1 and max(TYPED) < len(own) <= 60)
        titles += chance.sample(alone, min(EACH_HOST, len(alone)))
    engine = Engine(chosen.collection, PATIENT)
    engine.warm()
    for letters in TYPED:
        print(f"{found(engine, titles, letters):.3f} of {len(titles)} titles after {letters} letters")
    shown = [text for pair in product(LETTERS, LETTERS) for text in offered(engine, "".join(pair))]
    print(f"{sum(text in many for text in shown) / len(shown):.3f} of {len(shown)} completions are furniture")
    numbers = [text for digit in "123456789" for text in offered(engine, digit)]
    print(f"{sum(text[:1].isdigit() for text in shown) / len(shown):.3f} begin with a number; for digits: {numbers}")
    engine.close()


if __name__ == "__main__":
    main()
