"""Is one system better than another on these queries, or could chance have done it?

The paired randomisation test: if the two systems did not differ, each query's difference could as well have had the
other sign. The p-value is the share of sign assignments whose mean difference is at least as large as the one observed.
Smucker, Allan and Carterette, "A comparison of statistical significance tests for information retrieval evaluation",
CIKM 2007. Few queries are enumerated exactly; more are sampled with a fixed seed, so a report can be repeated.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from periplus.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SAMPLES = 100_000
EXACT_QUERIES = 16  # 65,536 assignments
SEED = 20_031
_CHUNK_CELLS = 4_000_000  # of sign assignments in memory at once
_TOLERANCE = 1e-12  # rounding must not turn "as large" into "smaller"


def randomisation_test(
    first: Sequence[float], second: Sequence[float], samples: int = SAMPLES, seed: int = SEED
) -> float:
    """Two-sided p-value of the difference of means of paired scores."""
    if len(first) != len(second):
        raise UsageError(f"the scores are not paired: {len(first)} and {len(second)} of them")
    differences = np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64)
    differences = differences[differences != 0.0]  # their sign changes nothing
    if not len(differences):
        return 1.0
    observed = abs(float(differences.sum())) - _TOLERANCE
    if len(differences) <= EXACT_QUERIES:
        return _exact(differences, observed)
    return _sampled(differences, observed, samples, seed)


def _exact(differences: NDArray[np.float64], observed: float) -> float:
    assignments = np.arange(2 ** len(differences))[:, None] >> np.arange(len(differences)) & 1
    sums = (1 - 2 * assignments) @ differences
    return float(np.mean(np.abs(sums) >= observed))


def _sampled(differences: NDArray[np.float64], observed: float, samples: int, seed: int) -> float:
    """The observed assignment is one of those counted, so that p is never 0."""
    generator = np.random.default_rng(seed)
    most = max(1, _CHUNK_CELLS // len(differences))
    extreme = 1
    for start in range(0, samples, most):
        signs = generator.integers(0, 2, size=(min(most, samples - start), len(differences)), dtype=np.int8)
        sums = (1.0 - 2.0 * signs) @ differences
        extreme += int(np.count_nonzero(np.abs(sums) >= observed))
    return extreme / (samples + 1)
