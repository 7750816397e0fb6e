"""Where numba keeps the compiled form of a kernel: in the folder that it is given, wherever the sources are.

numba's own way has the path of the source file in it, so a second copy of the same sources, or one that has moved, was
compiled again. The folder here is named after the sources already (``compiler.py``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numba.core import config as numba_config

if TYPE_CHECKING:
    from collections.abc import Callable

config: Any = numba_config
LOCATOR = f"{__name__}.GivenFolder"  # as numba's setting wants it


class GivenFolder:
    """One function in ``config.CACHE_DIR``, with the methods that numba asks of a locator."""

    def __init__(self, function: Callable[..., Any], file: str) -> None:
        self._py_file = file  # by this name numba asks for it in warnings
        self._line = function.__code__.co_firstlineno
        self._folder: str = config.CACHE_DIR

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> GivenFolder:
        return cls(py_func, py_file)

    def ensure_cache_path(self) -> None:
        """There is nothing to make: who gives a folder has made it."""

    def get_cache_path(self) -> str:
        return self._folder

    def get_source_stamp(self) -> str:
        return ""  # the folder's name tells the sources

    def get_disambiguator(self) -> str:
        return str(self._line)
