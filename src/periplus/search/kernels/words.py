"""Words of a dictionary near a word, by likely mistakes and frequency."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.bits import lowest_of, ones_of
from periplus.index.kernels.compiler import bare_helper, kernel
from periplus.index.kernels.memory import item, load64
from periplus.index.kernels.tables import prefetch
from periplus.index.kernels.types import F64, I64, M_I64, R_F64, R_I64, R_U32, signature

R_U64 = "Array(uint64, 1, 'C', True)"
M_F64 = "Array(float64, 1, 'C')"

MAX_LETTERS = 24  # of a word in the dictionary; letters stand in rows of this length
FAR = 99.0
ASCII = 128
SCREENED = 256  # words whose letters are compared at once


@bare_helper
def _edits(letters: Any, base: Any, length: Any, word: Any, reach: Any, rows: Any) -> Any:
    """Restricted Damerau-Levenshtein in a band, given up beyond ``reach``; ``rows`` is scratch of three rows."""
    typed = len(word)
    width = MAX_LETTERS + 2
    for j in range(length + 1):
        rows[j] = j
    for i in range(1, typed + 1):
        row, above, before = (i % 3) * width, ((i - 1) % 3) * width, ((i - 2) % 3) * width
        low, high = max(1, i - reach), min(length, i + reach)
        least = reach + 1
        rows[row + low - 1] = i if low == 1 else reach + 1
        for j in range(low, high + 1):
            same = word[i - 1] == letters[base + j - 1]
            best = rows[above + j - 1] + (0 if same else 1)
            if j < i + reach:
                best = min(best, rows[above + j] + 1)
            best = min(best, rows[row + j - 1] + 1)
            if i > 1 and j > 1 and word[i - 1] == letters[base + j - 2] and word[i - 2] == letters[base + j - 1]:
                best = min(best, rows[before + j - 2] + 1)
            rows[row + j] = best
            least = min(least, best)
        if high < length:
            rows[row + high + 1] = reach + 1
        if least > reach:
            return reach + 1
    return rows[(typed % 3) * width + length]


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
        price = min(price, prices[2])
    if _vowel(typed) and _vowel(meant):
        price = min(price, prices[3])
    if (related[typed - 97 + 26] >> (meant - 97)) & 1:
        price = min(price, prices[6])
    return price


@bare_helper
def _gap(letter: Any, before: Any, prices: Any) -> Any:
    """What it costs to leave a letter out, or to type one too much: less where it is doubled or hardly heard."""
    if letter == before:
        return prices[1]
    return prices[5] if _vowel(letter) or letter == 104 else 1.0


@bare_helper
def _cost(letters: Any, base: Any, length: Any, word: Any, related: Any, prices: Any, rows: Any) -> Any:
    """The same without a band, likely mistakes costing less."""
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
                best = min(best, rows[before + j - 2] + prices[0])
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
def _screened(masks: Any, row: Any, count: Any, mask: Any, added: Any, lost: Any, passed: Any) -> Any:
    """Which of the words from ``row`` on have at most so many letters that the typed one has not, and lack at most so
    many of its own; a loop that takes vectors."""
    missing = ~mask
    for i in range(count):
        other = item(masks, row + i)
        passed[i] = ones_of(other & missing) <= added and ones_of(mask & ~other) <= lost
    for i in range(count, len(passed)):
        passed[i] = 0


@kernel(
    signature(I64, R_U32, R_U64, R_F64, R_I64, R_U32, I64, R_I64, R_F64, F64, F64, F64, F64, F64, M_I64, M_F64, M_F64)
)
def near(
    letters: Any,  # a row of MAX_LETTERS a word
    masks: Any,  # letters of each word as bits
    counts: Any,  # documents of each word, as ln(n + 1)
    starts: Any,  # first word of each length; of one length the most frequent first
    word: Any,
    reach: Any,
    related: Any,  # for each letter a to z the keys beside it, as bits; then the letters that sound alike
    prices: Any,  # swap, double, neighbour, vowel; what another first letter adds; unheard, alike
    edit_worth: Any,
    margin: Any,  # candidates this far below the best are of no use
    floor: Any,  # nor are those worth less than this
    most_cost: Any,
    least_count: Any,  # ln(n + 1)
    rows: Any,  # of the best, best first
    costs: Any,
    worths: Any,
) -> Any:
    """The likeliest words within ``reach`` edits; how many there are, at most as many as the outputs hold."""
    mask = np.uint64(0)
    known = np.zeros(ASCII, np.uint64)
    for i in range(len(word)):
        mask |= np.uint64(1) << np.uint64(word[i] % 64)
        if word[i] < ASCII:
            known[word[i]] |= np.uint64(1) << np.uint64(i)
    passed = np.empty(SCREENED, np.uint8)
    cost_scratch = np.zeros(3 * (MAX_LETTERS + 2), np.float64)
    each = min(prices[2], prices[3], prices[5], prices[6])  # of a letter that only one of the words has
    cheapest = min(prices[0], prices[1], each)
    address = letters.ctypes.data
    found = 0
    best = -1e9
    for step in range(2 * reach + 1):  # the same length first: most mistakes keep it, and a good find prunes the rest
        length = len(word) + ((step + 1) // 2 if step % 2 else -(step // 2))
        if length < 1 or length > MAX_LETTERS:
            continue
        least = cheapest * max(1, abs(length - len(word)))
        # A word that is longer took a letter more for each: these edits cannot have taken away one of the typed ones.
        added, gone = reach - max(0, len(word) - length), reach - max(0, length - len(word))
        end = starts[length + 1]
        lost = False  # no word from here on is frequent enough
        block = starts[length]
        while block < end and not lost:
            bar = max(best - margin, floor)
            if found == len(rows):
                bar = max(bar, worths[found - 1])
            if counts[block] - least * edit_worth < bar or counts[block] < least_count:
                break
            _screened(masks, block, min(end - block, SCREENED), mask, added, gone, passed)
            for eight in range(0, SCREENED, 8):
                left = load64(passed, eight)
                while left:
                    row = block + eight + (lowest_of(left) >> 3)
                    left &= left - np.uint64(1)
                    prefetch(np.int64(address + 4 * MAX_LETTERS * row))
            for eight in range(0, SCREENED, 8):
                left = load64(passed, eight)
                while left:
                    row = block + eight + (lowest_of(left) >> 3)
                    left &= left - np.uint64(1)
                    bar = max(best - margin, floor)
                    if found == len(rows):
                        bar = max(bar, worths[found - 1])
                    if counts[row] - least * edit_worth < bar or counts[row] < least_count:
                        lost = True
                        break
                    other = masks[row]
                    differing = max(ones_of(other & ~mask), ones_of(mask & ~other))
                    if counts[row] - each * float(differing) * edit_worth < bar:
                        continue
                    base = row * MAX_LETTERS
                    distance = _distance(letters, base, length, word, known, reach)
                    if distance == 0 or distance > reach:
                        continue
                    cost = _cost(letters, base, length, word, related, prices, cost_scratch)
                    if letters[base] != word[0]:
                        cost += prices[4]
                    worth = counts[row] - edit_worth * cost
                    if cost > most_cost or worth < bar or (found == len(rows) and worth <= worths[found - 1]):
                        continue
                    place = found if found < len(rows) else found - 1
                    while place > 0 and worths[place - 1] < worth:
                        rows[place], costs[place], worths[place] = rows[place - 1], costs[place - 1], worths[place - 1]
                        place -= 1
                    rows[place], costs[place], worths[place] = row, cost, worth
                    found = min(found + 1, len(rows))
                    best = max(best, worth)
                if lost:
                    break
            block += SCREENED
    while found > 0 and worths[found - 1] < best - margin:
        found -= 1
    return found


@kernel(signature("void", R_U32, R_I64, I64, R_I64, R_F64, M_I64, M_F64))
def measured(letters: Any, lengths: Any, reach: Any, word: Any, prices: Any, edits: Any, costs: Any) -> Any:
    """Edits and costs to every word, for tests; ``word`` holds its letters, then ``related`` as for ``near``."""
    typed = np.empty(len(word) - 52, np.uint32)
    for i in range(len(typed)):
        typed[i] = np.uint32(word[i])
    related = word[len(word) - 52 :]
    edits_scratch = np.zeros(3 * (MAX_LETTERS + 2), np.int64)
    cost_scratch = np.zeros(3 * (MAX_LETTERS + 2), np.float64)
    for row in range(len(lengths)):
        base = row * MAX_LETTERS
        edits[row] = reach + 1
        if abs(lengths[row] - len(typed)) <= reach:
            edits[row] = _edits(letters, base, lengths[row], typed, reach, edits_scratch)
        costs[row] = _cost(letters, base, lengths[row], typed, related, prices, cost_scratch)
