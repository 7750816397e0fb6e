"""The labels: which blocks of which page are main text, as a reader found them. The rules are in README.md."""

from __future__ import annotations

import csv
import hashlib
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from bench.extract.pages import DEMO
from bench.extract.splitting import blocks
from bench.extract.words import digest, words

FILE = Path(__file__).with_name("labels.tsv")
HALVES = ("tuning", "table")


class Label(NamedTuple):
    """One row of ``labels.tsv``; ``main`` and ``neutral`` are ranges of block numbers such as ``4-9,12``."""

    half: str
    site: str
    package: str
    path: str
    language: str  # of the main text
    charset: str
    sha256: str
    blocks: int
    main: str
    neutral: str
    words: int
    digest: str

    @property
    def name(self) -> str:
        return f"{self.site} {self.path.removeprefix('usr/share/')}"


class Reference(NamedTuple):
    """A labelled page, ready to be compared with."""

    label: Label
    body: bytes
    markup: str
    main: Counter[str]
    neutral: Counter[str]
    all_text: str
    rest_words: int


def load(file: Path = FILE) -> list[Label]:
    with file.open(encoding="utf-8", newline="") as rows:
        return [
            Label(**{**row, "blocks": int(row["blocks"]), "words": int(row["words"])})
            for row in csv.DictReader(rows, delimiter="\t")
        ]


def numbers(ranges: str) -> list[int]:
    """The block numbers in ``4-9,12``."""
    found: list[int] = []
    for part in filter(None, ranges.split(",")):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def half(order: int) -> str:
    return HALVES[order % len(HALVES)]


def split(pages: list[tuple[str, str, str]]) -> dict[tuple[str, str], str]:
    """The half of every (package, site, path): dealt out in turn, site by site, in the order of a hash."""

    def place(page: tuple[str, str, str]) -> tuple[str, str]:
        package, site, path = page
        return (DEMO if package == DEMO else site, hashlib.sha256(f"{site} {path}".encode()).hexdigest())

    return {(site, path): half(order) for order, (_, site, path) in enumerate(sorted(pages, key=place))}


def reference(label: Label, body: bytes) -> Reference:
    """The page with its label; raises ``ValueError`` where the label does not fit the page."""
    markup = body.decode(label.charset)
    found = [block.text for block in blocks(markup)]
    main, neutral = numbers(label.main), numbers(label.neutral)
    if len(found) != label.blocks and max(main + neutral) >= len(found):
        raise ValueError(f"{label.name}: {len(found)} blocks, labelled were {label.blocks}")
    main_words = words(" ".join(found[number] for number in main))
    if (len(main_words), digest(main_words)) != (label.words, label.digest):
        raise ValueError(f"{label.name}: the main text is not the one that was labelled")
    if set(main) & set(neutral):
        raise ValueError(f"{label.name}: blocks are both main and neutral")
    neutral_words = words(" ".join(found[number] for number in neutral))
    everything = " ".join(found)
    rest = len(words(everything)) - len(main_words) - len(neutral_words)
    return Reference(label, body, markup, Counter(main_words), Counter(neutral_words), everything, rest)
