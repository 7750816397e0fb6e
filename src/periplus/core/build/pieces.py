"""Pieces: the texts of packed documents, where they stand and which of them the tokeniser cannot take as they are."""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.core.build.packed import behind, string_at
from periplus.core.build.word_breaks import decoded
from periplus.core.compiler import I64, M_I64, M_U8, R_U8, bare_helper, bare_kernel, signature
from periplus.core.layout.documents import FIELD_BITS
from periplus.core.layout.letter_classes import UNSETTLED
from periplus.core.machine.bits import lowest_of
from periplus.core.machine.memory import item, load64

# Fields of a ``StoredDocument`` by their places, and those that texts of them belong to (``fields.FIELDS``).
STORED = 14
TEXT = 4
IN_TITLE, IN_BODY, IN_ADDRESS, IN_MARGIN = 0, 2, 4, 5
NOT_ASCII = np.uint64(0x8080808080808080)
COLON, SLASH, SPACE, LINE_END = 58, 47, 32, 10
HOST_TABLE = 256  # of the table of bytes of addresses: those of hosts come after those of paths


@bare_helper
def _is_unsettled(data: Any, at: Any, end: Any, classes: Any) -> Any:
    """Whether a text holds a character that NFKC may change; eight bytes can be read behind it."""
    while at < end:
        high = load64(data, at) & NOT_ASCII
        if high == np.uint64(0):
            at += 8
            continue
        at += lowest_of(high) >> 3
        if at >= end:
            break
        point, at = decoded(data, at)
        if classes[point] & UNSETTLED:
            return True
    return False


@bare_helper
def _host_begin(data: Any, begin: Any, end: Any) -> Any:
    """Where the host of an address begins; its end for one that does not begin like one of the web."""
    if end - begin < 8 or data[begin] != 104 or data[begin + 1] != 116 or data[begin + 2] != 116:
        return end
    at = begin + 4 + np.int64(data[begin + 4] == 115)
    if data[begin + 3] != 112 or data[at] != COLON or data[at + 1] != SLASH or data[at + 2] != SLASH:
        return end
    return at + 3


@bare_helper
def _address_words(data: Any, begin: Any, end: Any, table: Any, words: Any, written: Any) -> Any:
    """Write the host and the words of the path of an address, a line each; where these end, or -1 for both.

    Only plain addresses, as nearly all are: no escapes, no fragment, nothing outside ASCII.
    """
    host = _host_begin(data, begin, end)
    at = host
    while at < end and item(table, HOST_TABLE + np.int64(item(data, at))):
        words[written + at - host] = item(data, at)
        at += 1
    if at == host or at >= end or data[at] != SLASH:
        return np.int64(-1), np.int64(-1)
    host_end = written + at - host
    words[host_end] = LINE_END
    out = first = host_end + 1
    while at < end:
        byte = item(table, np.int64(item(data, at)))
        if byte == 0:
            return np.int64(-1), np.int64(-1)
        if byte != SPACE or out > first:
            words[out] = byte
            out += 1
        at += 1
    while out > first and words[out - 1] == SPACE:
        out -= 1
    words[out] = LINE_END
    return host_end, out


@bare_helper
def _add(owner: Any, begin: Any, end: Any, count: Any, owners: Any, begins: Any, ends: Any) -> Any:
    """One more piece, unless it is empty."""
    owners[count] = owner
    begins[count] = begin
    ends[count] = end
    return count + np.int64(end > begin)


@bare_kernel(signature(I64, R_U8, I64, R_U8, R_U8, M_U8, M_I64, M_I64, M_I64, M_I64, M_U8, M_U8, M_I64))
def cut_documents(
    data: Any,
    first: Any,
    classes: Any,
    table: Any,
    words: Any,
    starts: Any,
    owners: Any,
    begins: Any,
    ends: Any,
    changing: Any,
    others: Any,
    totals: Any,
) -> Any:
    """Find the texts of packed documents, which begin at ``first``; how many there are, -1 when these are no documents.

    A piece has its document and field, and where it begins and ends in ``data`` with ``words`` behind it: in ``words``
    come hosts and paths of addresses. ``others`` says which documents have another address than a plain one,
    ``changing`` which pieces hold a character that NFKC may change. ``totals`` gets how many bytes ``words`` has.
    """
    at = np.int64(first)
    count = np.int64(0)
    written = np.int64(0)
    size = np.int64(len(data))
    for document in range(len(starts) - 1):
        starts[document] = at
        if at >= size or data[at] != 0x90 + STORED:
            return np.int64(-1)
        at += 1
        owner = np.int64(document) << FIELD_BITS
        url, url_end = string_at(data, at)
        if url_end < 0:
            return np.int64(-1)
        _, at = string_at(data, url_end)
        title, title_end = string_at(data, at) if at >= 0 else (np.int64(-1), np.int64(-1))
        margin, margin_end = string_at(data, title_end) if title_end >= 0 else (np.int64(-1), np.int64(-1))
        text, at = string_at(data, margin_end) if margin_end >= 0 else (np.int64(-1), np.int64(-1))
        if at < 0:
            return np.int64(-1)
        before = count
        count = _add(owner | IN_TITLE, title, title_end, count, owners, begins, ends)
        count = _add(owner | IN_BODY, text, at, count, owners, begins, ends)
        host_end, words_end = _address_words(data, url, url_end, table, words, written)
        others[document] = host_end < 0
        if host_end >= 0:
            count = _add(owner | IN_ADDRESS, size + written, size + host_end, count, owners, begins, ends)
            count = _add(owner | IN_ADDRESS, size + host_end + 1, size + words_end, count, owners, begins, ends)
            written = words_end + 1
        count = _add(owner | IN_MARGIN, margin, margin_end, count, owners, begins, ends)
        for piece in range(before, count):
            changing[piece] = begins[piece] < size and _is_unsettled(data, begins[piece], ends[piece], classes)
        for _ in range(TEXT + 1, STORED):
            at = behind(data, at)
            if at < 0:
                return np.int64(-1)
    starts[len(starts) - 1] = at
    totals[0] = written
    return count if at == size else np.int64(-1)
