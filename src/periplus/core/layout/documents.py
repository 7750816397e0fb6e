"""Blocks of documents and fields of a document, as all lists of an index have them."""

from __future__ import annotations

WINDOW = 256  # documents of a block
WINDOW_BITS = 8
FIELD_BITS = 3  # of the owner of a piece of text; the rest is its document
HALF_BITS = 31  # of the print of a title: of what stands before its last dash; above these those of all of it
GONE = 0xFFFFFFFF  # the new number of a deleted document, in a merge
FIELD_COUNT = 6  # len(query.FIELDS), as a constant that the compiler can unroll
