"""``python -m bench.relevance.signs COLLECTION``: what the signs of code are worth, where pages document code.

Known items: headings (signatures of functions, mostly) and lines of two to eight words that one page alone has and that
hold a word with signs, such as ``&str`` or ``T*``. Each is asked as it is written and without its signs; MRR@10.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from bench.relevance.known import KnownItem, judgements
from bench.relevance.report import table

from periplus.app import Collection
from periplus.documents import BatchLog
from periplus.evaluation import evaluate
from periplus.text import analyze, signless

if TYPE_CHECKING:
    from collections.abc import Iterable

SEED = 7
DEPTH = 10
LONGEST = 80  # characters of a line
KINDS = ("headings", "lines")


def without_signs(text: str) -> str:
    """The same words without the signs that belong to them."""
    for token in reversed(analyze(text)):
        inner = signless(text[token.start : token.end])
        text = text[: token.start] + (inner or text[token.start : token.end]) + text[token.end :]
    return text


def items_of(collection: Collection, most: int) -> dict[str, list[KnownItem]]:
    log = BatchLog(collection.files, collection.database)
    pages: dict[str, dict[str, set[str]]] = {kind: defaultdict(set) for kind in KINDS}
    for number in log.numbers():
        for document in log.documents(number):
            if document.indexable:
                _note(pages["headings"], [heading.text for heading in document.headings], document.url)
                _note(pages["lines"], document.text.split("\n"), document.url)
    return {kind: _chosen(kind, found, most) for kind, found in pages.items()}


def _note(pages: dict[str, set[str]], texts: Iterable[str], url: str) -> None:
    for text in texts:
        line = " ".join(text.split())
        if line.isascii() and len(line) <= LONGEST and 2 <= line.count(" ") + 1 <= 8:
            pages[line].add(url)


def _chosen(kind: str, pages: dict[str, set[str]], most: int) -> list[KnownItem]:
    lines = sorted(line for line, urls in pages.items() if len(urls) == 1)
    random.Random(SEED).shuffle(lines)
    found: list[KnownItem] = []
    for line in lines:
        if len(found) == most:
            break
        if without_signs(line) != line:
            found.append(KnownItem(kind, line, min(pages[line])))
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("collection", type=Path)
    options.add_argument("--most", type=int, default=300, help="queries of a kind")
    chosen = options.parse_args()
    rows = []
    with Collection.existing(chosen.collection) as collection:

        def search(query: str, k: int) -> list[str]:
            return [identifier for identifier, _ in collection.engine.ranking(query, k)]

        for kind, items in items_of(collection, chosen.most).items():
            bare = [KnownItem(kind, without_signs(item.query), item.target) for item in items]
            both = [evaluate(search, *judgements(some), "periplus", DEPTH) for some in (items, bare)]
            rows.append([kind, str(len(items)), *(f"{scores.mean('mrr@10'):.3f}" for scores in both)])
    print(table(["", "queries", "with signs", "without"], rows))


if __name__ == "__main__":
    main()
