"""What a spelling is for a query, found out where it stands: without a table, and without the interpreter.

So it is for letters, digits and underscores of ASCII, joined by single signs, in a language whose stemmer is at hand:
its terms are hashed and looked for among those of the query. ``search/spellings.py`` says what the terms of a spelling
are, and judges all others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.compiler import bare_helper
from periplus.index.kernels.memory import load64
from periplus.index.kernels.tables import at_i64, at_u8
from periplus.search.kernels.calls import call1, call3
from periplus.search.kernels.hashing import term_hash
from periplus.search.kernels.lanes import FOREIGN_BITS
from periplus.search.kernels.layout import SPAN
from periplus.search.kernels.queried import word_of

# What a thread is given: two keys of hashes, two functions, how many languages there are; and of each language the two
# numbers of its name, its stemmer, the address of a table of its stop words, and the slots of that.
STEM, LENGTH, LANGUAGES, JUDGE = 2, 3, 4, 5
LANGUAGE = 5
STEMMER, STOPS, SLOTS = 2, 3, 4

MAX_TERM = 64  # bytes; longer terms are cut
MAX_PARTS = 8
MARK = 126  # of a stem
STEMMED = 96  # where the marked stem is written to, behind the word
SCRATCH = 2 * STEMMED  # bytes
NO_WORD, UNJUDGED = -1, -2
# What is kept of short spellings of ASCII: of each slot the language and size that it is of, then the letters as two
# numbers, the word and whether that is a stop word.
SHORT, KEPT_BITS, JUDGEMENT = 16, 6, 4
KEPT = 1 << KEPT_BITS
JUDGEMENTS = (1 + JUDGEMENT) * KEPT
MIXING = np.uint64(0x9E37_79B9_7F4A_7C15)

# What a spelling has: capitals, signs and digits, a single letter before every sign.
DOT, AND, QUOTE, CURLY, UNDERSCORE = 46, 38, 39, 0x2019, 95


@bare_helper
def language_of(judge: Any, spans: Any, document: Any) -> Any:
    """Where the language of a text stands among those that are known; 0 for another one."""
    for at in range(JUDGE, len(judge), LANGUAGE):
        if judge[at] == spans[SPAN * document + 2] and judge[at + 1] == spans[SPAN * document + 3]:
            return at
    return 0


@bare_helper
def _is_plain(c: Any) -> Any:
    return 97 <= c <= 122 or 65 <= c <= 90 or 48 <= c <= 57 or c == UNDERSCORE


@bare_helper
def _joins(c: Any) -> Any:
    return c in (DOT, AND, QUOTE, CURLY)


@bare_helper
def _lowered(text: Any, start: Any, end: Any, scratch: Any) -> Any:
    """Write a spelling in lower case; how many capitals, and others that are no letters; -1 when it is no such word."""
    capitals, others, quotes = 0, 0, 0
    for i in range(start, end):
        c = text[i]
        if 97 <= c <= 122:
            scratch[i - start] = c
        elif 65 <= c <= 90:
            scratch[i - start] = c | 32
            capitals += 1
        elif _is_plain(c):
            scratch[i - start] = c
            others += 1
        elif _joins(c) and start < i < end - 1 and _is_plain(text[i - 1]) and _is_plain(text[i + 1]):
            scratch[i - start] = QUOTE if c == CURLY else c
            if c in (QUOTE, CURLY):
                quotes += 1
            else:
                others += 1
        else:
            return -1, 0, 0
    return capitals, others, quotes


@bare_helper
def stem_of(scratch: Any, scratch_at: Any, size: Any, judge: Any, language: Any) -> Any:
    """Write the marked stem of a word; how many bytes that has, 0 when it is not of ASCII letters or too long."""
    made = call3(judge[STEM], judge[language + STEMMER], scratch_at, size)
    length = call1(judge[LENGTH], judge[language + STEMMER]) & 0xFFFF_FFFF
    if made == 0 or length >= MAX_TERM:
        return 0
    stem = at_u8(made, length)
    scratch[STEMMED] = MARK
    for i in range(length):
        if stem[i] >= 0x80:
            return 0
        scratch[STEMMED + 1 + i] = stem[i]
    return length + 1


@bare_helper
def _are_initials(text: Any, start: Any, end: Any) -> Any:
    for i in range(start, end):
        if (text[i] == DOT) != ((i - start) & 1 == 1):
            return False
    return (end - start) & 1 == 1


@bare_helper
def _piece(text: Any, start: Any, end: Any) -> Any:
    """Of a piece without signs: whether it is small, and whether it may be a term of its own."""
    capitals, digits = 0, 0
    for i in range(start, end):
        capitals += 65 <= text[i] <= 90
        digits += 48 <= text[i] <= 57
    return capitals == 0 and digits < end - start, end - start > 1 and digits < end - start


@bare_helper
def _piece_end(text: Any, at: Any, end: Any) -> Any:
    """Where the next piece of a name such as HTMLParser ends."""
    run = at
    while run < end and 65 <= text[run] <= 90:
        run += 1
    if run < end and run - at > 1 and text[run] >= 97:
        return run - 1
    while run < end and not 65 <= text[run] <= 90:
        run += 1
    return run


@bare_helper
def _part_of(text: Any, start: Any, end: Any, first: Any, scratch: Any, judge: Any, terms: Any) -> Any:
    """The word of a query that a piece is, and whether it is a term at all."""
    _, may_be = _piece(text, start, end)
    if not may_be:
        return NO_WORD, 0
    return word_of(terms, term_hash(scratch, start - first, end - start, judge)), 1


@bare_helper
def _word_of_parts(text: Any, start: Any, end: Any, scratch: Any, judge: Any, terms: Any) -> Any:
    """The first word of a query that one of the parts of a composed name is."""
    count, at = 0, start
    for i in range(start, end + 1):
        if i < end and not (_joins(text[i]) or text[i] == UNDERSCORE):
            continue
        small, _ = _piece(text, at, i)
        step = at
        if at > start or i < end or small:
            word, more = _part_of(text, at, i, start, scratch, judge, terms)
            count += more
            if count > MAX_PARTS or word >= 0:
                return np.int64(UNJUDGED) if count > MAX_PARTS else word
        while step < i and not small:
            stop = _piece_end(text, step, i)
            word, more = _part_of(text, step, stop, start, scratch, judge, terms)
            count += more
            if count > MAX_PARTS or word >= 0:
                return np.int64(UNJUDGED) if count > MAX_PARTS else word
            step = stop
        at = i + 1
    return np.int64(NO_WORD)


@bare_helper
def is_stop(judge: Any, language: Any, key: Any) -> Any:
    stops, last = at_i64(judge[language + STOPS], judge[language + SLOTS]), judge[language + SLOTS] - 1
    slot = key & last
    while stops[slot] != 0:
        if stops[slot] == key:
            return 1
        slot = (slot + 1) & last
    return 0


@bare_helper
def word_at(
    text: Any, start: Any, end: Any, language: Any, scratch: Any, scratch_at: Any, judge: Any, terms: Any
) -> Any:
    """The word of the query that a spelling is, and whether it is a stop word; none, or that this is not known."""
    size = end - start
    if size >= MAX_TERM:
        return np.int64(UNJUDGED), 0
    capitals, others, quotes = _lowered(text, start, end, scratch)
    if capitals < 0:
        return np.int64(UNJUDGED), 0
    key = term_hash(scratch, 0, size, judge)
    word = word_of(terms, key)
    if word < 0 and others == 0:
        stemmed = stem_of(scratch, scratch_at, size, judge, language)
        if stemmed == 0:
            return np.int64(UNJUDGED), 0
        word = word_of(terms, term_hash(scratch, STEMMED, stemmed, judge))
    titled = capitals == 1 and text[start] <= 90
    simple = others == 0 and quotes == 0 and (capitals == 0 or capitals == size or titled)
    if word == NO_WORD and not simple and not (others > 0 and _are_initials(text, start, end)):
        word = _word_of_parts(text, start, end, scratch, judge, terms)
    return word, is_stop(judge, language, key) if word >= 0 else 0


@bare_helper
def _first_bytes(count: Any) -> Any:
    """The bits of so many bytes of a word."""
    if count <= 0:
        return np.uint64(0)
    return ~np.uint64(0) if count >= 8 else (np.uint64(1) << np.uint64(8 * count)) - np.uint64(1)


@bare_helper
def clear_judgements(judgements: Any) -> Any:
    for slot in range(KEPT):
        judgements[slot] = 0


@bare_helper
def judged_at(
    text: Any,
    signs: Any,
    start: Any,
    end: Any,
    language: Any,
    scratch: Any,
    scratch_at: Any,
    judge: Any,
    terms: Any,
    judgements: Any,
) -> Any:
    """The same as ``word_at``, once for the same short spelling in the texts of a page: there are few of them."""
    size = end - start
    one, other = load64(signs, start) & _first_bytes(size), load64(signs, start + 8) & _first_bytes(size - 8)
    if size > SHORT or (one | other) & FOREIGN_BITS:
        return word_at(text, start, end, language, scratch, scratch_at, judge, terms)
    slot = np.int64(((one ^ (other * MIXING)) * MIXING) >> np.uint64(64 - KEPT_BITS))
    row, tag = KEPT + JUDGEMENT * slot, (language << 8) + size
    if judgements[slot] != tag or judgements[row] != np.int64(one) or judgements[row + 1] != np.int64(other):
        judgements[slot], judgements[row], judgements[row + 1] = tag, np.int64(one), np.int64(other)
        judgements[row + 2], judgements[row + 3] = word_at(
            text, start, end, language, scratch, scratch_at, judge, terms
        )
    return judgements[row + 2], judgements[row + 3]
