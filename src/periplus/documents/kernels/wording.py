"""The words of a text in lower case, in one call: its fingerprint (``fingerprint.simhash_of``), and which words of its
beginning are common or repeated (``signals._word_shares``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import I64, M_I64, M_U8, R_I64, R_U8, bare_helper, bare_kernel, signature
from periplus.documents.kernels.characters import ASCII, SPACE, is_space, point, width
from periplus.documents.kernels.typed import ZERO

# Those of ``fingerprint``
POLYNOMIAL = np.uint64(0x9E3779B97F4A7C15)
CHAIN = np.uint64(0xD6E8FEB86659FD93)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
LOWEST = np.uint64(0x0101010101010101)
LANE = 255
LONG_WORDS = 24

SAMPLE = 1000  # words; signals._SAMPLE
SAMPLE_CHARS = 8 * SAMPLE
SLOTS = 4096  # for the words of a sample
HASH = np.uint64(0x9E3779B97F4A7C15)
SLOT_SHIFT = np.uint64(52)
ROWS = 4  # numbers of a word: where it begins and ends, characters, how often it occurs
COUNT = ROWS * SAMPLE + SLOTS  # numbers that are needed to count
REPEATED_FROM, LONG_FROM = 3, 4  # times and characters from which a word counts as repeated

# Numbers that are handed back; behind them eight more to count bits
FINGERPRINT, IS_UNSPACED, WORDS, COMMON, MOST, IS_SUSPECT = range(6)
BITS = 8
ANSWER = BITS + 64


@bare_helper
def _is_letter(byte: Any) -> Any:
    return byte >= ASCII or 97 <= byte <= 122 or 48 <= byte <= 57 or 65 <= byte <= 90


@bare_helper
def _mixed(value: Any) -> Any:
    value = (value ^ (value >> np.uint64(30))) * MIX_1
    value = (value ^ (value >> np.uint64(27))) * MIX_2
    return value ^ (value >> np.uint64(31))


@bare_helper
def _add_lanes(lanes: Any, answer: Any) -> Any:
    """Add the counts of eight bits by eight bytes to those of all 64 bits, and begin anew."""
    for bit in range(8):
        lane = np.uint64(lanes[bit])
        for byte in range(8):
            answer[BITS + 8 * byte + bit] += np.int64((lane >> np.uint64(8 * byte)) & np.uint64(LANE))
        lanes[bit] = 0


@bare_helper
def _count_bits(shingle: Any, lanes: Any) -> Any:
    for bit in range(8):
        lanes[bit] += np.int64((shingle >> np.uint64(bit)) & LOWEST)


@bare_helper
def _fingerprint(text: Any, size: Any, lanes: Any, answer: Any) -> Any:
    before, last = np.uint64(0), np.uint64(0)
    words, shingles, at, full = ZERO, ZERO, ZERO, ZERO
    while at < size:
        if not _is_letter(text[at]):
            at += 1
            continue
        word, power = np.uint64(0), np.uint64(1)
        while at < size and _is_letter(text[at]):
            word += np.uint64(text[at]) * power
            power *= POLYNOMIAL
            at += 1
        words += 1
        if words >= 3:
            _count_bits(_mixed((before * CHAIN + last) * CHAIN + word), lanes)
            shingles += 1
            full += 1
            if full == LANE:
                _add_lanes(lanes, answer)
                full = ZERO
        before = last
        last = word
    if 0 < words < 3:
        _count_bits(_mixed(before * CHAIN + last if words == 2 else last), lanes)
        shingles = ZERO + 1
    _add_lanes(lanes, answer)
    answer[IS_UNSPACED] = words > 0 and size > LONG_WORDS * words
    found = np.uint64(0)
    for bit in range(64):
        if 2 * answer[BITS + bit] > shingles:
            found |= np.uint64(1) << np.uint64(bit)
    answer[FINGERPRINT] = np.int64(found)


@bare_helper
def _hash(text: Any, start: Any, end: Any) -> Any:
    word = np.uint64(end - start)
    for at in range(start, end):
        word = (word ^ np.uint64(text[at])) * HASH
        word ^= word >> np.uint64(29)
    return word * HASH


@bare_helper
def _equal(left: Any, at: Any, right: Any, start: Any, size: Any) -> Any:
    place = 0
    while place < size and left[at + place] == right[start + place]:
        place += 1
    return place == size


@bare_helper
def _is_among(text: Any, start: Any, end: Any, blob: Any, slots: Any) -> Any:
    """Whether a word is in a list: ``slots`` has, by its hash, where words begin and end in ``blob``."""
    most = len(slots) // 2
    slot = np.int64(_hash(text, start, end) >> np.uint64(32)) % most
    while slots[2 * slot + 1]:
        first, last = slots[2 * slot], slots[2 * slot + 1]
        if last - first == end - start and _equal(blob, first, text, start, end - start):
            return True
        slot = (slot + 1) % most
    return False


@bare_helper
def _count(text: Any, start: Any, end: Any, chars: Any, distinct: Any, counts: Any) -> Any:
    """Count a word; how many different ones there are then."""
    slot = np.int64(_hash(text, start, end) >> SLOT_SHIFT)
    base = ROWS * SAMPLE
    while counts[base + slot]:
        row = ROWS * (counts[base + slot] - 1)
        first = counts[row]
        if counts[row + 1] - first == end - start and _equal(text, first, text, start, end - start):
            counts[row + 3] += 1
            return distinct
        slot = (slot + 1) & (SLOTS - 1)
    row = ROWS * distinct
    counts[row], counts[row + 1], counts[row + 2], counts[row + 3] = start, end, chars, 1
    counts[base + slot] = distinct + 1
    return distinct + 1


@bare_helper
def _count_sample(text: Any, size: Any, counts: Any, answer: Any) -> Any:
    """Count the words at the beginning of the text."""
    at, chars, words, distinct = ZERO, ZERO, ZERO, ZERO
    while at < size and chars < SAMPLE_CHARS and words < SAMPLE:
        if (text[at] <= SPACE or text[at] >= ASCII) and is_space(point(text, at)):
            at += width(text[at])
            chars += 1
            continue
        start, before = at, chars
        while at < size and chars < SAMPLE_CHARS:
            if (text[at] <= SPACE or text[at] >= ASCII) and is_space(point(text, at)):
                break
            at += width(text[at])
            chars += 1
        distinct = _count(text, start, at, chars - before, distinct, counts)
        words += 1
    answer[WORDS] = words
    return distinct


WEIGH_WORDS = signature("void", M_U8, I64, R_U8, R_I64, R_U8, R_I64, M_I64, M_I64, M_I64)


@bare_kernel(WEIGH_WORDS)
def weigh_words(
    text: Any,  # in lower case; some bytes may be read behind its end
    size: int,
    common: Any,  # words without weight in the language, and where to find them
    common_slots: Any,
    suspect: Any,
    suspect_slots: Any,
    counts: Any,
    lanes: Any,
    answer: Any,
) -> None:
    """Fill ``answer``; what is common or repeated, for the words at the beginning of the text alone."""
    answer[:] = 0
    lanes[:] = 0
    counts[ROWS * SAMPLE :] = 0
    _fingerprint(text, size, lanes, answer)
    for word in range(_count_sample(text, size, counts, answer)):
        row = ROWS * word
        start, end, times = counts[row], counts[row + 1], counts[row + 3]
        if _is_among(text, start, end, suspect, suspect_slots):
            answer[IS_SUSPECT] = 1
        if _is_among(text, start, end, common, common_slots):
            answer[COMMON] += times
        elif times >= REPEATED_FROM and counts[row + 2] >= LONG_FROM:
            answer[MOST] = max(answer[MOST], times)
