"""The profile ``periplus`` without its explanation: one kernel from counts and places to scores.

``ours.periplus`` says the same as a tree of parts, from which explanations are read; the tests hold both to one value.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from periplus.index.query import STRONG_SHARE
from periplus.ranking import features, formulas, ours
from periplus.ranking.places import Places

if TYPE_CHECKING:
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
    language: FloatArray | float
    host_words: float
    wants_fresh: bool
    age: FloatArray  # D, in days; empty unless ``wants_fresh``
    named: IntArray  # rows of the pages that the query names


def scores(known: Candidates, table: Weights | None = None) -> FloatArray:
    """One score a candidate."""
    from periplus.ranking.kernels import scores as kernel

    chosen = table or ours.weights()
    words = len(known.weights)
    strong, idf = _frequencies(known, words)
    weighted = idf * known.weights
    own = np.maximum(strong[known.form_words], known.form_frequencies)
    is_strong = known.form_shares >= STRONG_SHARE
    power = chosen.shape["share_power"]
    shares = np.where(is_strong, known.form_shares**power, known.form_shares) if power != 1.0 else known.form_shares
    worth = shares * formulas.bm25_idf(known.documents, own) / np.maximum(idf[known.form_words], 1e-9)
    whole = max(float(weighted.sum()), 1e-9)
    scale = ours.feature_scale(weighted, chosen)
    fields, columns = _laid_out(chosen)
    given = known.prior * chosen.prior["links"] + chosen.features["language"] * known.language
    if known.wants_fresh:
        given = given + chosen.features["fresh"] * formulas.half_life(known.age, ours.FRESH_DAYS)
    if len(known.named):
        given[known.named] += chosen.features["navigational"]
    result = np.empty(len(known.prior))
    kernel(
        known.counts.reshape(-1),
        known.places.ends.reshape(-1),
        known.places.positions,
        known.places.words,
        known.lengths.reshape(-1),
        known.average_lengths,
        known.form_words,
        known.form_terms,
        np.where(is_strong, worth, -worth),
        weighted,
        fields,
        columns,
        given,
        np.array([known.host_words]),
        features.NEAR_WINDOW,
        features.SWAPPED,
        chosen.bm25f["k1"],
        scale,
        whole,
        result,
    )
    return result


def _frequencies(known: Candidates, words: int) -> tuple[FloatArray, FloatArray]:
    """W: in how many documents the widest strong form of each word occurs, and the idf of that."""
    strong = np.zeros(words)
    np.maximum.at(strong, known.form_words, np.where(known.form_shares >= STRONG_SHARE, known.form_frequencies, 0.0))
    return strong, formulas.bm25_idf(known.documents, strong)


def _laid_out(table: Weights) -> tuple[FloatArray, FloatArray]:
    return _arrays(
        tuple(table.by_field(table.bm25f).tolist()),
        tuple(table.by_field(table.bm25f_length).tolist()),
        tuple(sorted(table.features.items())),
    )


@lru_cache(maxsize=8)
def _arrays(
    fields: tuple[float, ...], lengths: tuple[float, ...], weights: tuple[tuple[str, float], ...]
) -> tuple[FloatArray, FloatArray]:
    from periplus.ranking.kernels import COLUMNS

    by_name = dict(weights)
    names = (*COLUMNS, "coverage", "title_overlap", "anchors", "shallow")
    return np.array([*fields, *lengths]), np.array([by_name[name] for name in names])
