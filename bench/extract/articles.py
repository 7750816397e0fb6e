"""``make bench-articles``: the main text of news, blog and magazine pages, scored by the rule of their source.

The pages and their texts (``articles`` of the shared material) are others' and are looked for beside the clone or at
``PERIPLUS_SHARED_DATA``. Runs of four words are counted; precision and recall are means over pages, and F1 is that of
the two means. Sites are dealt to two halves by a hash: rules are made with ``tuning``, ``table`` is only measured.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import json
import os
import re
import sys
import time
from collections import Counter
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

from bench.extract.labels import HALVES

from periplus.documents import parse
from periplus.documents.html import article
from periplus.records import Page

if TYPE_CHECKING:
    from collections.abc import Callable

    Extractor = Callable[["Article"], str]

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("PERIPLUS_SHARED_DATA", ROOT.parent / "shared" / "data"))
RUN = 4
_WORD = re.compile(r"\w+")


class Article(NamedTuple):
    """A page with the text of its article as a person marked it."""

    site: str
    url: str
    body: bytes
    text: str
    half: str


class Score(NamedTuple):
    precision: float
    recall: float

    @property
    def f1(self) -> float:
        return 2 * self.precision * self.recall / max(self.precision + self.recall, 1e-9)


def articles(folder: Path = SHARED / "articles") -> list[Article]:
    """All pages, by their address."""
    with (folder / "gold.jsonl").open(encoding="utf-8") as lines:
        rows = sorted(map(json.loads, lines), key=lambda row: row["url"])
    half = halves({site_of(row["url"]) for row in rows})
    return [
        Article(site, row["url"], gzip.decompress((folder / row["file"]).read_bytes()), row["text"], half[site])
        for row in rows
        if (site := site_of(row["url"]))
    ]


def site_of(url: str) -> str:
    return (urlsplit(url).hostname or "").removeprefix("www.")


def halves(sites: set[str]) -> dict[str, str]:
    """Sites in the order of a hash, dealt out in turn."""
    order = sorted(sites, key=lambda site: hashlib.sha256(f"articles {site}".encode()).digest())
    return {site: HALVES[number % len(HALVES)] for number, site in enumerate(order)}


def runs(text: str) -> Counter[tuple[str, ...]]:
    """How often each run of four words comes; a shorter text is one run."""
    words = _WORD.findall(text)
    last = max(1, len(words) - RUN + 1) if words else 0
    return Counter(tuple(words[start : start + RUN]) for start in range(last))


def compare(text: str, gold: str) -> Score:
    given, wanted = runs(text), runs(gold)
    right = (given & wanted).total()
    if not wanted or not given:
        return Score(float(given == wanted), float(given == wanted))
    return Score(right / given.total(), right / wanted.total())


def mean(scores: list[Score]) -> Score:
    return Score(fmean(score.precision for score in scores), fmean(score.recall for score in scores))


def periplus(page: Article) -> str:
    return parse(Page(page.url, page.body, "text/html; charset=utf-8")).text


def trafilatura(page: Article) -> str:
    from trafilatura import extract

    return extract(page.body.decode("utf-8", "replace")) or ""


EXTRACTORS: dict[str, Extractor] = {"periplus": periplus, "trafilatura": trafilatura}


def seconds(pages: list[Article], extract: Extractor, rounds: int) -> float:
    """CPU seconds of all pages: the median over rounds."""
    taken = []
    for _ in range(rounds):
        start = time.process_time()
        for page in pages:
            extract(page)
        taken.append(time.process_time() - start)
    return median(taken)


def table(pages: list[Article], names: list[str], rounds: int) -> str:
    lines = ["| extractor | precision | recall | F1 | CPU ms a page |", "|---|---|---|---|---|"]
    for name in names:
        extract = EXTRACTORS[name]
        found = mean([compare(extract(page), page.text) for page in pages])
        cost = f"{1000 * seconds(pages, extract, rounds) / len(pages):.1f}" if rounds else ""
        lines.append(f"| {name} | {found.precision:.3f} | {found.recall:.3f} | {found.f1:.3f} | {cost} |")
    return "\n".join(lines)


def worst(pages: list[Article], count: int) -> str:
    scores = {page.url: compare(periplus(page), page.text) for page in pages}
    chosen = sorted(scores.items(), key=lambda item: item[1].f1)[:count]
    return "\n".join(f"{score.precision:.2f} {score.recall:.2f} {score.f1:.2f} {url}" for url, score in chosen)


def nothing(*_: object) -> None:
    """In the place of a rule that is off."""


RULES: dict[str, tuple[str, object]] = {
    "the core": ("_CORE", 2.0),
    "margins by their names and tags": ("_believed", lambda margins, *_: [False] * len(margins)),
    "… doubted where they hold most of the prose": ("_DOUBTED", {1: 2.0, 2: 2.0}),
    "the marked main part holds most of the prose": ("_in_main", lambda _blocks, read, _prose: read),
    "headline, before the first and after the last prose": ("_drop_ends", lambda *_: -1),
    "lines that are links": ("_drop_links", nothing),
    "headings that nothing follows": ("_drop_bare_headings", nothing),
    "pages that do not call themselves articles": ("_ALL_PROSE", 10**9),
}


def ablations(pages: list[Article]) -> str:
    """The table with each rule off in turn."""
    lines = ["| without | precision | recall | F1 |", "|---|---|---|---|"]
    for name, (attribute, off) in {"(all rules)": ("_CORE", article._CORE), **RULES}.items():
        kept = getattr(article, attribute)
        setattr(article, attribute, off)
        found = mean([compare(periplus(page), page.text) for page in pages])
        setattr(article, attribute, kept)
        lines.append(f"| {name} | {found.precision:.3f} | {found.recall:.3f} | {found.f1:.3f} |")
    return "\n".join(lines)


def main() -> int:
    options = argparse.ArgumentParser(prog="bench-articles", description=__doc__)
    options.add_argument("--half", choices=HALVES, help="only this half")
    options.add_argument("--rounds", type=int, default=3, help="rounds of timing, 0 for none (3)")
    options.add_argument("--worst", type=int, default=0, help="so many pages of the tuning half, worst first")
    options.add_argument("--alone", action="store_true", help="Periplus only")
    options.add_argument("--ablations", action="store_true", help="each rule off in turn, on the tuning half")
    given = options.parse_args()
    if not (SHARED / "articles").is_dir():
        print(f"bench-articles: no {SHARED / 'articles'}; set PERIPLUS_SHARED_DATA", file=sys.stderr)
        return 2
    pages = articles()
    names = ["periplus"] if given.alone else list(EXTRACTORS)
    for half in HALVES if given.half is None else (given.half,):
        chosen = [page for page in pages if page.half == half]
        print(f"\n{half}: {len(chosen)} pages of {len({page.site for page in chosen})} sites\n")
        print(table(chosen, names, given.rounds))
        if half == "tuning" and given.worst:
            print("\nprecision, recall, F1:\n" + worst(chosen, given.worst))
        if half == "tuning" and given.ablations:
            print("\n" + ablations(chosen))
    return 0


if __name__ == "__main__":
    sys.exit(main())
