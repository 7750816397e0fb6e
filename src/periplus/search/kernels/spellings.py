"""The table of spellings that texts were found to have: looked through by place, language and code points.

A slot holds the upper half of a spelling's hash and where its entry begins; no entry begins at 0, and there are more
slots than there is room for entries. An entry is its language (two numbers), its size and whether case says nothing
about it, its code points, and what was found out of it (``search/spellings.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.compiler import bare_helper, bare_kernel
from periplus.index.kernels.types import I64, M_I64, M_U64, R_I64, R_U32, signature

HEAD = 3  # numbers of an entry before its code points
SPAN = 4  # numbers of a text: where it begins and ends, the name of its language (two of them)
UNKNOWN = 5  # of a spelling that is to be judged: text, start, end, whether it is simple, its hash
LOW, HIGH = np.uint64(0xFFFF_FFFF), np.uint64(0xFFFF_FFFF_0000_0000)


@bare_helper
def spelling_hash(text: Any, start: Any, end: Any, simple: Any, spans: Any, document: Any) -> Any:
    value = np.uint64(14695981039346656037) ^ np.uint64(spans[SPAN * document + 2])
    value ^= np.uint64(spans[SPAN * document + 3]) >> np.uint64(7)
    for i in range(start, end):
        c = np.uint64(text[i])
        if simple:
            c |= np.uint64(32)
        value = (value ^ c) * np.uint64(1099511628211)
    return value ^ (value >> np.uint64(29))


@bare_helper
def _is_entry(text: Any, start: Any, end: Any, simple: Any, spans: Any, document: Any, entries: Any, at: Any) -> Any:
    if entries[at + 2] != 2 * (end - start) + simple:
        return False
    if entries[at] != spans[SPAN * document + 2] or entries[at + 1] != spans[SPAN * document + 3]:
        return False
    for i in range(end - start):
        c = text[start + i]
        if simple:
            c |= np.uint32(32)
        if entries[at + HEAD + i] != c:
            return False
    return True


@bare_helper
def known(
    text: Any,
    start: Any,
    end: Any,
    simple: Any,
    spans: Any,
    document: Any,
    key: Any,
    used: Any,
    entries: Any,
    slots: Any,
) -> Any:
    """Where the table says what was found out of a spelling (0: it is not known), and the slot it has or may have."""
    last = np.uint64(len(slots) - 1)
    slot = key & last
    while slots[slot] != 0:
        at = np.int64(slots[slot] & LOW)
        same = (slots[slot] ^ key) & HIGH == 0 and at < used
        if same and _is_entry(text, start, end, simple, spans, document, entries, at):
            return at + HEAD + end - start, slot
        slot = (slot + np.uint64(1)) & last
    return np.int64(0), slot


@bare_helper
def words_end(judged: Any, at: Any) -> Any:
    """Where that which was found out of a spelling ends."""
    count = judged[at]
    at += 1
    for _ in range(count):
        at += 4 + judged[at + 3]
    return at


@bare_kernel(signature(I64, R_U32, R_I64, R_I64, R_I64, I64, M_I64, M_U64))
def keep(
    text: Any,
    spans: Any,  # of each text
    unknown: Any,  # spellings that were judged
    judged: Any,  # where what was found out of each begins, then all of that
    used: Any,
    entries: Any,
    slots: Any,
) -> Any:
    """Add spellings to the table; how many numbers are used then, negative when the table is full."""
    for one in range(len(unknown) // UNKNOWN):
        row = UNKNOWN * one
        document, start, end = unknown[row], unknown[row + 1], unknown[row + 2]
        simple, key = unknown[row + 3], np.uint64(unknown[row + 4])
        first, behind = judged[one], words_end(judged, judged[one])
        if used + HEAD + end - start + behind - first > len(entries):
            return -used
        at, slot = known(text, start, end, simple, spans, document, key, used, entries, slots)
        if at > 0:  # by another thread
            continue
        entries[used], entries[used + 1] = spans[SPAN * document + 2], spans[SPAN * document + 3]
        entries[used + 2] = 2 * (end - start) + simple
        at = used + HEAD
        for i in range(start, end):
            entries[at] = text[i] | np.uint32(32) if simple else text[i]
            at += 1
        for i in range(first, behind):
            entries[at] = judged[i]
            at += 1
        slots[slot] = (key & HIGH) | np.uint64(used)
        used = at
    return used
