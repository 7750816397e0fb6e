"""Phrases and words near each other: the documents that hold them, as the best k or as a list for a larger query.

The list of the rarest word leads; ``candidates`` finds the documents that hold all words. Positions are looked at last,
and only in documents that may still be among the best k. A phrase occurs at most as often as each of its words in every
field, so its impact is at most the smallest of theirs.

``query`` holds segments, words, field (-1 for any), slop, whether the order of the words counts, weight, prior weight,
whether to prune and k; the addresses of what is baked into impacts (k1, then weight, length penalty and average length
of each field) and, for a list, of the documents and impacts to write; then for each word its weight, which is not
needed, and the address of what is known of its lists (``lists_known``). Memory and result are those of ``plain``; of a
list, the result is its length.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core import I64, bare_helper, bare_kernel, signature
from periplus.index.kernels.access import FIELD_COUNT, WINDOW, WINDOW_BITS
from periplus.index.kernels.bits import number_at
from periplus.index.kernels.bounds import most_promising
from periplus.index.kernels.candidates import (
    ROOM,
    from_window,
    in_frequent,
    in_short,
    in_window,
    settle,
)
from periplus.index.kernels.collector import (
    BUCKETS,
    FEW,
    FLOOR,
    MATCHING,
    SIZE,
    STATE,
    bucket_shift,
    capacity,
    finish,
    make_room,
)
from periplus.index.kernels.direct import offer
from periplus.index.kernels.lists_known import FIRST, LENGTH, LIST_ROW, MAXIMA, STARTS
from periplus.index.kernels.nearness import count_ordered, count_unordered, decode_first, places_kept
from periplus.index.kernels.plain_steps import QUERY
from periplus.index.kernels.positions import BLOCK_BITS, GROUP_BITS, decode, number, seek
from periplus.index.kernels.tables import (
    BLOCK_BASE,
    BLOCK_START,
    FIELD_LENGTHS,
    FIELD_STARTS,
    IMPACT,
    LONGEST,
    PLACE,
    POSITION_DATA,
    PRIOR,
    PRIOR_MAX,
    ROW,
    WINDOWS,
    at_f64,
    at_i32,
    at_i64,
    at_u8,
    at_u16,
    at_u32,
    i64,
    prefetch,
    u8,
    u32,
)
from periplus.index.weights import UNIT

HEAD = 12
SEGMENTS, WORDS, FIELD, SLOP, ORDERED, WEIGHT, PRIOR_WEIGHT, PRUNE, K, NORMS, DOCUMENTS, IMPACTS = range(HEAD)
FIRST_WINDOWS = 16  # the most promising ones, visited before all others
LARGEST = 255
CUT = STATE  # in the state: whether any match may have been left out
NEAR, FAR = 4, 12  # candidates ahead, for which the blocks of positions and their offsets are asked for


@bare_helper
def _impact(counts: Any, lengths: Any, document: Any, norms: Any, only: Any) -> Any:
    """As ``access.folded``, with factors computed for this document alone; zero when it does not match."""
    weight = 0.0
    for field in range(FIELD_COUNT):
        if counts[field] > 0 and (only < 0 or field == only):
            penalty = norms[1 + FIELD_COUNT + field]
            norm = (
                1.0 - penalty + penalty * lengths[document * FIELD_COUNT + field] / norms[1 + 2 * FIELD_COUNT + field]
            )
            weight += counts[field] * (norms[1 + field] / norm)
    if weight == 0.0:
        return np.int64(0)
    return max(1, min(LARGEST, np.int64(np.floor(255.0 * weight / (norms[0] + weight) + 0.5))))


@bare_helper
def _keep_one(block_base: Any, block_start: Any, data: Any, posting: Any, distance: Any, wanted: Any) -> Any:
    """Whether the posting stands at ``distance`` from one start, without a branch that could be guessed wrong."""
    origin, width, first, count = seek(block_base, block_start, data, posting)
    position = -distance
    kept = 0
    for place in range(first, first + count):
        position += number(data, origin, width, place)
        kept |= position == wanted
    return kept


@bare_helper
def _keep_following(
    block_base: Any, block_start: Any, data: Any, posting: Any, distance: Any, found: Any, size: Any
) -> Any:
    """Keep the starts at whose ``distance`` the posting stands; both sides ascend."""
    if size == 1:
        return _keep_one(block_base, block_start, data, posting, distance, found[0])
    origin, width, first, count = seek(block_base, block_start, data, posting)
    kept = 0
    at = 0
    position = -distance
    for place in range(first, first + count):
        position += number(data, origin, width, place)
        while at < size and found[at] < position:
            at += 1
        if at == size:
            break
        if found[at] == position:
            found[kept] = position
            kept += 1
            at += 1
    return kept


@bare_helper
def _count_phrase(block_base: Any, block_start: Any, data: Any, postings: Any, order: Any, at: Any, found: Any) -> Any:
    """Where all words of a candidate stand side by side: starts in ``found``, how many of them."""
    leader = order[0]
    size = decode(block_base, block_start, data, postings[at], found)
    for place in range(size):
        found[place] -= leader
    for turn in range(1, len(order)):
        word = order[turn]
        size = _keep_following(block_base, block_start, data, postings[turn * ROOM + at], word, found, size)
        if size == 0:
            break
    return size


@bare_helper
def _count_near(
    block_base: Any,
    block_start: Any,
    data: Any,
    postings: Any,
    order: Any,
    at: Any,
    query: Any,
    terms: Any,
    fields: Any,
    found: Any,
    heads: Any,
    spare: Any,
) -> Any:
    """The same for words near each other."""
    words = len(order)
    room = len(found) // words
    for turn in range(words):
        word = order[turn]
        heads[2 * word] = word * room
        own = found[word * room : (word + 1) * room]
        size = decode_first(block_base, block_start, data, postings[turn * ROOM + at], own)
        heads[2 * word + 1] = heads[2 * word] + size
    if query[ORDERED] != 0:
        return count_ordered(found, heads, words, query[SLOP], fields)
    return count_unordered(found, heads, terms, query[SLOP], fields, spare)


@bare_helper
def _count_starts(found: Any, size: Any, starts: Any, document: Any, counts: Any) -> Any:
    for field in range(FIELD_COUNT):
        counts[field] = 0
    base = document * (FIELD_COUNT + 1)
    field = 0
    for place in range(size):
        while field < FIELD_COUNT - 1 and found[place] >= starts[base + field + 1]:
            field += 1
        counts[field] += 1


@bare_helper
def _ask_ahead(block_base: Any, block_start: Any, data: Any, postings: Any, words: Any, at: Any, count: Any) -> Any:
    """Ask for the positions of the first two words, or of the only one, in the candidates that come next."""
    for turn in range(min(words, 2)):
        if at + FAR < count:
            prefetch(block_start.ctypes.data + 4 * (postings[turn * ROOM + at + FAR] >> BLOCK_BITS))
        if at + NEAR < count:
            block = postings[turn * ROOM + at + NEAR] >> BLOCK_BITS
            there = data.ctypes.data + block_base[block >> GROUP_BITS] + np.int64(block_start[block])
            prefetch(there)
            prefetch(there + 64)


@bare_helper
def _may_be_best(
    table: Any, segment: Any, query: Any, order: Any, postings: Any, at: Any, document: Any, floor: Any
) -> Any:
    """Whether a candidate can reach the floor, however often the phrase occurs in it."""
    impact = u8(table, segment, IMPACT)
    points = np.int64(0)
    if query[PRIOR_WEIGHT] > 0 and table[segment * ROW + PRIOR + 1] > 0:
        points = np.int64(u8(table, segment, PRIOR)[document]) * query[PRIOR_WEIGHT]
    is_exact = query[SLOP] == 0 and query[ORDERED] != 0
    largest = np.int64(LARGEST)
    for turn in range(len(order)):
        if is_exact or (query[ORDERED] != 0 and order[turn] == 0):
            largest = min(largest, np.int64(impact[postings[turn * ROOM + at]]))
    return largest * query[WEIGHT] + points >= floor


@bare_helper
def _check(
    table: Any,
    segment: Any,
    query: Any,
    order: Any,
    terms: Any,
    documents: Any,
    postings: Any,
    count: Any,
    found: Any,
    heads: Any,
    counts: Any,
    spare: Any,
    listed: Any,
    state: Any,
    scores: Any,
    numbers: Any,
    histogram: Any,
    shift: Any,
    spare_scores: Any,
    spare_numbers: Any,
) -> Any:
    """Offer the candidates that match to the collector, or write them to the list; how long that is then."""
    block_base, block_start = i64(table, segment, BLOCK_BASE), u32(table, segment, BLOCK_START)
    data = u8(table, segment, POSITION_DATA)
    starts, lengths = u32(table, segment, FIELD_STARTS), u32(table, segment, FIELD_LENGTHS)
    norms = at_f64(query[NORMS], 1 + 3 * FIELD_COUNT)
    for at in range(count):
        _ask_ahead(block_base, block_start, data, postings, len(order), at, count)
        document = documents[at]
        floor = state[FLOOR] if query[PRUNE] != 0 else np.int64(0)
        if floor > 0 and not _may_be_best(table, segment, query, order, postings, at, document, floor):
            state[CUT] = 1
            continue
        if query[SLOP] == 0 and query[ORDERED] != 0:
            size = _count_phrase(block_base, block_start, data, postings, order, at, found)
        else:
            fields = starts[document * (FIELD_COUNT + 1) : (document + 1) * (FIELD_COUNT + 1)]
            size = _count_near(
                block_base, block_start, data, postings, order, at, query, terms, fields, found, heads, spare
            )
        if size == 0:
            continue
        _count_starts(found, size, starts, document, counts)
        value = _impact(counts, lengths, document, norms, query[FIELD])
        if value == 0:
            continue
        if query[DOCUMENTS] != 0:
            at_u32(query[DOCUMENTS], listed + 1)[listed] = document
            at_u8(query[IMPACTS], listed + 1)[listed] = value
            listed += 1
            continue
        points, prior = value * query[WEIGHT], query[PRIOR_WEIGHT]
        offer(
            table,
            segment,
            document,
            points,
            prior,
            state,
            scores,
            numbers,
            histogram,
            shift,
            query[K],
            spare_scores,
            spare_numbers,
        )
    return listed


@bare_helper
def _by_length(query: Any, segment: Any, order: Any, terms: Any) -> Any:
    """Orders the words by the length of their lists; that of the shortest."""
    segments = query[SEGMENTS]
    shortest = np.int64(0)
    for word in range(len(order)):
        rows = at_i64(query[HEAD + 2 * word + 1], segments * LIST_ROW)
        size = rows[segment * LIST_ROW + LENGTH]
        terms[word] = rows[segment * LIST_ROW + FIRST]
        to = word
        while to > 0:
            before = at_i64(query[HEAD + 2 * order[to - 1] + 1], segments * LIST_ROW)[segment * LIST_ROW + LENGTH]
            if before <= size:
                break
            order[to] = order[to - 1]
            to -= 1
        order[to] = word
        shortest = size if word == 0 else min(shortest, size)
    return shortest


@bare_helper
def _smallest_maxima(query: Any, segment: Any, bound: Any) -> Any:
    """By window, the smallest of the words' largest impacts."""
    for word in range(query[WORDS]):
        rows = at_i64(query[HEAD + 2 * word + 1], query[SEGMENTS] * LIST_ROW)
        maxima = at_u8(rows[segment * LIST_ROW + MAXIMA], len(bound))
        if word == 0:
            for window in range(len(bound)):
                bound[window] = maxima[window]
        else:
            for window in range(len(bound)):
                bound[window] = min(bound[window], np.int32(maxima[window]))


@bare_kernel(signature(I64, I64, I64, I64))
def phrase_search(table_at: Any, memory_at: Any, words_at: Any) -> Any:
    at: Any
    window: Any
    memory = at_i64(memory_at, words_at)
    query = memory[:QUERY]
    segments, words, k = query[SEGMENTS], query[WORDS], query[K]
    table = at_i64(table_at, segments * ROW)
    out, out_scores = memory[QUERY : QUERY + k], at_f64(memory_at + 8 * (QUERY + k), k)
    scratch = memory[QUERY + 2 * k :]
    longest, widest = np.int64(0), np.int64(0)
    for segment in range(segments):
        longest = max(longest, table[segment * ROW + LONGEST])
        widest = max(widest, table[segment * ROW + WINDOWS])

    # Everything that is needed on the way.
    room = capacity(k)
    state, at = scratch[: STATE + 1], np.int64(STATE + 1)
    scores, at = scratch[at : at + room], at + room
    numbers, at = scratch[at : at + room], at + room
    spare_scores, at = scratch[at : at + room], at + room
    spare_numbers, at = scratch[at : at + room], at + room
    histogram, at = scratch[at : at + BUCKETS], at + BUCKETS
    order, at = scratch[at : at + words], at + words
    terms, at = scratch[at : at + words], at + words
    cursors, at = scratch[at : at + words], at + words
    heads, at = scratch[at : at + 2 * words], at + 2 * words
    counts, at = scratch[at : at + FIELD_COUNT], at + FIELD_COUNT
    documents, at = scratch[at : at + ROOM], at + ROOM
    slots, at = scratch[at : at + ROOM], at + ROOM
    postings, at = scratch[at : at + ROOM * words], at + ROOM * words
    places = places_kept(words, longest, query[SLOP], query[ORDERED])
    found, at = scratch[at : at + places], at + places
    spare, at = scratch[at : at + places], at + places
    small = at_i32(memory_at + 8 * (QUERY + 2 * k + at), widest + FIRST_WINDOWS)
    chosen = small[:FIRST_WINDOWS]
    for place in range(STATE + 1):
        state[place] = 0
    if k > FEW:
        histogram[:] = 0
    shift = bucket_shift(LARGEST * (query[WEIGHT] + query[PRIOR_WEIGHT]))
    listed = np.int64(0)

    for segment in range(segments):
        row = segment * LIST_ROW
        if _by_length(query, segment, order, terms) == 0:
            continue
        leader = at_i64(query[HEAD + 2 * order[0] + 1], segments * LIST_ROW)
        place = u8(table, segment, PLACE)
        windows, size = table[segment * ROW + WINDOWS], leader[row + LENGTH]
        bound = small[FIRST_WINDOWS : FIRST_WINDOWS + windows]
        is_short = leader[row + STARTS] == 0
        first = 0
        steps = windows
        if is_short:
            steps = (size + WINDOW - 1) >> WINDOW_BITS
            for word in range(words):
                cursors[word] = 0
        else:
            _smallest_maxima(query, segment, bound)
            if query[PRUNE] != 0:
                first = most_promising(bound, chosen)
        count = 0
        for step in range(first + steps + 1):
            if count > 0 and (is_short or step <= first or count > ROOM - WINDOW or step == first + steps):
                listed = _check(
                    table,
                    segment,
                    query,
                    order,
                    terms,
                    documents,
                    postings,
                    count,
                    found,
                    heads,
                    counts,
                    spare,
                    listed,
                    state,
                    scores,
                    numbers,
                    histogram,
                    shift,
                    spare_scores,
                    spare_numbers,
                )
                count = 0
            if step == first + steps:
                break
            begun = count
            if is_short:
                # So many documents of the shortest list at once; then list after list.
                low, high = step << WINDOW_BITS, min(size, (step + 1) << WINDOW_BITS)
                own = at_u16(leader[row + MAXIMA], size)
                for posting in range(low, high):
                    documents[count] = np.int64(own[posting]) << WINDOW_BITS
                    documents[count] |= np.int64(place[leader[row + FIRST] + posting])
                    slots[count] = count
                    postings[count] = leader[row + FIRST] + posting
                    count += 1
                for turn in range(1, words):
                    word = order[turn]
                    rows = at_i64(query[HEAD + 2 * word + 1], segments * LIST_ROW)
                    there = postings[turn * ROOM : (turn + 1) * ROOM]
                    if rows[row + STARTS] != 0:
                        count = in_frequent(table, segment, rows, row, documents, slots, there, count)
                    else:
                        count, cursors[word] = in_short(
                            table, segment, rows, row, cursors[word], documents, slots, there, count
                        )
                    if count == 0:
                        break
            else:
                window = np.int64(chosen[step]) if step < first else np.int64(step - first)
                if bound[window] == 0:  # visited, or a word is not there
                    continue
                largest = np.int64(bound[window])
                bound[window] = 0
                if query[PRUNE] != 0:
                    prior_bound = np.int64(0)
                    if query[PRIOR_WEIGHT] > 0 and table[segment * ROW + PRIOR + 1] > 0:
                        prior_bound = np.int64(u8(table, segment, PRIOR_MAX)[window]) * query[PRIOR_WEIGHT]
                    if query[SLOP] != 0 or query[ORDERED] == 0:
                        largest = np.int64(LARGEST)
                    if largest * query[WEIGHT] + prior_bound < state[FLOOR]:
                        state[CUT] = 1
                        continue
                for turn in range(words):
                    rows = at_i64(query[HEAD + 2 * order[turn] + 1], segments * LIST_ROW)
                    low = rows[row + FIRST] + np.int64(number_at(rows[row + STARTS] + 4 * window))
                    high = rows[row + FIRST] + np.int64(number_at(rows[row + STARTS] + 4 * window + 4))
                    there = postings[turn * ROOM : (turn + 1) * ROOM]
                    if turn == 0:
                        count = from_window(place, low, high, window, documents, slots, there, count)
                    else:
                        count = in_window(place, low, high, documents, slots, there, begun, count)
                    if count == begun:
                        break
            settle(slots, postings, words, begun, count)

    if query[DOCUMENTS] != 0:
        return listed
    if k > FEW:
        make_room(table, state, scores, numbers, histogram, shift, k, spare_scores, spare_numbers)
        finish(table, state, scores, numbers, histogram, k, spare_scores, spare_numbers)
    for at in range(state[SIZE]):
        out[at] = numbers[at]
        out_scores[at] = scores[at] / UNIT
    complete = np.int64(0) if state[CUT] != 0 else np.int64(1) << 31
    return state[SIZE] | complete | state[MATCHING] << 32
