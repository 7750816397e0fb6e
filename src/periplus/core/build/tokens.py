"""Tokens: texts become streams of word numbers, many in one call.

Words are cut first, some dozens at a time, and their entries in the table of spellings are asked for; then they are
looked up, when these have arrived. Letters and digits are told apart from everything else for 64 bytes at once, so that
where an ASCII word ends is a matter of counting bits.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from periplus.core.build.spellings import found_in, hash_of, number_of
from periplus.core.build.word_breaks import (
    LAST_ASCII,
    binds,
    decoded,
    holds_unspaced,
    last_character,
    letter_end,
    run_end,
    word_end,
)
from periplus.core.compiler import I64, R_U8, R_U32, bare_helper, kernel, signature
from periplus.core.layout.letter_classes import BREAK, IN_RUN, PLAIN, SPACED, UNSPACED
from periplus.core.layout.word_tables import (
    HAS_BITS,
    IS_BOUND,
    OFFSET,
    WANTED,
    WORDS,
    Spans,
    SpellingTable,
    TokenStream,
)
from periplus.core.machine.bits import lowest_of
from periplus.core.machine.memory import ask, item, load64, plain_bits, stop_bits, store64

TOGETHER = 64  # words that are cut before they are looked up
CERTAIN = 57  # bits that a word of 64 holds from any bit of its first byte on
KNOWN, OTHER, MIXED = 0, 1, 2  # kinds of words: plain ASCII, by the rules, with unspaced letters
AMPERSAND, APOSTROPHE, COMMA, DOT, NINE = 38, 39, 44, 46, 57
OPERATOR, LAST_OF_OPERATOR = 8, 114  # letters of "operator", behind which signs belong to it, and the last of them


class Signs(NamedTuple):
    """What tells bytes and characters apart."""

    plain: Any  # a bit for each byte of the texts (``TokenStream``)
    stops: Any
    kinds: Any  # of single bytes: their class, nothing beyond ASCII
    classes: Any  # of all characters


class Cuts(NamedTuple):
    """Words that were cut and are not looked up yet."""

    begins: Any
    ends: Any
    hashes: Any  # of those of kind KNOWN
    kinds: Any
    bounds: Any  # whether a sign could not begin a word there


@bare_helper
def _bits_from(bits: Any, place: Any) -> Any:
    """The bits from ``place`` on, at least 57 of them."""
    return load64(bits, place >> 3) >> np.uint64(place & 7)


@bare_helper
def _emit_pairs(data: Any, first: Any, last: Any, who: Any, classes: Any, table: Any, stream: Any, at: Any) -> Any:
    """Overlapping pairs of the letters of an unspaced run, then its last letter alone."""
    stop = letter_end(data, first, last, classes)
    while stop < last:
        pair_end = letter_end(data, stop, last, classes)
        stream[at] = number_of(data, first, pair_end, who, table)
        at += 1
        first, stop = stop, pair_end
    stream[at] = number_of(data, first, last, who, table)
    return at + 1


@bare_helper
def _emit_mixed(data: Any, first: Any, last: Any, who: Any, classes: Any, table: Any, stream: Any, at: Any) -> Any:
    """A word that holds letters of scripts without spaces: their runs are parted from what they touch."""
    is_bound = False
    while first < last:
        point, after = decoded(data, first)
        if classes[point] & UNSPACED:
            stop = run_end(data, after, last, classes, IN_RUN)
            at = _emit_pairs(data, first, stop, who, classes, table, stream, at)
        else:
            stop = word_end(data, first, last, classes, SPACED, is_bound)
            if stop > first:
                stream[at] = number_of(data, first, stop, who, table)
                at += 1
        if stop == first:
            stop = after
        is_bound = binds(data, last_character(data, first, stop), classes)
        first = stop
    return at


@bare_helper
def _plain_stop(data: Any, place: Any, signs: Any) -> Any:
    """Where the ASCII letters and digits from ``place`` on end, joined by signs; and whether the word surely does."""
    stop = place + lowest_of(~_bits_from(signs.plain, place))
    if stop == place or stop - place >= CERTAIN:
        return stop, False
    while True:
        sign = np.int64(item(data, stop))
        if item(signs.kinds, sign) & BREAK:
            return stop, stop - place != OPERATOR or item(data, stop - 1) != LAST_OF_OPERATOR
        if sign == COMMA:
            return stop, item(data, place) > NINE  # after digits a comma may go on with the number
        if sign != DOT and sign != AMPERSAND and sign != APOSTROPHE:
            return stop, False
        after = np.int64(item(data, stop + 1))
        if after > LAST_ASCII:
            return stop, False
        if not item(signs.kinds, after) & PLAIN:
            return stop, sign != AMPERSAND
        more = lowest_of(~_bits_from(signs.plain, stop + 1))
        if more >= CERTAIN:
            return stop, False
        stop += 1 + more


@bare_helper
def _cut_words(data: Any, place: Any, end: Any, is_bound: Any, who: Any, signs: Any, slots: Any, cuts: Any) -> Any:
    """Cut some words and ask for their entries; (how many, where the text goes on, whether a sign is bound there)."""
    mask = np.uint64((len(slots) >> 1) - 1)
    cut = np.int64(0)
    while place < end and cut < TOGETHER:
        bits = _bits_from(signs.stops, place)
        if bits & np.uint64(1) == np.uint64(0):
            place += CERTAIN if bits == np.uint64(0) else lowest_of(bits)
            is_bound = False
            continue
        stop, is_whole = _plain_stop(data, place, signs)
        if stop == place:
            byte = np.int64(item(data, place))
            if byte > LAST_ASCII:
                point, stop = decoded(data, place)
                if not signs.classes[point] & PLAIN:  # dashes, quotes, bullets
                    is_bound = False
                    place = stop
                    continue
            elif is_bound:  # no sign before a word
                is_bound = binds(data, place, signs.classes)
                place += 1
                continue
        cuts.begins[cut] = place
        cuts.bounds[cut] = is_bound
        if is_whole:
            value = hash_of(data, place, stop, who)
            ask(slots, np.int64((value >> np.uint64(32)) & mask) << 1)
            cuts.hashes[cut] = value
            cuts.kinds[cut] = KNOWN
            is_bound = True
        else:
            stop = word_end(data, place, end, signs.classes, PLAIN, is_bound)
            if stop == place:
                _, stop = decoded(data, place)
                is_bound = binds(data, place, signs.classes)
                place = stop
                continue
            cuts.kinds[cut] = MIXED if holds_unspaced(data, place, stop, signs.classes) else OTHER
            is_bound = binds(data, last_character(data, place, stop), signs.classes)
        cuts.ends[cut] = stop
        cut += 1
        place = stop
    return cut, place, is_bound


@bare_helper
def _look_up(data: Any, who: Any, classes: Any, table: Any, cuts: Any, cut: Any, stream: Any, at: Any) -> Any:
    """Numbers of the words that were cut, into ``stream``; (where it ends, how many there was room for)."""
    for word in range(cut):
        first, stop = item(cuts.begins, np.int64(word)), item(cuts.ends, np.int64(word))
        size = stop - first
        if item(cuts.kinds, np.int64(word)) == KNOWN:
            number, _ = found_in(table, data, first, size, item(cuts.hashes, np.int64(word)), who)
            if number >= 0:
                stream[at] = number
                at += 1
                continue
        count = table.used[0]
        room = min(len(table.owner) - count, len(table.slots) // 4 - count, len(stream) - at - cut)
        if room < size or len(table.pool) - table.start[count] < 2 * size + 8:
            return at, np.int64(word)
        if cuts.kinds[word] == MIXED:
            at = _emit_mixed(data, first, stop, who, classes, table, stream, at)
        else:
            stream[at] = number_of(data, first, stop, who, table)
            at += 1
    return at, cut


@bare_helper
def _tell_bytes_apart(data: Any, plain: Any, stops: Any) -> Any:
    """A bit for each byte: ASCII letters, digits, underscores; and these, signs that may begin a word, and others."""
    for block in range(len(data) >> 6):
        store64(plain, block << 3, plain_bits(data, block << 6))
        store64(stops, block << 3, stop_bits(data, block << 6))


@kernel(signature(I64, Spans, R_U32, I64, R_U8, SpellingTable, TokenStream))
def tokenize(texts: Any, owners: Any, first_text: Any, classes: Any, table: Any, stream: Any) -> Any:
    """Numbers of the words of many texts, and how many each has.

    Behind the last text there are 64 bytes. When a table may overflow, the text reached so far is returned; called
    again with it, the kernel goes on where it stood.
    """
    data, state, words = texts.data, stream.state, stream.words
    kinds = np.zeros(256, np.uint8)
    for sign in range(LAST_ASCII + 1):
        kinds[sign] = classes[sign] & np.uint8(PLAIN | BREAK)
    signs = Signs(stream.plain, stream.stops, kinds, classes)
    cuts = Cuts(
        np.empty(TOGETHER, np.int64),
        np.empty(TOGETHER, np.int64),
        np.empty(TOGETHER, np.uint64),
        np.empty(TOGETHER, np.uint8),
        np.empty(TOGETHER, np.uint8),
    )
    if state[HAS_BITS] == 0:
        _tell_bytes_apart(data, stream.plain, stream.stops)
        state[HAS_BITS] = 1
    at = state[WORDS]
    for text in range(first_text, len(words)):
        end, place = np.int64(texts.end[text]), np.int64(max(state[OFFSET], texts.begin[text]))
        is_bound: Any = state[IS_BOUND] != 0
        before = at
        while place < end:
            wanted = np.int64(TOGETHER)
            if len(stream.numbers) - at >= TOGETHER:
                cut, after, is_bound = _cut_words(data, place, end, is_bound, owners[text], signs, table.slots, cuts)
                at, done = _look_up(data, owners[text], classes, table, cuts, cut, stream.numbers, at)
                place = after
                if done == cut:
                    continue
                wanted = cuts.ends[done] - cuts.begins[done] + cut
                place, is_bound = cuts.begins[done], cuts.bounds[done] != 0
            words[text] += at - before
            state[WORDS], state[OFFSET], state[IS_BOUND], state[WANTED] = at, place, is_bound, wanted
            return text
        words[text] += at - before
        state[OFFSET], state[IS_BOUND] = 0, 0
    state[WORDS] = at
    return len(words)
