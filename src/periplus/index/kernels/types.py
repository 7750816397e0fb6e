"""Signatures of arrays, in numba's spelling: ``R`` is only read, ``M`` is written; then the element's type."""

R_U8 = "Array(uint8, 1, 'C', True)"
R_U16 = "Array(uint16, 1, 'C', True)"
R_U32 = "Array(uint32, 1, 'C', True)"
R_U64 = "Array(uint64, 1, 'C', True)"
R_I64 = "Array(int64, 1, 'C', True)"
R_F64 = "Array(float64, 1, 'C', True)"
M_U8 = "Array(uint8, 1, 'C')"
M_U16 = "Array(uint16, 1, 'C')"
M_U32 = "Array(uint32, 1, 'C')"
M_U64 = "Array(uint64, 1, 'C')"
M_I64 = "Array(int64, 1, 'C')"
I64 = "int64"
F64 = "float64"

# The postings of a segment, as every kernel that walks them takes them (``postings.Postings.tables``).
POSTINGS = (R_U8, R_U32, R_U32, R_U8, R_U8, R_U8, R_U32, R_U8, I64)
# The positions of a segment (``postings.Positions.tables``).
POSITIONS = (R_I64, R_U32, R_U8)
# Where the fields of a document lie, and what one occurrence in them is worth.
FIELD_TABLES = (R_U32, R_F64, F64)


def signature(result: str, *arguments: str) -> str:
    return f"{result}({', '.join(arguments)})"
