"""What a spelling is for a query, found out where it stands: without a table, and without the interpreter.

So it is for letters, digits and underscores of ASCII, joined by single signs, for mail addresses, and for Latin letters
with accents, in a language that is known: its terms are hashed and looked for among those of the query. Of words with
signs between them that part words there may be one that is of the query. ``search/spellings.py`` says what the terms of
a spelling are, and judges all others.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.compiler import bare_helper
from periplus.index.kernels.memory import load64
from periplus.index.kernels.tables import at_i64, at_u8, at_u32
from periplus.search.kernels.calls import call1, call3
from periplus.search.kernels.characters import put_point
from periplus.search.kernels.hashing import WIDE, term_hash
from periplus.search.kernels.lanes import FOREIGN_BITS
from periplus.search.kernels.layout import SPAN
from periplus.search.kernels.queried import word_of

# What a thread is given: two keys of hashes, two functions, how many languages there are, the address of a table of
# letters; and of each language the two numbers of its name, its stemmer (0: none, a word is its own stem), the address
# of a table of its stop words, and the slots of that.
STEM, LENGTH, LANGUAGES, LETTERS, JUDGE = 2, 3, 4, 5, 6
LANGUAGE = 5
STEMMER, STOPS, SLOTS = 2, 3, 4

# Of a letter: itself in lower case, that without its accent, whether it is a capital; 0 for what is no such letter.
LETTERS_END, LOW, BARE_SHIFT, CAPITAL_SHIFT = 0x250, 0xFFFF, 16, 24
FIRST_FOREIGN, FIRST_WIDE, FIRST_OF_THREE = 0x80, 0x100, 0xE0

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

# Signs that join letters to one spelling.
DOT, AND, QUOTE, CURLY, UNDERSCORE, AT, HYPHEN = 46, 38, 39, 0x2019, 95, 64, 45
COMMA, PLUS, HASH = 44, 43, 35  # what parts words
SHORT_NAME = 2  # letters that make one word with a # behind them


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
def _parts_names(c: Any) -> Any:
    return _joins(c) or c in (UNDERSCORE, AT, HYPHEN)


@bare_helper
def _is_mail(text: Any, at: Any, end: Any) -> Any:
    """Whether what stands behind an @ makes a mail address of the spelling: names joined by dots or hyphens."""
    signs = 0
    for i in range(at + 1, end):
        if text[i] in (DOT, HYPHEN) and i < end - 1 and _is_plain(text[i - 1]) and _is_plain(text[i + 1]):
            signs += 1
        elif not _is_plain(text[i]):
            return False
    return signs > 0


@bare_helper
def _lowered(text: Any, start: Any, end: Any, scratch: Any) -> Any:
    """Write a spelling in lower case; how many capitals, and others that are no letters; -1 when it is no such word."""
    capitals, others, quotes, mail = 0, 0, 0, False
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
        elif mail or (c == AT and i > start and _is_plain(text[i - 1]) and _is_mail(text, i, end)):
            scratch[i - start] = c
            others += 1
            mail = True
        else:
            return -1, 0, 0
    return capitals, others, quotes


@bare_helper
def stem_of(scratch: Any, scratch_at: Any, size: Any, judge: Any, language: Any) -> Any:
    """Write the stem of a word, marked and without accents; how many bytes that has, 0 when it has other letters than
    those that are known or is too long."""
    made, length = scratch_at, size
    if judge[language + STEMMER] != 0:
        made = call3(judge[STEM], judge[language + STEMMER], scratch_at, size)
        length = call1(judge[LENGTH], judge[language + STEMMER]) & 0xFFFF_FFFF
    if made == 0 or length >= MAX_TERM:
        return 0
    stem, at, to = at_u8(made, length), np.int64(0), np.int64(STEMMED + 1)
    scratch[STEMMED] = MARK
    while at < length:
        c = np.int64(stem[at])
        at += 1
        if c >= FIRST_FOREIGN:
            if c >= FIRST_OF_THREE:
                return 0
            letter = letter_of(((c & 0x1F) << 6) | (stem[at] & 0x3F), judge)
            if letter == 0 or letter >> CAPITAL_SHIFT:
                return 0
            c = letter >> BARE_SHIFT
            at += 1
        scratch[to] = c
        to += 1
    return to - STEMMED


@bare_helper
def letter_of(c: Any, judge: Any) -> Any:
    return np.int64(at_u32(judge[LETTERS], LETTERS_END)[c]) if c < LETTERS_END else np.int64(0)


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
        if i < end and not _parts_names(text[i]):
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
def _put_letters(text: Any, start: Any, end: Any, scratch: Any, judge: Any, width: Any) -> Any:
    """Write a word in lower case as the interpreter keeps it, by so many bytes a letter."""
    for i in range(start, end):
        low, at = letter_of(text[i], judge) & LOW, width * (i - start)
        scratch[at] = low & 0xFF
        if width > 1:
            scratch[at + 1] = low >> 8


@bare_helper
def _put_bare(text: Any, start: Any, end: Any, scratch: Any, judge: Any) -> Any:
    """The same without accents."""
    for i in range(start, end):
        scratch[i - start] = (letter_of(text[i], judge) >> BARE_SHIFT) & 0xFF


@bare_helper
def _put_utf8(text: Any, start: Any, end: Any, scratch: Any, judge: Any) -> Any:
    """The same with accents, as stemmers take it."""
    at = np.int64(0)
    for i in range(start, end):
        at = put_point(scratch, at, letter_of(text[i], judge) & LOW)


@bare_helper
def _accented_at(
    text: Any, start: Any, end: Any, language: Any, scratch: Any, scratch_at: Any, judge: Any, terms: Any
) -> Any:
    """The same as ``word_at`` for Latin letters with accents, about which case says nothing."""
    size, capitals, width, length = end - start, np.int64(0), 1, np.int64(0)
    for i in range(start, end):
        letter = letter_of(text[i], judge)
        if letter == 0:
            return np.int64(UNJUDGED), 0
        low = letter & LOW
        capitals += letter >> CAPITAL_SHIFT
        length += 1 + (low >= FIRST_FOREIGN)
        width = 2 if low >= FIRST_WIDE else width
    titled = capitals == 1 and letter_of(text[start], judge) >> CAPITAL_SHIFT > 0
    if length >= MAX_TERM or not (capitals == 0 or capitals == size or titled):
        return np.int64(UNJUDGED), 0
    _put_letters(text, start, end, scratch, judge, width)
    key = term_hash(scratch, 0, width * size, judge) ^ np.int64(WIDE if width > 1 else 0)
    word = word_of(terms, key)
    if word < 0:
        _put_bare(text, start, end, scratch, judge)
        word = word_of(terms, term_hash(scratch, 0, size, judge))
    if word < 0:
        _put_utf8(text, start, end, scratch, judge)
        stemmed = stem_of(scratch, scratch_at, length, judge, language)
        if stemmed == 0:
            return np.int64(UNJUDGED), 0
        word = word_of(terms, term_hash(scratch, STEMMED, stemmed, judge))
    return word, is_stop(judge, language, key) if word >= 0 else 0


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
        return _accented_at(text, start, end, language, scratch, scratch_at, judge, terms)
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


@bare_helper
def _parts_words(text: Any, at: Any, start: Any, end: Any) -> Any:
    """Whether a sign behind the word from ``start`` on only parts it from another one: a comma that groups no digits, a
    plus, a # that is not that of C#, which may be the last sign, too."""
    c = text[at]
    if c == HASH:
        return at - start > SHORT_NAME and (at == end - 1 or _is_plain(text[at + 1]))
    if at == end - 1 or not _is_plain(text[at + 1]):
        return False
    return c == PLUS or (c == COMMA and not (48 <= text[at - 1] <= 57 and 48 <= text[at + 1] <= 57))


@bare_helper
def one_of_several_at(
    text: Any, start: Any, end: Any, language: Any, scratch: Any, scratch_at: Any, judge: Any, terms: Any
) -> Any:
    """Of words that signs part from each other, the one that is of the query and whether it is a stop word, and where
    it stands; ``UNJUDGED`` when several are, or one cannot be judged."""
    found, stops, begin, stop = np.int64(NO_WORD), 0, start, end
    if end - start >= MAX_TERM:
        return np.int64(UNJUDGED), 0, begin, stop
    at = start
    for i in range(start, end + 1):
        if i < end and text[i] not in (COMMA, PLUS, HASH):
            continue
        if i == at or (i < end and not _parts_words(text, i, at, end)):
            return np.int64(UNJUDGED), 0, begin, stop
        word, is_one = word_at(text, at, i, language, scratch, scratch_at, judge, terms)
        if word == UNJUDGED or (word >= 0 and found >= 0):
            return np.int64(UNJUDGED), 0, begin, stop
        if word >= 0:
            found, stops, begin, stop = word, is_one, at, i
        at = i + 1
        if at == end:
            break
    return found, stops, begin, stop
