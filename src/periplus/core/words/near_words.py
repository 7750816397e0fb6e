"""Words of a dictionary near a word, by likely mistakes and frequency.

Words lie by length, the most frequent first. A word is passed over when its letters, as a mask, tell that it is too far
away, 64 words at once; and a length is left when no word of it is frequent enough to be among the best.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import I64, M_F64, M_I64, R_F64, R_I64, R_U32, bare_helper, kernel, signature
from periplus.core.machine.arrays import prefetch
from periplus.core.machine.bits import LANES, first_lanes, lowest_of, near_sets, ones_of

MAX_LETTERS = 24  # of a word in the dictionary; letters stand in rows of this length
ASCII = 128
LETTER_BITS = 27  # kinds of letters in a mask
SWAP, DOUBLE, NEIGHBOUR, VOWEL, FIRST_LETTER, UNHEARD, ALIKE = range(7)  # places of the prices
SHORT, SHORT_EDITS, EDITS, MOST_COST, LEAST_COUNT, MARGIN, EDIT_WORTH, FLOOR = range(8)  # places of the bounds
TOGETHER = 512  # words whose masks are compared before any of them is looked at
ROUNDING = 1e-9  # what sums of fractions may differ by


@bare_helper
def _vowel(letter: Any) -> Any:
    return letter == 97 or letter == 101 or letter == 105 or letter == 111 or letter == 117 or letter == 121


@bare_helper
def _other_letter(typed: Any, meant: Any, related: Any, prices: Any) -> Any:
    """What it costs to type one letter for another."""
    if not (97 <= typed <= 122 and 97 <= meant <= 122):
        return 1.0
    price = 1.0
    if (related[typed - 97] >> (meant - 97)) & 1:
        price = min(price, prices[NEIGHBOUR])
    if _vowel(typed) and _vowel(meant):
        price = min(price, prices[VOWEL])
    if (related[typed - 97 + 26] >> (meant - 97)) & 1:
        price = min(price, prices[ALIKE])
    return price


@bare_helper
def _gap(letter: Any, before: Any, prices: Any) -> Any:
    """What it costs to leave a letter out, or to type one too much: less where it is doubled or hardly heard."""
    if letter == before:
        return prices[DOUBLE]
    return prices[UNHEARD] if _vowel(letter) or letter == 104 else 1.0


@bare_helper
def _cost(letters: Any, base: Any, length: Any, word: Any, related: Any, prices: Any, rows: Any) -> Any:
    """Restricted Damerau-Levenshtein in which likely mistakes cost less than an edit."""
    typed = len(word)
    width = MAX_LETTERS + 2
    rows[0] = 0.0
    for j in range(1, length + 1):
        rows[j] = rows[j - 1] + _gap(letters[base + j - 1], letters[base + j - 2] if j > 1 else 0, prices)
    for i in range(1, typed + 1):
        row, above, before = (i % 3) * width, ((i - 1) % 3) * width, ((i - 2) % 3) * width
        deletion = _gap(word[i - 1], word[i - 2] if i > 1 else 0, prices)
        rows[row] = rows[above] + deletion
        for j in range(1, length + 1):
            meant = letters[base + j - 1]
            insertion = _gap(meant, letters[base + j - 2] if j > 1 else 0, prices)
            best = min(rows[above + j] + deletion, rows[row + j - 1] + insertion)
            other = 0.0
            if word[i - 1] != meant:
                other = _other_letter(word[i - 1], meant, related, prices)
            best = min(best, rows[above + j - 1] + other)
            if i > 1 and j > 1 and word[i - 1] == letters[base + j - 2] and word[i - 2] == meant:
                best = min(best, rows[before + j - 2] + prices[SWAP])
            rows[row + j] = best
    return rows[(typed % 3) * width + length]


@bare_helper
def _where(word: Any, letter: Any, known: Any) -> Any:
    """The places of a letter in the word, as bits; those of ASCII letters are known beforehand."""
    if letter < ASCII:
        return known[letter]
    places = np.uint64(0)
    for i in range(len(word)):
        if word[i] == letter:
            places |= np.uint64(1) << np.uint64(i)
    return places


@bare_helper
def _distance(letters: Any, base: Any, length: Any, word: Any, known: Any, reach: Any) -> Any:
    """Restricted Damerau-Levenshtein, a column of the table at a time as bits; some number above ``reach`` beyond it.

    Bits say where a value is one more or one less than that of its neighbour: above it (``more``, ``less``) or to its
    left (``up``, ``down``); ``same`` where it equals the one on the diagonal.
    """
    one = np.uint64(1)
    last = one << np.uint64(len(word) - 1)
    more, less, same, before = ~np.uint64(0), np.uint64(0), np.uint64(0), np.uint64(0)
    distance = len(word)
    for j in range(length):
        places = _where(word, letters[base + j], known)
        swapped = ((~same & places) << one) & before
        same = (((places & more) + more) ^ more) | places | less | swapped
        up = less | ~(same | more)
        down = same & more
        if up & last:
            distance += 1
        elif down & last:
            distance -= 1
        if distance > reach + length - 1 - j:  # each letter to come may save one at most
            return distance
        up = (up << one) | one
        down <<= one
        more = down | ~(same | up)
        less = up & same
        before = places
    return distance


@bare_helper
def _put(row: Any, cost: Any, worth: Any, found: Any, rows: Any, costs: Any, worths: Any) -> Any:
    """A candidate in its place among the best; how many there are. Of equals the first to come stays first."""
    size = len(rows)
    if found == size and worth <= worths[size - 1]:
        return found
    place = found if found < size else size - 1
    while place > 0 and worths[place - 1] < worth:
        rows[place], costs[place], worths[place] = rows[place - 1], costs[place - 1], worths[place - 1]
        place -= 1
    rows[place], costs[place], worths[place] = row, cost, worth
    return min(found + 1, size)


@bare_helper
def _bar(bounds: Any, worths: Any, found: Any) -> Any:
    """What a candidate has to be worth."""
    bar = bounds[FLOOR]
    if found > 0:
        bar = max(bar, worths[0] - bounds[MARGIN])
    return max(bar, worths[found - 1]) if found == len(worths) else bar


@bare_helper
def _mask_of(word: Any) -> Any:
    """The kinds of letters in a word, as bits."""
    mask = np.uint64(0)
    for place in range(len(word)):
        mask |= np.uint64(1) << np.uint64(word[place] % LETTER_BITS)
    return mask


@bare_helper
def _places_of(word: Any, known: Any) -> Any:
    """Where each letter of ASCII stands in a word, as bits."""
    for place in range(len(word)):
        if word[place] < ASCII:
            known[word[place]] |= np.uint64(1) << np.uint64(place)


@bare_helper
def _alike(letters: Any, masks: Any, first: Any, end: Any, own: Any, reach: Any, chosen: Any) -> Any:
    """Words whose masks allow so few edits, among some that lie side by side, into ``chosen``; how many these are.

    Their letters are asked for, so that the waits for memory overlap.
    """
    count = 0
    for lane in range(first, end, LANES):
        fits = near_sets(masks.ctypes.data + 4 * lane, np.uint32(own), np.uint32(reach)) & first_lanes(end - lane)
        while fits != 0:
            row = lane + lowest_of(fits)
            fits &= fits - np.uint64(1)
            prefetch(letters.ctypes.data + 4 * MAX_LETTERS * row)
            chosen[count] = row
            count += 1
    return count


@kernel(signature(I64, R_U32, R_U32, R_F64, R_I64, R_U32, R_I64, R_F64, R_F64, M_I64, M_F64, M_F64))
def near(
    letters: Any,  # a row of MAX_LETTERS a word
    masks: Any,  # kinds of letters of each word, as bits; 64 more stand behind the last
    counts: Any,  # what the documents of each word are worth
    starts: Any,  # the first word of each length
    word: Any,
    related: Any,  # for each letter a to z the keys beside it, as bits; then the letters that sound alike
    prices: Any,
    bounds: Any,  # letters of a short word, edits where one of the two is short, and of others; cost, worth of
    # documents; how far below the best is of no use; worth of an edit, floor
    rows: Any,  # of the best words
    costs: Any,
    worths: Any,
) -> Any:
    """The likeliest words within so many edits, best first; how many there are."""
    edit_worth = bounds[EDIT_WORTH]
    most_edits = np.int64(bounds[SHORT_EDITS] if len(word) <= bounds[SHORT] else bounds[EDITS])
    own, known = _mask_of(word), np.zeros(ASCII, np.uint64)
    _places_of(word, known)
    scratch, chosen = np.zeros(3 * (MAX_LETTERS + 2), np.float64), np.empty(TOGETHER, np.int64)
    each = min(prices[NEIGHBOUR], prices[VOWEL], prices[UNHEARD], prices[ALIKE])  # a letter that only one of them has
    cheapest = min(prices[SWAP], prices[DOUBLE], each)
    found = np.int64(0)
    for step in range(
        2 * most_edits + 1
    ):  # the same length first: most mistakes keep it, and a good find prunes the rest
        length = len(word) + ((step + 1) // 2 if step % 2 else -(step // 2))
        reach = np.int64(bounds[SHORT_EDITS]) if length <= bounds[SHORT] else most_edits
        if length < 1 or length > MAX_LETTERS or abs(length - len(word)) > reach:
            continue
        spent, end = edit_worth * cheapest * max(1, abs(length - len(word))), starts[length + 1]
        for first in range(starts[length], end, TOGETHER):
            bar = _bar(bounds, worths, found) - ROUNDING
            if counts[first] - spent < bar or counts[first] < bounds[LEAST_COUNT]:
                break  # so it is with all that follow
            for at in range(_alike(letters, masks, first, min(end, first + TOGETHER), own, reach, chosen)):
                row = chosen[at]
                mask, base = np.uint64(masks[row]), row * MAX_LETTERS
                differing = max(ones_of(mask & ~own), ones_of(own & ~mask))
                most = counts[row] - max(spent, edit_worth * each * differing)
                if most < _bar(bounds, worths, found) - ROUNDING or counts[row] < bounds[LEAST_COUNT]:
                    continue
                edits = _distance(letters, base, length, word, known, reach)
                if edits == 0 or edits > reach:
                    continue
                price = _cost(letters, base, length, word, related, prices, scratch)
                if letters[base] != word[0]:
                    price += prices[FIRST_LETTER]
                worth = counts[row] - edit_worth * price
                if price <= bounds[MOST_COST] and worth >= _bar(bounds, worths, found):
                    found = _put(row, price, worth, found, rows, costs, worths)
    while found > 0 and worths[found - 1] < worths[0] - bounds[MARGIN]:
        found -= 1
    return found
