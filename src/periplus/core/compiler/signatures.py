"""Signatures of kernels, as they are written: ``R`` is only read, ``M`` is written; then the element's type.

What comes back from a kernel is a number or nothing. ``BYTES`` is an object of bytes, of which the kernel gets the
address; there may be one, as the last argument, and a zero stands behind it.
"""

from __future__ import annotations

import re
from typing import NamedTuple

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
M_F64 = "Array(float64, 1, 'C')"
M_I64_2 = "Array(int64, 2, 'C')"
I64 = "int64"
F64 = "float64"
BYTES = "bytes"

FAILED = -(1 << 62)  # given back when a kernel failed; no result is so small

_ARGUMENT = re.compile(r"Array\((\w+), (\d), 'C'(, True)?\)|int64|float64|bytes")
_WHOLE = re.compile(rf"(void|int64)\(((?:{_ARGUMENT.pattern})(?:, (?:{_ARGUMENT.pattern}))*)?\)")


class Argument(NamedTuple):
    kind: str  # int64, float64, bytes, or array
    element: str = ""
    dimensions: int = 0
    is_written: bool = False


def signature(result: str, *arguments: str) -> str:
    return f"{result}({', '.join(arguments)})"


def arguments_of(text: str) -> list[Argument]:
    """What a signature takes."""
    if not _WHOLE.fullmatch(text) or BYTES in text.removesuffix(f"{BYTES})"):
        raise ValueError(f"{text!r} is no signature of a kernel")
    return [_argument(found) for found in _ARGUMENT.finditer(text[text.index("(") :])]


def _argument(found: re.Match[str]) -> Argument:
    element, dimensions, is_read = found.groups()
    return Argument("array", element, int(dimensions), not is_read) if element else Argument(found[0])
