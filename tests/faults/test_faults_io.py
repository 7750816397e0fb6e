"""A disk that fails: nothing acknowledged is lost, and the next run goes on. All of it: ``make soak-io``."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest

from faults import io_world
from faults.failing_disk import MODES, compiler, environment
from faults.io_sweep import chosen, sweep
from mockweb.dns_server import MockDns
from support.components import missing

POINTS = 3  # failures of each operation, in as many modes

WRITER = """
import os, sys
from pathlib import Path
sys.path.insert(0, {tests!r})
from faults.failing_disk import FailingDisk
disk, folder = FailingDisk(), Path(sys.argv[1])
disk.arm(folder, int(sys.argv[2]), sys.argv[3])
said = []
for number in range(3):
    try:
        descriptor = os.open(folder / str(number), os.O_WRONLY | os.O_CREAT)
        said.append(os.write(descriptor, b"1234"))
        os.fsync(descriptor)
    except OSError as error:
        said.append(-error.errno)
(folder.parent / "beside").write_bytes(b"sound")
print(said, disk.calls, disk.where)
"""


@pytest.fixture(scope="module", autouse=True)
def _compiler():
    if compiler() is None:
        missing("a C compiler")


@pytest.mark.parametrize(
    ("call", "mode", "said"),
    [
        (5, "eio", f"[4, {-errno.EIO}, 4] 8 write folder/1"),
        (6, "eio", f"[4, 4, {-errno.EIO}, 4] 9 fsync folder/1"),
        (5, "full", f"[4, {-errno.ENOSPC}, {-errno.ENOSPC}] 6 write folder/1"),
        (5, "short", "[4, 2, 4] 9 write folder/1"),
        (8, "short", "[4, 4, 2] 9 write folder/2"),
        (2, "read-only", f"[{-errno.EROFS}, {-errno.EROFS}, {-errno.EROFS}] 4 write folder/0"),
        (1, "slow", "[4, 4, 4] 9 create folder/0"),
    ],
)
def test_the_disk_fails_as_it_is_told(tmp_path, call, mode, said):
    folder = tmp_path / "folder"
    folder.mkdir()
    program = WRITER.format(tests=str(io_world.__file__).rpartition("/faults/")[0])

    done = under(environment(tmp_path), program, str(folder), str(call), mode)

    assert done.replace(str(tmp_path) + "/", "") == said.replace("folder/", "")


CLOCKS = """
import datetime, sys, time
sys.path.insert(0, {tests!r})
from faults.failing_disk import FailingDisk
disk, before = FailingDisk(), time.monotonic()
said = []
for seconds in (3600, -3600, 0):
    real = time.time()
    disk.set_clock(seconds)
    disk.disarm()
    read = (time.time(), datetime.datetime.now().timestamp(), time.clock_gettime(time.CLOCK_REALTIME))
    disk.set_clock(0)
    said.append([round((one - real - seconds) / 60) for one in read])
print(said, time.monotonic() - before < 60)
"""

LOOKUPS = """
import asyncio, sys
from periplus.crawl.fetching.resolver import Dns
print(asyncio.run(Dns().lookup(sys.argv[1]))[0])
"""


def test_the_clock_of_the_wall_is_set_and_no_other(tmp_path):
    program = CLOCKS.format(tests=str(io_world.__file__).rpartition("/faults/")[0])

    done = under(environment(tmp_path), program)

    assert done == "[[0, 0, 0], [0, 0, 0], [0, 0, 0]] True"


def test_names_are_asked_of_the_server_that_is_given(tmp_path):
    with MockDns() as dns:
        dns.a("harbour.test", "127.0.0.7")

        assert under(environment(tmp_path, dns.port), LOOKUPS, "harbour.test") == "['127.0.0.7']"


def under(given: dict[str, str], program: str, *arguments: str) -> str:
    command = [sys.executable, "-c", program, *arguments]
    done = subprocess.run(command, env=os.environ | given, capture_output=True, text=True, check=True)
    return done.stdout.strip()


def test_every_change_fails_in_every_way():
    assert list(chosen(2, 0)) == [(call, mode) for call in (1, 2) for mode in MODES]
    assert [call for call, _ in chosen(100, 4)] == [1, 34, 67, 100]


@pytest.mark.parametrize("operation", io_world.OPERATIONS)
def test_after_an_error_of_the_disk_the_next_run_goes_on(tmp_path, operation):
    calls, *trials = list(sweep(tmp_path, operation, POINTS))

    assert calls > 50
    assert [trial for trial in trials if trial.wrong] == []
    assert any(trial.outcome != "done" for trial in trials)
