"""All kernels: which there are, and which are still to be compiled.

A kernel joins the list when its module is imported. A note beside the files says that all kernels of these sources are
kept; to look for them one by one takes a tenth of a second.
"""

from __future__ import annotations

import hashlib
import importlib
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from periplus.core.compiler.kept import folder
from periplus.core.compiler.kernels import KERNELS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from periplus.core.compiler.kernels import Kernel

CORE = Path(__file__).resolve().parents[1]
_CORE_NAME = __name__.rsplit(".", 2)[0]
# Begun first, so that two processes end together; the others take a second or two each.
LONGEST = ("block_max", "phrase_search", "tokenize")


def every_kernel() -> list[Kernel]:
    """The longest first."""
    for path in _sources():
        importlib.import_module(".".join((_CORE_NAME, *path.relative_to(CORE).with_suffix("").parts)))
    order = {name: place for place, name in enumerate(LONGEST)}
    own = [kernel for kernel in KERNELS if kernel.module.startswith(f"{_CORE_NAME}.")]
    return sorted(own, key=lambda kernel: order.get(kernel.name, len(order)))


def cold() -> list[str]:
    """Names of the kernels to compile into the cache, the longest first; none where nothing can be kept."""
    if folder() is None:
        return []
    return [kernel.full_name for kernel in every_kernel() if not kernel.is_kept]


def keep_one(full_name: str) -> str:
    """Compile the kernel of that name into the cache, for a process among several; its short name."""
    (found,) = [kernel for kernel in every_kernel() if kernel.full_name == full_name]
    found.keep()
    return found.name


def keep_all(progress: Callable[[int, int, str], None]) -> int:
    """Compile every kernel that is not kept; ``progress`` gets (done, total, name). Returns how many there are."""
    kernels = every_kernel()
    for done, kernel in enumerate(kernels):
        progress(done, len(kernels), kernel.name)
        kernel.keep()
    progress(len(kernels), len(kernels), "")
    note_that_all_are_kept()
    return len(kernels)


def all_are_kept() -> bool:
    """Whether no query has to wait for a compiler."""
    note = ready_note()
    if note is not None and note.exists():
        return True
    if not all(kernel.is_kept for kernel in every_kernel()):
        return False
    note_that_all_are_kept()
    return True


def note_that_all_are_kept() -> None:
    note = ready_note()
    if note is not None:
        with suppress(OSError):  # a folder that may only be read
            note.touch()


def ready_note() -> Path | None:
    """A file that stands for all kernels of these sources."""
    home = folder()
    if home is None:
        return None
    whole = hashlib.sha256()
    for source in _sources():
        whole.update(hashlib.sha256(source.read_bytes()).digest())
    return home / f"all-{whole.hexdigest()[:16]}"


def _sources() -> Iterator[Path]:
    """Modules that kernels are compiled from."""
    own = Path(__file__).parent
    yield from sorted(path for path in CORE.glob("*/*.py") if path.parent != own and path.name != "__init__.py")
