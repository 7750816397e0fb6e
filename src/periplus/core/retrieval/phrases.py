"""Phrases and words near each other: the documents that hold them, as the best k or as a list for a larger query.

The list of the rarest word leads; ``candidates`` finds the documents that hold all words. Positions are looked at last,
and only in documents that may still be among the best k. A phrase occurs at most as often as each of its words in every
field, so its impact is at most the smallest of theirs.

``memory`` begins with the query: segments, words, field (-1 for any), slop, whether the order of the words counts,
weight, prior weight, whether to prune and k; the addresses of what is baked into impacts (k1, then weight, length
penalty and average length of each field) and, for a list, of the documents and impacts to write; three zeros, which
become the length of the list, whether any match may have been left out, and how many matched; then for each word the
address of what is known of its lists (``layout.lists``). Behind it are k numbers and k scores, then memory to work in.
The result is how many documents were found, or minus the numbers needed when there are too few; of a list, its
length.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from periplus.core.compiler import I64, bare_helper, bare_kernel, inlined, signature
from periplus.core.format.positions import decode, number, seek
from periplus.core.layout.documents import FIELD_COUNT, WINDOW, WINDOW_BITS
from periplus.core.layout.lists import FIRST, LENGTH, LIST_ROW, MAXIMA, STARTS
from periplus.core.layout.scores import UNIT
from periplus.core.layout.segment_tables import BLOCK_BITS, GROUP_BITS
from periplus.core.layout.segments import (
    ADMITTED,
    BLOCK_BASE,
    BLOCK_START,
    FIELD_LENGTHS,
    FIELD_STARTS,
    FIRST_NUMBER,
    IMPACT,
    LONGEST,
    PLACE,
    POSITION_DATA,
    PRIOR,
    PRIOR_MAX,
    ROW,
    WINDOWS,
)
from periplus.core.machine.arrays import at_f64, at_i32, at_i64, at_u8, at_u16, at_u32, i64, prefetch, u8, u32
from periplus.core.machine.bits import number_at
from periplus.core.retrieval.bounds import most_promising
from periplus.core.retrieval.collector import (
    FLOOR,
    MATCHING,
    SIZE,
    clear_collector,
    collector_in,
    collector_words,
    finish,
    keep,
    make_room,
)
from periplus.core.retrieval.nearness import count_ordered, count_unordered, decode_first, places_kept
from periplus.core.retrieval.phrase_candidates import ROOM, from_window, in_frequent, in_short, in_window, settle

HEAD = 15
SEGMENTS, WORDS, FIELD, SLOP, ORDERED, WEIGHT, PRIOR_WEIGHT, PRUNE, K, NORMS, DOCUMENTS, IMPACTS = range(12)
LISTED, CUT, MATCHES = range(12, HEAD)
FIRST_WINDOWS = 16  # the most promising ones, visited before all others
LARGEST = 255
NEAR, FAR = 4, 12  # candidates ahead, for which the blocks of positions and their offsets are asked for


class SegmentPositions(NamedTuple):
    """Those of one segment."""

    base: Any
    start: Any
    data: Any


class PhraseWork(NamedTuple):
    """What a search for a phrase works with."""

    order: Any  # words by the length of their lists
    terms: Any  # first posting of each word: what tells them apart
    cursors: Any  # in lists without windows
    heads: Any  # where the positions of each word begin and end
    counts: Any  # by field
    documents: Any  # candidates
    slots: Any
    postings: Any  # of each word in each candidate
    found: Any  # positions
    spare: Any


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
def _count_phrase(positions: Any, work: Any, at: Any) -> Any:
    """Where all words of a candidate stand side by side: starts in ``work.found``, how many of them."""
    order, postings, found = work.order, work.postings, work.found
    size = decode(positions.base, positions.start, positions.data, postings[at], found)
    for place in range(size):
        found[place] -= order[0]
    for turn in range(1, len(order)):
        posting = postings[turn * ROOM + at]
        size = _keep_following(positions.base, positions.start, positions.data, posting, order[turn], found, size)
        if size == 0:
            break
    return size


@bare_helper
def _count_near(positions: Any, work: Any, at: Any, query: Any, fields: Any) -> Any:
    """The same for words near each other."""
    words, heads = len(work.order), work.heads
    room = len(work.found) // words
    for turn in range(words):
        word = work.order[turn]
        heads[2 * word] = word * room
        own = work.found[word * room : (word + 1) * room]
        posting = work.postings[turn * ROOM + at]
        heads[2 * word + 1] = word * room + decode_first(positions.base, positions.start, positions.data, posting, own)
    if query[ORDERED] != 0:
        return count_ordered(work.found, heads, words, query[SLOP], fields)
    return count_unordered(work.found, heads, work.terms, query[SLOP], fields, work.spare)


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
def _ask_ahead(positions: Any, postings: Any, words: Any, at: Any, count: Any) -> Any:
    """Ask for the positions of the first two words, or of the only one, in the candidates that come next."""
    for turn in range(min(words, 2)):
        if at + FAR < count:
            prefetch(positions.start.ctypes.data + 4 * (postings[turn * ROOM + at + FAR] >> BLOCK_BITS))
        if at + NEAR < count:
            block = postings[turn * ROOM + at + NEAR] >> BLOCK_BITS
            there = positions.data.ctypes.data + positions.base[block >> GROUP_BITS] + np.int64(positions.start[block])
            prefetch(there)
            prefetch(there + 64)


@bare_helper
def _prior(table: Any, segment: Any, query: Any, document: Any) -> Any:
    """What the prior adds to the score of a document."""
    if query[PRIOR_WEIGHT] == 0 or table[segment * ROW + PRIOR + 1] == 0:
        return np.int64(0)
    return np.int64(u8(table, segment, PRIOR)[document]) * query[PRIOR_WEIGHT]


@bare_helper
def _may_be_best(table: Any, segment: Any, query: Any, work: Any, at: Any, threshold: Any) -> Any:
    """Whether a candidate can reach the threshold, however often the phrase occurs in it."""
    impact, order = u8(table, segment, IMPACT), work.order
    is_exact = query[SLOP] == 0 and query[ORDERED] != 0
    largest = np.int64(LARGEST)
    for turn in range(len(order)):
        if is_exact or (query[ORDERED] != 0 and order[turn] == 0):
            largest = min(largest, np.int64(impact[work.postings[turn * ROOM + at]]))
    return largest * query[WEIGHT] + _prior(table, segment, query, work.documents[at]) >= threshold


@inlined
def _offer(table: Any, segment: Any, query: Any, best: Any, document: Any, value: Any) -> Any:
    """A document that has the phrase, with its impact."""
    if table[segment * ROW + ADMITTED + 1] == 0 or u8(table, segment, ADMITTED)[document] != 0:
        best.state[MATCHING] += 1
        points = value * query[WEIGHT] + _prior(table, segment, query, document)
        if points >= best.state[FLOOR]:
            keep(best, points, table[segment * ROW + FIRST_NUMBER] + document)
            make_room(best)


@inlined
def _check(table: Any, segment: Any, query: Any, work: Any, best: Any, count: Any) -> Any:
    """Offer the candidates that match to the collector, or write them to the list."""
    positions = SegmentPositions(
        i64(table, segment, BLOCK_BASE), u32(table, segment, BLOCK_START), u8(table, segment, POSITION_DATA)
    )
    starts, lengths = u32(table, segment, FIELD_STARTS), u32(table, segment, FIELD_LENGTHS)
    norms = at_f64(query[NORMS], 1 + 3 * FIELD_COUNT)
    for at in range(count):
        _ask_ahead(positions, work.postings, len(work.order), at, count)
        document = work.documents[at]
        threshold = best.state[FLOOR] if query[PRUNE] != 0 else np.int64(0)
        if threshold > 0 and not _may_be_best(table, segment, query, work, at, threshold):
            query[CUT] = 1
            continue
        if query[SLOP] == 0 and query[ORDERED] != 0:
            size = _count_phrase(positions, work, at)
        else:
            fields = starts[document * (FIELD_COUNT + 1) : (document + 1) * (FIELD_COUNT + 1)]
            size = _count_near(positions, work, at, query, fields)
        if size == 0:
            continue
        _count_starts(work.found, size, starts, document, work.counts)
        value = _impact(work.counts, lengths, document, norms, query[FIELD])
        if value > 0 and query[DOCUMENTS] != 0:
            listed = query[LISTED]
            at_u32(query[DOCUMENTS], listed + 1)[listed] = document
            at_u8(query[IMPACTS], listed + 1)[listed] = value
            query[LISTED] += 1
        elif value > 0:
            _offer(table, segment, query, best, document, value)


@bare_helper
def _by_length(query: Any, segment: Any, order: Any, terms: Any) -> Any:
    """Orders the words by the length of their lists; that of the shortest."""
    segments = query[SEGMENTS]
    shortest = np.int64(0)
    for word in range(len(order)):
        rows = at_i64(query[HEAD + word], segments * LIST_ROW)
        size = rows[segment * LIST_ROW + LENGTH]
        terms[word] = rows[segment * LIST_ROW + FIRST]
        to = word
        while to > 0:
            before = at_i64(query[HEAD + order[to - 1]], segments * LIST_ROW)[segment * LIST_ROW + LENGTH]
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
        rows = at_i64(query[HEAD + word], query[SEGMENTS] * LIST_ROW)
        maxima = at_u8(rows[segment * LIST_ROW + MAXIMA], len(bound))
        if word == 0:
            for window in range(len(bound)):
                bound[window] = maxima[window]
        else:
            for window in range(len(bound)):
                bound[window] = min(bound[window], np.int32(maxima[window]))


@bare_helper
def _from_short(table: Any, segment: Any, query: Any, work: Any, step: Any) -> Any:
    """Candidates out of so many documents of the shortest list at once; then list after list. How many."""
    count, row = 0, segment * LIST_ROW
    leader = at_i64(query[HEAD + work.order[0]], query[SEGMENTS] * LIST_ROW)
    place, first, size = u8(table, segment, PLACE), leader[row + FIRST], leader[row + LENGTH]
    own = at_u16(leader[row + MAXIMA], size)
    for posting in range(step << WINDOW_BITS, min(size, (step + 1) << WINDOW_BITS)):
        work.documents[count] = np.int64(own[posting]) << WINDOW_BITS | np.int64(place[first + posting])
        work.slots[count] = count
        work.postings[count] = first + posting
        count += 1
    for turn in range(1, len(work.order)):
        word = work.order[turn]
        rows = at_i64(query[HEAD + word], query[SEGMENTS] * LIST_ROW)
        there = work.postings[turn * ROOM : (turn + 1) * ROOM]
        if rows[row + STARTS] != 0:
            count = in_frequent(table, segment, rows, row, work.documents, work.slots, there, count)
        else:
            count, work.cursors[word] = in_short(
                table, segment, rows, row, work.cursors[word], work.documents, work.slots, there, count
            )
        if count == 0:
            break
    settle(work.slots, work.postings, len(work.order), 0, count)
    return count


@bare_helper
def _from_window(table: Any, segment: Any, query: Any, work: Any, window: Any, begun: Any) -> Any:
    """Add the documents of a window that have all words to the candidates; how many there are then."""
    count, place, row = begun, u8(table, segment, PLACE), segment * LIST_ROW
    for turn in range(len(work.order)):
        rows = at_i64(query[HEAD + work.order[turn]], query[SEGMENTS] * LIST_ROW)
        low = rows[row + FIRST] + np.int64(number_at(rows[row + STARTS] + 4 * window))
        high = rows[row + FIRST] + np.int64(number_at(rows[row + STARTS] + 4 * window + 4))
        there = work.postings[turn * ROOM : (turn + 1) * ROOM]
        if turn == 0:
            count = from_window(place, low, high, window, work.documents, work.slots, there, count)
        else:
            count = in_window(place, low, high, work.documents, work.slots, there, begun, count)
        if count == begun:
            break
    settle(work.slots, work.postings, len(work.order), begun, count)
    return count


@bare_helper
def _is_cut(table: Any, segment: Any, query: Any, window: Any, largest: Any, threshold: Any) -> Any:
    """Whether no document of a window reaches the threshold."""
    prior_bound = np.int64(0)
    if query[PRIOR_WEIGHT] > 0 and table[segment * ROW + PRIOR + 1] > 0:
        prior_bound = np.int64(u8(table, segment, PRIOR_MAX)[window]) * query[PRIOR_WEIGHT]
    if query[SLOP] != 0 or query[ORDERED] == 0:
        largest = np.int64(LARGEST)
    return largest * query[WEIGHT] + prior_bound < threshold


@inlined
def _search_segment(table: Any, segment: Any, query: Any, work: Any, best: Any, small: Any) -> Any:
    """Check the candidates of one segment, some hundreds at once; the most promising windows first."""
    leader, row = at_i64(query[HEAD + work.order[0]], query[SEGMENTS] * LIST_ROW), segment * LIST_ROW
    windows, is_short = table[segment * ROW + WINDOWS], leader[row + STARTS] == 0
    chosen, bound = small[:FIRST_WINDOWS], small[FIRST_WINDOWS : FIRST_WINDOWS + windows]
    first, steps = np.int64(0), windows
    if is_short:
        steps = (leader[row + LENGTH] + WINDOW - 1) >> WINDOW_BITS
        for word in range(len(work.order)):
            work.cursors[word] = 0
    else:
        _smallest_maxima(query, segment, bound)
        if query[PRUNE] != 0:
            first = np.int64(most_promising(bound, chosen))
    count = 0
    for step in range(first + steps + 1):
        if count > 0 and (is_short or step <= first or count > ROOM - WINDOW or step == first + steps):
            _check(table, segment, query, work, best, count)
            count = 0
        if step == first + steps:
            break
        if is_short:
            count = _from_short(table, segment, query, work, step)
            continue
        window = np.int64(chosen[step]) if step < first else np.int64(step - first)
        largest = np.int64(bound[window])
        bound[window] = 0
        if largest == 0:  # visited, or a word is not there
            continue
        if query[PRUNE] != 0 and _is_cut(table, segment, query, window, largest, best.state[FLOOR]):
            query[CUT] = 1
            continue
        count = _from_window(table, segment, query, work, window, count)


@inlined
def _work_in(memory: Any, words: Any, places: Any) -> Any:
    at = 5 * words + FIELD_COUNT
    room = at + ROOM * (words + 2)
    return PhraseWork(
        memory[:words],
        memory[words : 2 * words],
        memory[2 * words : 3 * words],
        memory[3 * words : 5 * words],
        memory[5 * words : at],
        memory[at : at + ROOM],
        memory[at + ROOM : at + 2 * ROOM],
        memory[at + 2 * ROOM : room],
        memory[room : room + places],
        memory[room + places : room + 2 * places],
    )


@bare_kernel(signature(I64, I64, I64, I64))
def phrase_search(table_at: Any, memory_at: Any, size: Any) -> Any:
    query = at_i64(memory_at, size)
    segments, words, k = query[SEGMENTS], query[WORDS], query[K]
    table = at_i64(table_at, segments * ROW)
    longest, widest = np.int64(0), np.int64(0)
    for segment in range(segments):
        longest = max(longest, table[segment * ROW + LONGEST])
        widest = max(widest, table[segment * ROW + WINDOWS])
    places = places_kept(words, longest, query[SLOP], query[ORDERED])
    out_at = HEAD + words
    best_at = out_at + 2 * k
    work_at = best_at + collector_words(k)
    small_at = work_at + 5 * words + FIELD_COUNT + ROOM * (words + 2) + 2 * places
    needed = small_at + widest // 2 + FIRST_WINDOWS
    if size < needed:
        return -needed
    best = collector_in(table, query[best_at:], k, LARGEST * (query[WEIGHT] + query[PRIOR_WEIGHT]))
    work = _work_in(query[work_at:], words, places)
    small = at_i32(memory_at + 8 * small_at, widest + FIRST_WINDOWS)
    clear_collector(best)
    for segment in range(segments):
        if _by_length(query, segment, work.order, work.terms) > 0:
            _search_segment(table, segment, query, work, best, small)
    if query[DOCUMENTS] != 0:
        return query[LISTED]
    finish(best)
    query[MATCHES] = best.state[MATCHING]
    scores = at_f64(memory_at + 8 * (out_at + k), k)
    for at in range(best.state[SIZE]):
        query[out_at + at] = best.numbers[at]
        scores[at] = best.scores[at] / UNIT
    return best.state[SIZE]
