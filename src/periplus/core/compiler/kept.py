"""Where the machine code of kernels is kept.

There is one folder for each version of numba, of this package and of the processor (and one for checked array
accesses), and a file in it for each kernel, with a digest of the kernel's module and of all that this imports:
constants and helpers of other files are compiled into it. Copies of the same sources share files. ``PERIPLUS_CACHE``
moves the folder. Where it cannot be written nothing is kept, and what is there is read all the same. A wheel
brings another such folder (``shipped``).
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import sys
import time
from contextlib import contextmanager, suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Final

import msgspec

from periplus.core.compiler import shipped
from periplus.core.compiler.target import Processor, processor

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

COPIES_KEPT: Final = 4  # folders, and files of a kernel
STILL_IN_USE: Final = 24 * 3600.0  # seconds since a process last used one
TEMPORARY_PREFIX: Final = ".partial-"
_OWN = __name__.rpartition(".")[0]  # this package
_MAKING = ("compiling.py", "helpers.py", "late.py", "signatures.py", "target.py", "../layout/kinds.py")
_IMPORT = re.compile(rb"^from ([\w.]+) import (?:\(([^)]*)\)|(.*))$", re.MULTILINE)
_NAME = re.compile(rb"\w+")


class Code(msgspec.Struct, frozen=True):
    """A kernel as it is kept."""

    entry: str  # which takes a block (``calling``)
    machine_code: bytes
    digest: bytes  # of the machine code: LLVM does not survive a file that is not whole


def read(file: Path) -> Code | None:
    """What is kept there; nothing where there is no file, or one that is not whole."""
    with suppress(OSError, msgspec.MsgspecError):
        found = msgspec.msgpack.decode(file.read_bytes(), type=Code)
        if hashlib.sha256(found.machine_code).digest() == found.digest:
            with suppress(OSError):  # a folder that may only be read
                os.utime(file)
            return found
    return None


def write(file: Path, code: Code) -> None:
    """Keep a kernel, if that is possible; it runs all the same."""
    with suppress(OSError):
        staged = file.with_name(f"{TEMPORARY_PREFIX}{file.name}-{os.getpid()}")
        staged.write_bytes(msgspec.msgpack.encode(code))
        staged.replace(file)
        name = file.name.rsplit("-", 1)[0]
        sweep(file.parent.glob(f"{name}-*{file.suffix}"))


@contextmanager
def exclusive(file: Path) -> Iterator[None]:
    """One process compiles a kernel; others wait and then load what it wrote. Nobody waits where nothing is kept."""
    try:
        lock = file.with_suffix(".lock").open("w")
    except OSError:
        yield
        return
    with lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def file_name(module: str, name: str) -> str:
    """Of the kernel of a module that is loaded."""
    short = ".".join(module.split(".")[-2:])
    return f"{short}.{name}-{digest_of(module)}.kernel"


def found(name: str) -> Code | None:
    """The kernel of a file's name: as it was compiled for this processor, else as it came with the package."""
    for home in (folder(), shipped_folder()):
        code = read(home / name) if home else None
        if code is not None:
            return code
    return None


@cache
def shipped_folder() -> Path | None:
    """Of the kernels that came with the package; ``None`` when there are none that run here."""
    home = shipped.home()
    return home / _fingerprint(shipped.PROCESSOR) if home else None


@cache
def folder() -> Path | None:
    """Of all kernels; ``None`` when there is none and none can be made."""
    with suppress(OSError, RuntimeError):  # cannot be made; no home
        base = os.environ.get("PERIPLUS_CACHE")
        home = Path(base) if base else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "periplus"
        own = home / "kernels" / _fingerprint(processor())
        own.mkdir(parents=True, exist_ok=True)
        with suppress(OSError):
            os.utime(own)
        sweep(own.parent.iterdir())
        return own
    return None


def _fingerprint(target: Processor) -> str:
    """Of everything but the kernels themselves; processors of one name may differ in what they can do."""
    whole = hashlib.sha256(target.features.encode())
    for name in _MAKING:
        whole.update((Path(__file__).parent / name).read_bytes())
    checked = "-checked" if os.environ.get("NUMBA_BOUNDSCHECK", "0") not in ("", "0") else ""
    return f"{version('numba')}-{target.name}-{whole.hexdigest()[:16]}{checked}"


def sweep(some: Iterable[Path]) -> None:
    """Remove all but the last few that were in use, and those that may be still."""
    used = sorted(((_last_use(path), path) for path in some), reverse=True)
    for when, path in used[COPIES_KEPT:]:
        if when >= time.time() - STILL_IN_USE:
            continue
        if path.is_dir():
            shutil.rmtree(path, ignore_errors=True)
        else:
            path.unlink(missing_ok=True)


def _last_use(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except FileNotFoundError:  # another process sweeps, too
        return 0.0


@cache
def digest_of(module: str) -> str:
    """Of a module that is loaded and of all that it imports from its own package, however far."""
    package, seen, waiting = module.split(".", maxsplit=1)[0], set[str](), [module]
    contents = []
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        content, imported = _source(name)
        contents.append(content)
        waiting += [other for other in imported if other in sys.modules and _is_part(other, package)]
    whole = hashlib.sha256()
    for content in sorted(contents):  # wherever the files are
        whole.update(content)
    return whole.hexdigest()[:16]


def _is_part(module: str, package: str) -> bool:
    """The compiler is part of the folder's name already."""
    return f"{module}.".startswith(f"{package}.") and not f"{module}.".startswith(f"{_OWN}.")


@cache
def _source(module: str) -> tuple[bytes, tuple[str, ...]]:
    """A digest of a module's source, and the names of what it may import."""
    file = getattr(sys.modules[module], "__file__", None)
    source = Path(file).read_bytes() if file else b""
    names = []
    for found, many, one in _IMPORT.findall(source):
        parts = _NAME.findall(many or one)
        names += [found.decode(), *(f"{found.decode()}.{part.decode()}" for part in parts)]
    return hashlib.sha256(source).digest(), tuple(names)
