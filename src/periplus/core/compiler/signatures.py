"""Signatures of kernels: what comes back, a number or nothing, and the kinds of the arguments (``layout.kinds``).

An argument may be a bundle: a class of named tuples whose fields have kinds. Its fields are arguments of their own to
the machine code, so that a bundle costs nothing. ``BYTES`` is an object of bytes, of which the kernel gets the address;
there may be one, as the last argument, and a zero stands behind it.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple, get_type_hints

from periplus.core.layout.kinds import BYTES, F64, I64

FAILED = -(1 << 62)  # given back when a kernel failed; no result is so small

_ARRAY = re.compile(r"Array\((\w+), (\d), 'C'(, True)?\)")


class Argument(NamedTuple):
    kind: str  # int64, float64, bytes, or array
    element: str = ""
    dimensions: int = 0
    is_written: bool = False


class ArgumentBundle(NamedTuple):
    """An argument of several."""

    of: type[tuple[Any, ...]]
    fields: tuple[Argument, ...]


class Signature(NamedTuple):
    result: str
    arguments: tuple[Argument | ArgumentBundle, ...]

    @property
    def flat(self) -> list[Argument]:
        """The arguments of the machine code."""
        return [
            one for some in self.arguments for one in (some.fields if isinstance(some, ArgumentBundle) else (some,))
        ]

    @property
    def has_bundles(self) -> bool:
        return any(isinstance(one, ArgumentBundle) for one in self.arguments)


def signature(result: str, *arguments: str | type[tuple[Any, ...]]) -> Signature:
    """As a kernel is declared with it: ``signature(I64, R_U8, SpellingTable)``."""
    found = tuple(_argument(one) if isinstance(one, str) else _bundle(one) for one in arguments)
    if result not in ("void", I64) or any(one.kind == BYTES for one in Signature(result, found).flat[:-1]):
        raise ValueError(f"{result} of {arguments} is no signature of a kernel")
    return Signature(result, found)


def _bundle(kind: type[tuple[Any, ...]]) -> ArgumentBundle:
    hints = get_type_hints(kind, include_extras=True)
    return ArgumentBundle(kind, tuple(_argument(hint.__metadata__[0]) for hint in hints.values()))


def _argument(kind: str) -> Argument:
    found = _ARRAY.fullmatch(kind)
    if found:
        return Argument("array", found[1], int(found[2]), not found[3])
    if kind not in (I64, F64, BYTES):
        raise ValueError(f"{kind!r} is no signature of a kernel")
    return Argument(kind)
