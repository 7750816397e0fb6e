"""Marks the functions that only kernels call. Entry points are plain functions here: who compiles and keeps them is
decided above this room. Nothing here loads numba before something is to be compiled: it takes a second, and compiled
kernels run without it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable


class Helper:
    """Stands for a function until numba's form takes its place."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.py_func = function

    def __call__(self, *arguments: Any) -> Any:
        return self.py_func(*arguments)


def helper(function: Callable[..., Any]) -> Any:
    return Helper(function)


def hand_to_numba() -> None:
    """Put numba's form in the place of every helper that is loaded; kernels can be compiled then."""
    import numba

    njit: Any = numba.njit  # with an option that its types do not name
    modules = [module for name, module in sys.modules.items() if name.startswith(f"{__package__}.")]
    forms: dict[Helper, Any] = {}
    for module in modules:
        for name, value in list(vars(module).items()):
            if isinstance(value, Helper):
                if value not in forms:  # without arrays of its own: numba counts no references in it
                    forms[value] = njit(nogil=True, _nrt=False, no_cpython_wrapper=True, no_cfunc_wrapper=True)(
                        value.py_func
                    )
                setattr(module, name, forms[value])


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
