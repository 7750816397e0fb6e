"""Words of a dictionary near a word, by likely mistakes and frequency."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.bits import ones_of
from periplus.index.kernels.compiler import bare_helper, kernel
from periplus.index.kernels.memory import item
from periplus.index.kernels.tables import at_f64, at_i64, at_u32, prefetch
from periplus.index.kernels.types import F64, I64, M_I64, R_F64, R_I64, R_U32, signature

M_F64 = "Array(float64, 1, 'C')"

MAX_LETTERS = 24  # of a word in the dictionary; letters stand in rows of this length
FAR = 99.0
ASCII = 128
MASK_BITS, LETTER_BITS = 32, 27  # of the letters in a word; its first letter is in the others
ALL_LETTERS = np.uint64((1 << LETTER_BITS) - 1)
AHEAD = 6  # buckets that are asked for before they are needed
TABLE = 25  # numbers by which a dictionary is given
MOST_PASSED = 256  # words of a bucket that are asked for at once


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
def _eligible(
    signatures: Any, tops: Any, begin: Any, end: Any, own: Any, added: Any, gone: Any, least: Any, order: Any,
    sizes: Any,
) -> Any:  # fmt: skip
    """The buckets of [begin, end) that may hold a word with at most so many letters that the typed one has not, and
    without at most so many of its own, if their first word is as frequent as it has to be (``least``): those with
    fewest differing letters first, ``sizes`` of each kind."""
    part = len(order) // 3
    for differing in range(3):
        sizes[differing] = 0
    for bucket in range(begin, end):
        if item(tops, bucket) < least[0]:
            continue
        other = np.uint64(item(signatures, bucket))
        more, fewer = ones_of(other & ~own), ones_of(own & ~other)
        if more <= added and fewer <= gone:
            differing = max(more, fewer)
            if item(tops, bucket) >= least[differing]:
                order[differing * part + sizes[differing]] = bucket
                sizes[differing] += 1
    size = sizes[0]
    for differing in range(1, 3):
        for place in range(sizes[differing]):
            order[size] = order[differing * part + place]
            size += 1


@bare_helper
def _signature(mask: Any, bits: Any) -> Any:
    """Some bits of a mask, side by side."""
    found = np.uint64(0)
    for place in range(len(bits)):
        found |= ((np.uint64(mask) >> np.uint64(bits[place])) & np.uint64(1)) << np.uint64(place)
    return found


@bare_helper
def _put(row: Any, cost: Any, worth: Any, tie: Any, found: Any, rows: Any, costs: Any, worths: Any, ties: Any) -> Any:
    """A candidate in its place among the best; how many there are. Of equals that with the lower ``tie`` is first."""
    size = len(rows)
    if found == size and (worth < worths[size - 1] or (worth == worths[size - 1] and tie > ties[size - 1])):
        return found
    place = found if found < size else size - 1
    while place > 0 and (worths[place - 1] < worth or (worths[place - 1] == worth and ties[place - 1] > tie)):
        last = place - 1
        rows[place], costs[place], worths[place], ties[place] = rows[last], costs[last], worths[last], ties[last]
        place = last
    rows[place], costs[place], worths[place], ties[place] = row, cost, worth, tie
    return min(found + 1, size)


@bare_helper
def _price_firsts(word: Any, related: Any, prices: Any, each: Any, firsts: Any) -> Any:
    """What it costs at least to type ``word`` for one that begins with a letter, and when one or two letters differ."""
    kinds = np.uint32(len(firsts) // 3)
    for first in range(kinds):
        price = 0.0
        if first != word[0] % kinds:  # letters of one kind may differ, but cost no less then
            meant = np.uint32(96 + first)
            gap = min(_gap(word[0], 0, prices), _gap(meant, 0, prices))
            price = min(_other_letter(word[0], meant, related, prices), gap)
            if len(word) > 1 and first == word[1] % kinds:
                price = min(price, prices[0])
            price += prices[4]
        for differing in range(3):
            more = differing - 1 if price > 0.0 else differing
            firsts[3 * first + differing] = price + each * float(max(0, more))


@bare_helper
def _bar(useful: Any, floor: Any, worths: Any, found: Any) -> Any:
    """What a candidate has to be worth, a little less: it is compared with bounds that are added up otherwise."""
    bar = max(useful, floor)
    if found == len(worths):
        bar = max(bar, worths[found - 1])
    return bar - 1e-9


@kernel(signature(I64, I64, I64, I64, I64, I64, F64, F64))
def near(
    table: Any,  # an address: see below
    request: Any,  # an address: the letters of the word, then room for the rows of the best, their costs and worths
    size: Any,  # of the word
    reach: Any,
    limit: Any,
    most_cost: Any,
    least_count: Any,  # ln(n + 1)
) -> Any:
    """The likeliest words within ``reach`` edits, best first; how many there are, at most ``limit``.

    The table holds addresses and lengths of arrays, then numbers:

    * ``letters``: a row of MAX_LETTERS a word;
    * ``masks``: letters of each word as bits, and its first letter;
    * ``counts``: documents of each word, as ln(n + 1);
    * ``ranks`` of each word among those of its length, the most frequent first;
    * ``starts``: the first word of each bucket, of which the most frequent is first, and their end;
    * ``signatures`` of each bucket: the letters that all its words have, or have not, of those that part words best;
    * ``tops`` of each bucket: documents of its most frequent word, as ln(n + 1);
    * ``buckets``: the first bucket of each length;
    * ``bits``: which bits of a mask are those of a signature;
    * ``related``: for each letter a to z the keys beside it, as bits; then the letters that sound alike;
    * ``prices``: swap, double, neighbour, vowel; what another first letter adds; unheard, alike;
    * what an edit costs in worth; how far below the best candidates are of no use; what they are worth at least.
    """
    given, reals = at_i64(table, TABLE), at_f64(table, TABLE)
    letters, masks = at_u32(given[0], given[1]), at_u32(given[2], given[3])
    counts, ranks = at_f64(given[4], given[5]), at_u32(given[6], given[7])
    starts, signatures = at_i64(given[8], given[9]), at_u32(given[10], given[11])
    tops, buckets, bits = at_f64(given[12], given[13]), at_i64(given[14], given[15]), at_i64(given[16], given[17])
    related, prices = at_i64(given[18], given[19]), at_f64(given[20], given[21])
    edit_worth, margin, floor = reals[22], reals[23], reals[24]
    word, found_at = at_u32(request, size), request + 4 * MAX_LETTERS
    rows = at_i64(found_at, limit)
    costs, worths = at_f64(found_at + 8 * limit, limit), at_f64(found_at + 16 * limit, limit)
    mask = np.uint64(0)
    known = np.zeros(ASCII, np.uint64)
    for i in range(len(word)):
        mask |= np.uint64(1) << np.uint64(word[i] % LETTER_BITS)
        if word[i] < ASCII:
            known[word[i]] |= np.uint64(1) << np.uint64(i)
    own = _signature(mask, bits)
    cost_scratch = np.zeros(3 * (MAX_LETTERS + 2), np.float64)
    ties, sizes, least_tops = np.empty(len(rows), np.int64), np.empty(3, np.int64), np.empty(3, np.float64)
    order = np.empty(3 << len(bits), np.int64)
    passed = np.empty(MOST_PASSED, np.int64)
    each = min(prices[2], prices[3], prices[5], prices[6])  # of a letter that only one of the words has
    cheapest = min(prices[0], prices[1], each)
    firsts = np.empty(3 << (MASK_BITS - LETTER_BITS), np.float64)
    _price_firsts(word, related, prices, each, firsts)
    address, text = given[2], given[0]
    found = 0
    best = -1e9
    for step in range(2 * reach + 1):  # the same length first: most mistakes keep it, and a good find prunes the rest
        length = len(word) + ((step + 1) // 2 if step % 2 else -(step // 2))
        if length < 1 or length > MAX_LETTERS:
            continue
        least = cheapest * max(1, abs(length - len(word)))
        # A word that is longer took a letter more for each: these edits cannot have taken away one of the typed ones.
        added, gone = reach - max(0, len(word) - length), reach - max(0, length - len(word))
        for differing in range(3):
            bar = _bar(best - margin, floor, worths, found)
            least_tops[differing] = max(bar + edit_worth * max(least, each * float(differing)), least_count)
        _eligible(signatures, tops, buckets[length], buckets[length + 1], own, added, gone, least_tops, order, sizes)
        every = sizes[0] + sizes[1] + sizes[2]
        for place in range(every):
            if place + AHEAD < every:
                prefetch(np.int64(address + 4 * starts[order[place + AHEAD]]))
            differing = 0 if place < sizes[0] else 1 if place < sizes[0] + sizes[1] else 2
            bucket, lowest = order[place], max(least, each * float(differing))
            row, end = starts[bucket], starts[bucket + 1]
            while row < end:
                bar = _bar(best - margin, floor, worths, found)
                if tops[bucket] - lowest * edit_worth < bar:
                    break
                count = 0
                while row < end and count < MOST_PASSED:
                    other = np.uint64(item(masks, row))
                    more, fewer = ones_of(other & ~mask & ALL_LETTERS), ones_of(mask & ~other & ALL_LETTERS)
                    if more <= added and fewer <= gone:
                        differing = max(more, fewer)
                        price = firsts[3 * (other >> LETTER_BITS) + differing]
                        if counts[row] - max(price, least) * edit_worth < bar or counts[row] < least_count:
                            if counts[row] - lowest * edit_worth < bar or counts[row] < least_count:
                                row = end  # so are all that follow
                                break
                        else:
                            prefetch(np.int64(text + 4 * MAX_LETTERS * row))
                            passed[count] = row
                            count += 1
                    row += 1
                for one in range(count):
                    candidate = passed[one]
                    base = candidate * MAX_LETTERS
                    distance = _distance(letters, base, length, word, known, reach)
                    if distance == 0 or distance > reach:
                        continue
                    price = _cost(letters, base, length, word, related, prices, cost_scratch)
                    if letters[base] != word[0]:
                        price += prices[4]
                    worth = counts[candidate] - edit_worth * price
                    if price <= most_cost and worth >= max(best - margin, floor):
                        tie = (np.int64(step) << 32) | np.int64(ranks[candidate])
                        found = _put(candidate, price, worth, tie, found, rows, costs, worths, ties)
                        best = max(best, worth)
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
