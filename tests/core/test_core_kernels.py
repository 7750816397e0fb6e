"""Kernels as files: compiled once, whole or not taken, called only with what they were made for."""

from __future__ import annotations

import os
import threading
import time
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from periplus.core.compiler import (
    BYTES,
    F64,
    I64,
    M_F64,
    M_I64,
    R_I64,
    R_U8,
    Kernel,
    bare_helper,
    bare_kernel,
    helper,
    intrinsic,
    ir,
    kept,
    kernel,
    signature,
    types,
)
from periplus.core.layout.kinds import Fraction, ReadI64


def total(numbers, count, out):
    found = 0
    for place in range(count):
        found += numbers[place]
    out[0, 1] = found
    return found * 2


TOTAL = signature(I64, R_I64, I64, "Array(int64, 2, 'C')")


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PERIPLUS_CACHE", str(tmp_path))
    kept.folder.cache_clear()
    yield tmp_path
    kept.folder.cache_clear()


def fresh(function=total, wanted: str = TOTAL) -> Kernel:
    return bare_kernel(wanted)(function)


def arrays():
    return np.arange(10, dtype=np.int64), np.zeros((2, 3), dtype=np.int64)


def test_a_kernel_is_kept_and_loaded(folder: Path) -> None:
    numbers, out = arrays()
    assert not fresh().is_kept
    fresh().keep()
    (file,) = folder.rglob("*.total-*.kernel")
    before = file.read_bytes(), file.stat().st_ino
    call = fresh()
    assert (call(numbers, 10, out), out[0, 1]) == (90, 45)
    assert (call(numbers, 4, out), out[0, 1]) == (12, 6)
    fresh().keep()
    assert (file.read_bytes(), file.stat().st_ino) == before


@pytest.mark.parametrize("damage", [b"", b"\x00" * 50, "cut", "flipped"], ids=str)
def test_a_file_that_is_not_whole_is_not_taken(folder: Path, damage: bytes | str) -> None:
    fresh().keep()
    (file,) = folder.rglob("*.total-*.kernel")
    whole = bytearray(file.read_bytes())
    whole[len(whole) // 2] ^= 1
    file.write_bytes({"cut": bytes(whole[:-40]), "flipped": bytes(whole)}.get(str(damage)) or bytes(damage))
    assert not fresh().is_kept
    numbers, out = arrays()
    assert fresh()(numbers, 10, out) == 90
    assert fresh().is_kept


def test_where_nothing_can_be_kept_a_kernel_runs(folder: Path, monkeypatch) -> None:
    blocked = folder / "file"
    blocked.touch()  # a folder cannot be made below a file, not even by root
    monkeypatch.setenv("PERIPLUS_CACHE", str(blocked))
    assert kept.folder() is None
    numbers, out = arrays()
    assert fresh()(numbers, 3, out) == 6


def test_what_another_wrote_is_taken_without_writing(folder: Path, monkeypatch) -> None:
    """A folder that may only be read; root may write anywhere, so that writing is what fails here."""
    fresh().keep()
    monkeypatch.setattr(kept, "exclusive", _refused)
    monkeypatch.setattr(kept, "write", _refused)
    monkeypatch.setattr(kept.os, "utime", _refused)
    numbers, out = arrays()
    assert fresh()(numbers, 10, out) == 90


def _refused(path: Path, *_: object) -> None:
    raise PermissionError(path)


def test_a_lock_that_cannot_be_had_keeps_nobody_from_compiling(folder: Path) -> None:
    with kept.exclusive(folder / "missing" / "one.kernel"):
        pass
    kept.write(folder / "missing" / "one.kernel", kept.Code("entry", b"", b""))
    assert not (folder / "missing").exists()


def test_other_arguments_are_refused() -> None:
    numbers, out = arrays()
    read_only = out.copy()
    read_only.setflags(write=False)
    wrong = ((numbers.astype(np.int32), 3, out), (numbers, 3, out[0]), (numbers, 3), (numbers[::2], 3, out))
    unaligned = np.frombuffer(bytes(81), np.uint8)[1:].view(np.int64)
    for given in (*wrong, (numbers, 3, read_only), (unaligned, 3, out), ([1, 2], 3, out)):
        with pytest.raises(TypeError, match="the kernel total takes"):
            fresh()(*given)


def weighed(text, count, factor, out):
    for place in range(count):
        out[place] = text[place] * factor


def test_numbers_fractions_and_bytes_arrive() -> None:
    out = np.zeros(3)
    text = np.frombuffer(b"abc", np.uint8)
    fresh(weighed, signature("void", R_U8, I64, F64, M_F64))(text, np.int32(2), 0.5, out)
    assert out.tolist() == [48.5, 49.0, 0.0]


@helper
def doubled(values):
    more = np.empty(len(values), np.int64)
    for place in range(len(values)):
        more[place] = 2 * values[place]
    return more


def summed(values):
    return doubled(doubled(values)).sum()


def test_a_kernel_may_make_arrays() -> None:
    call = kernel(signature(I64, R_I64))(summed)
    for size in (0, 1, 1_000, 100_000):
        assert call(np.arange(size)) == 2 * size * (size - 1)


@bare_helper
def divided(one, other):
    return one // other


def first_byte(number, other, text_at):
    return divided(number, other) + text_at * 0


def test_a_kernel_that_fails_says_so() -> None:
    call = fresh(first_byte, signature(I64, I64, I64, BYTES))
    assert call(7, 2, b"x") == 3
    with pytest.raises(IndexError, match="the kernel first_byte failed"):
        call(7, 0, b"x")


@intrinsic
def published(typing_context, address):
    """A number that another thread may write just now."""

    def generate(context, builder, signature, arguments):
        pointer = builder.inttoptr(arguments[0], ir.IntType(64).as_pointer())
        return builder.load_atomic(pointer, "acquire", 8)

    return types.int64(types.int64), generate


def waited(address, most):
    rounds = 0
    while published(address) == 0 and rounds < most:
        rounds += 1
    return rounds


def test_a_kernel_runs_without_the_interpreters_lock() -> None:
    """It waits for what another thread of Python writes, which would never happen otherwise."""
    flag, most = np.zeros(1, np.int64), 20_000_000_000
    call = fresh(waited, signature(I64, I64, I64))
    assert call(flag.ctypes.data, 3) == 3
    found: list[int] = []
    waiting = threading.Thread(target=lambda: found.append(call(flag.ctypes.data, most)))
    waiting.start()
    flag[0] = 1
    waiting.join()
    assert found[0] < most


class Pair(NamedTuple):
    numbers: ReadI64
    factor: Fraction


WriteF64 = Annotated[NDArray[np.float64], M_F64]


class Result(NamedTuple):
    first: WriteF64
    second: WriteF64


def scaled(pair, count, result):
    for place in range(count):
        result.first[place] = pair.numbers[place] * pair.factor
        result.second[place] = -result.first[place]
    return len(pair.numbers)


def test_a_bundle_is_one_argument() -> None:
    call = fresh(scaled, signature(I64, Pair, I64, Result))
    result = Result(np.zeros(3), np.zeros(3))
    assert call(Pair(np.arange(1, 5), 0.5), 3, result) == 4
    assert result.first.tolist() == [0.5, 1.0, 1.5]
    assert result.second.tolist() == [-0.5, -1.0, -1.5]
    with pytest.raises(TypeError, match="the kernel scaled takes"):
        call(Pair(np.arange(1, 5), 0.5), 3, Result(np.zeros(3), np.zeros(3, np.int64)))


@pytest.mark.parametrize(
    "wrong", [("float64", I64), (I64, BYTES, I64), (I64, "Array(int64, 1, 'F')"), (I64, "int64, int64")]
)
def test_other_signatures_are_refused(wrong: tuple[str, ...]) -> None:
    with pytest.raises(ValueError, match="no signature of a kernel"):
        signature(*wrong)


def test_old_files_and_folders_are_swept(folder: Path) -> None:
    now = time.time()
    for number in range(kept.COPIES_KEPT + 3):
        path = folder / f"{number}"
        path.mkdir() if number % 2 else path.touch()
        os.utime(path, (now, now - number * kept.STILL_IN_USE * 0.9))
    kept.sweep(folder.iterdir())
    assert sorted(path.name for path in folder.iterdir()) == [f"{number}" for number in range(kept.COPIES_KEPT)]


def copied(values, other):
    values[:] = other


def test_a_kernel_that_needs_more_than_memory_is_refused() -> None:
    """numba words the error of a copy with other sizes as an object of Python, which nobody could make here."""
    with pytest.raises(TypeError, match="the kernel copied asks for .*PyUnicode"):
        kernel(signature("void", M_I64, R_I64))(copied).load()
