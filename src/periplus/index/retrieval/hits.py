"""Hits: what retrieval gives back."""

from __future__ import annotations

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

from periplus.records import Total


class TopHits(Struct, frozen=True):
    """The best documents, best first: global numbers, scores, and how many match in all."""

    numbers: NDArray[np.int64]
    scores: NDArray[np.float64]
    total: Total
