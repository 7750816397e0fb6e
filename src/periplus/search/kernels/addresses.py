"""Addresses as people read them: host and steps, told apart by small angles; the middle of a long one is left out.

Only of those in which nothing is to be decoded; ``periplus.addresses.display`` says what is shown of any.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.bits import LANES, equal_bytes, first_lanes
from periplus.index.kernels.compiler import bare_helper
from periplus.index.kernels.memory import store64
from periplus.search.kernels.characters import put_point
from periplus.search.kernels.lanes import copied, foreign, place_of
from periplus.search.kernels.openings import ELLIPSIS

MAX_ADDRESS = 90  # code points
SLASH, PERCENT, HASH, COLON, QUESTION = 47, 37, 35, 58, 63
SEPARATOR = np.uint64(int.from_bytes(b" \xe2\x80\xba ", "little"))
BETWEEN = 3  # code points of that


@bare_helper
def _is_plain_address(packed: Any, packed_at: Any, start: Any, end: Any, host: Any, host_end: Any) -> Any:
    """Whether what is behind the scheme needs only its steps told apart, and begins with the host and a slash."""
    size = host_end - host
    if size == 0 or end - start <= size or packed[start + size] != SLASH:
        return False
    for k in range(size):
        if packed[start + k] != packed[host + k] or packed[host + k] == COLON:
            return False
    odd = np.uint64(0)
    for at in range(start, end, LANES):
        here = packed_at + at
        wrong = foreign(here) | equal_bytes(here, np.uint8(PERCENT)) | equal_bytes(here, np.uint8(HASH))
        empty = equal_bytes(here, np.uint8(SLASH)) & equal_bytes(here + 1, np.uint8(SLASH))
        coded = equal_bytes(here, np.uint8(120)) & equal_bytes(here + 1, np.uint8(110))  # xn--
        coded &= equal_bytes(here + 2, np.uint8(45)) & equal_bytes(here + 3, np.uint8(45))
        odd |= wrong & first_lanes(end - at)
        odd |= (empty & first_lanes(end - at - 1)) | (coded & first_lanes(max(0, end - at - 3)))
    return odd == 0


@bare_helper
def _scheme_end(packed: Any, start: Any, end: Any) -> Any:
    """Where an address goes on behind ``http://`` or ``https://``; -1 for another scheme."""
    if end - start < 8 or packed[start] != 104 or packed[start + 1] != 116 or packed[start + 2] != 116:
        return np.int64(-1)
    at = start + 4 + (packed[start + 4] == 115)
    if packed[start + 3] != 112 or packed[at] != COLON or packed[at + 1] != SLASH or packed[at + 2] != SLASH:
        return np.int64(-1)
    return at + 3


@bare_helper
def _put_separator(out: Any, at: Any) -> Any:
    """A space, a single right-pointing angle, a space; three bytes more are written."""
    store64(out, at, SEPARATOR)
    return at + 5


@bare_helper
def _put_steps(out: Any, at: Any, packed: Any, packed_at: Any, start: Any, end: Any) -> Any:
    """The steps of an address, with what stands between them."""
    while True:
        slash = place_of(SLASH, packed_at, start, end)
        at = copied(out, at, packed, start, slash - start)
        if slash >= end:
            return at
        at = _put_separator(out, at)
        start = slash + 1


@bare_helper
def _put_from(out: Any, at: Any, packed: Any, packed_at: Any, start: Any, path_end: Any, query: Any, end: Any) -> Any:
    """The steps from one on, the last of which may be a query."""
    if start < path_end:
        at = _put_steps(out, at, packed, packed_at, start, path_end)
        if query < end:
            at = _put_separator(out, at)
    return copied(out, at, packed, query, end - query) if query < end else at


@bare_helper
def _cut(out: Any, start: Any, end: Any, size: Any) -> Any:
    """Leave so many code points of what was written, the last of which is an ellipsis."""
    at = start
    while at < end:
        size -= (out[at] & 0xC0) != 0x80
        if size == 0:
            return put_point(out, at, ELLIPSIS)
        at += 1
    return end


@bare_helper
def _put_shortened(
    out: Any, at: Any, packed: Any, packed_at: Any, start: Any, host_end: Any, path_end: Any, query: Any, end: Any,
    steps: Any, size: Any,
) -> Any:  # fmt: skip
    """Without steps in the middle, as few as will do, and then without the end of the last one.

    Of those that are left the first half, rounded down, stands before what is left out.
    """
    before = host_end  # where the steps before end
    for _ in range(steps // 2):
        before = place_of(SLASH, packed_at, before + 1, path_end)
    behind = before + 1 if before < path_end else query  # where the others begin
    left, shown = steps, size
    while left > 1 and shown > MAX_ADDRESS:
        if left & 1:  # the first of those behind goes
            stop = end if behind >= path_end else place_of(SLASH, packed_at, behind, path_end)
            size -= BETWEEN + stop - behind
            behind = stop + 1 if stop < path_end else query
        else:
            stop = before
            while packed[before - 1] != SLASH:
                before -= 1
            before -= 1
            size -= BETWEEN + stop - before - 1
        left -= 1
        shown = size + BETWEEN + 1
    begin = at
    at = _put_separator(out, _put_steps(out, at, packed, packed_at, start, before))
    if left < steps:
        at = _put_separator(out, put_point(out, at, ELLIPSIS))
    if left == 1:  # no more of it than can be shown
        path_end, end = min(path_end, behind + MAX_ADDRESS), min(end, query + MAX_ADDRESS)
    at = _put_from(out, at, packed, packed_at, behind, path_end, query, end)
    return at if shown <= MAX_ADDRESS else _cut(out, begin, at, MAX_ADDRESS)


@bare_helper
def put_address(out: Any, at: Any, packed: Any, packed_at: Any, start: Any, end: Any, host: Any, host_end: Any) -> Any:
    """The address as people read it; -1 when that is not so simple."""
    start = _scheme_end(packed, start, end)
    if start < 0 or host_end - host > MAX_ADDRESS:
        return np.int64(-1)
    if not _is_plain_address(packed, packed_at, start, end, host, host_end):
        return np.int64(-1)
    host_end += start - host
    query = place_of(QUESTION, packed_at, start, end)
    path_end = query
    while path_end > host_end and packed[path_end - 1] == SLASH:
        path_end -= 1
    if query + 1 >= end:
        query = end  # without words
    steps = np.int64(query < end)
    for i in range(host_end, path_end):
        steps += packed[i] == SLASH
    size = BETWEEN * steps + (path_end - start) - (steps - (query < end)) + (end - query)
    if size <= MAX_ADDRESS:
        return _put_from(out, at, packed, packed_at, start, path_end, query, end)
    return _put_shortened(out, at, packed, packed_at, start, host_end, path_end, query, end, steps, size)
