"""Tokens: texts become streams of word numbers, many in one call.

Words are cut first, some dozens at a time, and their entries in the table of spellings are asked for; then they are
looked up, when these have arrived. Letters and digits are told apart from everything else for 64 bytes at once, so that
where an ASCII word ends is a matter of counting bits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.build.spellings import FACTOR, MIXER, SEED, TABLE, are_equal, masked, number_of, tag_of
from periplus.core.build.word_breaks import (
    BREAK,
    IN_RUN,
    LAST_ASCII,
    PLAIN,
    SPACED,
    UNSPACED,
    binds,
    decoded,
    holds_unspaced,
    last_character,
    letter_end,
    run_end,
    word_end,
)
from periplus.core.compiler import I64, M_I64, M_U8, M_U32, R_I64, R_U8, R_U32, bare_helper, kernel, signature
from periplus.core.machine.bits import lowest_of
from periplus.core.machine.memory import ask, item, load64, plain_bits, stop_bits, store64

TOGETHER = 64  # words that are cut before they are looked up
CERTAIN = 57  # bits that a word of 64 holds from any bit of its first byte on
KNOWN, OTHER, MIXED = 0, 1, 2  # kinds of words: plain ASCII, by the rules, with unspaced letters


@bare_helper
def _bits_from(bits: Any, place: Any) -> Any:
    """The bits from ``place`` on, at least 57 of them."""
    return load64(bits, place >> 3) >> np.uint64(place & 7)


@bare_helper
def _emit_pairs(
    data: Any,
    first: Any,
    last: Any,
    who: Any,
    classes: Any,
    slots: Any,
    pool: Any,
    start: Any,
    owner: Any,
    count: Any,
    stream: Any,
    at: Any,
) -> Any:
    """Overlapping pairs of the letters of an unspaced run, then its last letter alone."""
    stop = letter_end(data, first, last, classes)
    while stop < last:
        pair_end = letter_end(data, stop, last, classes)
        stream[at] = number_of(data, first, pair_end, who, slots, pool, start, owner, count)
        at += 1
        first, stop = stop, pair_end
    stream[at] = number_of(data, first, last, who, slots, pool, start, owner, count)
    return at + 1


@bare_helper
def _emit_mixed(
    data: Any,
    first: Any,
    last: Any,
    who: Any,
    classes: Any,
    slots: Any,
    pool: Any,
    start: Any,
    owner: Any,
    count: Any,
    stream: Any,
    at: Any,
) -> Any:
    """A word that holds letters of scripts without spaces: their runs are parted from what they touch."""
    is_bound = False
    while first < last:
        point, after = decoded(data, first)
        if classes[point] & UNSPACED:
            stop = run_end(data, after, last, classes, IN_RUN)
            at = _emit_pairs(data, first, stop, who, classes, slots, pool, start, owner, count, stream, at)
        else:
            stop = word_end(data, first, last, classes, SPACED, is_bound)
            if stop > first:
                stream[at] = number_of(data, first, stop, who, slots, pool, start, owner, count)
                at += 1
        if stop == first:
            stop = after
        is_bound = binds(data, last_character(data, first, stop), classes)
        first = stop
    return at


@kernel(signature(I64, R_U8, R_I64, R_I64, R_U32, I64, R_U8, *TABLE, M_U8, M_U8, M_U32, M_U32, M_I64))
def tokenize(
    data: Any,
    piece_begin: Any,
    piece_end: Any,
    piece_owner: Any,
    first_piece: Any,
    classes: Any,
    slots: Any,
    pool: Any,
    start: Any,
    owner: Any,
    count: Any,
    plain: Any,
    stops: Any,
    stream: Any,
    words: Any,
    state: Any,
) -> Any:
    """Numbers of the words of many texts, into ``stream``; how many each has, into ``words``.

    Behind each text stands a byte that is of no word of ASCII letters, and behind the last one there are 64. ``plain``
    and ``stops`` have a bit for each byte, and 64 more. When a table may overflow, the text reached so far is returned;
    called again with it, the kernel goes on where it stood. ``state``: words in ``stream``, offset in the text, whether
    a sign may not begin a word there, room wanted, whether the bits are there.
    """
    at = state[0]
    mask = np.uint64((len(slots) >> 1) - 1)
    kinds = np.zeros(256, np.uint8)  # of single bytes
    for sign in range(LAST_ASCII + 1):
        kinds[sign] = classes[sign] & np.uint8(PLAIN | BREAK)
    if state[4] == 0:
        for block in range(len(data) >> 6):
            store64(plain, block << 3, plain_bits(data, block << 6))  # ASCII letters, digits, underscores
            store64(stops, block << 3, stop_bits(data, block << 6))  # these, signs that may begin a word, and others
        state[4] = 1
    begins = np.empty(TOGETHER, np.int64)
    ends = np.empty(TOGETHER, np.int64)
    hashes = np.empty(TOGETHER, np.uint64)
    sorts = np.empty(TOGETHER, np.uint8)
    bounds = np.empty(TOGETHER, np.uint8)
    for piece in range(first_piece, len(words)):
        end = np.int64(piece_end[piece])
        place = np.int64(max(state[1], piece_begin[piece]))
        is_bound: Any = state[2] != 0
        who = piece_owner[piece]
        seed = SEED ^ (np.uint64(who) << np.uint64(56))
        before = at
        while place < end:
            if len(stream) - at < TOGETHER:
                words[piece] += at - before
                state[0], state[1], state[2], state[3] = at, place, is_bound, TOGETHER
                return piece
            # Cut some words.
            cut = np.int64(0)
            while place < end and cut < TOGETHER:
                bits = _bits_from(stops, place)
                if bits & np.uint64(1) == np.uint64(0):
                    place += CERTAIN if bits == np.uint64(0) else lowest_of(bits)
                    is_bound = item(data, place - 1) == 38
                    continue
                byte = np.int64(item(data, place))
                stop = place + lowest_of(~_bits_from(plain, place))
                is_whole: Any = False
                if stop == place:
                    if byte > LAST_ASCII:
                        point, stop = decoded(data, place)
                        if not classes[point] & PLAIN:  # dashes, quotes, bullets
                            is_bound = False
                            place = stop
                            continue
                    elif is_bound:  # no sign before a word
                        is_bound = byte == 46
                        place += 1
                        continue
                elif stop - place < CERTAIN:
                    while True:
                        after = np.int64(item(data, stop))
                        if item(kinds, after) & BREAK:
                            is_whole = True
                            break
                        if after == 44:
                            is_whole = byte > 57  # after digits a comma may go on with the number
                            break
                        if after != 46 and after != 38 and after != 39:
                            break
                        after = np.int64(item(data, stop + 1))
                        if after > LAST_ASCII:
                            break
                        if not item(kinds, after) & PLAIN:
                            is_whole = True
                            break
                        more = lowest_of(~_bits_from(plain, stop + 1))
                        if more >= CERTAIN:
                            break
                        stop += 1 + more
                begins[cut] = place
                bounds[cut] = is_bound
                if is_whole:
                    size = stop - place
                    # hash_of, written out: nearly all words have at most 16 bytes
                    value = (seed ^ (load64(data, place) & masked(min(size, np.int64(8))))) * FACTOR
                    value ^= value >> np.uint64(32)
                    if size > 8:
                        left = place + 8
                        while stop - left > 8:
                            value = (value ^ load64(data, left)) * FACTOR
                            value ^= value >> np.uint64(32)
                            left += 8
                        value = (value ^ (load64(data, left) & masked(stop - left))) * FACTOR
                        value ^= value >> np.uint64(32)
                    value *= MIXER
                    ask(slots, np.int64((value >> np.uint64(32)) & mask) << 1)
                    hashes[cut] = value
                    sorts[cut] = KNOWN
                    is_bound = True
                else:
                    stop = word_end(data, place, end, classes, PLAIN, is_bound)
                    if stop == place:
                        _, stop = decoded(data, place)
                        is_bound = binds(data, place, classes)
                        place = stop
                        continue
                    sorts[cut] = MIXED if holds_unspaced(data, place, stop, classes) else OTHER
                    is_bound = binds(data, last_character(data, place, stop), classes)
                ends[cut] = stop
                cut += 1
                place = stop
            # Look them up.
            for word in range(cut):
                first = item(begins, np.int64(word))
                stop = item(ends, np.int64(word))
                size = stop - first
                if item(sorts, np.int64(word)) == KNOWN:
                    value = item(hashes, np.int64(word))
                    key = load64(data, first) & masked(size) if size <= 8 else value
                    tag = tag_of(size, who)
                    probe = np.int64((value >> np.uint64(32)) & mask) << 1
                    number = np.int64(-1)
                    while True:
                        entry = item(slots, probe + 1)
                        if entry == np.uint64(0):
                            break
                        if item(slots, probe) == key and (entry ^ tag) >> np.uint64(32) == np.uint64(0):
                            found = np.int64(entry & np.uint64(0xFFFFFFFF)) - 1
                            if size <= 8:
                                number = found
                                break
                            begin = item(start, found)
                            if item(start, found + 1) - begin == size and are_equal(pool, begin, data, first, size):
                                number = found
                                break
                        probe = np.int64(np.uint64((probe >> 1) + 1) & mask) << 1
                    if number >= 0:
                        stream[at] = number
                        at += 1
                        continue
                room = min(len(owner) - count[0], len(slots) // 4 - count[0], len(stream) - at - cut)
                if room < size or len(pool) - start[count[0]] < 2 * size + 8:
                    words[piece] += at - before
                    state[0], state[1], state[2], state[3] = at, first, bounds[word], size + cut
                    return piece
                if sorts[word] == MIXED:
                    at = _emit_mixed(data, first, stop, who, classes, slots, pool, start, owner, count, stream, at)
                else:
                    stream[at] = number_of(data, first, stop, who, slots, pool, start, owner, count)
                    at += 1
        words[piece] += at - before
        state[1], state[2] = 0, 0
    state[0] = at
    return len(words)
