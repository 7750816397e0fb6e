"""Inversion: streams of words in the order of documents, occurrences of terms, and the postings made of them."""

from __future__ import annotations

from typing import NamedTuple

from periplus.core.layout.kinds import (
    Fraction,
    ReadF64,
    ReadI64,
    ReadU8,
    ReadU32,
    ReadU64,
    WriteI64,
    WriteU8,
    WriteU16,
    WriteU32,
)

# An occurrence: its position in the segment, its field, and whether it is the first of its term in its document.
POSITION_BITS = 28
MAX_POSITIONS = (1 << POSITION_BITS) - 1  # of a segment
SHARE_BITS = 6
SHARE = 1 << SHARE_BITS  # positions that share an entry of ``owners``
ALONE = 4  # occurrences in one field whose impacts are known beforehand
# The first two forms of a word, in one number.
NO_TERM = 0x7FFFFFFF
MORE = 0x80000000  # forms than two


class Pieces(NamedTuple):
    """The texts of a builder."""

    order: ReadI64  # pieces that count, by document
    address: ReadI64  # of the words of each, which whoever makes this keeps alive
    size: ReadU32  # how many there are
    first: ReadU32  # its first position in the segment, and its field
    document: ReadU32
    pairs: ReadU64  # the first two forms of every word
    form_start: ReadI64
    forms: ReadU32


class DocumentRanges(NamedTuple):
    """Documents by their positions in the segment, and what occurrences in them are worth."""

    bases: ReadU32  # first positions, and the end
    owners: ReadU32  # the document of every 64th position
    alone: ReadU8  # impacts of up to ``ALONE`` occurrences in one field, by document and field
    factors: ReadF64  # what an occurrence is worth, by document and field
    k1: Fraction


class EncodedPostings(NamedTuple):
    """Postings of some terms, one after the other."""

    frequency: WriteU32  # of each term
    documents: WriteU32
    impacts: WriteU8
    counts: WriteU32  # positions of each
    steps: WriteU32  # between positions
    largest: WriteU32  # frequency in each document of the segment
    total: WriteI64  # one number: how many postings


class ListTables(NamedTuple):
    """Lists as the file of postings has them."""

    place: WriteU8
    best: WriteU8
    rare_window: WriteU16
    window_start: WriteU32
    window_max: WriteU8
