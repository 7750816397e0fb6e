"""Snippets the slow and obvious way: what ``core/snippets/sentences.py`` does, in plain Python over one text."""

from __future__ import annotations

import itertools
import re

from periplus.search.query.text import ELLIPSIS
from periplus.search.shards.highlighter import ShownTexts
from periplus.search.shards.snippets import JOINT, MAX_SNIPPET

REACH = 300
SHORT = 90
STOP = re.compile(r"[.!?…。！？\n][.!?…。！？\"”’»)\]\s]*")
ENDS_WELL = frozenset('.!?…。！？:;"”’»)]')


def oracle(text, query, language):
    """Text and marks of the snippet; nothing when no word stands in the text."""
    (found,) = ShownTexts([text], [language]).matches(query)
    if all(hit.is_stop for hit in found) and not query.only_stops(language):
        return None
    spans = chosen(text, found, query)
    if not spans:
        return None
    parts = [fragment(text, start, end, found, query, len(spans)) for start, end in spans]
    if len(parts) == 2:  # the joint tells what was cut off between them
        (*first, _), (start, end, _, behind) = parts
        parts = [(*first, ""), (start, end, "", behind)]
    whole = JOINT.join(before + text[start:end] + behind for start, end, before, behind in parts)
    if len(whole) > MAX_SNIPPET or not whole.isprintable() or "  " in whole:
        return None  # such a text is made readable first
    marks = []
    shift = 0
    some = any(not hit.is_stop for start, end, *_ in parts for hit in inside(found, start, end))
    for start, end, before, behind in parts:
        own = inside(found, start, end)
        for place, hit in enumerate(own):
            if not (some and hit.is_stop) or beside(text, own, place):
                move = shift + len(before) - start
                marks.append((hit.start + move, hit.end + move))
        shift += len(before) + end - start + len(behind) + len(JOINT)
    return whole, tuple(marks)


def inside(found, start, end):
    return [hit for hit in found if start <= hit.start and hit.end <= end]


def beside(text, own, place):
    return any(
        0 <= other < len(own)
        and not own[other].is_stop
        and not any(c.isalnum() for c in text[own[min(place, other)].end : own[max(place, other)].start])
        for other in (place - 1, place + 1)
    )


def ends(text, match, limit):
    signs = match.group()
    if "\n" in signs or signs[0] in "。！？":
        return True
    return signs[-1].isspace() and not text[match.end() : limit][:1].islower()


def next_end(text, at):
    for match in STOP.finditer(text, at):
        if ends(text, match, len(text)):
            return match.start() + len(match.group().rstrip())
        if match.start() > at + 4 * REACH:
            break
    stop = min(len(text), at + 5 * REACH)
    return len(text.rstrip()) if stop == len(text) else stop


def bounds(text, at):
    low = max(0, at - REACH)
    start = low
    for match in STOP.finditer(text[:at], low):
        if ends(text, match, len(text)):
            start = match.end()
    if start == low and low > 0:
        space = text.find(" ", low, at)
        start = space + 1 if space >= 0 else start
    stop = next_end(text, at)
    return start, min(stop, at + REACH) if stop > at else min(len(text), at + REACH)


def is_heading(text):
    bare = text.rstrip()
    return 0 < len(bare) < SHORT and bare[-1] not in ENDS_WELL


def weights_of(query):
    return query.weights


def chosen(text, found, query):
    weighed = []
    at = 0
    while at < len(found) and len(weighed) < 64:
        start, stop = bounds(text, found[at].start)
        own = []
        while at < len(found) and found[at].start < stop:
            own.append(found[at])
            at += 1
        if not own:
            at += 1
            continue
        words = {hit.word for hit in own}
        worth = sum(weights_of(query)[word] for word in words)
        for one, other in itertools.pairwise(own):
            if one.word != other.word:
                between = max(1, text[one.end : other.start].count(" "))
                worth += 0.5 * min(weights_of(query)[one.word], weights_of(query)[other.word]) / between
        fits = 0.5 if is_heading(text[start:stop]) else 1.0
        weighed.append((fits * worth + 0.1 / (1.0 + start / 500.0), start, stop, words))
    if not weighed:
        return []
    best = max(weighed, key=lambda span: span[0])
    adding = [span for span in weighed if span[3] - best[3]]
    return sorted(span[1:3] for span in (best, *([max(adding, key=lambda span: span[0])] if adding else ())))


def fragment(text, start, end, found, query, count):
    limit = MAX_SNIPPET if count == 1 else (MAX_SNIPPET - len(JOINT)) // 2
    before = behind = ""
    if end - start > limit:
        first, last = start, end
        start, end = cropped(text, start, end, inside(found, start, end), query, limit)
        before, behind = ELLIPSIS if start > first else "", ELLIPSIS if end < last else ""
    elif count == 1:
        end = with_next(text, start, end, limit)
    piece = text[start:end]
    start += len(piece) - len(piece.lstrip())
    return start, max(start, end - len(piece) + len(piece.rstrip())), before, behind


def with_next(text, start, end, limit):
    while end - start < 2 * SHORT:
        begin = end + len(re.match(r"\s*", text[end : end + 16]).group())
        if begin >= len(text) or ("\n" in text[end:begin] and text[end - 1] in ENDS_WELL):
            return end
        stop = next_end(text, begin)
        if stop - start > limit or stop <= end:
            return end
        end = stop
    return end


def cropped(text, start, end, own, query, limit):
    room = limit - 2
    best, most = start, -1.0
    for place, hit in enumerate(own):
        near = [other for other in own[place:] if other.end - hit.start <= room]
        worth = sum(weights_of(query)[word] for word in {other.word for other in near})
        if worth > most + 1e-9:
            slack = (room - (near[-1].end - hit.start if near else 0)) // 2
            best, most = max(start, min(hit.start - slack, end - room)), worth
    left, right = best, min(end, best + room)
    if left > start:
        space = text.find(" ", left, left + 30)
        left = space + 1 if space >= 0 else left
    if right < end:
        space = text.rfind(" ", max(left, right - 30), right)
        right = space if space > left else right
    return left, right
