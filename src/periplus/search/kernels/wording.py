"""The words of a usual query, from its bytes: read, stemmed, told apart from stop words and found in the index.

Usual are ASCII letters and digits with spaces between; words with capitals only if case says nothing about them, and
with a dot behind them, as in St. Paul.
``reading.understand`` and ``typed.py`` say what is done here, and do it for all other queries. What is found lies on a
desk: numbers that tell of the query, then the text as typed, then what ``learning.learn`` was given and found.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.calls import call_kernel
from periplus.index.kernels.compiler import bare_helper, bare_kernel
from periplus.index.kernels.tables import at_f64, at_i64, at_u8
from periplus.index.kernels.types import I64, signature
from periplus.search.kernels.hashing import term_hash
from periplus.search.kernels.stemming import SCRATCH, STEMMED, is_stop, stem_of

# What a generation is asked by, by place: segments and how many, live documents, slots of the table of terms, the
# kernel that learns; words that tell of a language or of the new, and slots of these; the language of the speller, how
# many languages words are read in, where each stands among those of the judge, and the same of each that a query may
# tell of.
TABLE, SEGMENTS, LIVE, SLOTS, LEARN, TELLING, TELLING_SLOTS, SPELLING, LANGUAGES, OWN = range(10)
MOST_LANGUAGES, MOST_TOLD = 3, 16
TOLD = OWN + MOST_LANGUAGES
FACTS = TOLD + MOST_TOLD
TELLING_ROW = 3  # of a telling word: its hash, the languages whose stop word it is as bits, whether it asks for the new

# The desk, by place.
WORDS, FORMS, LANGUAGE, FRESH, OUTPUT, NEEDED, TOTAL, EXACT, KEPT, UNKNOWN, MISSING = range(11)
LISTS, GROUPS, FORMS_SIZE, TEXT_SIZE, DOTTED, IS_SPELT = range(
    11, 17
)  # of a query that is laid out for the steps of a search
ROWS, WORD_ROW = 20, 4  # of each word: where its letters begin, how many, its hash, whether it is a stop word
MOST_WORDS, MOST_FORMS, LONGEST = 16, 64, 60
TYPED, MOST_TYPED = ROWS + WORD_ROW * MOST_WORDS, 512  # bytes
LETTERS = TYPED + MOST_TYPED // 8
WORK = LETTERS + MOST_TYPED // 8 + 2
KEYS = WORK + SCRATCH // 8 + 2
ENDS, SHARES, TEXT = KEYS + MOST_FORMS, KEYS + 2 * MOST_FORMS, KEYS + 3 * MOST_FORMS
REQUEST = TEXT + MOST_FORMS * (LONGEST + 4) // 8 + 2
DESK = 1 << 12

EXACT_SHARE, STEM_SHARE, FOREIGN_SHARE = 1.0, 0.7, 0.4  # ``index.analysis.forms``, ``search.plan``
STOPS, STOPS_HERE = 1, 2  # of a word: a stop word of the languages it is read in, and of the first of them
UNUSUAL = -1
SPACE, DOT = 32, 46
THIS_CENTURY, YEAR_DIGITS = 20, 4
LEAST_EVIDENCE = 2  # ``vocabulary``


@bare_helper
def _read(typed: Any, desk: Any, letters: Any) -> Any:
    """Cut what was typed into words, in lower case; how many, or that it is not usual."""
    words, size, at, dotted = np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    while at < len(typed):
        if typed[at] == SPACE:
            at += 1
            continue
        begin, capitals, digits = at, 0, 0
        while at < len(typed) and typed[at] != SPACE:
            c = typed[at]
            capitals += 65 <= c <= 90
            digits += 48 <= c <= 57
            if not (97 <= c <= 122 or 65 <= c <= 90 or 48 <= c <= 57):
                break
            letters[size + at - begin] = c | 32 if c >= 65 else c
            at += 1
        length = at - begin
        if at < len(typed) and typed[at] == DOT:
            dotted |= np.int64(1) << words
            at += 1
        if length == 0 or (at < len(typed) and typed[at] != SPACE):
            return np.int64(UNUSUAL)
        titled = capitals == 1 and typed[begin] <= 90
        if capitals > 0 and (digits > 0 or not (titled or capitals == length)):
            return np.int64(UNUSUAL)
        is_or = length == 2 and capitals == 2 and typed[begin] == 79 and typed[begin + 1] == 82
        if words == MOST_WORDS or length > LONGEST or is_or:
            return np.int64(UNUSUAL)
        row = ROWS + WORD_ROW * words
        desk[row], desk[row + 1], desk[row + 3] = size, length, digits
        size += length
        words += 1
    desk[DOTTED] = dotted
    return words if words > 0 else np.int64(UNUSUAL)


@bare_helper
def _telling(telling: Any, key: Any) -> Any:
    """Where a word stands among those that tell; -1 when it is none."""
    slots = len(telling) // TELLING_ROW
    slot = key & (slots - 1)
    while telling[TELLING_ROW * slot] != 0:
        if telling[TELLING_ROW * slot] == key:
            return TELLING_ROW * slot
        slot = (slot + 1) & (slots - 1)
    return np.int64(-1)


@bare_helper
def _is_about(letters: Any, start: Any, size: Any, year: Any) -> Any:
    """Whether a word is this year, the last or the next."""
    value = np.int64(0)
    for i in range(start, start + size):
        if letters[i] > 57:
            return False
        value = 10 * value + letters[i] - 48
    return size == YEAR_DIGITS and value // 100 == THIS_CENTURY and abs(value - year) <= 1


@bare_helper
def _told(desk: Any, words: Any, letters: Any, telling: Any, year: Any) -> Any:
    """The language that the words tell of, counted from 1, 0 for none; and whether they ask for the new."""
    fresh, evidence = np.int64(0), np.int64(0)
    counts = at_i64(desk.ctypes.data + 8 * KEYS, MOST_TOLD)
    for language in range(MOST_TOLD):
        counts[language] = 0
    for word in range(words):
        row = ROWS + WORD_ROW * word
        found = _telling(telling, desk[row + 2])
        if found >= 0:
            fresh |= telling[found + 2]
            again = False
            for earlier in range(word):
                again |= desk[ROWS + WORD_ROW * earlier + 2] == desk[row + 2]
            mask = telling[found + 1]
            if mask != 0 and not again:
                evidence += 1
                for language in range(MOST_TOLD):
                    counts[language] += (mask >> language) & 1
        elif _is_about(letters, desk[row], desk[row + 1], year):
            fresh = np.int64(1)
    best, second, winner = np.int64(0), np.int64(0), np.int64(0)
    for language in range(MOST_TOLD):
        if counts[language] > best:
            best, second, winner = counts[language], best, np.int64(language + 1)
        else:
            second = max(second, counts[language])
    is_sure = evidence >= LEAST_EVIDENCE and best >= LEAST_EVIDENCE and second < best
    return winner if is_sure else np.int64(0), fresh


@bare_helper
def _add(
    desk: Any, shares: Any, text: Any, form: Any, letters: Any, start: Any, size: Any, key: Any, share: Any
) -> Any:
    """One more form."""
    at = desk[ENDS + form - 1] if form > 0 else np.int64(0)
    for i in range(size):
        text[at + i] = letters[start + i]
    desk[KEYS + form], desk[ENDS + form] = key, at + size
    shares[form] = share


@bare_helper
def _formed(desk: Any, words: Any, letters: Any, judge: Any, languages: Any, shares: Any, text: Any) -> Any:
    """The forms of all words, and which are stop words; how many forms, or that a stem is not usual."""
    form = np.int64(0)
    scratch_at = desk.ctypes.data + 8 * WORK
    scratch = at_u8(scratch_at, SCRATCH)
    for word in range(words):
        row = ROWS + WORD_ROW * word
        start, size, key, digits = desk[row], desk[row + 1], desk[row + 2], desk[row + 3]
        first = form
        _add(desk, shares, text, form, letters, start, size, key, EXACT_SHARE)
        form += 1
        for i in range(size):
            scratch[i] = letters[start + i]
        for place in range(len(languages) if digits == 0 else 0):
            stemmed = stem_of(scratch, scratch_at, size, judge, languages[place])
            if stemmed == 0:
                return np.int64(UNUSUAL)
            stem_key, is_new = term_hash(scratch, STEMMED, stemmed, judge), True
            for other in range(first, form):
                is_new &= desk[KEYS + other] != stem_key
            if is_new:
                share = STEM_SHARE if place == 0 else FOREIGN_SHARE
                _add(desk, shares, text, form, scratch, STEMMED, stemmed, stem_key, share)
                form += 1
        stops = is_stop(judge, languages[0], key)
        desk[row + 3] = (STOPS | STOPS_HERE) if stops else np.int64(0)
        desk[row] = first  # its letters are no longer asked for
    return form


@bare_helper
def _stops_anywhere(desk: Any, words: Any, telling: Any) -> Any:
    """Where words are read in several languages, a stop word of any language is one."""
    for word in range(words):
        row = ROWS + WORD_ROW * word
        found = _telling(telling, desk[row + 2])
        if found >= 0 and telling[found + 1] != 0:
            desk[row + 3] |= STOPS


@bare_helper
def _request(desk_at: Any, desk: Any, words: Any, forms: Any) -> Any:
    """What the kernel is given that learns; how many numbers that takes."""
    size = desk[ENDS + forms - 1]
    given = at_i64(desk_at + 8 * REQUEST, 3 * forms + words)
    for form in range(forms):
        given[form], given[forms + form] = desk[KEYS + form], desk[ENDS + form]
        given[2 * forms + words + form] = desk[SHARES + form]
    for word in range(words):
        given[2 * forms + word] = desk[ROWS + WORD_ROW * (word + 1)] if word + 1 < words else forms
    text, target = at_u8(desk_at + 8 * TEXT, size), at_u8(desk_at + 8 * (REQUEST + 3 * forms + words), size)
    for i in range(size):
        target[i] = text[i]
    return 3 * forms + words + (size + 7) // 8


@bare_kernel(signature(I64, *[I64] * 9))
def read_words(
    facts_at: Any,
    desk_at: Any,
    size: Any,  # bytes that were typed, which are on the desk
    judge_at: Any,  # ``stemming`` says what it is
    judge_size: Any,
    year: Any,
    entries: Any,  # the table of terms that were asked for
    lists: Any,  # where texts and lists of new terms begin, and how many numbers they may take
    room: Any,
) -> Any:
    """How many numbers new terms take; ``UNUSUAL`` for a query that is not usual, or when there is no room for new
    terms: then the desk says how much they need."""
    desk = at_i64(desk_at, DESK)
    desk[NEEDED], desk[LISTS] = 0, 0
    facts, judge = at_i64(facts_at, FACTS), at_i64(judge_at, judge_size)
    letters, typed = at_u8(desk_at + 8 * LETTERS, MOST_TYPED + 16), at_u8(desk_at + 8 * TYPED, size)
    words = _read(typed, desk, letters)
    if words < 0:
        return words
    for one in range(words):
        row = ROWS + WORD_ROW * one
        desk[row + 2] = term_hash(letters, desk[row], desk[row + 1], judge)
    telling = at_i64(facts[TELLING], TELLING_ROW * facts[TELLING_SLOTS])
    desk[WORDS] = words
    desk[LANGUAGE], desk[FRESH] = _told(desk, words, letters, telling, year)
    told = desk[LANGUAGE] > 0
    languages = at_i64(
        facts_at + 8 * (TOLD + desk[LANGUAGE] - 1 if told else OWN), np.int64(1) if told else facts[LANGUAGES]
    )
    if len(languages) == 0 or languages[0] == 0:
        return np.int64(UNUSUAL)
    desk[IS_SPELT] = np.int64(len(languages) == 1 and languages[0] == facts[SPELLING])
    shares, text = at_f64(desk_at + 8 * SHARES, MOST_FORMS), at_u8(desk_at + 8 * TEXT, 8 * (REQUEST - TEXT))
    forms = _formed(desk, words, letters, judge, languages, shares, text)
    if forms < 0:
        return forms
    if len(languages) > 1:
        _stops_anywhere(desk, words, telling)
    desk[FORMS] = forms
    behind = REQUEST + _request(desk_at, desk, words, forms)
    desk[OUTPUT] = behind
    used = call_kernel(
        facts[LEARN],
        (
            facts[TABLE], facts[SEGMENTS], facts[LIVE], forms, words, desk_at + 8 * REQUEST, 8 * (behind - REQUEST),
            entries, facts[SLOTS], lists, room,
        ),
    )  # fmt: skip
    if used < 0:
        desk[NEEDED] = -used
        return np.int64(UNUSUAL)
    return used
