"""Segments as a table of addresses, so that one call of a kernel reaches all of them.

A row is one segment: address and length of each array of ``ARRAYS`` in turn, then the numbers of ``NUMBERS``. Whoever
makes a row keeps its arrays alive while a kernel runs.
"""

from __future__ import annotations

ARRAYS = (
    *("frequency", "blocks", "place", "impact", "rare_window", "window_start", "window_max", "best"),
    *("prior", "prior_max", "admitted", "key"),
    *("term_text", "term_offsets", "live_frequency"),
    *("block_base", "block_start", "position_data", "field_starts", "field_lengths"),
    *("large", "host", "language", "host_numbers", "language_numbers", "published", "fetched", "title"),
)
NUMBERS = ("windows", "first_number", "longest")
ROW = 2 * len(ARRAYS) + len(NUMBERS)

# The address of each array; its length stands behind it.
FREQUENCY, BLOCKS, PLACE, IMPACT, RARE_WINDOW, WINDOW_START, WINDOW_MAX, BEST = (2 * place for place in range(8))
PRIOR, PRIOR_MAX, ADMITTED, KEY = (2 * place for place in range(8, 12))
TERM_TEXT, TERM_OFFSETS, LIVE_FREQUENCY = (2 * place for place in range(12, 15))
BLOCK_BASE, BLOCK_START, POSITION_DATA, FIELD_STARTS, FIELD_LENGTHS = (2 * place for place in range(15, 20))
LARGE, HOST, LANGUAGE, HOST_NUMBERS, LANGUAGE_NUMBERS, PUBLISHED, FETCHED, OWN_TITLE = (
    2 * place for place in range(20, 28)
)
WINDOWS, FIRST_NUMBER, LONGEST = (2 * len(ARRAYS) + place for place in range(len(NUMBERS)))
