"""zstd by address: kernels unpack stored documents with the library's own function, without an object for each.

zstandard carries the C functions in a module of their own. Where that is missing there are no addresses, and documents
are unpacked one by one (``texts.py``).
"""

from __future__ import annotations

import importlib
import threading
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct
from numpy.typing import NDArray

if TYPE_CHECKING:
    from collections.abc import Iterable

SEGMENT = 3  # numbers of a segment: where its frames are, where it says where each begins, its dictionary


class Dictionary(Struct, frozen=True):
    """As the library has read it."""

    address: int
    kept: Any  # frees it


class Parts(Struct, frozen=True):
    """The frames of a segment, one a document."""

    frames: NDArray[np.uint8]
    starts: NDArray[np.int64]
    dictionary: Dictionary


class Frames:
    """Those of some segments, as kernels take them; all 0 for a segment that has none."""

    def __init__(self, segments: Iterable[Parts | None]) -> None:
        self._kept = tuple(segments)  # whose addresses these are
        self._table = np.array([_row(one) for one in self._kept], np.int64)
        self.address: int = self._table.ctypes.data
        self.segments = len(self._kept)


def _row(one: Parts | None) -> list[int]:
    return [one.frames.ctypes.data, one.starts.ctypes.data, one.dictionary.address] if one else [0] * SEGMENT


def prepared(data: bytes) -> Dictionary | None:
    """A dictionary for frames; ``None`` where there are no addresses or this is none."""
    module = _module()
    if module is None:
        return None
    made = module.lib.ZSTD_createDDict(data, len(data))
    if made == module.ffi.NULL:
        return None
    return Dictionary(_number(made), module.ffi.gc(made, module.lib.ZSTD_freeDDict))


@cache
def unpacker() -> int:
    """The address of the function that unpacks a frame by a dictionary; 0 where there is none."""
    module = _module()
    return _number(module.ffi.addressof(module.lib, "ZSTD_decompress_usingDDict")) if module is not None else 0


class _Own(threading.local):
    address = 0
    kept: Any = None


_own = _Own()


def context() -> int:
    """What the function works with: one a thread, since two must not use it at once."""
    return _own.address or _made_context()


def _made_context() -> int:
    module = _module()
    if module is None:
        return 0
    _own.kept = module.ffi.gc(module.lib.ZSTD_createDCtx(), module.lib.ZSTD_freeDCtx)
    _own.address = _number(_own.kept)
    return _own.address


@cache
def _module() -> Any:
    try:
        return importlib.import_module("zstandard._cffi")
    except ImportError:
        return None


def _number(pointer: Any) -> int:
    return int(_module().ffi.cast("intptr_t", pointer))
