"""``python -m bench.relevance.own_titles COLLECTION``: how often a page's own title as a query finds that page first.

Only titles that one page of the collection has alone, without the name of the site before or behind a dash (a first or
last part that a fiftieth of the titles of a host have), at most so many of each host, chosen by a fixed seed. They are
asked as people would type them, without host diversity. With ``--with-names`` they are asked with the name of the site,
with ``--headings`` the headings of the first level that pages begin with, where they are not the title.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter, defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from bench.relevance.known import KnownItem, judgements
from bench.relevance.report import table

from periplus import addresses
from periplus.app import Collection
from periplus.documents import BatchLog
from periplus.evaluation import evaluate
from periplus.text import TITLE_BORDER

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from periplus.records import Document

SEED = 7
NAME_SHARE = 0.02  # of the titles of a host that end alike: then the end is a name of the site
DEPTH = 10


def titles_of(collection: Collection) -> dict[str, list[tuple[str, str, str]]]:
    """Of each host: own title, whole title and address of every page that may be found."""
    pages: dict[str, list[tuple[str, str]]] = defaultdict(list)
    for document in _findable(collection):
        if document.title.strip():
            pages[addresses.host(document.url)].append((document.title.strip(), document.url))
    found = {}
    for host, titled in pages.items():
        parted = [TITLE_BORDER.split(title) for title, _ in titled if TITLE_BORDER.search(title)]
        first, last = (_names((parts[place] for parts in parted), len(titled)) for place in (0, -1))
        found[host] = [(_own(title, first, last), title, url) for title, url in titled]
    return found


def headings_of(collection: Collection) -> dict[str, list[tuple[str, str, str]]]:
    """Of each host: the heading that a page begins with, twice, and its address, where it is not the title."""
    own = {url: title for rows in titles_of(collection).values() for title, _, url in rows}
    found: dict[str, list[tuple[str, str, str]]] = defaultdict(list)
    for document in _findable(collection):
        heading = document.headings[0] if document.headings else None
        title = own.get(document.url, "")
        if heading and heading.level == 1 and title and heading.text.casefold() != title.casefold():
            found[addresses.host(document.url)].append((heading.text, heading.text, document.url))
    return found


def _findable(collection: Collection) -> Iterator[Document]:
    log = BatchLog(collection.files, collection.database)
    for number in log.numbers():
        yield from (document for document in log.documents(number) if document.indexable)


def _names(parts: Iterable[str], titles: int) -> set[str]:
    return {part for part, count in Counter(parts).items() if count > max(1, NAME_SHARE * titles)}


def _own(title: str, first: set[str], last: set[str]) -> str:
    borders = list(TITLE_BORDER.finditer(title))
    if borders and title[borders[-1].end() :] in last:
        return title[: borders[-1].start()].strip()
    is_named = bool(borders) and title[: borders[0].start()] in first
    return title[borders[0].end() :].strip() if is_named else title


def items_of(
    titles: dict[str, list[tuple[str, str, str]]], most: int, *, with_names: bool
) -> dict[str, list[KnownItem]]:
    """Titles that are unique in the collection, by host."""
    often = Counter(own.casefold() for rows in titles.values() for own, _, _ in rows)
    found = {}
    for host, rows in sorted(titles.items()):
        unique = sorted(row for row in rows if often[row[0].casefold()] == 1)
        random.Random(SEED).shuffle(unique)
        found[host] = [KnownItem("own", title if with_names else own, url) for own, title, url in unique[:most]]
    return found


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("collection", type=Path)
    options.add_argument("--most", type=int, default=300, help="titles of one host")
    options.add_argument("--with-names", action="store_true")
    options.add_argument("--headings", action="store_true")
    options.add_argument("--profile", default="periplus")
    chosen = options.parse_args()
    rows, whole = [], Counter[str]()
    with Collection.existing(chosen.collection) as collection:

        def search(query: str, k: int) -> list[str]:
            found = collection.engine.ranking(query, k, chosen.profile, plain=False)
            return [identifier for identifier, _ in found]

        titles = headings_of(collection) if chosen.headings else titles_of(collection)
        for host, items in items_of(titles, chosen.most, with_names=chosen.with_names).items():
            if items:
                scores = evaluate(search, *judgements(items), chosen.profile, DEPTH)
                values = scores.values("mrr@10")
                first = sum(value == 1.0 for value in values)
                whole.update(first=first, titles=len(values))
                rows.append([host, str(len(values)), f"{first / len(values):.3f}", f"{scores.mean('mrr@10'):.3f}"])
    share = whole["first"] / max(whole["titles"], 1)
    print(table(["host", "titles", "first", "MRR@10"], [*rows, ["all", str(whole["titles"]), f"{share:.3f}", ""]]))


if __name__ == "__main__":
    main()
