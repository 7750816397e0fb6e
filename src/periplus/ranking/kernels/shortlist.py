"""From the hits of a first pass to the list that is shown, in one call."""

from __future__ import annotations

from typing import Any

from periplus.core import F64, I64, bare_kernel, signature
from periplus.index.kernels.tables import ROW, at_f64, at_i64
from periplus.ranking.kernels.candidates import ranked
from periplus.ranking.kernels.listing import COLUMNS, FACTS, length_of, listed

# What does not change from query to query, by its place: addresses of the segments' table, the constants and the
# fingerprints (0 when there are none), and numbers.
TABLE, SEGMENTS, CONSTANTS, MOST, LONGEST, NAMELESS, FIRST_PRINT, FINGERPRINTS, BITS, COMPARED = range(10)
FIXED = 10
WIDELY = 3  # times the results wanted are compared for near-duplicates, when that is more


@bare_kernel(signature(I64, I64, I64, I64, I64, I64, I64, I64, F64, I64, I64, I64, I64, I64))
def shortlist(
    fixed_at: Any,
    numbers_at: Any,  # of the hits
    before_at: Any,  # their scores
    count: Any,
    query_size: Any,  # numbers of the query, which is at the beginning of memory
    languages_at: Any,  # what a candidate in each language gets; or one for all
    languages_size: Any,
    now: Any,  # in seconds; 0: age does not matter
    limit: Any,  # results of a host; 0: any number
    folds: Any,  # whether near-duplicates are folded
    wanted: Any,
    memory_at: Any,
    words: Any,  # of memory, as numbers of 64 bits
) -> Any:
    """Writes the list behind the query; 0, or how many words of memory it takes when there are too few."""
    fixed = at_i64(fixed_at, FIXED)
    table, numbers = at_i64(fixed[TABLE], fixed[SEGMENTS] * ROW), at_i64(numbers_at, count)
    scored = min(count, fixed[MOST])
    list_at = memory_at + 8 * query_size
    scores_at = list_at + 8 * (FACTS + COLUMNS * length_of(count, fixed[LONGEST], limit, wanted))
    work_at = scores_at + 8 * scored
    used = (work_at - memory_at) // 8
    scores = at_f64(scores_at, scored)
    needed = ranked(
        table, at_i64(numbers_at, scored), at_i64(memory_at, query_size), at_f64(memory_at, query_size),
        fixed[CONSTANTS], at_f64(languages_at, languages_size), now, work_at, words - used, scores,
    )  # fmt: skip
    if needed == 0:
        prints = fixed[FIRST_PRINT] if folds else 0
        needed = listed(
            numbers, scores, at_f64(before_at, count), fixed[LONGEST], table, limit, fixed[NAMELESS], prints,
            fixed[FINGERPRINTS], max(fixed[COMPARED], WIDELY * wanted), fixed[BITS], wanted, work_at, words - used,
            list_at,
        )  # fmt: skip
    return used + needed if needed != 0 else 0
