"""Machine code in this process, by LLVM's own loader: numba is not needed for it."""

from __future__ import annotations

import ctypes
import threading
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from periplus.core.compiler.target import machine

if TYPE_CHECKING:
    from periplus.core.compiler.calling import Entry
    from periplus.core.compiler.kept import Code

_loading = threading.Lock()


def loaded(code: Code) -> Entry:
    """What was kept, ready to run; whoever calls has seen to it that it is whole."""
    from llvmlite import binding

    with _loading:
        engine = _engine()
        engine.add_object_file(binding.ObjectFileRef.from_data(code.machine_code))
        engine.finalize_object()
        address = engine.get_function_address(code.entry)
    entry: Entry = _prototype()(address)
    return entry


@cache
def _engine() -> Any:
    from llvmlite import binding

    with suppress(RuntimeError):  # its functions may be part of the process already
        binding.load_library_permanently("libm.so.6")
    return binding.create_mcjit_compiler(binding.parse_assembly(""), machine())


@cache
def _prototype() -> Any:
    """Called without the interpreter's lock."""
    return ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_char_p)
