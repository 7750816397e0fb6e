"""The table of spellings that texts were found to have: looked through by place, language and code points.

A slot holds the upper half of a spelling's hash and where its entry begins; no entry begins at 0, and there are more
slots than there is room for entries. An entry is its language (two numbers), its size and whether case says nothing
about it, its code points, and what was found out of it (``search/spellings.py``).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from periplus.index.kernels.compiler import bare_helper, bare_kernel
from periplus.index.kernels.tables import at_i64, at_u32
from periplus.index.kernels.types import I64, signature
from periplus.search.kernels.layout import HEAD, POINTS, RAW_SIZE, SPAN, SPANS, TEXTS, TOLD, UNKNOWN_AT, part

ENTRY = 3  # numbers of an entry before its code points
UNKNOWN = 5  # of a spelling that is to be judged: text, start, end, whether it is simple, its hash
LOW = 0xFFFF_FFFF


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
        if entries[at + ENTRY + i] != c:
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
    last = len(slots) - 1
    slot = np.int64(key) & last
    while slots[slot] != 0:
        at = slots[slot] & LOW
        same = (slots[slot] ^ np.int64(key)) >> 32 == 0 and at < used
        if same and _is_entry(text, start, end, simple, spans, document, entries, at):
            return at + ENTRY + end - start, slot
        slot = (slot + 1) & last
    return np.int64(0), slot


@bare_helper
def is_simple(text: Any, start: Any, end: Any) -> Any:
    """ASCII letters alone, small but for the first, or all of them capitals: case says nothing about such a word."""
    capitals = 0
    for i in range(start, end):
        c = text[i]
        if 65 <= c <= 90:
            capitals += 1
        elif not 97 <= c <= 122:
            return False
    return capitals == 0 or capitals == end - start or (capitals == 1 and text[start] <= 90)


@bare_helper
def _same(text: Any, one: Any, other: Any, size: Any, simple: Any) -> Any:
    for k in range(size):
        a, b = text[one + k], text[other + k]
        if a != b and not (simple and (a | 32) == (b | 32)):
            return False
    return True


@bare_helper
def noted(text: Any, spans: Any, row: Any, told: Any, table: Any, unknown: Any) -> Any:
    """Which of the spellings that are to be judged the last one in the list is, and how many these are then."""
    slot = np.int64(np.uint64(unknown[row + 4]) & np.uint64(len(table) - 1))
    start, size, span = unknown[row + 1], unknown[row + 2] - unknown[row + 1], SPAN * unknown[row]
    while table[slot] >= 0:
        other = UNKNOWN * table[slot]
        of_other = SPAN * unknown[other]
        if (
            unknown[other + 4] == unknown[row + 4]
            and unknown[other + 2] - unknown[other + 1] == size
            and unknown[other + 3] == unknown[row + 3]
            and spans[of_other + 2] == spans[span + 2]
            and spans[of_other + 3] == spans[span + 3]
            and _same(text, unknown[other + 1], start, size, unknown[row + 3])
        ):
            return table[slot], told
        slot = (slot + 1) & (len(table) - 1)
    table[slot] = told
    return told, told + 1


@bare_helper
def words_end(judged: Any, at: Any) -> Any:
    """Where that which was found out of a spelling ends."""
    count = judged[at]
    at += 1
    for _ in range(count):
        at += 4 + judged[at + 3]
    return at


@bare_kernel(signature(I64, *[I64] * 8))
def keep(
    memory_at: Any,  # where texts and the spellings that were judged are
    judged_at: Any,  # where what was found out of each begins, then all of that
    judged_size: Any,
    used: Any,
    entries_at: Any,
    entries_size: Any,
    slots_at: Any,
    slots_size: Any,
) -> Any:
    """Add spellings to the table; how many numbers are used then, negative when the table is full."""
    memory = at_i64(memory_at, HEAD)
    text = at_u32(memory_at + 8 * memory[POINTS], memory[RAW_SIZE] + memory[TEXTS])
    spans = part(memory, memory_at, SPANS, SPAN * memory[TEXTS])
    unknown = part(memory, memory_at, UNKNOWN_AT, UNKNOWN * memory[TOLD])
    judged, entries, slots = (
        at_i64(judged_at, judged_size),
        at_i64(entries_at, entries_size),
        at_i64(slots_at, slots_size),
    )
    for one in range(len(unknown) // UNKNOWN):
        row = UNKNOWN * one
        document, start, end = unknown[row], unknown[row + 1], unknown[row + 2]
        simple, key = unknown[row + 3], np.uint64(unknown[row + 4])
        first, behind = judged[one], words_end(judged, judged[one])
        if used + ENTRY + end - start + behind - first > len(entries):
            return -used
        at, slot = known(text, start, end, simple, spans, document, key, used, entries, slots)
        if at > 0:  # by another thread
            continue
        entries[used], entries[used + 1] = spans[SPAN * document + 2], spans[SPAN * document + 3]
        entries[used + 2] = 2 * (end - start) + simple
        at = used + ENTRY
        for i in range(start, end):
            entries[at] = text[i] | np.uint32(32) if simple else text[i]
            at += 1
        for i in range(first, behind):
            entries[at] = judged[i]
            at += 1
        slots[slot] = (np.int64(key) & ~LOW) | used
        used = at
    return used
