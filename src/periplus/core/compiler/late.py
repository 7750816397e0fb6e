"""Parts of numba and LLVM that only a compiler needs: loaded when something of them is first asked for."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class LateModule:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)


ir: Any = LateModule("llvmlite.ir")
types: Any = LateModule("numba.core.types")
arrayobj: Any = LateModule("numba.np.arrayobj")
