"""Known-item sets made from a web of manuals: a query, and the one page that it means.

anchors   the text of a link from another site, and the page it leads to
entries   an entry of a back-of-the-book index, and the page it names
titles    a title with words left out, and its page
whole     a whole title that no other page has, and its page

Whatever gave a query away is taken out before anything is scored: those links are in neither anchors nor graph, and
index pages are not in the collection at all. Sites are split into a half to learn from and a half to report.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from typing import TYPE_CHECKING, Any

from bench.relevance import sets
from msgspec import Struct, structs

from periplus import addresses
from periplus.app import Collection
from periplus.app.importing import import_paths
from periplus.documents import BatchLog
from periplus.records import Document, Link

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from periplus.evaluation import Qrels, Queries

KINDS = ("anchors", "entries", "titles", "whole")
SKIPPED_HOSTS = ("handbook.debian.test", "httpd.test")  # mostly translations of the same pages
# Every second host by name, so that both halves have small and large ones.
LEARNT_FROM = frozenset(
    f"{name}.test"
    for name in ("anarchism", "django", "faq.debian", "git", "nodejs", "postgresql", "scipy", "sqlalchemy")
)
PER_HOST = 250  # queries of one kind that lead to one host
PER_HALF = 350
LEAST_TITLE = 4  # words
DROPPED = 0.34  # of the words of a title
SEED = 7

_INDEX_PAGE = re.compile(r"/(genindex[^/]*|bookindex|keyword_index|py-modindex|ix01)\.html?$")
_SUFFIX = re.compile(r"\s+[—|–]\s+.*$")
_PLAIN = re.compile(r"\w")


class KnownItem(Struct, frozen=True):
    kind: str
    query: str
    target: str

    @property
    def host(self) -> str:
        return addresses.host(self.target)


class Edge(Struct, frozen=True):
    source: str
    target: str
    text: str
    link: Link


def halves(items: list[KnownItem]) -> tuple[list[KnownItem], list[KnownItem]]:
    """Items to learn from and items to report: no host is in both."""
    return [item for item in items if item.host in LEARNT_FROM], [
        item for item in items if item.host not in LEARNT_FROM
    ]


def judgements(items: list[KnownItem]) -> tuple[Queries, Qrels]:
    """Queries and judgements of known items, as the evaluation takes them."""
    queries = {str(number): item.query for number, item in enumerate(items)}
    qrels = {str(number): {_identifier(item.target): 1} for number, item in enumerate(items)}
    return queries, qrels


def _identifier(url: str) -> str:
    return f"{addresses.key(url) & 0xFFFF_FFFF_FFFF_FFFF:016x}"


def build(web: Path, cache: Path = sets.CACHE) -> tuple[Collection, list[KnownItem]]:
    """The collection without what gave the queries away, and the queries."""
    rows = _documents(web, cache)
    items, given = _items([document for document, _ in rows], [edge for _, edges in rows for edge in edges])

    def fill(fresh: Collection) -> None:
        log = BatchLog(fresh.create().files, fresh.database)
        pages = [_without(document, edges, given) for document, edges in rows if not _INDEX_PAGE.search(document.url)]
        for first in range(0, len(pages), 1_000):
            log.append(pages[first : first + 1_000])
        fresh.rank()

    return sets.kept(cache / "known", fill), items


def _without(document: Document, edges: list[Edge], given: set[tuple[str, str]]) -> Document:
    links = tuple(edge.link for edge in edges if not (_crosses(edge) and _known_by(edge) in given))
    return structs.replace(document, links=links)


def _documents(web: Path, cache: Path) -> list[tuple[Document, list[Edge]]]:
    """Every page of the web that may be found, with its links."""
    folder = cache / "web"
    with Collection(folder) as source:
        if not source.exists:
            for line in (web / "hosts.tsv").read_text().splitlines():
                host = line.split("\t")[0]
                if host not in SKIPPED_HOSTS:
                    import_paths(source, [web / host], f"http://{host}/")
        log = BatchLog(source.files, source.database)
        return [pair for number in log.numbers() for pair in _batch(log, number)]


def _batch(log: BatchLog, number: int) -> Iterator[tuple[Document, list[Edge]]]:
    edges: dict[str, list[Edge]] = defaultdict(list)
    for row in log.links(number).to_pylist():
        edges[row["source"]].append(_edge(row))
    for document in log.documents(number):
        if document.indexable:
            yield document, edges[document.url]


def _edge(row: dict[str, Any]) -> Edge:
    link = Link(row["target"], row["text"] or "", row["title"] or "", tuple(row["rel"] or ()), row["place"])
    return Edge(row["source"], row["target"], " ".join(link.text.split()), link)


def _items(documents: list[Document], edges: list[Edge]) -> tuple[list[KnownItem], set[tuple[str, str]]]:
    """All queries, and (text, target) of the links between sites that gave some of them."""
    pages = {document.url for document in documents if not _INDEX_PAGE.search(document.url)}
    inside = [edge for edge in edges if edge.target in pages]
    anchors = _unambiguous("anchors", [edge for edge in inside if _crosses(edge) and _says_something(edge.text)])
    entries = [edge for edge in inside if _INDEX_PAGE.search(edge.source) and _says_something(edge.text)]
    items = [*anchors, *_unambiguous("entries", entries), *_titles(documents, pages)]
    return _sampled(items), {(item.query.casefold(), item.target) for item in anchors}


def _crosses(edge: Edge) -> bool:
    return addresses.host(edge.source) != addresses.host(edge.target)


def _known_by(edge: Edge) -> tuple[str, str]:
    return edge.text.casefold(), edge.target


def _says_something(text: str) -> bool:
    return bool(_PLAIN.search(text)) and 2 < len(text) < 80 and "://" not in text and not text.startswith("(")


def _unambiguous(kind: str, edges: list[Edge]) -> list[KnownItem]:
    """Texts that lead to one page only."""
    targets: dict[str, set[str]] = defaultdict(set)
    spelled: dict[str, str] = {}
    for edge in edges:
        targets[edge.text.casefold()].add(edge.target)
        spelled.setdefault(edge.text.casefold(), edge.text)
    return [KnownItem(kind, spelled[text], min(found)) for text, found in targets.items() if len(found) == 1]


def _titles(documents: list[Document], pages: set[str]) -> list[KnownItem]:
    by_title: dict[str, list[str]] = defaultdict(list)
    for document in documents:
        if document.url in pages:
            by_title[_SUFFIX.sub("", document.title).strip()].append(document.url)
    unique = [(title, urls[0]) for title, urls in sorted(by_title.items()) if len(urls) == 1 and title]
    shortened = [(_shortened(title), url) for title, url in unique if len(title.split()) >= LEAST_TITLE]
    return [
        *(KnownItem("titles", title, url) for title, url in shortened),
        *(KnownItem("whole", title, url) for title, url in unique),
    ]


def _shortened(title: str) -> str:
    words = title.split()
    chance = random.Random(f"{SEED} {title}")
    gone = set(chance.sample(range(len(words)), max(1, int(len(words) * DROPPED))))
    return " ".join(word for place, word in enumerate(words) if place not in gone)


def _sampled(items: list[KnownItem]) -> list[KnownItem]:
    """At most so many a kind and host, and so many a kind and half, chosen by a fixed seed."""
    order = sorted(items, key=lambda item: (item.kind, item.query, item.target))
    random.Random(SEED).shuffle(order)
    hosts: dict[tuple[str, str], int] = defaultdict(int)
    few = []
    for item in order:
        hosts[item.kind, item.host] += 1
        if hosts[item.kind, item.host] <= PER_HOST:
            few.append(item)
    return [
        item
        for kind in KINDS
        for half in halves(few)
        for item in [item for item in half if item.kind == kind][:PER_HALF]
    ]
