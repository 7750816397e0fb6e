"""Passages to index and queries to ask, the same in every run."""

from __future__ import annotations

import json
import random
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from periplus.addresses import page_key

ROOT = Path(__file__).resolve().parents[2]
HERE = Path(__file__).parent
SHARED = ROOT.parent / "shared"
QUERIES = HERE / "queries.txt"
PROSE = HERE / "prose.txt"
SEED = 5
QUERY_COUNT, PROSE_COUNT = 1_000, 300
PROSE_WORDS = (4, 8)
MAX_WORDS = 6

_WORD = re.compile(r"[a-z0-9]+")

Passage = dict[str, Any]
PRIORS: dict[int, int] = {}  # by page key, of the passages read by ``with_prior``


def make(web: Path, target: Path, most: int) -> None:
    """The passages of a local web as JSON lines, in the order of their addresses."""
    if target.exists():
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    raw = target.with_suffix(".raw")
    subprocess.run([sys.executable, SHARED / "localweb" / "passages", web, raw, str(most)], check=True)
    with raw.open(encoding="utf-8") as lines:
        passages = sorted((json.loads(line) for line in lines), key=lambda passage: passage["url"])
    with target.open("w", encoding="utf-8") as sink:
        sink.writelines(json.dumps(passage, ensure_ascii=False) + "\n" for passage in passages)
    raw.unlink()


def read(path: Path) -> list[Passage]:
    with path.open(encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def prior_of(number: int) -> int:
    """A link prior from 0 to 255 with a long tail, unrelated to the text: the hardest case for pruning."""
    return min(255, int(random.Random(number).paretovariate(1.2) * 8) - 8)


def with_prior(passage: Passage, number: int) -> Passage:
    """The passage with the prior that all engines are given; made up here, because that is no engine's work."""
    passage["prior"] = PRIORS[page_key(passage["url"])] = prior_of(number)
    return passage


def queries(path: Path) -> tuple[list[str], list[str]]:
    """The kept files of queries; drawn from the passages when they are not there."""
    if not QUERIES.exists() or not PROSE.exists():
        passages = read(path)
        QUERIES.write_text("\n".join(_sampled(passages)) + "\n", encoding="utf-8")
        PROSE.write_text("\n".join(_prose(passages)) + "\n", encoding="utf-8")
    return QUERIES.read_text(encoding="utf-8").splitlines(), PROSE.read_text(encoding="utf-8").splitlines()


def _sampled(passages: list[Passage]) -> list[str]:
    known: set[str] = set()
    for passage in passages:
        known.update(_WORD.findall(passage["text"].lower()))
    found = sorted({text for text in _asked() if all(word in known for word in text.split())})
    return random.Random(SEED).sample(found, QUERY_COUNT)


def _asked() -> list[str]:
    """What people asked other engines, as plain words."""
    folder = SHARED / "data" / "queries"
    lines = (folder / "million-query-10000.txt").read_text("utf-8").splitlines()
    game = (folder / "search-benchmark-game.txt").read_text("utf-8").splitlines()
    texts = lines + [json.loads(line)["query"] for line in game]
    words = [_WORD.findall(text.lower()) for text in texts]
    return [" ".join(dict.fromkeys(some)) for some in words if 0 < len(some) <= MAX_WORDS]


def _prose(passages: list[Passage]) -> list[str]:
    chance = random.Random(SEED)
    spans: list[str] = []
    while len(spans) < PROSE_COUNT:
        words = chance.choice(passages)["text"].lower().split()
        size = chance.randint(*PROSE_WORDS)
        begin = chance.randrange(max(1, len(words) - size))
        span = words[begin : begin + size]
        if len(span) == size and all(word.isascii() and word.isalpha() for word in span):
            spans.append(" ".join(span))
    return spans
