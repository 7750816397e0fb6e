"""From Python to machine code: a call brings one block of bytes, in which its arguments lie one after the other.

Numbers and fractions take eight bytes each; an array its address and its shape; a text stands at the end.
"""

from __future__ import annotations

from ctypes import addressof, c_char
from struct import Struct as Layout
from typing import TYPE_CHECKING, Any

import numpy as np

from periplus.core.compiler.signatures import FAILED

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from numpy.typing import NDArray

    from periplus.core.compiler.signatures import Argument, Signature

    Entry = Callable[[Any], int]  # the machine code, which takes a block


# Bits of an array's flags: in one piece and aligned; and writeable, where a kernel writes.
READ = 0x0001 | 0x0100
WRITTEN = READ | 0x0400
_buffer_at: Any = (c_char * 0).from_buffer


def caller(name: str, signature: Signature, entry: Entry) -> Callable[..., int]:
    """The kernel as a function of Python."""
    pack = _packer(name, signature.flat)
    if signature.has_bundles:
        pack_parts = pack
        pack = lambda *given: pack_parts(*_parts_of(given))  # noqa: E731

    def call(*given: Any) -> int:
        result = entry(pack(*given))
        if result == FAILED:
            raise failure(name)
        return result

    return call


def failure(name: str) -> IndexError:
    return IndexError(f"the kernel {name} failed")


def _packer(name: str, arguments: Sequence[Argument]) -> Callable[..., bytes]:
    has_text = bool(arguments) and arguments[-1].kind == "bytes"
    numbers = arguments[:-1] if has_text else arguments
    pack = Layout("".join("d" if one.kind == "float64" else _slots(one) * "q" for one in numbers)).pack
    if any(one.kind == "array" for one in numbers):
        kinds = [
            (np.dtype(one.element) if one.element else None, one.dimensions, WRITTEN if one.is_written else READ)
            for one in numbers
        ]
        return lambda *given: pack(*_laid_out(name, kinds, given))
    return (lambda *given: pack(*given[:-1]) + given[-1]) if has_text else pack


def _laid_out(name: str, kinds: list[tuple[Any, int, int]], given: Sequence[Any]) -> list[Any]:
    """Arguments with every array in its parts. Code of other arrays would read and write anywhere."""
    if len(given) != len(kinds):
        raise TypeError(f"the kernel {name} takes {len(kinds)} arguments, not {len(given)}")
    numbers: list[Any] = []
    for value, (element, dimensions, flags) in zip(given, kinds, strict=True):
        if element is None:
            numbers.append(value)
            continue
        if not isinstance(value, np.ndarray) or value.dtype != element or value.ndim != dimensions:
            raise TypeError(f"the kernel {name} takes other arrays")
        if value.flags.num & flags != flags:
            raise TypeError(f"the kernel {name} takes arrays in one piece, and writes to some")
        numbers += (address_of(value), *value.shape)
    return numbers


def address_of(array: NDArray[Any]) -> int:
    """Where an array begins; good for as long as it lives. ``ctypes`` takes a tenth of the time, but tells it only of
    what may be written."""
    if array.flags.writeable:
        return addressof(_buffer_at(array))
    address: int = array.__array_interface__["data"][0]
    return address


def _parts_of(given: Sequence[Any]) -> list[Any]:
    """Arguments with the fields of bundles one after the other."""
    return [part for one in given for part in (one if isinstance(one, tuple) else (one,))]


def _slots(argument: Argument) -> int:
    """How many times eight bytes an argument takes."""
    return 0 if argument.kind == "bytes" else 1 + argument.dimensions
