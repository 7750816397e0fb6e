"""Marks the functions that only kernels call. Entry points are plain functions here: who compiles and keeps them is
decided above this room, where the cache of compiled kernels is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numba
import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

njit: Any = numba.njit  # with an option that its types do not name


def helper(function: Callable[..., Any]) -> Any:
    """A function without arrays of its own: numba counts no references in it."""
    return njit(nogil=True, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)(function)


R_U8 = "Array(uint8, 1, 'C', True)"
R_I64 = "Array(int64, 1, 'C', True)"
R_U64 = "Array(uint64, 1, 'C', True)"
M_U8 = "Array(uint8, 1, 'C')"
M_I64 = "Array(int64, 1, 'C')"
M_I64_2 = "Array(int64, 2, 'C')"
I64 = "int64"

ZERO = np.int64(0)  # typed, since numba would compile a helper anew for each number that is written as such
NONE = np.int64(-1)


def signature(result: str, *arguments: str) -> str:
    return f"{result}({', '.join(arguments)})"
