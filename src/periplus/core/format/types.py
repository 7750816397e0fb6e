"""Signatures that several kernels of the index share."""

from __future__ import annotations

from periplus.core.compiler import F64, I64, R_F64, R_I64, R_U8, R_U32

# The postings of a segment, as every kernel that walks them takes them (``postings.Postings.tables``).
POSTINGS = (R_U8, R_U32, R_U32, R_U8, R_U8, R_U8, R_U32, R_U8, I64)
# The positions of a segment (``postings.Positions.tables``).
POSITIONS = (R_I64, R_U32, R_U8)
# Where the fields of a document lie, and what one occurrence in them is worth.
FIELD_TABLES = (R_U32, R_F64, F64)
