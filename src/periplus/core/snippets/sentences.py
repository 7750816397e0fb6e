"""What is shown of each text: the sentences that hold most of a query's words, cut to size, with their highlights.

Texts come as code points, one behind the other with a line's end behind each. The rules for sentences are here;
``search/shards/snippets.py`` says what is shown and puts the pieces together.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import I64, M_I64, R_F64, R_I64, R_U32, helper, kernel, signature
from periplus.core.layout.shown_texts import FOREIGN, FRAGMENT, LOST, MATCH, MAX_SNIPPET, NOTHING, ODD, PAGE, PLAIN
from periplus.core.snippets.characters import NEWLINE, is_letter, is_space, is_stop

REACH = 300  # code points that a sentence may reach to either side of a word
SHORT_SENTENCE = 90  # a sentence below this that does not end like one is a heading; with the next one it is shown
MAX_SPANS = 64  # sentences weighed in one text
JOINT_SIZE = 3  # of what stands between two fragments
CROP_SEARCH = 30  # code points in which a cut looks for a space


@helper
def is_small(c: Any) -> Any:
    """A small letter, as a sentence does not begin with."""
    return 97 <= c <= 122 or 0xDF <= c <= 0xF6 or 0xF8 <= c <= 0xFF or 0x3AC <= c <= 0x3CE or 0x430 <= c <= 0x45F


@helper
def _may_end(text: Any, i: Any) -> Any:
    """Whether a sentence may end at a sign; a dot before a letter or a digit, say, ends none."""
    c = text[i]
    if c == NEWLINE or (c > 127 and is_stop(c)):
        return True
    if not is_stop(c):
        return False
    behind = text[i + 1]
    return behind == 63 or behind == 93 or behind < 48 or behind > 127


@helper
def _next_stop(text: Any, at: Any, limit: Any) -> Any:
    """The first place from ``at`` on where a sentence may end; ``limit`` when there is none before that."""
    for i in range(at, limit):
        if _may_end(text, i):
            return i
    return limit


@helper
def _last_stop(text: Any, at: Any, limit: Any) -> Any:
    """The last place from ``at`` on and before ``limit`` where a sentence may end; -1 when there is none."""
    for i in range(limit - 1, at - 1, -1):
        if _may_end(text, i):
            return i
    return np.int64(-1)


@helper
def _spaces(text: Any, at: Any, end: Any) -> Any:
    """How many of a stretch are spaces."""
    count = np.int64(0)
    for i in range(at, end):
        count += text[i] == 32
    return count


@helper
def _closes(c: Any) -> Any:
    """What belongs to the end of a sentence: more signs, quotes, brackets, spaces."""
    if is_stop(c) or is_space(c):
        return True
    return c == 34 or c == 41 or c == 93 or c == 0x201D or c == 0x2019 or c == 0xBB


@helper
def _ends(text: Any, at: Any, limit: Any, behind: Any) -> Any:
    """Of the sign at ``at``: whether a sentence ends there, where its last sign stands, where the next one begins."""
    run, last, line = at, at, False
    while run < limit and _closes(text[run]):
        if text[run] == NEWLINE:
            line = True
        if not is_space(text[run]):
            last = run + 1
        run += 1
    first = text[at]
    if line or first == 0x3002 or first == 0xFF01 or first == 0xFF1F:
        return True, last, run
    return is_space(text[run - 1]) and not (run < behind and is_small(text[run])), last, run


@helper
def next_end(text: Any, at: Any, end: Any, far: Any) -> Any:
    """Where the sentence at ``at`` stops, in a text that ends at ``end``; some place beyond ``far`` if not before."""
    i, limit = at, min(end, at + 5 * REACH + 1)
    while i < limit:
        if i > far:
            return i
        i = _next_stop(text, i, min(limit, far + 1))
        if i >= limit or i > far:
            continue
        ends, last, run = _ends(text, i, end, end)
        if ends:
            return last
        if i > at + 4 * REACH:
            break
        i = run
    stop = min(end, at + 5 * REACH)
    if stop == end:
        while stop > at and is_space(text[stop - 1]):
            stop -= 1
    return stop


@helper
def _begin(text: Any, low: Any, at: Any, end: Any) -> Any:
    """Where the sentence around ``at`` begins; ``low`` when it does not do so behind that."""
    stop = _last_stop(text, low, at)
    while stop >= 0:
        first = i = stop
        while i > low and _closes(text[i - 1]):  # signs side by side end one sentence, and the first of them tells
            i -= 1
            if is_stop(text[i]):
                first = i
        ends, _, run = _ends(text, first, at, end)
        if ends:
            return run
        stop = _last_stop(text, low, first)
    return low


@helper
def _bounds(text: Any, at: Any, begin: Any, end: Any, trimmed: Any) -> Any:
    """The sentence around ``at``, or ``REACH`` to either side where it is longer; ``trimmed``: without last spaces."""
    low = max(begin, at - REACH)
    start = _begin(text, low, at, end)
    if start == low and low > begin:
        for i in range(low, at):
            if text[i] == 32:
                start = i + 1
                break
    stop = next_end(text, at, end, at + REACH if trimmed >= at + REACH else end)
    return start, min(stop, at + REACH) if stop > at else min(end, at + REACH)


@helper
def _is_heading(text: Any, start: Any, end: Any) -> Any:
    """A short line that does not end like a sentence: shown elsewhere, or saying little without what follows."""
    while end > start and is_space(text[end - 1]):
        end -= 1
    if end - start >= SHORT_SENTENCE or end == start:
        return False
    c = text[end - 1]
    return not (is_stop(c) or c == 58 or c == 59 or c == 34 or c == 41 or c == 93 or c == 0x201D or c == 0x2019)


@helper
def _ends_well(c: Any) -> Any:
    """A sign behind which a new line is a new thought."""
    if is_stop(c) and c != NEWLINE:
        return True
    return c == 58 or c == 59 or c == 34 or c == 41 or c == 93 or c == 0x201D or c == 0x2019 or c == 0xBB


@helper
def _weighed(
    text: Any,
    begin: Any,
    end: Any,
    trimmed: Any,
    matches: Any,
    size: Any,
    weights: Any,
    starts: Any,
    lasts: Any,
    masks: Any,
    scores: Any,
) -> Any:
    """The sentences with matches and what they are worth: many different words, close together; how many sentences."""
    spans, place = 0, 0
    while place < size and spans < MAX_SPANS:
        start, stop = _bounds(text, matches[MATCH * place], begin, end, trimmed)
        mask, worth, close = np.int64(0), 0.0, 0.0
        before = -1
        while place < size and matches[MATCH * place] < stop:
            word = matches[MATCH * place + 2]
            bit = np.int64(1) << (word % 64)
            if not mask & bit:
                mask |= bit
                worth += weights[word]
            if before >= 0 and matches[MATCH * before + 2] != word:
                apart = max(np.int64(1), _spaces(text, matches[MATCH * before + 1], matches[MATCH * place]))
                close += min(weights[word], weights[matches[MATCH * before + 2]]) / apart
            before = place
            place += 1
        if before < 0:  # a match that its own sentence does not hold
            place += 1
            continue
        fits = 0.5 if _is_heading(text, start, stop) else 1.0
        starts[spans], lasts[spans], masks[spans] = start, stop, mask
        scores[spans] = fits * (worth + 0.5 * close) + 0.1 / (1.0 + (start - begin) / 500.0)
        spans += 1
    return spans


@helper
def _with_next(text: Any, start: Any, end: Any, limit: Any, stop_at: Any, trimmed: Any) -> Any:
    """Whole sentences more of the same paragraph, or what follows a heading, while they fit."""
    far = start + limit if trimmed > start + limit else stop_at
    while end - start < 2 * SHORT_SENTENCE:
        begin, line = end, False
        while begin < stop_at and begin < end + 16 and is_space(text[begin]):
            if text[begin] == NEWLINE:
                line = True
            begin += 1
        if begin >= stop_at or (line and _ends_well(text[end - 1])):
            return end
        stop = next_end(text, begin, stop_at, far)
        if stop - start > limit or stop <= end:
            return end
        end = stop
    return end


@helper
def _cropped(text: Any, start: Any, end: Any, matches: Any, size: Any, weights: Any, limit: Any) -> Any:
    """The stretch of a long sentence, cut between words, that holds most of the query's words."""
    room = limit - 2
    best, best_worth = start, -1.0
    for i in range(size):
        first = matches[MATCH * i]
        if first < start or matches[MATCH * i + 1] > end:
            continue
        mask, worth, last = np.uint64(0), 0.0, np.int64(-1)
        for k in range(i, size):
            stop = matches[MATCH * k + 1]
            if matches[MATCH * k] - first > room:
                break
            if matches[MATCH * k] >= start and stop <= end and stop - first <= room:
                bit = np.uint64(1) << np.uint64(matches[MATCH * k + 2] % 64)
                if not mask & bit:
                    mask |= bit
                    worth += weights[matches[MATCH * k + 2]]
                last = stop
        if worth > best_worth + 1e-9:  # sums of the same weights in another order are equal
            slack = (room - (last - first if last >= 0 else 0)) // 2
            best, best_worth = max(start, min(first - slack, end - room)), worth
    left, right = best, min(end, best + room)
    if left > start:
        for i in range(left, min(left + CROP_SEARCH, end)):
            if text[i] == 32:
                left = i + 1
                break
    if right < end:
        for i in range(right - 1, max(left, right - CROP_SEARCH) - 1, -1):
            if text[i] == 32:
                if i > left:
                    right = i
                break
    return left, right


@helper
def _state(text: Any, start: Any, end: Any) -> Any:
    """Whether a stretch may be shown as it is: not with signs that cannot be seen, or two spaces in a row."""
    state = PLAIN
    for i in range(start, end):
        c = text[i]
        if c < 32 or c == 127 or (c == 32 and i + 1 < end and text[i + 1] == 32):
            return ODD
        if c > 127:
            state = FOREIGN
    return state


@helper
def _fragments(
    text: Any,
    end: Any,
    trimmed: Any,
    matches: Any,
    size: Any,
    weights: Any,
    spans: Any,
    page: Any,
    out: Any,
) -> Any:
    """The stretches to show of the chosen sentences (one or two) into ``out``; the state of what they make."""
    count = 1 if spans[2] < 0 else 2
    limit = MAX_SNIPPET if count == 1 else (MAX_SNIPPET - JOINT_SIZE) // 2
    state, length = PLAIN, 0
    for part in range(2):
        at = page + 2 + FRAGMENT * part
        out[at], out[at + 1], out[at + 2], out[at + 3] = 0, 0, 0, 0
        if part >= count:
            continue
        first, last = spans[2 * part], spans[2 * part + 1]
        start, stop = first, last
        if last - first > limit:
            start, stop = _cropped(text, first, last, matches, size, weights, limit)
            # Between two fragments the joint tells that something was left out.
            out[at + 2], out[at + 3] = start > first and part == 0, stop < last and part == count - 1
        elif count == 1:
            stop = _with_next(text, first, last, limit, end, trimmed)
        while start < stop and is_space(text[start]):
            start += 1
        while stop > start and is_space(text[stop - 1]):
            stop -= 1
        out[at], out[at + 1] = start, stop
        state = max(state, _state(text, start, stop))
        length += stop - start + out[at + 2] + out[at + 3] + (JOINT_SIZE if part else 0)
    return ODD if length > MAX_SNIPPET else state


@helper
def _is_beside(text: Any, matches: Any, kept: Any, count: Any, place: Any) -> Any:
    """Is a stop word before or behind a word of its own, with nothing said in between?"""
    for other in (place - 1, place + 1):
        if 0 <= other < count and not matches[MATCH * kept[other] + 3]:
            nothing = True
            for i in range(matches[MATCH * kept[min(place, other)] + 1], matches[MATCH * kept[max(place, other)]]):
                if is_letter(text[i]):
                    nothing = False
                    break
            if nothing:
                return True
    return False


@helper
def _marks(text: Any, matches: Any, size: Any, page: Any, out: Any, kept: Any, marks: Any, marked: Any) -> Any:
    """Where the words stand in what is shown, counted from its first letter; stop words only beside another word."""
    shift, last = np.int64(0), np.int64(-1)
    some = False  # a word that is no stop word is shown
    count = 0
    for part in range(2):
        at = page + 2 + FRAGMENT * part
        for i in range(size):
            if out[at] <= matches[MATCH * i] and matches[MATCH * i + 1] <= out[at + 1]:
                some = some or not matches[MATCH * i + 3]
    for part in range(2):
        at = page + 2 + FRAGMENT * part
        if out[at + 1] <= out[at]:
            continue
        count = 0
        for i in range(size):
            if out[at] <= matches[MATCH * i] and matches[MATCH * i + 1] <= out[at + 1]:
                kept[count] = i
                count += 1
        move = shift + out[at + 2] - out[at]
        for place in range(count):
            i = kept[place]
            if some and matches[MATCH * i + 3] and not _is_beside(text, matches, kept, count, place):
                continue
            start, stop = matches[MATCH * i] + move, matches[MATCH * i + 1] + move
            if start < last:  # pairs of letters of scripts without spaces overlap; joined they are one stretch
                marks[2 * marked - 1] = last = max(stop, last)
                continue
            marks[2 * marked], marks[2 * marked + 1] = start, stop
            last = stop
            marked += 1
        shift += out[at + 1] - out[at] + out[at + 2] + out[at + 3] + JOINT_SIZE
    return marked


@helper
def _chosen(starts: Any, lasts: Any, masks: Any, scores: Any, spans: Any, chosen: Any) -> Any:
    """The best sentence and the best of those that hold other words, in their order; whether there is any."""
    best, second = -1, -1
    for i in range(spans):
        if best < 0 or scores[i] > scores[best]:
            best = i
    if best < 0:
        return False
    for i in range(spans):
        if masks[i] & ~masks[best] and (second < 0 or scores[i] > scores[second]):
            second = i
    one, other = best, second
    if second >= 0 and starts[second] < starts[best]:
        one, other = second, best
    chosen[0], chosen[1], chosen[2], chosen[3] = starts[one], lasts[one], -1, -1
    if other >= 0:
        chosen[2], chosen[3] = starts[other], lasts[other]
    return True


@helper
def _count_from(begin: Any, page: Any, out: Any) -> Any:
    """Fragments counted from the start of their text."""
    for at in range(page + 2, page + PAGE, FRAGMENT):
        if out[at + 1] > out[at]:
            out[at] -= begin
            out[at + 1] -= begin


@kernel(signature(I64, R_U32, R_I64, R_I64, R_I64, R_F64, M_I64, M_I64))
def choose_fragments(
    text: Any,
    ends: Any,  # of each text
    matches: Any,  # of all texts, by place: ``MATCH`` numbers each
    sizes: Any,  # how many of them each text has
    weights: Any,  # of each word of the query
    out: Any,  # ``PAGE`` numbers of each text
    marks: Any,  # start and end of each highlight of all of them; at most ``MAX_SNIPPET`` a text
) -> Any:
    """The one or two sentences of each text that show best why it was found; how many highlights these have."""
    starts, lasts = np.empty(MAX_SPANS, np.int64), np.empty(MAX_SPANS, np.int64)
    masks, scores = np.empty(MAX_SPANS, np.int64), np.empty(MAX_SPANS, np.float64)
    chosen, kept = np.empty(4, np.int64), np.empty(len(matches) // MATCH, np.int64)
    begin, first, marked = np.int64(0), np.int64(0), np.int64(0)
    for document in range(len(ends)):
        end, size = ends[document], sizes[document]
        page, own = PAGE * document, matches[MATCH * first : MATCH * (first + size)]
        out[page], out[page + 1] = NOTHING, marked
        if size > 0:
            trimmed = end
            while trimmed > begin and is_space(text[trimmed - 1]):
                trimmed -= 1
            out[page] = LOST
            spans = _weighed(text, begin, end, trimmed, own, size, weights, starts, lasts, masks, scores)
            if _chosen(starts, lasts, masks, scores, spans, chosen):
                out[page] = _fragments(text, end, trimmed, own, size, weights, chosen, page, out)
                if out[page] != ODD:
                    marked = _marks(text, own, size, page, out, kept, marks, marked)
                _count_from(begin, page, out)
            out[page + 1] = marked
        begin, first = end + 1, first + size
    return marked
