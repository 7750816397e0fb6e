"""Kernels as files: compiled once, whole or not taken, called only with the arrays they were made for."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from periplus.app import machine_code
from periplus.app.machine_code import MachineCode, code_folder

OWN_CACHE = {name: os.environ[name] for name in ("PERIPLUS_CACHE",) if name in os.environ}  # of all tests


def total(numbers, count, out):
    found = 0
    for place in range(count):
        found += numbers[place]
    out[0] = found
    return found * 2


TOTAL = "int64(Array(int64, 1, 'C', True), int64, Array(int64, 2, 'C'))"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("PERIPLUS_CACHE", str(tmp_path))
    code_folder.cache_clear()
    yield tmp_path
    code_folder.cache_clear()


def kernel() -> MachineCode:
    return MachineCode(total, TOTAL, lambda: None)


def arrays():
    return np.arange(10, dtype=np.int64), np.zeros((2, 3), dtype=np.int64)


def test_a_kernel_is_kept_and_loaded(folder: Path) -> None:
    numbers, out = arrays()
    assert not kernel().is_kept
    kernel().keep()
    (kept,) = folder.rglob("total.kernel")
    when = kept.stat().st_mtime_ns
    call = kernel().bound(numbers, out)
    assert (call(10), out[0, 0]) == (90, 45)
    assert (call(4), out[0, 0]) == (12, 6)
    kernel().keep()
    assert kept.stat().st_mtime_ns == when


@pytest.mark.parametrize("damage", [b"", b"\x00" * 50, None], ids=["empty", "zeros", "cut"])
def test_a_file_that_is_not_whole_is_not_taken(folder: Path, damage: bytes | None) -> None:
    kernel().keep()
    (kept,) = folder.rglob("total.kernel")
    kept.write_bytes(kept.read_bytes()[:-40] if damage is None else damage)
    assert not kernel().is_kept
    numbers, out = arrays()
    assert kernel().bound(numbers, out)(10) == 90
    assert kernel().is_kept


def test_where_nothing_can_be_kept_a_kernel_runs(folder: Path, monkeypatch) -> None:
    blocked = folder / "file"
    blocked.touch()  # a folder cannot be made below a file, not even by root
    monkeypatch.setenv("PERIPLUS_CACHE", str(blocked))
    assert code_folder(Path(__file__).parent) is None
    numbers, out = arrays()
    assert kernel().bound(numbers, out)(3) == 6


def test_other_arrays_are_refused() -> None:
    numbers, out = arrays()
    for wrong in ((numbers.astype(np.int32), out), (numbers, out[0]), (numbers,), (numbers[::2], out)):
        with pytest.raises(TypeError, match="the kernel total takes"):
            kernel().bound(*wrong)


KEEP = "from periplus.app.quickening import KERNELS; [kernel.keep() for kernel in KERNELS.values()]"
READ = """
import sys
from periplus.app.quickening import quicken
from periplus.documents import parse, quick
from periplus.records import Page

print(quicken())
read, calls = quick.Installed.entries.read_page, []
quick.use(quick.Installed.entries._replace(read_page=lambda *arrays: calls.append(1) or read(*arrays)))
print(parse(Page("http://harbour.example/", b"<title>Tides</title><p>High water at noon.", "text/html")).text)
print(len(calls), "numba" in sys.modules)
"""


def test_pages_are_read_by_kernels_without_numba() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "PERIPLUS_CACHE"} | OWN_CACHE
    for script in (KEEP, READ):  # the first compiles what nobody did before
        run = subprocess.run(
            [sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True
        )
    assert run.stdout.splitlines() == ["True", "High water at noon.", "1 False"]


def test_what_another_wrote_is_taken_without_writing(folder: Path, monkeypatch) -> None:
    kernel().keep()
    monkeypatch.setattr(machine_code, "_exclusive", _refused)
    numbers, out = arrays()
    assert kernel().bound(numbers, out)(10) == 90


def _refused(path: Path) -> None:
    raise PermissionError(path)
