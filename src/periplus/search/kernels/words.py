"""Words of a dictionary near a word, by likely mistakes and frequency."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import F64, I64, M_I64, R_F64, R_I64, R_U32, bare_helper, kernel, signature
from periplus.index.kernels.bits import first_lanes, lowest_of, ones_of
from periplus.index.kernels.memory import item
from periplus.index.kernels.tables import at_f64, at_i64, at_u8, at_u32, prefetch
from periplus.search.kernels.alike import MASKS, ROW, SHIFT, letters_stand_near, masks_near

M_F64 = "Array(float64, 1, 'C')"

MAX_LETTERS = 24  # of a word in the dictionary; letters stand in rows of this length
FAR = 99.0
ASCII = 128
LETTER_BITS = 27  # kinds of letters in a mask
FIRSTS, FIRST_SHIFT = 32, 17  # kinds of first letters, and where they stand in the head of a word
LEVELS, LEVEL_SHIFT = 32.0, 22  # of documents, for each e-fold of them, and where they stand
AHEAD, ROWS_AHEAD = 8, 128  # buckets that are asked for before they are needed, and words of each
TABLE = 25  # numbers by which a dictionary is given
MOST_PASSED = 32  # words that are asked for, and then measured, together
NO_LETTER, FOREIGN = 254, 255  # bytes beside those of ASCII: around the typed word, and for all other letters


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
def _level(need: Any) -> Any:
    """The least number in which the documents of a word are as many as needed (as ln(n + 1)), or a lower one."""
    return np.uint64(max(0.0, need * LEVELS)) << np.uint64(LEVEL_SHIFT)


@bare_helper
def _most(number: Any) -> Any:
    """Documents of a word, as ln(n + 1), or a little more."""
    return float(number >> np.uint64(LEVEL_SHIFT)) / LEVELS


@bare_helper
def _eligible(
    tops: Any, begin: Any, end: Any, own: Any, telling: Any, added: Any, gone: Any, least: Any, order: Any, sizes: Any
) -> Any:
    """The buckets of [begin, end) that may hold a word with at most so many letters that the typed one has not, and
    without at most so many of its own, if their first word is as frequent as it has to be (``least``): those with
    fewest differing letters first, ``sizes`` of each kind."""
    part = len(order) // 3
    for differing in range(3):
        sizes[differing] = 0
    for some in range(begin, end, MASKS):
        bits = masks_near(tops.ctypes.data + 4 * some, own, telling, added, gone, _level(least[0]))
        bits &= first_lanes(min(MASKS, end - some))
        while bits:
            bucket = some + lowest_of(bits)
            bits &= bits - np.uint64(1)
            top = np.uint64(item(tops, bucket))
            differing = max(ones_of(top & telling & ~own), ones_of(own & ~top))
            if _most(top) >= least[differing]:
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
    kinds = np.uint32(FIRSTS)
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


@bare_helper
def _pass(
    heads: Any, row: Any, end: Any, rest: Any, others: Any, more: Any, fewer: Any, added: Any, gone: Any,
    firsts: Any, least: Any, edit_worth: Any, bar: Any, lowest: Any, short: Any, passed: Any, count: Any,
) -> Any:  # fmt: skip
    """Add the words of [row, end) that may be near and frequent enough to those that ``passed``, until these are many;
    where to go on, and how many there are. So many letters are more and fewer in all of them."""
    while row < end and count < MOST_PASSED:
        bits = masks_near(heads.ctypes.data + 4 * row, rest, others, added - more, gone - fewer, lowest)
        bits &= first_lanes(min(MASKS, end - row))
        while bits:
            one = row + lowest_of(bits)
            bits &= bits - np.uint64(1)
            head = np.uint64(item(heads, one))
            differing = max(more + ones_of(head & others & ~rest), fewer + ones_of(rest & ~head))
            first = np.int64((head >> np.uint64(FIRST_SHIFT)) & np.uint64(FIRSTS - 1))
            if _most(head) - max(firsts[3 * first + differing], least) * edit_worth >= bar:
                prefetch(np.int64(short + ROW * one))
                passed[count] = one
                count += 1
        row += MASKS
        if np.uint64(item(heads, min(row, end) - 1)) < lowest:
            return end, count  # so are all that follow
    return row, count


@bare_helper
def _ask_for(heads: Any, starts: Any, bucket: Any) -> Any:
    for row in range(starts[bucket], min(starts[bucket + 1], starts[bucket] + ROWS_AHEAD), MASKS):
        prefetch(np.int64(heads.ctypes.data + 4 * row))


@bare_helper
def _fill(
    heads: Any, tops: Any, starts: Any, order: Any, every: Any, place: Any, row: Any, own: Any, telling: Any,
    rest: Any, others: Any, added: Any, gone: Any, firsts: Any, each: Any, least: Any, edit_worth: Any, bar: Any,
    least_count: Any, short: Any, passed: Any,
) -> Any:  # fmt: skip
    """The next words that may be near and frequent enough, from a row (-1: the first) of a bucket on; where to go on,
    and how many ``passed``."""
    count = np.int64(0)
    while place < every and count < MOST_PASSED:
        bucket = order[place]
        begin, end = starts[bucket], starts[bucket + 1]
        if row < 0:
            row = begin
            if place + AHEAD < every:
                _ask_for(heads, starts, order[place + AHEAD])
        top = np.uint64(item(tops, bucket))
        more, fewer = ones_of(top & telling & ~own), ones_of(own & ~top)
        cost = max(least, each * float(max(more, fewer)))
        if _most(top) - cost * edit_worth >= bar:
            lowest = _level(max(bar + cost * edit_worth, least_count))
            row, count = _pass(
                heads, row, end, rest, others, more, fewer, added, gone, firsts, least, edit_worth, bar, lowest, short,
                passed, count,
            )  # fmt: skip
        else:
            row = end
        if row >= end:
            place, row = place + 1, np.int64(-1)
    return place, row, count


@bare_helper
def _measure(
    passed: Any, letters: Any, counts: Any, ranks: Any, short: Any, length: Any, step: Any, word: Any, typed: Any,
    known: Any, reach: Any, low: Any, high: Any, added: Any, gone: Any, related: Any, prices: Any, scratch: Any,
    most_cost: Any, least_count: Any, edit_worth: Any, margin: Any, floor: Any, rows: Any, costs: Any, worths: Any,
    ties: Any, found: Any, best: Any,
) -> Any:  # fmt: skip
    """Put those of the words that are near among the best; how many there are, and what the first is worth."""
    count = 0
    for one in range(len(passed)):
        candidate = passed[one]
        if letters_stand_near(short + ROW * candidate, length, typed, len(word), low, high, added, gone):
            passed[count] = candidate
            count += 1
            prefetch(np.int64(letters.ctypes.data + 4 * MAX_LETTERS * candidate))
            prefetch(np.int64(counts.ctypes.data + 8 * candidate))
    for one in range(count):
        candidate = passed[one]
        base = candidate * MAX_LETTERS
        distance = _distance(letters, base, length, word, known, reach)
        if distance == 0 or distance > reach or counts[candidate] < least_count:
            continue
        price = _cost(letters, base, length, word, related, prices, scratch)
        if letters[base] != word[0]:
            price += prices[4]
        worth = counts[candidate] - edit_worth * price
        if price <= most_cost and worth >= max(best - margin, floor):
            tie = (np.int64(step) << 32) | np.int64(ranks[candidate])
            found = _put(candidate, price, worth, tie, found, rows, costs, worths, ties)
            best = max(best, worth)
    return found, best


@kernel(signature(I64, I64, I64, I64, I64, I64, F64, F64, F64))
def near(
    table: Any,  # an address: see below
    request: Any,  # an address: the letters of the word, then room for them as bytes, the rows of the best, their costs
    # and worths
    size: Any,  # of the word
    reach: Any,
    limit: Any,
    most_cost: Any,
    least_count: Any,  # ln(n + 1)
    margin: Any,  # how far below the best candidates are of no use
) -> Any:
    """The likeliest words within ``reach`` edits, best first; how many there are, at most ``limit``.

    The table holds addresses and lengths of arrays, then numbers:

    * ``letters``: a row of MAX_LETTERS a word;
    * ``short``: a row of ROW bytes a word: its letters, all those beyond ASCII being one;
    * ``heads``: of each word in one number its documents (see ``_level``), the kind of its first letter, and which of
      the letters it has that part words less well (all but for the first as bits);
    * ``counts``: documents of each word, as ln(n + 1);
    * ``ranks`` of each word among those of its length, the most frequent first;
    * ``starts``: the first word of each bucket, of which the most frequent is first, and their end;
    * ``tops`` of each bucket in one number: documents of its most frequent word, and which of the letters that part
      words best all its words have;
    * ``buckets``: the first bucket of each length;
    * ``bits``: which bits of a mask are those of the letters that part words best, and then of all others;
    * ``related``: for each letter a to z the keys beside it, as bits; then the letters that sound alike;
    * ``prices``: swap, double, neighbour, vowel; what another first letter adds; unheard, alike;
    * how many bits part words best; what an edit costs in worth; what candidates are worth at least.
    """
    given, reals = at_i64(table, TABLE), at_f64(table, TABLE)
    letters, heads = at_u32(given[0], given[1]), at_u32(given[4], given[5])
    counts, ranks = at_f64(given[6], given[7]), at_u32(given[8], given[9])
    starts, tops, buckets = at_i64(given[10], given[11]), at_u32(given[12], given[13]), at_i64(given[14], given[15])
    bits, related, prices = at_i64(given[16], given[17]), at_i64(given[18], given[19]), at_f64(given[20], given[21])
    parting, edit_worth, floor = given[22], reals[23], reals[24]
    short = given[2]
    word, short_word = at_u32(request, size), at_u8(request + 4 * MAX_LETTERS, 2 * ROW)
    typed, found_at = request + 4 * MAX_LETTERS + SHIFT, request + 4 * MAX_LETTERS + 2 * ROW
    rows = at_i64(found_at, limit)
    costs, worths = at_f64(found_at + 8 * limit, limit), at_f64(found_at + 16 * limit, limit)
    mask = np.uint64(0)
    known = np.zeros(ASCII, np.uint64)
    for i in range(2 * ROW):
        short_word[i] = NO_LETTER
    for i in range(len(word)):
        mask |= np.uint64(1) << np.uint64(word[i] % LETTER_BITS)
        short_word[SHIFT + i] = word[i] if word[i] < ASCII else FOREIGN
        if word[i] < ASCII:
            known[word[i]] |= np.uint64(1) << np.uint64(i)
    own, rest = _signature(mask, bits[:parting]), _signature(mask, bits[parting:])
    telling, others = first_lanes(parting), first_lanes(len(bits) - parting)
    scratch = np.zeros(3 * (MAX_LETTERS + 2), np.float64)
    ties, sizes, least_tops = np.empty(len(rows), np.int64), np.empty(3, np.int64), np.empty(3, np.float64)
    order = np.empty(3 << parting, np.int64)
    passed = np.empty(MOST_PASSED + MASKS, np.int64)
    each = min(prices[2], prices[3], prices[5], prices[6])  # of a letter that only one of the words has
    cheapest = min(prices[0], prices[1], each)
    firsts = np.empty(3 * FIRSTS, np.float64)
    _price_firsts(word, related, prices, each, firsts)
    found = 0
    best = -1e9
    for step in range(2 * reach + 1):  # the same length first: most mistakes keep it, and a good find prunes the rest
        length = len(word) + ((step + 1) // 2 if step % 2 else -(step // 2))
        if length < 1 or length > MAX_LETTERS:
            continue
        longer = length - len(word)
        least = cheapest * max(1, abs(longer))
        # A word that is longer took a letter more for each: these edits cannot have taken away one of the typed ones.
        added, gone = reach - max(0, -longer), reach - max(0, longer)
        swaps = 1 if abs(longer) < reach else 0  # or a letter too much and another too few
        low, high = min(0, -longer) - swaps, max(0, -longer) + swaps
        for differing in range(3):
            bar = _bar(best - margin, floor, worths, found)
            least_tops[differing] = max(bar + edit_worth * max(least, each * float(differing)), least_count)
        _eligible(tops, buckets[length], buckets[length + 1], own, telling, added, gone, least_tops, order, sizes)
        every = sizes[0] + sizes[1] + sizes[2]
        place, row = np.int64(0), np.int64(-1)
        while place < every:
            bar = _bar(best - margin, floor, worths, found)
            place, row, count = _fill(
                heads, tops, starts, order, every, place, row, own, telling, rest, others, added, gone, firsts, each,
                least, edit_worth, bar, least_count, short, passed,
            )  # fmt: skip
            found, best = _measure(
                passed[:count], letters, counts, ranks, short, length, step, word, typed, known, reach, low, high,
                added, gone, related, prices, scratch, most_cost, least_count, edit_worth, margin, floor, rows, costs,
                worths, ties, found, best,
            )  # fmt: skip
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
