"""The words of a usual query, from its bytes: read, stemmed, told apart from stop words and found in the index.

Usual are ASCII letters and digits with spaces between; words with capitals only if case says nothing about them. They
may be joined by single signs, as in U.S. or children's, and other signs may stand around or between them, unless these
are operators.
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
LISTS, GROUPS, FORMS_SIZE, TEXT_SIZE = range(11, 15)  # of a query that is laid out for the steps of a search
SIGNED, IS_SPELT = 15, 16  # words typed that have signs, as bits; whether forms are those that spelling takes
# Of each word: where its letters begin, later its first form; how many letters; its hash; what is known of it, later
# whether it is a stop word; its place among all that was typed.
ROWS, WORD_ROW = 20, 5
BEGIN, SIZE, HASH, SAYS, PLACE = range(WORD_ROW)
MOST_WORDS, MOST_FORMS, LONGEST = 16, 64, 60  # lone signs are words, too
TYPED, MOST_TYPED = ROWS + WORD_ROW * MOST_WORDS, 512  # bytes
LETTERS = TYPED + MOST_TYPED // 8
WORK = LETTERS + MOST_TYPED // 8 + 2
KEYS = WORK + SCRATCH // 8 + 2
ENDS, SHARES, TEXT = KEYS + MOST_FORMS, KEYS + 2 * MOST_FORMS, KEYS + 3 * MOST_FORMS
REQUEST = TEXT + MOST_FORMS * (LONGEST + 4) // 8 + 2
DESK = 1 << 12

EXACT_SHARE, STEM_SHARE, PART_SHARE, FOREIGN_SHARE = 1.0, 0.7, 0.3, 0.4  # ``index.analysis.forms``, ``search.plan``
MAX_PARTS = 8
NO_STEM, JOINED = 1, 2  # of a word: it is not of letters and quotes alone; it has signs in it
STOPS, STOPS_HERE = 1, 2  # of a word: a stop word of the languages it is read in, and of the first of them
UNUSUAL = -1
SPACE, AND, QUOTE, MINUS, DOT, COLON = 32, 38, 39, 45, 46, 58
CURLY = (0xE2, 0x80, 0x99)  # the typographic quote
SIGNS = (33, 36, 37, AND, QUOTE, 44, MINUS, DOT, 47, 59, 63)  # !$%&',-./;? at the edge of a word or alone
THIS_CENTURY, YEAR_DIGITS = 20, 4
LEAST_EVIDENCE = 2  # ``vocabulary``


@bare_helper
def _is_plain(c: Any) -> Any:
    return 97 <= c <= 122 or 65 <= c <= 90 or 48 <= c <= 57


@bare_helper
def _joining(typed: Any, at: Any) -> Any:
    """How many bytes a sign has that joins what stands here to more of the same word; 0 when there is none."""
    if at + 1 < len(typed) and typed[at] in (DOT, AND, QUOTE):
        return np.int64(_is_plain(typed[at + 1]))
    if at + 3 < len(typed) and typed[at] == CURLY[0] and typed[at + 1] == CURLY[1] and typed[at + 2] == CURLY[2]:
        return np.int64(3 if _is_plain(typed[at + 3]) else 0)
    return np.int64(0)


@bare_helper
def _read_word(typed: Any, at: Any, letters: Any, begin: Any) -> Any:
    """Write the letters of a word in lower case, with the signs that join them; where it ends, how many these are, and
    what is known of it: less than nothing when case says something about it."""
    length, says = np.int64(0), np.int64(0)
    while True:
        first, capitals, digits = at, 0, 0
        while at < len(typed) and _is_plain(typed[at]):
            c = typed[at]
            capitals += 65 <= c <= 90
            digits += c <= 57
            letters[begin + length] = c | 32 if c >= 65 else c
            length += 1
            at += 1
        titled = capitals == 1 and typed[first] <= 90
        if capitals > 0 and (digits > 0 or not (titled or capitals == at - first)):
            return at, length, np.int64(UNUSUAL)
        says |= NO_STEM if digits > 0 else 0
        sign = _joining(typed, at) if at > first else np.int64(0)
        if sign == 0:
            break
        letters[begin + length] = typed[at] if sign == 1 else QUOTE
        says |= JOINED if letters[begin + length] == QUOTE else JOINED | NO_STEM
        length += 1
        at += sign
    return at, length, says


@bare_helper
def _past_signs(typed: Any, at: Any) -> Any:
    while at < len(typed) and typed[at] in SIGNS:
        at += 1
    return at


@bare_helper
def _may_be_address(typed: Any) -> Any:
    """Whether what is one word has a dot that is not its end."""
    dotted = False
    for at in range(len(typed) - 1):
        dotted |= typed[at] == DOT
    return dotted


@bare_helper
def _read(typed: Any, desk: Any, letters: Any) -> Any:
    """Cut what was typed into words, in lower case; how many, or that it is not usual."""
    words, places, size, at, signed = np.int64(0), np.int64(0), np.int64(0), np.int64(0), np.int64(0)
    while at < len(typed):
        if typed[at] == SPACE:
            at += 1
            continue
        first = _past_signs(typed, at)
        end, length, says = _read_word(typed, first, letters, size)
        if says < 0 or length > LONGEST or places == MOST_WORDS:
            return np.int64(UNUSUAL)
        behind = _past_signs(typed, end)
        behind += behind < len(typed) and typed[behind] == COLON
        begins = length > 0 and first > at and typed[first - 1] == DOT  # as in .net
        if typed[at] == MINUS or begins or (behind < len(typed) and typed[behind] != SPACE):
            return np.int64(UNUSUAL)
        is_plain = behind - at == length and says & JOINED == 0
        if is_plain and length == 2 and typed[at] == 79 and typed[at + 1] == 82:  # OR
            return np.int64(UNUSUAL)
        signed |= np.int64(not is_plain) << places
        if length > 0:
            row = ROWS + WORD_ROW * words
            desk[row + BEGIN], desk[row + SIZE], desk[row + SAYS], desk[row + PLACE] = size, length, says, places
            size += length
            words += 1
        places += 1
        at = behind
    desk[SIGNED] = signed
    if places == 1 and signed and _may_be_address(typed):
        return np.int64(UNUSUAL)
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
        if not 48 <= letters[i] <= 57:
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
        found = _telling(telling, desk[row + HASH])
        if found >= 0:
            fresh |= telling[found + 2]
            again = False
            for earlier in range(word):
                again |= desk[ROWS + WORD_ROW * earlier + HASH] == desk[row + HASH]
            mask = telling[found + 1]
            if mask != 0 and not again:
                evidence += 1
                for language in range(MOST_TOLD):
                    counts[language] += (mask >> language) & 1
        elif _is_about(letters, desk[row + BEGIN], desk[row + SIZE], year):
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
def _is_new(desk: Any, first: Any, form: Any, key: Any) -> Any:
    """Whether a term is none of a word's forms so far."""
    new = True
    for other in range(first, form):
        new &= desk[KEYS + other] != key
    return new


@bare_helper
def _add_parts(
    desk: Any, shares: Any, text: Any, first: Any, form: Any, letters: Any, begin: Any, size: Any, judge: Any
) -> Any:
    """The parts of a joined word, but for single letters and numbers; how many forms there are then."""
    at, digits, most = begin, np.int64(0), form + MAX_PARTS
    for i in range(begin, begin + size + 1):
        if i < begin + size and _is_plain(letters[i]):
            digits += letters[i] <= 57
            continue
        if i - at > 1 and digits < i - at and form < most:
            key = term_hash(letters, at, i - at, judge)
            if _is_new(desk, first, form, key):
                _add(desk, shares, text, form, letters, at, i - at, key, PART_SHARE)
                form += 1
        at, digits = i + 1, np.int64(0)
    return form


@bare_helper
def _formed(desk: Any, words: Any, letters: Any, judge: Any, languages: Any, shares: Any, text: Any) -> Any:
    """The forms of all words, and which are stop words; how many forms, or that a stem is not usual, or that there are
    too many of them."""
    form = np.int64(0)
    scratch_at = desk.ctypes.data + 8 * WORK
    scratch = at_u8(scratch_at, SCRATCH)
    for word in range(words):
        row = ROWS + WORD_ROW * word
        start, size, key, says = desk[row + BEGIN], desk[row + SIZE], desk[row + HASH], desk[row + SAYS]
        first = form
        if form + 1 + len(languages) + (MAX_PARTS if says & JOINED else 0) > MOST_FORMS:
            return np.int64(UNUSUAL)
        _add(desk, shares, text, form, letters, start, size, key, EXACT_SHARE)
        form += 1
        for i in range(size):
            scratch[i] = letters[start + i]
        for place in range(len(languages)):
            if says & NO_STEM == 0:
                stemmed = stem_of(scratch, scratch_at, size, judge, languages[place])
                if stemmed == 0:
                    return np.int64(UNUSUAL)
                stem_key = term_hash(scratch, STEMMED, stemmed, judge)
                if _is_new(desk, first, form, stem_key):
                    share = STEM_SHARE if place == 0 else FOREIGN_SHARE
                    _add(desk, shares, text, form, scratch, STEMMED, stemmed, stem_key, share)
                    form += 1
            if place == 0 and says & JOINED:
                form = _add_parts(desk, shares, text, first, form, letters, start, size, judge)
        stops = is_stop(judge, languages[0], key)
        desk[row + SAYS] = (STOPS | STOPS_HERE) if stops else np.int64(0)
        desk[row + BEGIN] = first  # its letters are no longer asked for
    return form


@bare_helper
def _stops_anywhere(desk: Any, words: Any, telling: Any) -> Any:
    """Where words are read in several languages, a stop word of any language is one."""
    for word in range(words):
        row = ROWS + WORD_ROW * word
        found = _telling(telling, desk[row + HASH])
        if found >= 0 and telling[found + 1] != 0:
            desk[row + SAYS] |= STOPS


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
        desk[row + HASH] = term_hash(letters, desk[row + BEGIN], desk[row + SIZE], judge)
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
