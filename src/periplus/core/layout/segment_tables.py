"""Postings and positions of one segment, as its files have them."""

from __future__ import annotations

from typing import NamedTuple

from periplus.core.layout.kinds import Number, ReadI64, ReadU8, ReadU32, WriteI64, WriteU8, WriteU32

# Heads of lists.
TERMS = 16  # of a block
TERM_BITS = 4
ESCAPE = 255  # postings that a byte does not tell
COLUMNS = 3  # of blocks and of large terms alike
NO_ROW = 0xFFFFFFFF
RANKED = 10  # postings from which a term has best impacts: the second of them is the tenth

# Blocks of positions.
BLOCK = 64  # postings
BLOCK_BITS = 6
GROUP_BITS = 8  # blocks that share a base

LABEL_BITS = 16  # of the label of a term among the places found


class PostingTables(NamedTuple):
    frequency: ReadU8
    blocks: ReadU32
    large: ReadU32
    place: ReadU8
    impact: ReadU8
    rare_window: ReadU8
    window_start: ReadU32
    window_max: ReadU8
    windows: Number


class PositionTables(NamedTuple):
    block_base: ReadI64
    block_start: ReadU32
    data: ReadU8


class MergedPostings(NamedTuple):
    """Live postings of one segment on their way to another."""

    keys: WriteI64  # target term << 32 | new document
    impacts: WriteU8
    ordinals: WriteU32  # which one it is in its segment
    counts: WriteU32  # positions


class PlacesFound(NamedTuple):
    """Where terms stand in some documents."""

    counts: WriteU32  # documents x terms x fields
    ends: WriteI64  # documents x fields: where the places of that field end in ``positions`` and ``labels``
    scratch: WriteI64
    positions: WriteU32  # in words from the start of the field, ascending
    labels: WriteU32
