"""``python -m bench.words.languages COLLECTION --reader en``: misspellings where pages are in many languages.

Words of the collection with one edit by chance, none of which any page has, asked as queries of one word for a reader
of one language: *own* words stand in at least ``LEAST`` pages of that language, *shared* ones of these also in as many
of others; *foreign* words stand in as many pages of others and in none of it. Own words should be put first, foreign
ones never.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from bench.words.__main__ import LETTERS, PATIENT

from periplus.app import Collection
from periplus.documents import BatchLog
from periplus.records import SearchRequest
from periplus.search import Engine
from periplus.text import analyze

if TYPE_CHECKING:
    from collections.abc import Iterable

SEED = 5
LEAST, FEWEST_LETTERS, ASKED = 5, 5, 500


def documents_of_words(collection: Collection, reader: str) -> tuple[Counter[str], Counter[str]]:
    """Documents with each word of plain letters: in a language, and in others."""
    inside, outside = Counter[str](), Counter[str]()
    log = BatchLog(collection.files, collection.database)
    for document in (document for number in log.numbers() for document in log.documents(number)):
        words = {token.text for token in analyze(f"{document.title}\n{document.text}")}
        (inside if document.language == reader else outside).update(
            word for word in words if word.isascii() and word.isalpha() and len(word) >= FEWEST_LETTERS
        )
    return inside, outside


def edited(word: str, chance: random.Random) -> str:
    """With one letter behind the first left out, put in, changed or swapped."""
    place, letter = chance.randrange(1, len(word) - 1), chance.choice(LETTERS)
    before, behind = word[:place], word[place:]
    ways = (behind[1:], letter + behind, letter + behind[1:], behind[1] + behind[0] + behind[2:])
    return before + chance.choice(ways)


def kinds(inside: Counter[str], outside: Counter[str]) -> dict[str, list[str]]:
    own = sorted(word for word, count in inside.items() if count >= LEAST)
    foreign = sorted(word for word, count in outside.items() if count >= LEAST and not inside[word])
    return {"own": own, "shared": [word for word in own if outside[word] >= LEAST], "foreign": foreign}


def put_first(engine: Engine, words: Iterable[str], known: set[str], reader: str) -> tuple[int, int]:
    """How many misspellings were asked, and of how many the right form is offered first."""
    chance = random.Random(SEED)
    pairs = [(word, edited(word, chance)) for word in chance.sample(sorted(words), min(ASKED, len(list(words))))]
    fair = [(word, wrong) for word, wrong in pairs if wrong not in known]
    return len(fair), sum(
        engine.search(SearchRequest(wrong, reader=reader)).corrections == (word,) for word, wrong in fair
    )


def main() -> None:
    options = argparse.ArgumentParser(prog="languages", description=__doc__)
    options.add_argument("collection", type=Path)
    options.add_argument("--reader", default="en")
    chosen = options.parse_args()
    with Collection(chosen.collection) as collection:
        inside, outside = documents_of_words(collection, chosen.reader)
    engine = Engine(chosen.collection, PATIENT)
    engine.warm()
    for kind, words in kinds(inside, outside).items():
        asked, first = put_first(engine, words, {*inside, *outside}, chosen.reader)
        print(f"{kind}: {first / max(1, asked):.3f} of {asked} put first")
    engine.close()


if __name__ == "__main__":
    main()
