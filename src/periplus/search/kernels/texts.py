"""Where words of a query may stand in texts, and which sentences show them best: all pages of a list in one call.

Texts come as code points, one after the other with a line's end between them. ``search/hits.py`` and
``search/snippets.py`` say what these loops do; the rules for sentences are here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.compiler import helper, kernel
from periplus.index.kernels.types import I64, M_I64, R_F64, R_I64, R_U32, signature

REACH = 300  # code points that a sentence may reach to either side of a word
SHORT_SENTENCE = 90  # a sentence below this that does not end like one is a heading
MAX_STRETCH = 64  # code points analysed behind the beginning of a word
MAX_SPANS = 64  # sentences weighed in one text
NEWLINE = 10


@helper
def is_space(c: Any) -> Any:
    if c < 128:
        return c == 32 or 9 <= c <= 13 or 28 <= c <= 31
    return c == 0x85 or c == 0xA0 or 0x2000 <= c <= 0x200A or c == 0x2028 or c == 0x2029 or c == 0x202F or c == 0x3000


@helper
def is_wordly(c: Any) -> Any:
    """Letters, digits and underscores; among signs beyond ASCII only the usual ones are known."""
    if c < 128:
        return 97 <= c <= 122 or 65 <= c <= 90 or 48 <= c <= 57 or c == 95
    if c < 0xC0:
        return c == 0xAA or c == 0xB5 or c == 0xBA
    return not (c == 0xD7 or c == 0xF7 or 0x2000 <= c <= 0x2BFF or 0x3000 <= c <= 0x3020 or 0xFF00 <= c <= 0xFF0F)


@helper
def is_small(c: Any) -> Any:
    """A small letter, as a sentence does not begin with."""
    return 97 <= c <= 122 or 0xDF <= c <= 0xF6 or 0xF8 <= c <= 0xFF or 0x3AC <= c <= 0x3CE or 0x430 <= c <= 0x45F


@helper
def is_stop(c: Any) -> Any:
    """What may end a sentence: . ! ? … and their East Asian kin, and a line's end."""
    if c < 128:
        return c == 46 or c == 33 or c == 63 or c == NEWLINE
    return c == 0x2026 or c == 0x3002 or c == 0xFF01 or c == 0xFF1F


@helper
def _closes(c: Any) -> Any:
    """What belongs to the end of a sentence: more signs, quotes, brackets, spaces."""
    if is_stop(c) or is_space(c):
        return True
    return c == 34 or c == 41 or c == 93 or c == 0x201D or c == 0x2019 or c == 0xBB


@helper
def _trails(c: Any) -> Any:
    """A sign behind a word that is no part of it."""
    return c == 44 or c == 46 or c == 58 or c == 59 or c == 33 or c == 63 or c == 34 or c == 41 or c == 93


@helper
def _ends(text: Any, at: Any, limit: Any, behind: Any) -> Any:
    """Of the sign at ``at``: whether a sentence ends there, where its last sign stands, where the next one begins."""
    run, last, line = at, at, False
    while run < limit and _closes(text[run]):
        if text[run] == NEWLINE:
            line = True
        if not is_space(text[run]):
            last = run + 1
        run += 1
    first = text[at]
    if line or first == 0x3002 or first == 0xFF01 or first == 0xFF1F:
        return True, last, run
    return is_space(text[run - 1]) and not (run < behind and is_small(text[run])), last, run


@helper
def next_end(text: Any, at: Any, end: Any) -> Any:
    """Where the sentence at ``at`` stops, in a text that ends at ``end``."""
    i = at
    while i < end and i <= at + 5 * REACH:
        if is_stop(text[i]):
            ends, last, run = _ends(text, i, end, end)
            if ends:
                return last
            if i > at + 4 * REACH:
                break
            i = run
        else:
            i += 1
    stop = min(end, at + 5 * REACH)
    if stop == end:
        while stop > at and is_space(text[stop - 1]):
            stop -= 1
    return stop


@helper
def _bounds(text: Any, at: Any, begin: Any, end: Any) -> Any:
    """The sentence around ``at``, or ``REACH`` to either side where it is longer."""
    low = max(begin, at - REACH)
    start = low
    i = low
    while i < at:
        if is_stop(text[i]):
            ends, _, run = _ends(text, i, at, end)
            if ends:
                start = run
            i = run
        else:
            i += 1
    if start == low and low > begin:
        for i in range(low, at):
            if text[i] == 32:
                start = i + 1
                break
    stop = next_end(text, at, end)
    return start, min(stop, at + REACH) if stop > at else min(end, at + REACH)


@helper
def _is_heading(text: Any, start: Any, end: Any) -> Any:
    """A short line that does not end like a sentence: shown elsewhere, or saying little without what follows."""
    while end > start and is_space(text[end - 1]):
        end -= 1
    if end - start >= SHORT_SENTENCE or end == start:
        return False
    c = text[end - 1]
    return not (is_stop(c) or c == 58 or c == 59 or c == 34 or c == 41 or c == 93 or c == 0x201D or c == 0x2019)


@kernel(signature(I64, R_U32, R_I64, R_U32, R_U32, R_I64, R_I64, I64, M_I64))
def beginnings(
    text: Any,
    ends: Any,  # of each text
    bare: Any,  # code point -> the same in lower case and without accent
    letters: Any,  # of all beginnings, in that form
    letter_ends: Any,
    opens_word: Any,  # 1: only at the start of a word
    most: Any,  # places of one beginning in one text
    out: Any,  # triples: text, place, end of the stretch to analyse
) -> Any:
    """Where the beginnings stand, by place; how many triples there are."""
    count = len(letter_ends)
    first = np.full(256, -1, np.int64)
    following = np.full(count, -1, np.int64)
    for p in range(count):
        begin = letter_ends[p - 1] if p > 0 else 0
        slot = letters[begin] & 255
        following[p] = first[slot]
        first[slot] = p
    places = np.zeros(count, np.int64)
    found = 0
    start = np.int64(0)
    for document in range(len(ends)):
        end = ends[document]
        places[:] = 0
        for i in range(start, end):
            c = text[i]
            if c < len(bare):
                c = bare[c]
            p = first[c & 255]
            while p >= 0:
                begin = letter_ends[p - 1] if p > 0 else 0
                size = letter_ends[p] - begin
                same = places[p] < most and i + size <= end
                k = 0
                while same and k < size:
                    other = text[i + k]
                    if other < len(bare):
                        other = bare[other]
                    same = other == letters[begin + k]
                    k += 1
                if same and opens_word[p] and i > start and is_wordly(text[i - 1]):
                    same = False
                if same:
                    if 3 * (found + 1) > len(out):
                        return found
                    stop = i
                    while stop < end and stop - i < MAX_STRETCH and not is_space(text[stop]):
                        stop += 1
                    while stop > i + size and _trails(text[stop - 1]):  # the fewer spellings, the fewer to analyse
                        stop -= 1
                    out[3 * found], out[3 * found + 1], out[3 * found + 2] = document, i, stop
                    found += 1
                    places[p] += 1
                    break  # another beginning at this place has the same stretch
                p = following[p]
        start = end + 1
    return found


@kernel(signature("void", R_U32, R_I64, R_I64, R_I64, R_F64, M_I64))
def sentences(
    text: Any,
    ends: Any,  # of each text
    hits: Any,  # triples by place: start, end, word
    hit_ends: Any,  # of each text
    weights: Any,  # of each word
    out: Any,  # of each text: start and end of the best sentence, and of one that adds a word; -1: none
) -> Any:
    """The one or two sentences of each text that show best why it was found."""
    starts, stops = np.empty(MAX_SPANS, np.int64), np.empty(MAX_SPANS, np.int64)
    masks, scores = np.empty(MAX_SPANS, np.uint64), np.empty(MAX_SPANS, np.float64)
    begin = np.int64(0)
    hit = np.int64(0)
    for document in range(len(ends)):
        end = ends[document]
        spans = 0
        while hit < hit_ends[document] and spans < MAX_SPANS:
            start, stop = _bounds(text, hits[3 * hit], begin, end)
            mask, worth, close = np.uint64(0), 0.0, 0.0
            before = np.int64(-1)
            while hit < hit_ends[document] and hits[3 * hit] < stop:
                word = hits[3 * hit + 2]
                bit = np.uint64(1) << np.uint64(word % 64)
                if not mask & bit:
                    mask |= bit
                    worth += weights[word]
                if before >= 0 and hits[3 * before + 2] != word:
                    spaces = 0
                    for i in range(hits[3 * before + 1], hits[3 * hit]):
                        spaces += text[i] == 32
                    close += min(weights[word], weights[hits[3 * before + 2]]) / max(1, spaces)
                before = hit
                hit += 1
            if before < 0:  # a hit that its own sentence does not hold
                hit += 1
                continue
            fits = 0.5 if _is_heading(text, start, stop) else 1.0
            starts[spans], stops[spans], masks[spans] = start, stop, mask
            scores[spans] = fits * (worth + 0.5 * close) + 0.1 / (1.0 + (start - begin) / 500.0)
            spans += 1
        hit = hit_ends[document]
        best, second = -1, -1
        for i in range(spans):
            if best < 0 or scores[i] > scores[best]:
                best = i
        for i in range(spans):
            if masks[i] & ~masks[best] and (second < 0 or scores[i] > scores[second]):
                second = i
        place = 4 * document
        out[place], out[place + 1], out[place + 2], out[place + 3] = -1, -1, -1, -1
        if best >= 0:
            out[place], out[place + 1] = starts[best], stops[best]
        if second >= 0:
            out[place + 2], out[place + 3] = starts[second], stops[second]
        begin = end + 1
