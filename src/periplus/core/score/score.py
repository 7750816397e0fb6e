"""Scores of candidates, read from the index by one call."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import F64, I64, M_F64, R_F64, R_I64, kernel, signature
from periplus.core.layout.segments import ROW
from periplus.core.machine.arrays import at_f64, at_i64
from periplus.core.score.candidates import ranked


@kernel(signature(I64, I64, I64, R_F64, R_I64, R_I64, R_F64, F64, R_I64, M_F64))
def score(
    table_at: Any,  # addresses of the segments' arrays
    segments: Any,
    constants: Any,  # as ``formula.Formula`` lays them out
    numbers: Any,  # of the candidates
    query: Any,  # words and their forms, as ``candidates.ranked`` takes them
    languages: Any,  # what a candidate in each language gets; or one for all
    now: Any,  # in seconds; 0: age does not matter
    named: Any,  # documents that the query names by their address
    result: Any,
) -> Any:
    """One score a candidate."""
    table, values, at = at_i64(table_at, segments * ROW), at_f64(query.ctypes.data, len(query)), constants.ctypes.data
    needed = ranked(table, numbers, query, values, at, languages, now, named, np.int64(0), np.int64(0), result)
    work = np.empty(needed, np.int64)
    return ranked(table, numbers, query, values, at, languages, now, named, work.ctypes.data, needed, result)
