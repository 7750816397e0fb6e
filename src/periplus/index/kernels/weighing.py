"""Weights as whole numbers, for kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import bare_helper
from periplus.index.weights import FIXED_POINT, LARGEST_WEIGHT


@bare_helper
def fixed_weight(weight: Any) -> Any:
    """``weights.fixed``."""
    return np.int64(min(np.float64(LARGEST_WEIGHT), max(1.0, np.rint(weight * FIXED_POINT))))
