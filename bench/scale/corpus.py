"""Corpora of any size from the sentences of real passages: the same for the same seed, made as a stream.

A document is some sentences of a few passages, as long as real pages are (lengths are log-normal), with a few names
that no passage has: of these there are ever more, as in real text, so that the vocabulary grows with the corpus.
"""

from __future__ import annotations

import json
import math
import random
import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HOSTS = 20_000
MEAN_BYTES = 2_400  # of a text
SPREAD = 0.7  # of the logarithm of its length
LEAST_BYTES, MOST_BYTES = 200, 40_000
TOGETHER = 4  # sentences of one passage that stay together, at most
NAMES = 3  # of one document
NAME_TAIL = 0.35  # the smaller, the more names are new
MOST_NAMES = 1 << 40
FAVOURITE_HOSTS = 1.1  # how much more documents the first hosts have than the last
SEED = 19

_SENTENCE_END = re.compile(r"(?<=[.!?:]) ")
_SYLLABLES = [first + vowel for first in "bdfgklmnprstvz" for vowel in "aeiou"]


class Page(NamedTuple):
    url: str
    title: str
    text: str


def read_sentences(passages: Path) -> list[list[str]]:
    """The sentences of each passage."""
    with passages.open(encoding="utf-8") as lines:
        return [_SENTENCE_END.split(json.loads(line)["text"]) for line in lines]


def pages(sentences: list[list[str]], count: int, seed: int = SEED) -> Iterator[Page]:
    """So many pages, of which a smaller corpus has the first."""
    chance = random.Random(seed)
    for number in range(count):
        host = int(HOSTS * chance.random() ** FAVOURITE_HOSTS)
        title = chance.choice(chance.choice(sentences))[:80]
        names = [name_of(int(min(MOST_NAMES, chance.paretovariate(NAME_TAIL)))) for _ in range(NAMES)]
        url = f"http://h{host:05d}.scale.test/{names[0]}/{number}"
        yield Page(url, title, _text(chance, sentences, names))


def _text(chance: random.Random, sentences: list[list[str]], names: list[str]) -> str:
    wanted = min(MOST_BYTES, max(LEAST_BYTES, int(chance.lognormvariate(_LOCATION, SPREAD))))
    parts = [f"{' '.join(names)}."]
    size = 0
    while size < wanted:
        passage = chance.choice(sentences)
        first = chance.randrange(len(passage))
        part = " ".join(passage[first : first + TOGETHER])
        parts.append(part)
        size += len(part.encode()) + 1
    return " ".join(parts).encode()[:wanted].decode(errors="ignore")


def name_of(number: int) -> str:
    """A word of syllables for every number from 1 on."""
    name = ""
    while number:
        number, syllable = divmod(number, len(_SYLLABLES))
        name += _SYLLABLES[syllable]
    return name or _SYLLABLES[0]


_LOCATION = math.log(MEAN_BYTES) - SPREAD * SPREAD / 2  # so that the mean is what it says
