"""Scores of contenders on labelled pages, and the CPU time that they take."""

from __future__ import annotations

import gc
import random
import time
from statistics import fmean, median
from typing import TYPE_CHECKING, NamedTuple

from bench.extract.words import Score, compare

if TYPE_CHECKING:
    from bench.extract.contenders import Contender
    from bench.extract.labels import Reference

DRAWS, SEED = 2000, 4
INTERVAL = 0.95


class Result(NamedTuple):
    page: Reference
    scores: dict[str, Score]
    texts: dict[str, str]


class Difference(NamedTuple):
    """How much better the first is than the second, with the borders of an interval from paired resampling."""

    mean: float
    low: float
    high: float


def score(pages: list[Reference], contenders: dict[str, Contender]) -> list[Result]:
    results = []
    for page in pages:
        texts = {name: extract(page) for name, extract in contenders.items()}
        scores = {name: compare(text, page.main, page.neutral) for name, text in texts.items()}
        results.append(Result(page, scores, texts))
    return results


def mean_score(results: list[Result], name: str) -> Score:
    """Mean of each figure over pages: F1 is the mean of the pages' F1, not the F1 of the means."""
    columns = zip(*(result.scores[name] for result in results), strict=True)
    return Score(*(fmean(column) for column in columns))


def difference(results: list[Result], first: str, second: str) -> Difference:
    gains = [result.scores[first].f1 - result.scores[second].f1 for result in results]
    draw = random.Random(SEED)
    means = sorted(fmean(draw.choices(gains, k=len(gains))) for _ in range(DRAWS))
    edge = int(DRAWS * (1 - INTERVAL) / 2)
    return Difference(fmean(gains), means[edge], means[-1 - edge])


def times(pages: list[Reference], contenders: dict[str, Contender], rounds: int) -> dict[str, list[float]]:
    """CPU seconds for each page: the median over rounds in which contenders take turns, page by page."""
    taken: dict[str, list[list[float]]] = {name: [[] for _ in pages] for name in contenders}
    names = list(contenders)
    for turn in range(rounds):
        gc.collect()
        for number, page in enumerate(pages):
            first = (turn + number) % len(names)
            for name in names[first:] + names[:first]:
                start = time.process_time()
                contenders[name](page)
                taken[name][number].append(time.process_time() - start)
    return {name: [median(one) for one in rows] for name, rows in taken.items()}
