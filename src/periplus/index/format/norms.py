"""Norms: how the frequencies of a term in a document's fields become one small number, its impact.

BM25F (Robertson, Zaragoza, Taylor: "Simple BM25 extension to multiple weighted fields", CIKM 2004; field-wise length
normalisation as in Zaragoza et al., TREC 2004):

    w = sum over fields f of  weight_f * tf_f / (1 - b_f + b_f * length_f / average_f)
    impact = round(255 * w / (k1 + w)),  at least 1

The constants and the average lengths are frozen in a *norm epoch*, which all segments of a generation share: scores
of two segments, or of two machines, add up alike within one epoch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from periplus.index.format.fields import FIELDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

K1 = 1.2
WEIGHTS = {"title": 4.0, "headings": 1.5, "body": 1.0, "anchors": 2.5, "address": 1.5, "margin": 0.1}
LENGTH_PENALTY = {"title": 0.4, "headings": 0.4, "body": 0.75, "anchors": 0.4, "address": 0.3, "margin": 0.75}


class Epoch(Struct, frozen=True):
    """Everything that is baked into impacts."""

    number: int = 1
    documents: int = 0  # how many the averages were taken over
    averages: tuple[float, ...] = (1.0,) * len(FIELDS)
    weights: tuple[float, ...] = tuple(WEIGHTS[field] for field in FIELDS)
    penalties: tuple[float, ...] = tuple(LENGTH_PENALTY[field] for field in FIELDS)
    k1: float = K1


def field_factors(epoch: Epoch, lengths: NDArray[np.uint32]) -> NDArray[np.float64]:
    """What one occurrence in each field is worth, by document (rows) and field (columns)."""
    averages = np.maximum(np.asarray(epoch.averages), 1.0)
    penalties = np.asarray(epoch.penalties)
    factors: NDArray[np.float64] = np.asarray(epoch.weights) / (1.0 - penalties + penalties * lengths / averages)
    return factors
