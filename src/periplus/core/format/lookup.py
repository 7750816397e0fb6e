"""Looking up terms in a front-coded dictionary.

Terms are kept in byte order, 16 in a block. Each is a byte ``shared << 4 | length`` and then ``length`` bytes, which
follow the first ``shared`` bytes of the term before it; where four bits do not suffice, the byte is 255 and a byte for
each of the two numbers follows it. The first term of a block shares nothing: blocks are searched by bisection, and only
one of them is walked.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.compiler import I64, M_I64, M_U8, R_I64, R_U8, R_U32, helper, kernel, signature

BLOCK = 16
ESCAPE = 255
MOST = 15


@helper
def _head(data: Any, at: Any) -> Any:
    """(shared, length, where the bytes begin) of a term."""
    head = np.int64(data[at])
    if head == ESCAPE:
        return np.int64(data[at + 1]), np.int64(data[at + 2]), at + 3
    return head >> 4, head & MOST, at + 1


@helper
def _compare(data: Any, begin: Any, length: Any, text: Any, first: Any, last: Any) -> Any:
    """(order, equal bytes): negative, zero or positive as data[begin : begin + length] sorts to text[first:last]."""
    both = min(length, last - first)
    for at in range(both):
        difference = np.int64(data[begin + at]) - np.int64(text[first + at])
        if difference != 0:
            return difference, at
    return length - (last - first), both


@helper
def _bisect(data: Any, offsets: Any, text: Any, first: Any, last: Any) -> Any:
    """The last block whose first term does not sort after the text; -1 when there is none."""
    low = 0
    high = len(offsets) - 1
    while low < high:
        middle = (low + high) >> 1
        _, length, begin = _head(data, np.int64(offsets[middle]))
        order, _ = _compare(data, begin, length, text, first, last)
        if order <= 0:
            low = middle + 1
        else:
            high = middle
    return low - 1


@helper
def sorts_after(data: Any, at: Any, text: Any, first: Any, last: Any) -> Any:
    """Whether the term at the beginning of a block sorts after the text."""
    _, length, begin = _head(data, at)
    order, _ = _compare(data, begin, length, text, first, last)
    return order > 0


@helper
def find_in_block(data: Any, offsets: Any, block: Any, text: Any, first: Any, last: Any) -> Any:
    """(number of the first term that does not sort before the text, whether it is the text), in one block."""
    if block < 0:
        return np.int64(0), False
    at = np.int64(offsets[block])
    end = np.int64(offsets[block + 1])
    number = block * BLOCK
    equal = 0  # bytes that the term before shares with the text, which sorts after it
    while at < end:
        shared, length, begin = _head(data, at)
        if shared < equal:
            return number, False
        if shared == equal:
            order, more = _compare(data, begin, length, text, first + shared, last)
            if order >= 0:
                return number, order == 0
            equal += more
        at = begin + length
        number += 1
    return number, False


@helper
def _search(data: Any, offsets: Any, text: Any, first: Any, last: Any) -> Any:
    """The same in all blocks."""
    return find_in_block(data, offsets, _bisect(data, offsets, text, first, last), text, first, last)


@kernel(signature(I64, R_U8, R_U32, R_U8))
def lower_bound(data: Any, offsets: Any, text: Any) -> Any:
    """The number of the first term that does not sort before ``text``."""
    number, _ = _search(data, offsets, text, np.int64(0), np.int64(len(text)))
    return number


@helper
def find_term(data: Any, offsets: Any, text: Any, first: Any, last: Any) -> Any:
    """The number of the term text[first:last]; -1 when it is not there."""
    number, is_there = _search(data, offsets, text, np.int64(first), np.int64(last))
    return number if is_there else np.int64(-1)


@kernel(signature("void", R_U8, R_U32, R_U8, R_I64, M_I64))
def find_terms(data: Any, offsets: Any, text: Any, text_offsets: Any, found: Any) -> Any:
    """The numbers of many terms at once; -1 for those that are not there."""
    for word in range(len(found)):
        found[word] = find_term(data, offsets, text, text_offsets[word], text_offsets[word + 1])


@kernel(signature(I64, R_U8, R_I64, I64, M_U8, M_I64))
def front_code(text: Any, ends: Any, number: Any, target: Any, blocks: Any) -> Any:
    """Code sorted terms, whose ends in ``text`` follow that of the term before the first of them; the bytes written.

    ``number`` is that of the first term; ``blocks`` gets the offset in ``target`` of every block that begins here.
    """
    out = np.int64(0)
    begun = 0
    before = np.int64(0)
    for place in range(1, len(ends)):
        begin = ends[place - 1]
        shared = np.int64(0)
        if number % BLOCK == 0:
            blocks[begun] = out
            begun += 1
        else:
            most = min(begin - before, ends[place] - begin)
            while shared < most and text[before + shared] == text[begin + shared]:
                shared += 1
        length = ends[place] - begin - shared
        if shared >= MOST or length > MOST:
            target[out] = ESCAPE
            target[out + 1] = shared
            target[out + 2] = length
            out += 3
        else:
            target[out] = shared << 4 | length
            out += 1
        for at in range(begin + shared, ends[place]):
            target[out] = text[at]
            out += 1
        before = begin
        number += 1
    return out


@kernel(signature(I64, R_U8, I64, I64))
def decoded_size(data: Any, at: Any, count: Any) -> Any:
    """Bytes of ``count`` terms from the block at an offset on."""
    size = np.int64(0)
    for _ in range(count):
        shared, length, begin = _head(data, at)
        size += shared + length
        at = begin + length
    return size


@kernel(signature("void", R_U8, I64, M_U8, M_I64))
def decode_terms(data: Any, at: Any, text: Any, ends: Any) -> Any:
    """Terms from the block at an offset on, one after another, each with its end."""
    before = np.int64(0)
    out = np.int64(0)
    for term in range(len(ends)):
        shared, length, begin = _head(data, at)
        here = out
        for place in range(shared):
            text[out] = text[before + place]
            out += 1
        for place in range(length):
            text[out] = data[begin + place]
            out += 1
        ends[term] = out
        before = here
        at = begin + length
