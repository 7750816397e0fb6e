"""The profile ``periplus`` without its explanation: one kernel from counts and places to scores.

``ours.periplus`` says the same as a tree of parts, from which explanations are read; the tests hold both to one value.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from periplus.index.overlays import LARGEST_PRIOR
from periplus.index.query import STRONG_SHARE
from periplus.ranking import features, ours
from periplus.ranking.places import Places

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.ranking.ours import Weights

FloatArray = np.ndarray[Any, np.dtype[np.float64]]
IntArray = np.ndarray[Any, np.dtype[np.int64]]


class Candidates(Struct, frozen=True):
    """What the index knows of the candidates, as it comes out of the index; axes as in ``evidence``, T of terms.

    A form is one term of one word; the arrays of forms run over all forms of all words.
    """

    weights: FloatArray  # W: how often each word was asked for
    form_words: IntArray
    form_terms: IntArray
    form_shares: FloatArray
    form_frequencies: FloatArray  # in how many documents
    documents: int
    counts: np.ndarray[Any, np.dtype[np.uint32]]  # D x T x F
    places: Places
    lengths: IntArray  # D x F
    average_lengths: FloatArray
    prior: FloatArray
    language: FloatArray  # D; one number for all where nothing is known
    host_words: float
    age: FloatArray  # D, in days; empty unless the query wants what is new
    named: IntArray  # rows of the pages that the query names


def scores(known: Candidates, table: Weights | None = None) -> FloatArray:
    """One score a candidate."""
    result = np.empty(len(known.prior))
    fields, columns, given = _laid_out(table or ours.weights())
    _kernel()(
        known.counts.reshape(-1),
        known.places.ends.reshape(-1),
        known.places.positions,
        known.places.words,
        known.lengths.reshape(-1),
        known.average_lengths,
        known.weights,
        known.form_words,
        known.form_terms,
        known.form_shares,
        known.form_frequencies,
        fields,
        columns,
        given,
        known.prior,
        known.language,
        known.age,
        known.named,
        known.documents,
        known.host_words,
        result,
    )
    return result


class Fused:
    """The scores of ``scores`` from the index itself, without pages that the query names, and the list that they make.

    What does not change from query to query is laid out once; ``run`` is the kernel, which takes addresses.
    """

    def __init__(
        self,
        averages: FloatArray,  # lengths of the fields
        fields: Sequence[int],  # whose places count
        documents: int,
        host_words: float,
        most: int,  # places of one word in one field that count
    ) -> None:
        from periplus.ranking.kernels import shortlist

        kept = [float(field in fields) for field in range(len(averages))]
        given = [*_shipped()[2], documents, host_words, LARGEST_PRIOR, most]
        self._constants = np.concatenate([averages, kept, *_shipped()[:2], given]).astype(np.float64)
        self.constants: int = self._constants.ctypes.data
        self.run: Callable[..., int] = shortlist.entry


@cache
def _kernel() -> Callable[..., int]:
    from periplus.ranking.kernels import scores

    return scores.entry


@cache
def _shipped() -> tuple[FloatArray, FloatArray, FloatArray]:
    return _arrays(ours.weights())


def _laid_out(table: Weights) -> tuple[FloatArray, FloatArray, FloatArray]:
    return _shipped() if table is ours.weights() else _arrays(table)


def _arrays(table: Weights) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weight and b of each field; the weights of features that a kernel measures; everything else, in its order."""
    from periplus.ranking.kernels import COLUMNS

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
    ]
    return np.array(fields), np.array(columns), np.array(given, dtype=np.float64)
