"""Functions that only kernels call. numba is loaded when one of them is compiled, not when it is declared.

numba asks a value that it does not know for its ``_numba_type_``, and one that may be put in place of its calls for its
``targetoptions``. So what stands here for a function is taken for numba's form of it.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


class Helper:
    """A function in numba's Python."""

    def __init__(self, function: Callable[..., Any], **options: Any) -> None:
        self.py_func = function
        self.targetoptions = options
        self.__doc__ = function.__doc__

    def __call__(self, *arguments: Any) -> Any:
        """For tests; nothing else calls one from outside."""
        return self._called(*arguments)

    @property
    def _numba_type_(self) -> Any:
        return self._within._numba_type_  # which refers to the form weakly

    @cached_property
    def _within(self) -> Any:
        """For kernels: what Python would call it by takes as long to compile again."""
        return self._form(no_cpython_wrapper=True, no_cfunc_wrapper=True)

    @cached_property
    def _called(self) -> Callable[..., Any]:
        form: Callable[..., Any] = self._form()
        return form

    def _form(self, **options: bool) -> Any:
        import numba

        njit: Any = numba.njit  # with options that its types do not name
        return njit(**self.targetoptions, **options)(self.py_func)


class Intrinsic:
    """A function that writes LLVM's code itself."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self.__doc__ = function.__doc__

    @cached_property
    def _numba_type_(self) -> Any:
        from numba.core.registry import cpu_target
        from numba.extending import intrinsic as form

        context: Any = cpu_target.typing_context
        self._made = form(self._function)
        context.refresh()  # which brings what was declared just now
        return context.resolve_value_type(self._made)


def helper(function: Callable[..., Any]) -> Any:
    """Marks a function that only kernels call; compiled with them."""
    return Helper(function, nogil=True)


def bare_helper(function: Callable[..., Any]) -> Any:
    """The same for one that makes no arrays: numba counts no references in it, and compiles it faster."""
    return Helper(function, nogil=True, _nrt=False)


def inlined(function: Callable[..., Any]) -> Any:
    """Marks a function that is put in place of each call of it, for what makes an array of an address."""
    return Helper(function, inline="always")


def intrinsic(function: Callable[..., Any]) -> Any:
    """Marks one that gives a signature and what writes the code for it, as ``numba.extending.intrinsic`` takes it."""
    return Intrinsic(function)
