"""Overlays: what changed about a segment since it was written; one small file a segment and generation.

``live`` holds which documents are still live, with the frequencies and best impacts that follow from it;
``prior`` holds what link analysis (or anything else that is independent of the query) says of each document,
from 0 to 255.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from periplus.core.layout.documents import WINDOW
from periplus.errors import INDEX_PART, Corrupt
from periplus.index.format.files import ArrayFile, ArrayFileWriter
from periplus.index.format.postings import window_count

if TYPE_CHECKING:
    from pathlib import Path

    from periplus.index.format.segment import Segment

LIVE_KIND = "LIVE"
PRIOR_KIND = "PRIO"
LARGEST_PRIOR = 255


class Live(Struct, frozen=True):
    """Statistics without the deleted documents."""

    alive: NDArray[np.uint8]  # 1 or 0 a document
    frequency: NDArray[np.uint32]
    best: NDArray[np.uint8]


def write_live(path: Path, segment: Segment, alive: NDArray[np.uint8]) -> int:
    """Its seal."""
    from periplus.core.build import live_statistics

    terms = segment.header.terms
    frequency, best = np.zeros(terms, np.uint32), np.zeros(len(segment.postings.best), np.uint8)
    live_statistics(segment.postings.tables, alive, frequency, best)
    file = ArrayFileWriter(path, LIVE_KIND)
    file.add("alive", np.packbits(alive), "u1")
    file.add("frequency", frequency, "<u4")
    file.add("best", best, "u1")
    return file.close().seal


def read_live(path: Path, segment: Segment, seal: int = 0) -> Live:
    file = ArrayFile(path, LIVE_KIND, seal=seal)
    frequency, best = file.array("frequency"), file.array("best")
    alive = np.unpackbits(file.array("alive"))[: segment.documents]
    expected = (segment.header.terms, len(segment.postings.best), segment.documents)
    if (len(frequency), len(best), len(alive)) != expected:
        raise Corrupt(f"{path} does not belong to {segment.name}; rebuild the index", INDEX_PART)
    return Live(alive, frequency, best)


def write_prior(path: Path, prior: NDArray[np.uint8]) -> int:
    """Its seal."""
    file = ArrayFileWriter(path, PRIOR_KIND)
    file.add("prior", prior, "u1")
    return file.close().seal


def read_prior(path: Path, segment: Segment, seal: int = 0) -> NDArray[np.uint8]:
    prior: NDArray[np.uint8] = ArrayFile(path, PRIOR_KIND, seal=seal).array("prior")
    if len(prior) != segment.documents:
        raise Corrupt(f"{path} does not belong to {segment.name}; refresh the ranks", INDEX_PART)
    return prior


def quantized_prior(values: NDArray[np.float64]) -> NDArray[np.uint8]:
    """0..1 as a whole number; what is not a number counts as nothing."""
    clean = np.clip(np.nan_to_num(np.asarray(values, np.float64)), 0.0, 1.0)
    return np.floor(clean * LARGEST_PRIOR + 0.5).astype(np.uint8)


def window_maxima(prior: NDArray[np.uint8]) -> NDArray[np.uint8]:
    windows = window_count(len(prior))
    padded = np.zeros(windows * WINDOW, np.uint8)
    padded[: len(prior)] = prior
    maxima: NDArray[np.uint8] = padded.reshape(windows, WINDOW).max(axis=1, initial=0)
    return maxima
