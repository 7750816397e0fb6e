"""Phrases and words near each other: the documents that hold them, as the best k or as a list for a larger query.

The list of the rarest word leads. Inside a window of 256 documents the lists are intersected first; only for documents
that hold all words and that may still be among the best k are positions looked at. A phrase occurs at most as often as
each of its words in every field, so its impact is at most the smallest of theirs.

``query`` holds segments, words, field (-1 for any), slop, whether the order of the words counts, weight, prior weight
and whether to prune; then for each word its number in every segment, -1 where it does not occur. ``norms`` holds k1,
then weight, length penalty and average length of each field.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.access import FIELD_COUNT, WINDOW, WINDOW_BITS
from periplus.index.kernels.compiler import helper, kernel
from periplus.index.kernels.nearness import count_ordered, count_unordered
from periplus.index.kernels.positions import decode, number, seek
from periplus.index.kernels.tables import (
    ADMITTED,
    BLOCK_BASE,
    BLOCK_START,
    FIELD_LENGTHS,
    FIELD_STARTS,
    FIRST_NUMBER,
    IMPACT,
    KEY,
    LONGEST,
    PLACE,
    POSITION_DATA,
    PRIOR,
    PRIOR_MAX,
    RARE_WINDOW,
    ROW,
    SLOT,
    START,
    WINDOW_MAX,
    WINDOW_START,
    WINDOWS,
    i64,
    u8,
    u16,
    u32,
)
from periplus.index.kernels.types import I64, M_I64, M_U8, M_U32, R_F64, R_I64, signature
from periplus.index.kernels.window import push, sift_down

HEAD = 8
STATE = 4
FIRST_WINDOWS = 16  # the most promising ones, visited before all others
LARGEST = 255
PROBE_FROM = 10  # times the candidates: longer lists are searched, shorter ones walked


@helper
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


@helper
def _keep_one(block_base: Any, block_start: Any, data: Any, posting: Any, distance: Any, wanted: Any) -> Any:
    """Whether the posting stands at ``distance`` from one start, without a branch that could be guessed wrong."""
    origin, width, first, count = seek(block_base, block_start, data, posting)
    position = -distance
    kept = 0
    for place in range(first, first + count):
        position += number(data, origin, width, place)
        kept |= position == wanted
    return kept


@helper
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


@helper
def _count_phrase(
    block_base: Any, block_start: Any, data: Any, ordinals: Any, order: Any, document_place: Any, found: Any
) -> Any:
    """Where all words stand side by side: starts in ``found``, how many of them."""
    leader = order[0]
    size = decode(block_base, block_start, data, ordinals[leader * WINDOW + document_place], found)
    for at in range(size):
        found[at] -= leader
    for turn in range(1, len(order)):
        word = order[turn]
        posting = ordinals[word * WINDOW + document_place]
        size = _keep_following(block_base, block_start, data, posting, word, found, size)
        if size == 0:
            break
    return size


@helper
def _count_starts(found: Any, size: Any, starts: Any, document: Any, counts: Any) -> Any:
    for field in range(FIELD_COUNT):
        counts[field] = 0
    base = document * (FIELD_COUNT + 1)
    field = 0
    for place in range(size):
        while field < FIELD_COUNT - 1 and found[place] >= starts[base + field + 1]:
            field += 1
        counts[field] += 1


@helper
def _first_not_before(rare_window: Any, low: Any, high: Any, window: Any) -> Any:
    """The first posting of [low, high) in ``window`` or later, by steps that double."""
    step = 1
    while low + step < high and rare_window[low + step] < window:
        low += step
        step *= 2
    high = min(high, low + step)
    while low < high:
        middle = (low + high) >> 1
        if rare_window[middle] < window:
            low = middle + 1
        else:
            high = middle
    return low


@helper
def _most_promising(bound: Any, chosen: Any) -> Any:
    count = 0
    for window in range(len(bound)):
        if count == len(chosen) and bound[window] <= bound[chosen[count - 1]]:
            continue
        at = min(count, len(chosen) - 1)
        while at > 0 and bound[chosen[at - 1]] < bound[window]:
            chosen[at] = chosen[at - 1]
            at -= 1
        chosen[at] = window
        count = min(count + 1, len(chosen))
    return count


@helper
def _near_place(place: Any, low: Any, high: Any, wanted: Any) -> Any:
    """The first posting of [low, high) that does not stand before ``wanted``, from where it should be on."""
    at = low + ((np.int64(wanted) - np.int64(place[low])) * (high - low) >> WINDOW_BITS)
    at = max(low, min(at, high - 1))
    while at > low and place[at] > wanted:
        at -= 1
    while at < high and place[at] < wanted:
        at += 1
    return at


@helper
def _intersect(place: Any, low: Any, high: Any, candidates: Any, count: Any, ordinals: Any, begin: Any) -> Any:
    """The candidates that stand in a list, whose postings go to ``ordinals`` by place; how many are left.

    What other windows left there lies outside of [low, high), so nothing has to be cleared.
    """
    kept = 0
    if high - low > PROBE_FROM * count:
        for at in range(count):
            wanted = candidates[at]
            low = _near_place(place, low, high, wanted)
            if low == high:
                break
            if place[low] == wanted:
                ordinals[begin + wanted] = low
                candidates[kept] = wanted
                kept += 1
        return kept
    for posting in range(low, high):
        ordinals[begin + place[posting]] = posting
    for at in range(count):
        wanted = candidates[at]
        posting = ordinals[begin + wanted]
        candidates[kept] = wanted
        kept += low <= posting < high
    return kept


@helper
def _in_segment(
    table: Any,
    segment: Any,
    query: Any,
    norms: Any,
    scores: Any,
    keys: Any,
    numbers: Any,
    state: Any,
    documents: Any,
    impacts: Any,
) -> Any:
    """Offer the matches of one segment to the heap, or list them in ``documents`` and ``impacts`` if there is room."""
    segments, words, field, slop, ordered = query[0], query[1], query[2], query[3], query[4]
    weight, prior_weight, prune = query[5], query[6], query[7]
    start, slot = i64(table, segment, START), i64(table, segment, SLOT)
    terms = np.empty(words, np.int64)
    order = np.empty(words, np.int64)
    for word in range(words):
        term = query[HEAD + word * segments + segment]
        if term < 0:
            return np.int64(0)
        terms[word] = term
        at = word
        size = start[term + 1] - start[term]
        while at > 0 and start[terms[order[at - 1]] + 1] - start[terms[order[at - 1]]] > size:
            order[at] = order[at - 1]
            at -= 1
        order[at] = word
    place, impact = u8(table, segment, PLACE), u8(table, segment, IMPACT)
    rare_window = u16(table, segment, RARE_WINDOW)
    window_start, window_max = u32(table, segment, WINDOW_START), u8(table, segment, WINDOW_MAX)
    windows = table[segment * ROW + WINDOWS]
    block_base, block_start = i64(table, segment, BLOCK_BASE), u32(table, segment, BLOCK_START)
    data = u8(table, segment, POSITION_DATA)
    starts, lengths = u32(table, segment, FIELD_STARTS), u32(table, segment, FIELD_LENGTHS)
    prior, prior_max = u8(table, segment, PRIOR), u8(table, segment, PRIOR_MAX)
    admitted, key = u8(table, segment, ADMITTED), i64(table, segment, KEY)
    first_number = table[segment * ROW + FIRST_NUMBER]
    longest = table[segment * ROW + LONGEST]
    has_prior = len(prior) > 0 and prior_weight > 0
    is_exact = slop == 0 and ordered == 1
    k = len(scores)

    # Where each list stands: rare ones as offsets in rare_window, which move on from window to window.
    leader = terms[order[0]]
    is_rare = slot[leader] >= 0
    cursor = np.empty(words, np.int64)
    for word in range(words):
        cursor[word] = slot[terms[word]]
    first = 0
    visits = windows
    chosen = np.empty(FIRST_WINDOWS, np.int64)
    bound = np.empty(0 if is_rare else windows, np.uint8)
    leader_end = np.int64(0)
    if is_rare:
        visits = start[leader + 1] - start[leader]  # at most a window each
        leader_end = slot[leader] + visits
    else:
        bound[:] = LARGEST
        for turn in range(words):
            row = ~slot[terms[turn]] * windows
            for at in range(windows):
                bound[at] = min(bound[at], window_max[row + at])
        if prune:
            first = _most_promising(bound, chosen)

    candidates = np.empty(WINDOW, np.uint8)
    ordinals = np.full(words * WINDOW, np.int64(-1))
    counts = np.zeros(FIELD_COUNT, np.int64)
    found = np.empty((1 if is_exact else words) * (longest + 1), np.int64)
    heads = np.empty(2 * words, np.int64)
    total = np.int64(0)
    for visit in range(first + visits):
        window: Any = np.int64(0)
        if is_rare:
            if cursor[order[0]] == leader_end:
                break
            window = np.int64(rare_window[cursor[order[0]]])
        else:
            window = chosen[visit] if visit < first else np.int64(visit - first)
            if bound[window] == 0:  # visited, or a word is not there
                continue
        floor = scores[0] if k > 0 and state[0] == k else np.int64(0)
        prior_bound = np.int64(prior_max[window]) * prior_weight if has_prior else np.int64(0)
        if not is_rare:
            largest = np.int64(bound[window]) if is_exact else np.int64(LARGEST)
            bound[window] = 0
            if prune and largest * weight + prior_bound < floor:
                state[2] = 1
                continue

        # Documents with all words; the first list has some here.
        base = window << WINDOW_BITS
        count = np.int64(0)
        for turn in range(words):
            word = order[turn]
            term = terms[word]
            if slot[term] < 0:
                row = ~slot[term] * (windows + 1) + window
                low = start[term] + np.int64(window_start[row])
                high = start[term] + np.int64(window_start[row + 1])
            else:
                shift = start[term] - slot[term]
                end = slot[term] + start[term + 1] - start[term]
                at = cursor[word]
                if turn > 0:
                    at = _first_not_before(rare_window, at, end, window)
                low = at + shift
                while at < end and rare_window[at] == window:
                    at += 1
                high = at + shift
                cursor[word] = at
            if turn > 0:
                count = _intersect(place, low, high, candidates, count, ordinals, word * WINDOW)
            else:
                count = high - low
                for at in range(count):
                    candidates[at] = place[low + at]
                    ordinals[word * WINDOW + place[low + at]] = low + at
            if count == 0:
                break

        for candidate in range(count):
            document_place = np.int64(candidates[candidate])
            document = base + document_place
            if len(admitted) > 0 and not admitted[document]:
                continue
            points = np.int64(prior[document]) * prior_weight if has_prior else np.int64(0)
            if prune and (is_exact or ordered):
                largest = np.int64(impact[ordinals[document_place]]) if not is_exact else np.int64(LARGEST)
                if is_exact:
                    for word in range(words):
                        largest = min(largest, np.int64(impact[ordinals[word * WINDOW + document_place]]))
                floor = scores[0] if k > 0 and state[0] == k else np.int64(0)
                if largest * weight + points < floor:
                    state[2] = 1
                    continue
            if is_exact:
                size = _count_phrase(block_base, block_start, data, ordinals, order, document_place, found)
            else:
                for word in range(words):
                    heads[2 * word] = word * (longest + 1)
                    heads[2 * word + 1] = heads[2 * word] + decode(
                        block_base,
                        block_start,
                        data,
                        ordinals[word * WINDOW + document_place],
                        found[heads[2 * word] :],
                    )
                fields = starts[document * (FIELD_COUNT + 1) : (document + 1) * (FIELD_COUNT + 1)]
                if ordered:
                    size = count_ordered(found, heads, words, slop, fields)
                else:
                    size = count_unordered(found, heads, terms, slop, fields)
            if size == 0:
                continue
            _count_starts(found, size, starts, document, counts)
            value = _impact(counts, lengths, document, norms, field)
            if value == 0:
                continue
            if len(documents) > 0:
                documents[total] = document
                impacts[total] = value
            elif k > 0:
                points += value * weight
                state[0] = push(scores, keys, numbers, state[0], points, key[document], first_number + document)
            total += 1
    return total


@kernel(signature("void", R_I64, R_I64, R_F64, M_I64))
def top_phrase(table: Any, query: Any, norms: Any, heap: Any) -> Any:
    """The best documents of all segments, best first; ``heap`` as in ``search.top``."""
    k = (len(heap) - STATE) // 3
    state, scores = heap[:STATE], heap[STATE : STATE + k]
    keys, numbers = heap[STATE + k : STATE + 2 * k], heap[STATE + 2 * k :]
    documents, impacts = np.empty(0, np.uint32), np.empty(0, np.uint8)
    for segment in range(query[0]):
        state[1] += _in_segment(table, segment, query, norms, scores, keys, numbers, state, documents, impacts)
    for end in range(state[0] - 1, 0, -1):
        score, key, number_ = scores[0], keys[0], numbers[0]
        scores[0], keys[0], numbers[0] = scores[end], keys[end], numbers[end]
        scores[end], keys[end], numbers[end] = score, key, number_
        sift_down(scores, keys, numbers, end, 0)


@kernel(signature(I64, R_I64, R_I64, R_F64, M_U32, M_U8))
def phrase_list(table: Any, query: Any, norms: Any, documents: Any, impacts: Any) -> Any:
    """All documents of one segment, deleted ones among them, with their impacts; how many there are."""
    state, none = np.zeros(STATE, np.int64), np.empty(0, np.int64)
    return _in_segment(table, 0, query, norms, none, none, none, state, documents, impacts)
