"""The profile ``periplus`` as a kernel takes it: from the index to scores, without the parts of an explanation.

``ours.periplus`` says the same as a tree of parts, from which explanations are read; the tests hold both to one value.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from periplus.index import BEFORE_LAST, STRONG_SHARE
from periplus.index.format.overlays import LARGEST_PRIOR
from periplus.ranking import features, ours

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.ranking.ours import Weights

FloatArray = np.ndarray[Any, np.dtype[np.float64]]


class Formula:
    """The numbers of the formula over one collection, laid out once, and the kernel that takes them."""

    def __init__(
        self,
        averages: FloatArray,  # lengths of the fields
        fields: Sequence[int],  # whose places count
        documents: int,
        host_words: float,
        most: int,  # places of one word in one field that count
    ) -> None:
        from periplus.core.score import score

        kept = [float(field in fields) for field in range(len(averages))]
        by_field, columns, rest = _shipped()
        longest = ours.longest(averages, ours.weights())
        given = [*rest, documents, host_words, LARGEST_PRIOR, most]
        self.constants: FloatArray = np.array([*averages, *kept, *by_field, *longest, *columns, *given], np.float64)
        self.score: Callable[..., int] = score


@cache
def _shipped() -> tuple[FloatArray, FloatArray, FloatArray]:
    return _arrays(ours.weights())


def _arrays(table: Weights) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weight and b of each field; the weights of features that a kernel measures; everything else, in its order."""
    from periplus.core.score import COLUMNS

    fields = [*table.by_field(table.bm25f).tolist(), *table.by_field(table.bm25f_length).tolist()]
    columns = [table.features[name] for name in (*COLUMNS, "coverage", "title_overlap", "anchors", "shallow")]
    given = [
        table.bm25f["k1"],
        table.shape["share_power"],
        table.shape["longest"],
        STRONG_SHARE,
        features.NEAR_WINDOW,
        features.SWAPPED,
        table.prior["links"],
        table.features["language"],
        table.features["fresh"],
        ours.FRESH_DAYS,
        table.features["navigational"],
        table.features["title_same"],
        table.features["title_same"] * BEFORE_LAST,
        table.shape["alone"],
    ]
    return np.array(fields), np.array(columns), np.array(given, dtype=np.float64)
