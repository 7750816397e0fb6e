"""Kernels: functions that are compiled once, for one signature, and kept as machine code.

One is loaded at its first call, and compiled then if nobody did so before; ``warm`` does that for all.
"""

from __future__ import annotations

import threading
from functools import cached_property
from typing import TYPE_CHECKING, Any

from periplus.core.compiler import kept
from periplus.core.compiler.calling import caller
from periplus.core.compiler.loading import loaded

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.core.compiler.calling import Entry
    from periplus.core.compiler.kept import Code
    from periplus.core.compiler.signatures import Signature

KERNELS: list[Kernel] = []  # of all modules that are loaded
_compiling = threading.RLock()


class Kernel:
    """A function that runs without the interpreter's lock."""

    def __init__(self, function: Callable[..., Any], signature: Signature, options: dict[str, Any]) -> None:
        self.name = function.__name__
        self.module = function.__module__
        self._function = function
        self._signature = signature
        self._options = options
        KERNELS.append(self)

    @property
    def full_name(self) -> str:
        return f"{self.module}.{self.name}"

    def __call__(self, *given: Any) -> int:
        return self.entry(*given)

    @cached_property
    def entry(self) -> Callable[..., int]:
        """The kernel as a function, for who calls it often."""
        return caller(self.name, self._signature, self._loaded)

    @property
    def is_kept(self) -> bool:
        """Whether it runs without a compiler."""
        return "_loaded" in vars(self) or self._kept() is not None

    def load(self) -> None:
        """Make it ready to run."""
        _ = self._loaded

    def keep(self) -> None:
        """Compile it, unless that was done before, and keep it where that is possible."""
        if not self.is_kept:
            self.load()

    @cached_property
    def _loaded(self) -> Entry:
        with _compiling:
            present = vars(self).get("_loaded")  # another thread was quicker
            return present or loaded(self._kept() or self._compiled())

    def _compiled(self) -> Code:
        from periplus.core.compiler.compiling import compiled

        home = kept.folder()
        if home is None:
            return compiled(self.name, self._function, self._signature, self._options)
        file = home / self._file_name
        with kept.exclusive(file):
            found = self._kept()  # another process was quicker
            if found is None:
                found = compiled(self.name, self._function, self._signature, self._options)
                kept.write(file, found)
            return found

    def _kept(self) -> Code | None:
        return kept.found(self._file_name)

    @property
    def _file_name(self) -> str:
        return kept.file_name(self.module, self.name)


def kernel(signature: Signature) -> Callable[[Callable[..., Any]], Kernel]:
    """Marks an entry point; see ``signatures`` for how to write what it takes."""
    return lambda function: Kernel(function, signature, {})


def bare_kernel(signature: Signature) -> Callable[[Callable[..., Any]], Kernel]:
    """The same for one that makes no arrays, nor any function that it calls: see ``bare_helper``."""
    return lambda function: Kernel(function, signature, {"_nrt": False})
