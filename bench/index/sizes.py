"""What the lists of a Periplus index take, by kind of term: what the others index, too, and the forms beyond that.

Tantivy, bm25s and PISA index one term a word, its stem. Beside each stem, or alone where a word has none (numbers,
names with signs), Periplus keeps the word as written, the word without accents and the parts of names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

TABLES = 1 + 12 / 16  # frequency and share of a block, of a term
RANKED, BEST = 10, 4  # postings from which on a term has best impacts, and their bytes
LARGE, LARGE_ROW = 255, 12


def by_kind(folder: Path) -> dict[str, int]:
    """Bytes of dictionary, postings and positions: of ``stems`` (and words without one), and of all ``other forms``."""
    from periplus.index.format.segment import Segment

    total = {"stems": 0, "other forms": 0}
    for path in sorted((folder / "segments").iterdir()):
        segment = Segment(path)
        is_stem, sizes = _stems(segment), _sizes(segment)
        total["stems"] += int(sizes[is_stem].sum())
        total["other forms"] += int(sizes[~is_stem].sum())
    return total


def _stems(segment: Any) -> Any:
    from periplus.text.forms import stem_term

    terms = [term.decode("utf-8", "replace") for term in segment.dictionary.terms(0, len(segment.dictionary))]
    return np.array([term.startswith("~") or not stem_term(term, "en") for term in terms])


def _sizes(segment: Any) -> Any:
    """Bytes of each term; a block of positions is shared out evenly by posting, the dictionary by term."""
    from periplus.index.format.postings import FREQUENT_AT_LEAST, FREQUENT_PER_WINDOW, window_bits

    postings, positions = segment.postings, segment.positions
    frequency = postings.frequencies(0, len(postings.small))
    start = np.concatenate([[0], np.cumsum(frequency)])
    windows = postings.windows
    is_rare = frequency < max(FREQUENT_AT_LEAST, FREQUENT_PER_WINDOW * windows)
    starts = positions.block_start.astype(np.int64) + np.repeat(positions.block_base, 256)[: len(positions.block_start)]
    blocks = np.diff(np.append(starts, len(positions.data))) + 4.0
    held = np.minimum(64, len(postings.place) - 64 * np.arange(len(blocks)))
    upto = np.concatenate([[0.0], np.cumsum(np.repeat(blocks / held, held))])
    sizes = upto[start[1:]] - upto[start[:-1]]
    sizes += TABLES + (len(segment.dictionary.text) + 4 * len(segment.dictionary.offsets)) / len(frequency)
    sizes += np.where(frequency >= RANKED, BEST, 0) + np.where((frequency >= LARGE) | ~is_rare, LARGE_ROW, 0)
    sizes += frequency * np.where(is_rare, 2 + window_bits(windows) / 8, 2) + np.where(is_rare, 0, 5 * windows + 4)
    return sizes
