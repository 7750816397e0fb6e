"""Blocks of documents and fields of a document, as all lists of an index have them."""

from __future__ import annotations

WINDOW = 256  # documents of a block
WINDOW_BITS = 8
FIELD_COUNT = 6  # len(query.FIELDS), as a constant that the compiler can unroll
