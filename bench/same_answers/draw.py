"""Draws the requests from the words of the three collections, by a fixed seed: 200 of each kind and more.

    python -m bench.same_answers.draw FOLDER      # FOLDER/demo, FOLDER/manuals, FOLDER/judged, as made by corpora.py

The requests are data of the repository: they are drawn once, before a change, and not again for it.
"""

from __future__ import annotations

import json
import random
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pyarrow.parquet as pq
from bench.same_answers.corpora import CORPORA, Corpus

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

REQUESTS = Path(__file__).parent / "requests"
SEED = 19
WORD = re.compile(r"[^\W_][\w'.+-]*", re.UNICODE)
PROFILES = ("periplus", "bm25", "grs2", "cosine-bonus", "tfidf-pagerank", "bm25-pagerank", "multiplicative")
READERS = ("en", "de", "fr", "es", "ja", "ar", "cs", "pt")
Request = dict[str, Any]


class Page(NamedTuple):
    url: str
    id: str
    title: str
    words: list[str]
    language: str


class Drawer:
    """Draws words, titles and pages of one collection."""

    def __init__(self, corpus: Corpus, folder: Path) -> None:
        self.corpus = corpus
        self.random = random.Random(f"{SEED} {corpus.name}")
        self.pages = list(_pages(folder))

    def page(self) -> Page:
        return self.random.choice(self.pages)

    def words(self, least: int = 1, most: int = 5) -> list[str]:
        """Some words of one page, from its title as often as from its text."""
        page = self.page()
        title = WORD.findall(page.title)
        source = title if len(title) >= least and self.random.random() < 0.5 else page.words
        count = min(self.random.randint(least, most), len(source))
        return self.random.sample(source, count)

    def run(self, least: int = 2, most: int = 4) -> list[str]:
        """Words that stand side by side."""
        page = self.page()
        start = self.random.randrange(max(1, len(page.words) - most))
        return page.words[start : start + self.random.randint(least, most)]

    def query(self) -> str:
        return " ".join(self.words())

    def host(self) -> str:
        return self.random.choice(self.corpus.hosts)


def _pages(folder: Path) -> Iterator[Page]:
    seen = set()
    for path in sorted((folder / "documents").glob("*.parquet"), reverse=True):
        table = pq.read_table(path, columns=["url", "id", "title", "text", "language", "refusal"]).to_pylist()
        for row in reversed(table):
            name = row["url"] or row["id"]
            words = WORD.findall(row["text"][:20_000])
            if name not in seen and not row["refusal"] and len(words) > 20:
                yield Page(row["url"], row["id"], row["title"], words, row["language"])
            seen.add(name)


# One function a kind; each gives one request


def _search(query: str, **more: Any) -> Request:
    return {"call": "search", "query": query, **more}


def _operators(draw: Drawer) -> Request:
    one, two, three = ([*draw.words(3, 3), "tide", "log", "port"])[:3]
    shapes = (
        f"{one} OR {two}", f"{one} -{three}", f"({one} {two}) OR {three}", f"+{one} {two}", f"intitle:{one}",
        f"inurl:{one} {two}", f"+({one} {two}) -{three}", f"{one} | {two} | {three}", f'intitle:"{one} {two}"',
        f'{one} -"{two} {three}"', f"{one} OR ({two} -{three}", f"intitle:{one} OR inurl:{two}",
    )  # fmt: skip
    return _search(draw.random.choice(shapes))


def _prefix(draw: Drawer) -> Request:
    words = draw.words(1, 3)
    letters = max(2, len(words[0]) - draw.random.randint(1, 4))
    return _search(" ".join([words[0][:letters] + "*", *words[1:]]))


def _typo(draw: Drawer) -> Request:
    words = draw.words(1, 4)
    place = draw.random.randrange(len(words))
    words[place] = _misspelt(words[place], draw.random)
    return _search(" ".join(words))


def _misspelt(word: str, source: random.Random) -> str:
    at = source.randrange(len(word))
    kinds = (
        word[:at] + word[at + 1 :],
        word[:at] + word[at] + word[at:],
        word[:at] + source.choice("aeiorstn") + word[at + 1 :],
        word[: at - 1] + word[at] + word[at - 1] + word[at + 1 :] if at else word + "e",
    )
    return source.choice(kinds) or word


def _day(draw: Drawer) -> str:
    return f"{draw.random.choice((2019, 2022, 2024, 2025, 2026))}-{draw.random.randint(1, 12):02}-01"


def _lens(draw: Drawer) -> Request:
    one, two = draw.random.sample(draw.corpus.hosts, 2)
    lenses = (f"raise:{one}", f"lower:{one}", f"block:{one}", f"pin:{one}", f"raise:{one},block:{two}", "chosen")
    return _search(draw.query(), lens=draw.random.choice(lenses).replace(":8640", ""))


def _pinned(draw: Drawer) -> Request:
    more = draw.random.choice(({}, {"size": 5}, {"page": 2}, {"lens": "chosen"}, {"sort": "date"}, {"safe": True}))
    typed = draw.random.choice(
        (draw.corpus.pinned, draw.corpus.pinned.upper(), draw.corpus.pinned + " " + draw.query())
    )
    return _search(typed, **more)


def _named(draw: Drawer) -> Request:
    page = draw.page()
    bare = page.url.partition("://")[2]
    return _search(draw.random.choice((page.url, bare, bare.partition("/")[0], bare.partition(".")[0])))


def _signs(draw: Drawer) -> Request:
    one, two = ([*draw.words(2, 2), "port"])[:2]
    shapes = (f"{one}'s {two}", f"{one}-{two}", f"{one}.{two}", f"{one}_{two}()", f"@{one} #{two}", f"{one}/{two}",
              f"C++ {one}", f"--{one} {two}", f"{one}&{two}", f"u.s. {two}", f'"{one}', f"{one}:{two}")  # fmt: skip
    return _search(draw.random.choice(shapes))


def _completion(draw: Drawer) -> Request:
    text = " ".join(draw.words(1, 3) if draw.random.random() < 0.6 else WORD.findall(draw.page().title)[:4]) or "li"
    return {"call": "suggest", "text": text[: draw.random.randint(1, max(1, len(text)))]}


def _explain(draw: Drawer) -> Request:
    page = draw.page()
    query = " ".join(WORD.findall(page.title)[:4]) or draw.query()
    return {"call": "explain", "query": query, "url": page.url or page.id, "profile": draw.random.choice(PROFILES)}


def _deep(draw: Drawer) -> Request:
    size = draw.random.choice((10, 10, 20, 50))
    return _search(" ".join(draw.words(1, 2)), page=draw.random.randint(2, 1000 // size), size=size)


KINDS: dict[str, tuple[Callable[[Drawer], Request], tuple[str, ...], int]] = {
    "any word": (lambda draw: _search(draw.query()), ("demo", "manuals", "judged"), 300),
    "long": (lambda draw: _search(" ".join(draw.words(8, 40))), ("demo", "manuals", "judged"), 210),
    "all words": (
        lambda draw: _search(" ".join("+" + word for word in draw.words(2, 4))), ("demo", "manuals", "judged"), 210
    ),
    "phrase": (
        lambda draw: _search('"' + " ".join(draw.run()) + '"' + draw.random.choice(("", " " + draw.words(1, 1)[0]))),
        ("demo", "manuals", "judged"), 210,
    ),
    "operators": (_operators, ("demo", "manuals", "judged"), 240),
    "prefix": (_prefix, ("demo", "manuals", "judged"), 210),
    "site": (
        lambda draw: _search(draw.query() + f" site:{draw.host()}".replace(":8640", "")), ("demo", "manuals"), 200
    ),
    "without site": (
        lambda draw: _search(draw.query() + f" -site:{draw.host()}".replace(":8640", "")), ("demo", "manuals"), 200
    ),
    "language": (
        lambda draw: _search(draw.query(), language=draw.random.choice(READERS)), ("demo", "manuals", "judged"), 210
    ),
    "type": (
        lambda draw: _search(draw.query() + " filetype:" + draw.random.choice(("html", "pdf", "txt"))),
        ("demo", "manuals", "judged"), 210,
    ),
    "before": (lambda draw: _search(draw.query(), before=_day(draw)), ("demo", "manuals", "judged"), 210),
    "after": (lambda draw: _search(draw.query(), after=_day(draw)), ("demo", "manuals", "judged"), 210),
    "link": (lambda draw: _search(draw.words(1, 1)[0] + " link:" + draw.page().url), ("demo", "manuals"), 200),
    "filter alone": (
        lambda draw: _search(f"site:{draw.host()}".replace(":8640", ""), page=draw.random.randint(1, 5)),
        ("demo", "manuals"), 200,
    ),
    "news": (lambda draw: {"call": "tab", "tab": "news", "query": draw.query()}, ("demo", "manuals"), 200),
    "places": (lambda draw: {"call": "tab", "tab": "places", "query": draw.query()}, ("demo", "manuals"), 200),
    "by date": (
        lambda draw: _search(draw.query(), sort="date", page=draw.random.choice((1, 1, 2))),
        ("demo", "manuals", "judged"), 210,
    ),
    "preferences": (_lens, ("demo", "manuals"), 240),
    "pinned": (_pinned, ("demo",), 200),
    "safe": (lambda draw: _search(draw.query(), safe=True), ("demo", "manuals", "judged"), 210),
    "near-duplicates": (lambda draw: _search(draw.query(), duplicates=True), ("demo", "manuals"), 200),
    "counts": (lambda draw: _search(draw.query(), counts=True), ("demo", "manuals", "judged"), 210),
    "pages": (_deep, ("manuals", "judged"), 300),
    "sizes": (lambda draw: _search(draw.query(), size=draw.random.choice((1, 3, 25, 100))), ("manuals",), 200),
    "reader": (lambda draw: _search(draw.query(), reader=draw.random.choice(READERS)), ("demo", "manuals"), 240),
    "typos": (_typo, ("demo", "manuals", "judged"), 300),
    "named": (_named, ("demo", "manuals"), 200),
    "signs": (_signs, ("demo", "manuals", "judged"), 210),
    "fresh": (lambda draw: _search("latest " + draw.query()), ("demo", "manuals"), 200),
    "explained": (lambda draw: _search(draw.query(), explain=True), ("demo", "manuals", "judged"), 210),
    "completion": (_completion, ("demo", "manuals", "judged"), 300),
    "similar": (lambda draw: {"call": "similar", "url": draw.page().url}, ("demo", "manuals"), 200),
    "explain": (_explain, ("demo", "manuals"), 210),
    **{
        f"profile {name}": (
            lambda draw, name=name: _search(draw.query(), profile=name), ("demo", "manuals", "judged"), 210
        )
        for name in PROFILES
    },
}  # fmt: skip


def main() -> None:
    root = Path(sys.argv[1])
    REQUESTS.mkdir(exist_ok=True)
    for corpus in CORPORA:
        drawer = Drawer(corpus, root / corpus.name)
        path = REQUESTS / f"{corpus.name}.jsonl"
        with path.open("w", encoding="utf-8") as sink:
            for kind, (function, corpora, count) in KINDS.items():
                if corpus.name in corpora:
                    for _ in range(-(-count // len(corpora))):
                        sink.write(json.dumps({"kind": kind, **function(drawer)}, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
