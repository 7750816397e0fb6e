"""``python -m bench.relevance.long_pages COLLECTION``: are long pages found by what one part of them says?

Known items: headings of two to eight words that one page alone has, and runs of five words of its text that no other
page has; of long pages and of usual ones, at most ten a page, chosen by a fixed seed. MRR@10.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from bench.relevance.known import KnownItem, judgements
from bench.relevance.report import table

from periplus.app import Collection
from periplus.documents import BatchLog
from periplus.evaluation import evaluate

if TYPE_CHECKING:
    from periplus.records import Document

SEED = 7
DEPTH = 10
PER_PAGE = 10
RUN = 5  # words
LONG, USUAL = 5_000, (50, 1_500)  # words of a page
_WORDS = re.compile(r"[A-Za-z ,]+")
_WORD = re.compile(r"[a-z]{3}")


def documents_of(collection: Collection) -> list[Document]:
    log = BatchLog(collection.files, collection.database)
    return [document for number in log.numbers() for document in log.documents(number) if document.indexable]


def headings_of(documents: list[Document], wanted: list[Document], most: int) -> list[KnownItem]:
    pages: dict[str, set[str]] = defaultdict(set)
    for document in documents:
        for heading in document.headings:
            text = " ".join(heading.text.split())
            if 2 <= text.count(" ") + 1 <= 8 and _WORD.search(text):
                pages[text].add(document.url)
    urls_wanted = {document.url for document in wanted}
    found = [KnownItem("headings", text, min(urls)) for text, urls in sorted(pages.items()) if len(urls) == 1]
    return _sampled([item for item in found if item.target in urls_wanted], most)


def runs_of(documents: list[Document], wanted: list[Document], most: int) -> list[KnownItem]:
    chance = random.Random(SEED)
    found = []
    for document in wanted:
        lines = [line.split() for line in document.text.split("\n") if RUN + 3 <= len(line.split()) <= 40]
        for words in chance.sample(lines, min(PER_PAGE, len(lines))):
            first = chance.randrange(len(words) - RUN)
            run = " ".join(words[first : first + RUN])
            if _WORDS.fullmatch(run):
                found.append(KnownItem("text", run, document.url))
    few = _sampled(found, 3 * most)
    holders = Counter(item.query for document in documents for item in few if item.query in document.text)
    return [item for item in few if holders[item.query] == 1][:most]


def _sampled(items: list[KnownItem], most: int) -> list[KnownItem]:
    random.Random(SEED).shuffle(items)
    pages: Counter[str] = Counter()
    few = []
    for item in items:
        pages[item.target] += 1
        if pages[item.target] <= PER_PAGE:
            few.append(item)
    return few[:most]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("collection", type=Path)
    options.add_argument("--most", type=int, default=200, help="queries of a kind")
    options.add_argument("--long", type=int, default=LONG, help="words that make a page long")
    chosen = options.parse_args()
    rows = []
    with Collection.existing(chosen.collection) as collection:

        def search(query: str, k: int) -> list[str]:
            return [identifier for identifier, _ in collection.engine.ranking(query, k)]

        documents = documents_of(collection)
        for name, (least, below) in {"long": (chosen.long, sys.maxsize), "usual": USUAL}.items():
            wanted = [document for document in documents if least <= len(document.text.split()) < below]
            for items in (headings_of(documents, wanted, chosen.most), runs_of(documents, wanted, chosen.most)):
                scores = evaluate(search, *judgements(items), "periplus", DEPTH)
                rows.append([items[0].kind, name, str(len(items)), f"{scores.mean('mrr@10'):.3f}"])
    print(table(["", "pages", "queries", "MRR@10"], rows))


if __name__ == "__main__":
    main()
