"""The memory that scoring works in, cut into named arrays.

One block of memory serves a whole call. ``sizes_of`` says how much of it a query takes, and one function a bundle cuts
its arrays out, each behind those of the one before.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from periplus.core.compiler import bare_helper
from periplus.core.layout.documents import FIELD_COUNT
from periplus.core.layout.segments import LONGEST, ROW
from periplus.core.machine.arrays import at_f64, at_i64, at_u32
from periplus.core.score.formula import memory_of
from periplus.core.score.postings import room_of
from periplus.core.score.term_positions import LANES

HEAD = 2  # numbers of a query: how many words it has, what it is as the print of a title
WORD = 2  # numbers of a word: how many forms it has, how often it was asked for (a fraction)
FORM = 4  # of a form: its lists' address, whether it is strong; its share, in how many documents it is (fractions)
FOUND = 5  # numbers of a posting found: its term; where its block's numbers are, its first bit there, width, how many
BYTES = 8  # of a number


class WorkSizes(NamedTuple):
    """How many of everything a query has."""

    candidates: Any
    words: Any
    forms: Any
    longest: Any  # places of one term in one document, at most
    places: Any  # of all terms that are kept of one document, at most
    searching: Any  # numbers of memory in which postings are looked for
    scoring: Any  # and in which one candidate is scored


class QueryTables(NamedTuple):
    """A query in arrays: by term, by form, by word."""

    lists: Any  # address of each term's lists
    labels: Any  # the word that a term is a strong form of; -1: none
    form_words: Any
    form_terms: Any
    shares: Any
    frequencies: Any
    worth: Any  # of each form
    asked: Any  # how often each word was asked for
    widest: Any
    idf: Any


class FoundPostings(NamedTuple):
    """The postings of the candidates."""

    postings: Any  # term by term, those of all candidates: -1 when there is none
    begins: Any  # the first of each candidate among ``found``, and their end
    found: Any  # ``FOUND`` numbers each, by candidate
    search_at: Any  # memory in which they are looked for


class CandidateArrays(NamedTuple):
    """What is read of one candidate."""

    ends: Any  # of its places in each field
    firsts: Any  # the first position of each field, of one posting
    lengths: Any  # of its fields, as fractions
    norms: Any  # what counts in each field are divided by
    counts: Any  # positions in each field, of one posting
    seen: Any  # of each term the fields that it is in, as bits
    pseudo: Any  # and how often it occurs
    run_ends: Any  # of the places of each posting in ``one``
    steps: Any  # positions of one posting
    one: Any  # places of all postings
    other: Any  # as large, for sorting
    positions: Any  # of these places, in order
    words: Any  # that stand there
    scoring_at: Any


@bare_helper
def sizes_of(table: Any, numbers: Any, query: Any, most: Any) -> Any:
    """``most`` is how many places of a term in a field are kept."""
    segments, candidates, words = len(table) // ROW, len(numbers), query[0]
    forms, longest = (len(query) - HEAD - WORD * words) // FORM, np.int64(0)
    for segment in range(segments):
        longest = max(longest, table[segment * ROW + LONGEST])
    places = forms * min(FIELD_COUNT * most, longest) + LANES  # since so many are written where one is wanted
    return WorkSizes(candidates, words, forms, longest, places, room_of(segments, candidates), memory_of(words))


@bare_helper
def _query_words(sizes: Any) -> Any:
    return 7 * sizes.forms + 3 * sizes.words


@bare_helper
def _posting_words(sizes: Any) -> Any:
    most = sizes.candidates * sizes.forms
    return most + sizes.searching + sizes.candidates + 1 + FOUND * (most + 1)


@bare_helper
def _candidate_words(sizes: Any) -> Any:
    fixed = 5 * FIELD_COUNT + 1
    return fixed + 3 * sizes.forms + sizes.longest + LANES + 3 * sizes.places + sizes.scoring


@bare_helper
def words_needed(sizes: Any) -> Any:
    """Numbers of memory in all."""
    return _query_words(sizes) + _posting_words(sizes) + _candidate_words(sizes)


@bare_helper
def query_tables(memory_at: Any, sizes: Any) -> Any:
    forms, words = sizes.forms, sizes.words
    step, at = BYTES * forms, memory_at + 7 * BYTES * forms
    return QueryTables(
        at_i64(memory_at, forms),
        at_i64(memory_at + step, forms),
        at_i64(memory_at + 2 * step, forms),
        at_i64(memory_at + 3 * step, forms),
        at_f64(memory_at + 4 * step, forms),
        at_f64(memory_at + 5 * step, forms),
        at_f64(memory_at + 6 * step, forms),
        at_f64(at, words),
        at_f64(at + BYTES * words, words),
        at_f64(at + 2 * BYTES * words, words),
    )


@bare_helper
def found_postings(memory_at: Any, sizes: Any) -> Any:
    most = sizes.candidates * sizes.forms
    begins_at = memory_at + BYTES * (_query_words(sizes) + most)
    found_at = begins_at + BYTES * (sizes.candidates + 1)
    return FoundPostings(
        at_i64(begins_at - BYTES * most, most),
        at_i64(begins_at, sizes.candidates + 1),
        at_i64(found_at, FOUND * (most + 1)),
        found_at + BYTES * FOUND * (most + 1),
    )


@bare_helper
def candidate_arrays(memory_at: Any, sizes: Any) -> Any:
    at = memory_at + BYTES * (_query_words(sizes) + _posting_words(sizes))
    step, forms, places = BYTES * FIELD_COUNT, sizes.forms, sizes.places
    seen_at = at + 5 * step + BYTES
    steps_at = seen_at + 3 * BYTES * forms
    one_at = steps_at + BYTES * (sizes.longest + LANES)
    positions_at = one_at + 2 * BYTES * places  # of four bytes each, as the words behind them
    return CandidateArrays(
        at_i64(at, FIELD_COUNT),
        at_i64(at + step, FIELD_COUNT + 1),
        at_f64(at + 2 * step + BYTES, FIELD_COUNT),
        at_f64(at + 3 * step + BYTES, FIELD_COUNT),
        at_i64(at + 4 * step + BYTES, FIELD_COUNT),
        at_i64(seen_at, forms),
        at_f64(seen_at + BYTES * forms, forms),
        at_i64(seen_at + 2 * BYTES * forms, forms),
        at_i64(steps_at, sizes.longest + LANES),
        at_i64(one_at, places),
        at_i64(one_at + BYTES * places, places),
        at_u32(positions_at, places),
        at_u32(positions_at + BYTES // 2 * places, places),
        positions_at + BYTES * places,
    )
