"""What is shown of the texts that ``look`` looked through: sentences chosen, and results written, in one call."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.compiler import bare_kernel
from periplus.index.kernels.tables import at_f64, at_i64, at_u8, at_u32
from periplus.index.kernels.types import I64, signature
from periplus.search.kernels.hits import most_hits
from periplus.search.kernels.layout import (
    ENDS,
    FIELDS,
    FOUND,
    FREE,
    HEAD,
    NUMBERS,
    OUT,
    OUT_SIZE,
    PAGES,
    PLACES,
    POINTS,
    QUERY_SIZE,
    RAW,
    RAW_SIZE,
    TEXTS,
    part,
    signs_of,
)
from periplus.search.kernels.queried import terms_room, words_of_terms
from periplus.search.kernels.records import RECORD
from periplus.search.kernels.results import write
from periplus.search.kernels.sentences import MAX_SNIPPET, PAGE, choose, sentences_room
from periplus.search.kernels.texts import PLACE

ROOM = 6_144  # bytes of a result, beyond what is copied from its document


@bare_kernel(signature(I64, *[I64] * 8))
def show(
    memory_at: Any,
    words: Any,  # of memory
    entries_at: Any,  # the table of spellings
    entries_size: Any,
    judged_at: Any,  # what was found out of those that it does not know
    judged_size: Any,
    rank: Any,  # of the first result
    written: Any,  # whether results are wanted, which takes documents; else only what is to be shown of each text
) -> Any:
    """How many results have to be made otherwise; a negative number is how many words of memory are needed."""
    memory = at_i64(memory_at, words)
    texts, query_size, raw_size = memory[TEXTS], memory[QUERY_SIZE], memory[RAW_SIZE]
    query, ends = at_i64(memory_at + 8 * HEAD, query_size), part(memory, memory_at, ENDS, texts)
    places = part(memory, memory_at, PLACES, PLACE * memory[FOUND])
    entries, judged = at_i64(entries_at, entries_size), at_i64(judged_at, judged_size)
    text = at_u32(memory_at + 8 * memory[POINTS], ends[texts - 1] + 1)
    signs_at = signs_of(memory, memory_at)
    most, terms_size = most_hits(places, entries, judged), terms_room(query)
    memory[PAGES] = memory[FREE]
    terms_at = memory[PAGES] + (PAGE + 2 * MAX_SNIPPET) * texts
    work = terms_at + terms_size
    memory[OUT] = work + sentences_room(most)
    needed = memory[OUT] + ((raw_size + ROOM * texts) >> 3) + 1
    if needed > words:
        return -needed
    terms = at_i64(memory_at + 8 * terms_at, terms_size)
    words_of_terms(query, terms)
    weights = at_f64(memory_at + 8 * (HEAD + query_size - query[1]), query[1])
    pages = at_i64(memory_at + 8 * memory[PAGES], (PAGE + 2 * MAX_SNIPPET) * texts)
    marks = at_i64(memory_at + 8 * (memory[PAGES] + PAGE * texts), 2 * MAX_SNIPPET * texts)
    choose(text, signs_at, ends, places, entries, judged, terms, weights, most, memory_at + 8 * work, pages, marks)
    if not written:
        return np.int64(0)
    rows = memory_at + 8 * (HEAD + query_size)
    packed_at = memory_at + 8 * memory[RAW]
    special, memory[OUT_SIZE] = write(
        at_u8(packed_at, raw_size),
        packed_at,
        part(memory, memory_at, FIELDS, RECORD * texts),
        text,
        at_u8(signs_at, len(text)),
        signs_at,
        ends,
        pages,
        rank,
        at_i64(rows + 8 * texts, texts),
        at_i64(rows + 16 * texts, NUMBERS * texts),
        at_u8(memory_at + 8 * memory[OUT], 8 * (words - memory[OUT])),
    )
    return np.int64(special)
