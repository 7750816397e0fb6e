"""Compilation of kernels: when it happens, and where its results are kept.

A kernel is an ordinary function with an explicit signature. It is compiled when ``warm`` asks, or at its first call at
the latest, and loaded from our own cache folder from then on. The folder's name holds the sources, the numba version
and the processor, because numba itself would not notice a change in a helper of another file; kernels of other rooms
have a folder in it, named after their sources. Copies of the same sources share it (``given_folder.py``). Set
``PERIPLUS_CACHE`` to move it; a folder that cannot be written only means that nothing is kept.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import threading
import time
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numba
from llvmlite import binding
from numba.core import config as numba_config

from periplus.index.kernels.given_folder import LOCATOR

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

PACKAGE = Path(__file__).resolve().parents[2]
FOLDERS_KEPT = 4
STILL_IN_USE = 24 * 3600.0  # seconds since a process last began to use a folder

config: Any = numba_config
njit: Any = numba.njit  # with an option that its types do not name
KERNELS: list[Kernel] = []
_compiling = threading.RLock()
_IMPORTED = re.compile(rb"^from (periplus\.[\w.]+) import", re.MULTILINE)


class Kernel:
    """A function that is compiled once, for one signature, without the interpreter's lock."""

    def __init__(self, function: Callable[..., Any], signature: Any, options: dict[str, Any]) -> None:
        self._options = {"nogil": True, **options}
        self.name = function.__name__
        self._function = function
        self._signature = signature
        self._compiled: Any = None
        KERNELS.append(self)

    def __call__(self, *arguments: Any) -> Any:
        return (self._compiled or self.compile())(*arguments)

    def compile(self) -> Any:
        with _compiling:
            if self._compiled is None:
                self._compiled = self._built()
        return self._compiled

    @property
    def entry(self) -> Callable[..., Any]:
        """The compiled function without numba's choice among signatures: quicker, and arguments have to be exact."""
        (compiled,) = self.compile().overloads.values()
        entry: Callable[..., Any] = compiled.entry_point
        return entry

    @property
    def address(self) -> int:
        """Where its machine code begins, for kernels that call it instead of being compiled with it (``calls.py``)."""
        (compiled,) = self.compile().overloads.values()
        address: int = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
        return address

    @property
    def cached(self) -> bool:
        """Whether the compiled form is at hand, in memory or on disk."""
        folder, module = self._folder(), Path(self._function.__code__.co_filename).stem
        return self._compiled is not None or (folder is not None and any(folder.glob(f"{module}.{self.name}-*.nbc")))

    def _folder(self) -> Path | None:
        return folder_of(Path(self._function.__code__.co_filename).parent)

    def _built(self) -> Any:
        folder = self._folder()
        if folder is None:
            return njit(self._signature, **self._options)(self._function)
        with _exclusive(folder, self.name), _cache_in(folder):
            return njit(self._signature, cache=True, **self._options)(self._function)


def kernel(signature: str) -> Callable[[Callable[..., Any]], Kernel]:
    """Marks an entry point; ``signature`` in numba's spelling (see ``types``)."""
    return lambda function: Kernel(function, signature, {})


def bare_kernel(signature: Any) -> Callable[[Callable[..., Any]], Kernel]:
    """The same for one that makes no arrays, nor any function that it calls: see ``bare_helper``."""
    return lambda function: Kernel(function, signature, {"_nrt": False})


def helper(function: Callable[..., Any]) -> Any:
    """Marks a function that only kernels call; compiled with them."""
    return njit(nogil=True)(function)


def inlined(function: Callable[..., Any]) -> Any:
    """Marks a function that is put in place of each call of it, for what makes an array of an address."""
    return njit(inline="always")(function)


def bare_helper(function: Callable[..., Any]) -> Any:
    """The same for one that makes no arrays: numba counts no references in it, and compiles it faster."""
    return njit(nogil=True, _nrt=False)(function)


@cache
def cache_folder() -> Path | None:
    """Where compiled kernels are kept; ``None`` when that place cannot be written."""
    home = (
        os.environ.get("PERIPLUS_CACHE")
        or Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "periplus"
    )
    folder = Path(home) / "kernels" / _fingerprint()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        os.utime(folder)
    except OSError:
        return None
    sweep(folder.parent)
    return folder if os.access(folder, os.W_OK) else None


@cache
def folder_of(place: Path) -> Path | None:
    """Where the kernels of the modules in ``place`` are kept."""
    home = cache_folder()
    if home is None or place == Path(__file__).parent:
        return home
    sources = place.glob("*.py") if place.name == "kernels" else place.glob("kernels.py")
    room = place.parent.name if place.name == "kernels" else place.name
    folder = home / f"{room}-{digest(sources)}"
    folder.mkdir(exist_ok=True)
    return folder


def sweep(home: Path) -> None:
    """Remove the kernels of older sources, but for the last few that were in use and those that may be still."""
    used = sorted(((_last_use(folder), folder) for folder in home.iterdir()), reverse=True)
    for when, folder in used[FOLDERS_KEPT:]:
        if when < time.time() - STILL_IN_USE:
            shutil.rmtree(folder, ignore_errors=True)


def _last_use(folder: Path) -> float:
    try:
        return folder.stat().st_mtime
    except FileNotFoundError:  # another process sweeps, too
        return 0.0


def _fingerprint() -> str:
    sources = digest(Path(__file__).parent.glob("*.py"))
    checked = "-checked" if config.BOUNDSCHECK else ""
    return f"{numba.__version__}-{binding.get_host_cpu_name()}-{sources}{checked}"


def digest(sources: Iterable[Path]) -> str:
    """One of modules with kernels and of what they import: constants from elsewhere are compiled into kernels."""
    having = {source for source in sources if source.name != "__init__.py"}  # which has no kernels
    contents = {source: source.read_bytes() for source in having}
    imported = {name.decode() for content in contents.values() for name in _IMPORTED.findall(content)}
    for path in (PACKAGE.joinpath(*name.split(".")[1:]).with_suffix(".py") for name in imported):
        if path.is_file() and path.parent != Path(__file__).parent:
            contents[path] = path.read_bytes()
    whole = hashlib.sha256()
    for content in sorted(contents.values()):  # wherever the files are
        whole.update(content)
    return whole.hexdigest()[:16]


@contextmanager
def _exclusive(folder: Path, name: str) -> Iterator[None]:
    """One process compiles a kernel; others wait and then load what it wrote."""
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


@contextmanager
def _cache_in(folder: Path) -> Iterator[None]:
    """numba reads where to keep from globals when a function is decorated; other users of numba keep theirs."""
    before = config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES
    config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = str(folder), LOCATOR
    try:
        yield
    finally:
        config.CACHE_DIR, config.CACHE_LOCATOR_CLASSES = before
