"""``python -m bench.relevance.related --out FOLDER COLLECTION``: word vectors of a collection's own text.

Random indexing (Kanerva et al., 2000): every document has a vector of its own, some ones and minus ones at places that
its key decides; the vector of a word is the sum over the documents that have it. These are sums of whole numbers, so
parts of a collection add up, and words that stand in the same documents have vectors alike. Title and headings of a
page count as a small document of their own. What comes out is a folder as ``search.vectors`` takes it.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from periplus.app import Collection
from periplus.documents import BatchLog
from periplus.search.query.vocabulary import is_stop_word
from periplus.text import analyze

if TYPE_CHECKING:
    from collections.abc import Iterator

COLUMNS = 512
ONES = 8  # of a document's vector
MAX_WORDS = 30_000
LEAST_DOCUMENTS, MOST_SHARE = 3, 0.1  # documents with a word, and of all of them
MAX_TEXT = 20_000  # characters
KEY_BITS = (1 << 63) - 1


def texts_of(collection: Collection) -> Iterator[tuple[tuple[int, int], set[str]]]:
    """The words of each document, and of its title with its headings; with a key that tells them apart."""
    log = BatchLog(collection.files, collection.database)
    for number in log.numbers():
        for document in log.documents(number):
            if document.indexable:
                titles = " ".join([document.title, *(heading.text for heading in document.headings)])
                for kind, text in enumerate((f"{document.title} {document.text[:MAX_TEXT]}", titles)):
                    words = {token.text for token in analyze(text, document.language) if token.text.isalpha()}
                    yield (document.key & KEY_BITS, kind), words


def learnt(collection: Collection) -> tuple[list[str], np.ndarray[Any, np.dtype[np.float32]]]:
    """The words, most frequent first, and their vectors."""
    documents = [(key, sorted(words)) for key, words in texts_of(collection)]
    counts = Counter(word for _, words in documents for word in words)
    usual = [
        word
        for word, count in sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        if LEAST_DOCUMENTS <= count <= MOST_SHARE * len(documents) and not is_stop_word(word) and len(word) > 2
    ][:MAX_WORDS]
    rows = {word: row for row, word in enumerate(usual)}
    sums = np.zeros((len(usual), COLUMNS), np.int32)
    for key, words in documents:
        chance = np.random.default_rng(key)
        places, signs = chance.choice(COLUMNS, ONES, replace=False), chance.choice((-1, 1), ONES)
        own = [rows[word] for word in words if word in rows]
        sums[np.ix_(own, places)] += signs.astype(np.int32)
    return usual, sums.astype(np.float32)


def main() -> None:
    options = argparse.ArgumentParser(prog="related", description=__doc__)
    options.add_argument("collection", type=Path)
    options.add_argument("--out", type=Path, required=True)
    chosen = options.parse_args()
    with Collection.existing(chosen.collection) as collection:
        words, vectors = learnt(collection)
    chosen.out.mkdir(parents=True, exist_ok=True)
    (chosen.out / "words.txt").write_text("\n".join(words) + "\n", encoding="utf-8")
    np.save(chosen.out / "vectors.npy", vectors)
    print(f"{len(words):,} words in {chosen.out}")


if __name__ == "__main__":
    main()
