"""Kinds of arguments that kernels take, as both sides write them.

``R`` is only read, ``M`` is written; then the element's type. ``ReadU8`` and the like are the same for the fields of a
bundle: a named tuple that is one argument of a kernel, with the types of Python for whoever makes it.
"""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

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
I64 = "int64"
F64 = "float64"
BYTES = "bytes"

ReadU8 = Annotated[NDArray[np.uint8], R_U8]
ReadU32 = Annotated[NDArray[np.uint32], R_U32]
ReadU64 = Annotated[NDArray[np.uint64], R_U64]
ReadI64 = Annotated[NDArray[np.int64], R_I64]
ReadF64 = Annotated[NDArray[np.float64], R_F64]
WriteU8 = Annotated[NDArray[np.uint8], M_U8]
WriteU16 = Annotated[NDArray[np.uint16], M_U16]
WriteU32 = Annotated[NDArray[np.uint32], M_U32]
WriteU64 = Annotated[NDArray[np.uint64], M_U64]
WriteI64 = Annotated[NDArray[np.int64], M_I64]
Number = Annotated[int, I64]
Fraction = Annotated[float, F64]
