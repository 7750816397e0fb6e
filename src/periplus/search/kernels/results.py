"""Finished results, written as MessagePack straight from stored documents and from what is to be shown of their texts.

Only what needs nothing special is written: a title and a snippet of signs that are surely fit to be seen, an address
in which nothing is to be decoded, times that a calendar holds. ``search/answers.py`` makes all other results, and says
what a result is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.bits import lowest_of
from periplus.index.kernels.compiler import bare_helper
from periplus.index.kernels.memory import load64, store64, swapped
from periplus.search.kernels.addresses import put_address
from periplus.search.kernels.characters import put_point
from periplus.search.kernels.lanes import copied, foreign
from periplus.search.kernels.layout import NUMBERS
from periplus.search.kernels.openings import ELLIPSIS, ELLIPSIS_BYTES, is_seen, only_begins, opening_end, title_end
from periplus.search.kernels.records import (
    DESCRIPTION,
    FETCHED,
    HOST,
    ID,
    LANGUAGE,
    PUBLISHED,
    RECORD,
    SITE,
    TITLE,
    TYPE,
    URL,
)
from periplus.search.kernels.sentences import FOREIGN, FRAGMENT, NOTHING, PAGE, PLAIN
from periplus.search.kernels.texts import first_of

NAMES = (
    b"rank id url display_url site title snippet highlights language published fetched type score "
    b"more_from_site duplicates pinned"
).split()
KEYS = np.frombuffer(b"".join((bytes([0xA0 + len(name)]) + name).ljust(16) for name in NAMES), np.uint64)
KEY_SIZES = np.array([1 + len(name) for name in NAMES])
RANK, ID_KEY, URL_KEY, DISPLAY, SITE_KEY, TITLE_KEY, SNIPPET, MARKS = range(8)
LANGUAGE_KEY, PUBLISHED_KEY, FETCHED_KEY, TYPE_KEY, SCORE, MORE, DUPLICATES, PINNED = range(8, 16)
ALWAYS = 13  # fields that every result has

SPACE, COLON = 32, 58
LAST_MOMENT = 253_402_300_800  # the end of the year 9999
DAY = 86_400
FIRST_FOREIGN = 0x80


@bare_helper
def _put_key(out: Any, at: Any, key: Any) -> Any:
    store64(out, at, KEYS[2 * key])
    store64(out, at + 8, KEYS[2 * key + 1])
    return at + KEY_SIZES[key]


@bare_helper
def _put_number(out: Any, at: Any, value: Any) -> Any:
    """A number from 0 on, as 32 bits at most."""
    if value < 0x80:
        out[at] = value
        return at + 1
    return _put_kind(out, at, 0xCE, value)


@bare_helper
def _put_kind(out: Any, at: Any, kind: Any, value: Any) -> Any:
    """A kind with 32 bits; three bytes more are written."""
    store64(out, at, np.uint64(kind) | (swapped(np.uint64(value)) >> np.uint64(32)) << np.uint64(8))
    return at + 5


@bare_helper
def _put_head(out: Any, at: Any, kind: Any, size: Any) -> Any:
    """The head of a string (0xDA) or a list (0xDC) of so many bytes or members, in 16 bits."""
    out[at], out[at + 1], out[at + 2] = kind, size >> 8, size & 0xFF
    return at + 3


@bare_helper
def _put_bytes(out: Any, at: Any, key: Any, packed: Any, start: Any, end: Any, more: Any) -> Any:
    """A string as it was stored, with its key; its head speaks of so many bytes more."""
    at = _put_kind(out, _put_key(out, at, key), 0xDB, end - start + more)
    return copied(out, at, packed, start, end - start)


@bare_helper
def _copy(out: Any, at: Any, key: Any, packed: Any, fields: Any, record: Any, field: Any) -> Any:
    """A field as it was stored."""
    return _put_bytes(out, at, key, packed, fields[record + 2 * field], fields[record + 2 * field + 1], 0)


@bare_helper
def _put_title(out: Any, at: Any, packed: Any, packed_at: Any, start: Any, end: Any) -> Any:
    """The title, with its key; -1 when it is not shown as it is or as it begins."""
    cut = title_end(packed, packed_at, start, end)
    if cut < 0:
        return cut
    if cut == end:
        return _put_bytes(out, at, TITLE_KEY, packed, start, end, 0)
    return put_point(out, _put_bytes(out, at, TITLE_KEY, packed, start, cut, ELLIPSIS_BYTES), ELLIPSIS)


@bare_helper
def _put_address(out: Any, at: Any, packed: Any, packed_at: Any, fields: Any, record: Any) -> Any:
    """The address as people read it, with its key; -1 when that is not so simple."""
    url, host = record + 2 * URL, record + 2 * HOST
    head = _put_key(out, at, DISPLAY)
    at = put_address(out, head + 3, packed, packed_at, fields[url], fields[url + 1], fields[host], fields[host + 1])
    if at >= 0:
        _put_head(out, head, 0xDA, at - head - 3)
    return at


@bare_helper
def _put_fragment(
    out: Any, at: Any, text: Any, signs: Any, signs_at: Any, begin: Any, pages: Any, fragment: Any, plain: Any
) -> Any:
    """A stretch of the text, with an ellipsis where something was cut off; -1 when it may not be fit to be seen.

    What it has of ASCII is fit to be seen, or it were odd.
    """
    if pages[fragment + 2]:
        at = put_point(out, at, ELLIPSIS)
    start, end = begin + pages[fragment], begin + pages[fragment + 1]
    if plain:
        at = copied(out, at, signs, start, end - start)
        start = end
    while start < end:
        run = min(lowest_of(foreign(signs_at + start)), end - start)
        at = copied(out, at, signs, start, run)
        start += run
        while start < end and signs[start] >= FIRST_FOREIGN:
            c = np.int64(text[start])
            if not is_seen(c):
                return np.int64(-1)
            at = put_point(out, at, c)
            start += 1
    return put_point(out, at, ELLIPSIS) if pages[fragment + 3] else at


@bare_helper
def _put_opening(out: Any, at: Any, text: Any, begin: Any, end: Any) -> Any:
    """How a text begins; -1 when it has to be made readable."""
    cut = opening_end(text, begin, end)
    for i in range(begin, cut):
        at = put_point(out, at, np.int64(text[i]))
    if cut < 0:
        return np.int64(-1)
    return put_point(out, at, ELLIPSIS) if cut < end else at


@bare_helper
def _put_snippet(
    out: Any,
    at: Any,
    text: Any,
    signs: Any,
    signs_at: Any,
    begin: Any,
    end: Any,
    described: Any,
    pages: Any,
    page: Any,
) -> Any:
    """What was chosen to be shown, with its key; -1 when it has to be made readable or is something else.

    Where the text has no word of the query, neither has its opening.
    """
    head = _put_key(out, at, SNIPPET)
    if pages[page] == NOTHING and not described:
        at = _put_opening(out, head + 3, text, begin, end)
        if at >= 0:
            _put_head(out, head, 0xDA, at - head - 3)
        return at
    if pages[page] != PLAIN and pages[page] != FOREIGN:
        return np.int64(-1)
    at = _put_fragment(out, head + 3, text, signs, signs_at, begin, pages, page + 2, pages[page] == PLAIN)
    second = page + 2 + FRAGMENT
    if at >= 0 and pages[second + 1] > pages[second]:
        out[at] = SPACE
        at = put_point(out, at + 1, ELLIPSIS)
        out[at] = SPACE
        at = _put_fragment(out, at + 1, text, signs, signs_at, begin, pages, second, pages[page] == PLAIN)
    if at >= 0:
        _put_head(out, head, 0xDA, at - head - 3)
    return at


@bare_helper
def _put_marks(out: Any, at: Any, pages: Any, page: Any, marks: Any) -> Any:
    """Where words are marked, with the key; all marks stand behind the pages, at ``marks``."""
    first, last = pages[page - PAGE + 1] if page > 0 else 0, pages[page + 1]
    at = _put_head(out, _put_key(out, at, MARKS), 0xDC, last - first)
    for mark in range(marks + 2 * first, marks + 2 * last, 2):
        out[at] = 0x92
        at = _put_number(out, at + 1, pages[mark])
        at = _put_number(out, at, pages[mark + 1])
    return at


@bare_helper
def _seconds(packed: Any, at: Any) -> Any:
    """Whole seconds of a stored time; -1 for what no calendar holds or comes before it."""
    if packed[at] != 0xCB:
        return np.int64(-1)
    bits = swapped(load64(packed, at + 1))
    if bits == 0:
        return np.int64(0)
    exponent = np.int64(bits >> np.uint64(52))
    if exponent < 1023 or exponent > 1023 + 37:  # from 1 second on, before 2**38 of them; nothing negative
        return np.int64(-1)
    fraction = np.int64(bits & np.uint64(0x000F_FFFF_FFFF_FFFF)) | (np.int64(1) << 52)
    seconds = fraction >> (1075 - exponent)
    return seconds if seconds < LAST_MOMENT else np.int64(-1)


@bare_helper
def _put_digits(out: Any, at: Any, value: Any, digits: Any) -> Any:
    for k in range(digits - 1, -1, -1):
        out[at + k] = 48 + value % 10
        value //= 10
    return at + digits


@bare_helper
def _put_two(out: Any, at: Any, sign: Any, value: Any) -> Any:
    out[at] = sign
    return _put_digits(out, at + 1, value, 2)


@bare_helper
def _put_moment(out: Any, at: Any, seconds: Any) -> Any:
    """A time as ISO 8601 in UTC. Years are counted from March on, so that a leap day is the last one."""
    days, rest = seconds // DAY, seconds % DAY
    shifted = days + 719_468  # from the first of March of the year 0
    era, of_era = shifted // 146_097, shifted % 146_097
    year = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year + year // 4 - year // 100)
    month = (5 * of_year + 2) // 153
    day = of_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    year += 400 * era + (month <= 2)
    out[at] = 0xA0 + 20
    at = _put_digits(out, at + 1, year, 4)
    at = _put_two(out, _put_two(out, at, 45, month), 45, day)
    at = _put_two(out, _put_two(out, _put_two(out, at, 84, rest // 3600), COLON, rest // 60 % 60), COLON, rest % 60)
    out[at] = 90
    return at + 1


@bare_helper
def _put_times(out: Any, at: Any, packed: Any, fields: Any, record: Any) -> Any:
    """Both times with their keys; -1 when one of them is not so simple."""
    published = _seconds(packed, fields[record + 2 * PUBLISHED])
    fetched = _seconds(packed, fields[record + 2 * FETCHED])
    if published < 0 or fetched < 0:
        return np.int64(-1)
    at = _put_key(out, at, PUBLISHED_KEY)
    if published:
        at = _put_moment(out, at, published)
    else:
        out[at] = 0xC0
        at += 1
    at = _put_key(out, at, FETCHED_KEY)
    if fetched:
        return _put_moment(out, at, fetched)
    out[at] = 0xA0
    return at + 1


@bare_helper
def _put_score(out: Any, at: Any, bits: Any) -> Any:
    at = _put_key(out, at, SCORE)
    out[at] = 0xCB
    store64(out, at + 1, swapped(np.uint64(bits)))
    return at + 9


@bare_helper
def _put_counts(out: Any, at: Any, numbers: Any, result: Any) -> Any:
    """The numbers of a result that are not 0, with their keys; and how many."""
    count = 0
    for k in range(NUMBERS):
        value = numbers[NUMBERS * result + k]
        if value:
            at = _put_key(out, at, MORE + k)
            if MORE + k == PINNED:
                out[at] = 0xC3
                at += 1
            else:
                at = _put_number(out, at, value)
            count += 1
    return at, count


@bare_helper
def _put_result(
    out: Any,
    at: Any,
    packed: Any,
    packed_at: Any,
    fields: Any,
    record: Any,
    text: Any,
    signs: Any,
    signs_at: Any,
    begin: Any,
    end: Any,
    pages: Any,
    page: Any,
    marks: Any,
) -> Any:
    """All fields but rank, score and numbers, in their order; -1 when one of them is not so simple."""
    title, description = record + 2 * TITLE, record + 2 * DESCRIPTION
    at = _copy(out, at, ID_KEY, packed, fields, record, ID)
    at = _copy(out, at, URL_KEY, packed, fields, record, URL)
    at = _put_address(out, at, packed, packed_at, fields, record)
    if at >= 0:
        at = _copy(out, at, SITE_KEY, packed, fields, record, SITE)
        at = _put_title(out, at, packed, packed_at, fields[title], fields[title + 1])
    if at >= 0:
        described = not only_begins(packed, fields[description], fields[description + 1], text, signs, begin, end)
        at = _put_snippet(out, at, text, signs, signs_at, begin, end, described, pages, page)
    if at >= 0:
        at = _put_marks(out, at, pages, page, marks)
        at = _copy(out, at, LANGUAGE_KEY, packed, fields, record, LANGUAGE)
        at = _put_times(out, at, packed, fields, record)
    return _copy(out, at, TYPE_KEY, packed, fields, record, TYPE) if at >= 0 else at


@bare_helper
def write(
    packed: Any,  # documents, one behind the other
    packed_at: Any,  # their address
    fields: Any,  # of each document
    text: Any,  # their texts as code points
    signs: Any,  # and as bytes
    signs_at: Any,  # and the address of these
    ends: Any,  # of each text
    pages: Any,  # what is shown of each text, and the marks of all of them
    rank: Any,  # of the first
    scores: Any,  # of each, as bits
    numbers: Any,  # ``NUMBERS`` of each
    out: Any,
) -> Any:
    """Write a list of results, nothing for those that have to be made otherwise; how many are, and how many bytes."""
    count, special = len(ends), 0
    at = _put_head(out, 0, 0xDC, count)
    for result in range(count):
        head = at
        at = _put_number(out, _put_key(out, head + 3, RANK), rank + result)
        begin = first_of(ends, result)
        at = _put_result(
            out,
            at,
            packed,
            packed_at,
            fields,
            RECORD * result,
            text,
            signs,
            signs_at,
            begin,
            ends[result],
            pages,
            PAGE * result,
            PAGE * count,
        )
        if at < 0:
            out[head] = 0xC0
            at = head + 1
            special += 1
            continue
        at, more = _put_counts(out, _put_score(out, at, scores[result]), numbers, result)
        _put_head(out, head, 0xDE, ALWAYS + more)
    return special, at
