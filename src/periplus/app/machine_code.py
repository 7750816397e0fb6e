"""Kernels as files of machine code, which run without numba: to load numba takes a process most of a second.

numba compiles a function for one signature; what LLVM made of it is kept, with the name of its symbol, and handed to
LLVM's loader by whoever needs it. Only functions that make no arrays can be kept so: their code asks for nothing but
``memset`` and its like. They are called by addresses, the way numba's own code calls them: behind a place for the
result and one for what went wrong stand the parts of each array (two owners, of which there are none, how many items of
which size, where, and shape and strides).
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import re
import shutil
import time
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from periplus.storage.files import TEMPORARY_PREFIX

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from numpy.typing import NDArray

FOLDERS_KEPT: Final = 4
STILL_IN_USE: Final = 24 * 3600.0  # seconds since a process last loaded from a folder
_ARRAY: Final = re.compile(r"Array\((\w+), (\d), 'C'(?:, True)?\)|int64")


class Code(msgspec.Struct, frozen=True):
    """A kernel as it is kept."""

    symbol: str
    code: bytes
    digest: bytes  # of the code: LLVM does not survive a file that is not whole


class MachineCode:
    """A function with an explicit signature, all of whose arguments but the second, a number, are arrays."""

    def __init__(self, function: Callable[..., Any], signature: str, prepare: Callable[[], None]) -> None:
        """``prepare`` is called before anything is compiled."""
        self.name = function.__name__
        self._function = function
        self._signature = signature
        self._prepare = prepare
        self._types = [found.groups() for found in _ARRAY.finditer(signature[signature.index("(") :])]
        self._entry: Any = None

    @property
    def is_kept(self) -> bool:
        return self._entry is not None or self._kept() is not None

    def keep(self) -> None:
        """Compile it, unless that was done before, and keep it where that is possible."""
        folder = self._folder()
        if folder is None:
            self._entry = self._entry or _loaded(self._compiled())
            return
        with _exclusive(folder / f"{self.name}.lock"):
            if self._kept() is not None:
                return
            made = self._compiled()
            self._entry = _loaded(made)
            with suppress(OSError):  # a full disk: it runs all the same
                staged = folder / f"{TEMPORARY_PREFIX}{self.name}-{os.getpid()}"
                staged.write_bytes(msgspec.msgpack.encode(made))
                staged.replace(self._file(folder))

    def bound(self, *arrays: NDArray[Any]) -> Callable[[int], int]:
        """The kernel with its arrays, which stay where they are: it only has to be given the number.

        What this returns belongs to one thread.
        """
        self._check(arrays)
        if self._entry is None and (kept := self._kept()) is not None:
            self._entry = _loaded(kept)
        if self._entry is None:
            self.keep()
        if self._entry is None:  # another process kept it meanwhile
            self._entry = _loaded(self._kept() or self._compiled())
        entry, name = self._entry, self.name
        result, failure, number = ctypes.c_int64(), ctypes.c_void_p(), ctypes.c_int64()
        parts = [[ctypes.c_int64(part) for part in _parts(array)] for array in arrays]
        arguments = (ctypes.byref(result), ctypes.byref(failure), *parts[0], number, *chain.from_iterable(parts[1:]))

        def call(size: int, _held: object = arrays) -> int:
            number.value = size
            if entry(*arguments):
                raise IndexError(f"the kernel {name} failed")
            return result.value

        return call

    def _check(self, arrays: tuple[NDArray[Any], ...]) -> None:
        """Code of the wrong arrays would write anywhere."""
        wanted = [(kind, int(dimensions)) for kind, dimensions in self._types if kind]
        if wanted != [(array.dtype.name, array.ndim) for array in arrays]:
            raise TypeError(f"the kernel {self.name} takes other arrays")
        if not all(array.flags.c_contiguous and array.flags.aligned for array in arrays):
            raise TypeError(f"the kernel {self.name} takes arrays in one piece")

    def _compiled(self) -> Code:
        import numba
        from llvmlite import binding

        self._prepare()
        njit: Any = numba.njit  # with options that its types do not name
        options = {"nogil": True, "_nrt": False, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
        (found,) = njit(self._signature, **options)(self._function).overloads.values()
        module = binding.parse_assembly(found.library.get_llvm_str())
        code = _machine().emit_object(module)
        return Code(found.fndesc.llvm_func_name, code, hashlib.sha256(code).digest())

    def _kept(self) -> Code | None:
        folder = self._folder()
        if folder is None:
            return None
        with suppress(OSError, msgspec.MsgspecError):
            found = msgspec.msgpack.decode(self._file(folder).read_bytes(), type=Code)
            if hashlib.sha256(found.code).digest() == found.digest:
                return found
        return None

    def _file(self, folder: Path) -> Path:
        return folder / f"{self.name}.kernel"

    def _folder(self) -> Path | None:
        return code_folder(Path(self._function.__code__.co_filename).parent)


@cache
def code_folder(sources: Path) -> Path | None:
    """Where the code of the kernels in a folder is kept; ``None`` where nothing can be."""
    from llvmlite import binding

    base = os.environ.get("PERIPLUS_CACHE")
    digest = hashlib.sha256(binding.get_host_cpu_features().flatten().encode())  # processors of one name may differ
    for source in (Path(__file__), *sorted(sources.glob("*.py"))):
        digest.update(source.read_bytes())
    is_checked = os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0")
    checked = "-checked" if is_checked else ""
    name = f"{version('numba')}-{binding.get_host_cpu_name()}-{digest.hexdigest()[:16]}{checked}"
    try:
        home = Path(base) if base else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "periplus"
        folder = home / "code" / name
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
    except (OSError, RuntimeError):  # cannot be written; no home
        return None
    _sweep(folder.parent)
    return folder if os.access(folder, os.W_OK) else None


def _sweep(home: Path) -> None:
    """Remove the code of older sources, but for the last few that were in use and those that may be still."""
    with suppress(OSError):
        used = sorted(((folder.stat().st_mtime, folder) for folder in home.iterdir()), reverse=True)
        for when, folder in used[FOLDERS_KEPT:]:
            if when < time.time() - STILL_IN_USE:
                shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _exclusive(path: Path) -> Iterator[None]:
    """One process compiles a kernel; others wait for what it keeps."""
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _parts(array: NDArray[Any]) -> tuple[int, ...]:
    return (0, 0, array.size, array.itemsize, array.__array_interface__["data"][0], *array.shape, *array.strides)


@cache
def _machine() -> Any:
    """This processor with all it can do, as numba compiles for it."""
    from llvmlite import binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding.Target.from_default_triple().create_target_machine(
        cpu=binding.get_host_cpu_name(),
        features=binding.get_host_cpu_features().flatten(),
        opt=3,
        codemodel="jitdefault",
        jit=True,
    )


@cache
def _engine() -> Any:
    from llvmlite import binding

    return binding.create_mcjit_compiler(binding.parse_assembly(""), _machine())


def _loaded(found: Code) -> Any:
    from llvmlite import binding

    engine = _engine()
    engine.add_object_file(binding.ObjectFileRef.from_data(found.code))
    engine.finalize_object()
    return ctypes.CFUNCTYPE(ctypes.c_int32)(engine.get_function_address(found.symbol))
