"""Numbers with a type, since numba would compile a helper anew for each number that is written as such."""

from __future__ import annotations

import numpy as np

ZERO = np.int64(0)
NONE = np.int64(-1)
