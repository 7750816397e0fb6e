"""What is kept when processes are killed, disks are full and several processes write at once."""

from __future__ import annotations

import shutil
import subprocess
import sys

import pytest

from periplus.storage import Database, LocalFiles

WRITER = """
import sys
from periplus.storage import Database
with Database.open(sys.argv[1]) as database:
    for number in range(1_000_000):
        with database.write() as tx:
            tx.executemany("INSERT INTO meta VALUES (?, ?)", [(f"{number}/{i}", "x" * 200) for i in range(20)])
        print(number, flush=True)
"""

COUNTER = """
import sys
from periplus.storage import Database
with Database.open(sys.argv[1]) as database:
    sys.stdin.readline()
    for _ in range(int(sys.argv[2])):
        with database.write() as tx:
            number = tx.next_number("shared")
            tx.execute("INSERT INTO meta VALUES (?, ?)", (str(number), sys.argv[3]))
"""

FILL = """
import sys
from pathlib import Path
from periplus.errors import StorageError
from periplus.storage import Database
{limit}
acknowledged = 0
try:
    with Database.open(Path(sys.argv[1]) / "state.db") as database:
        while True:
            with database.write() as tx:
                {inside}
                rows = [(f"{{acknowledged}}/{{i}}", "x" * 1000) for i in range(20)]
                tx.executemany("INSERT INTO meta VALUES (?, ?)", rows)
            acknowledged += 1
except StorageError as error:
    print(type(error).__name__, error, sep=": ")
with Database.open(Path(sys.argv[1]) / "state.db") as database, database.read() as tx:
    print(acknowledged * 20 == tx.value("SELECT count(*) FROM meta"), acknowledged > 0, database.check())
"""

FILE_WRITER = """
import sys
from periplus.storage import LocalFiles
files = LocalFiles(sys.argv[1])
for number in range(1_000_000):
    files.write("manifest.json", str(number).encode() * 20_000)
    print(number, flush=True)
"""


def _last_line_before_kill(process, lines):
    """Read some acknowledgements, kill -9, then read what was still in the pipe."""
    for _ in range(lines):
        assert process.stdout.readline(), process.stderr.read()
    process.kill()
    rest = process.stdout.read()
    process.wait()
    complete = rest[: rest.rfind("\n") + 1].split()
    return int(complete[-1]) if complete else lines - 1


@pytest.mark.parametrize("lines", [1, 17, 60])
def test_kill_loses_no_acknowledged_commit(address, start, lines):
    acknowledged = _last_line_before_kill(start(WRITER, address), lines)
    with Database.open(address) as database:
        with database.read() as tx:
            numbers = [int(key.partition("/")[0]) for (key,) in tx.rows("SELECT key FROM meta")]
        assert set(range(acknowledged + 1)) <= set(numbers)
        assert all(numbers.count(number) == 20 for number in set(numbers))  # whole transactions only
        assert database.check() == []
        with database.write() as tx:
            tx.execute("INSERT INTO meta VALUES ('after', '')")


@pytest.mark.parametrize("lines", [1, 12])
def test_kill_leaves_whole_files(tmp_path, start, lines):
    acknowledged = _last_line_before_kill(start(FILE_WRITER, str(tmp_path)), lines)
    files = LocalFiles(tmp_path)
    found = files.read("manifest.json").decode()
    number = int(found[: len(found) // 20_000])
    assert found == str(number) * 20_000
    assert number >= acknowledged
    files.sweep()
    assert [path.name for path in tmp_path.iterdir()] == ["manifest.json"]


def test_processes_write_side_by_side(address, start):
    Database.open(address).close()
    processes = [start(COUNTER, address, "50", name) for name in "abc"]
    for process in processes:
        process.stdin.write("\n")
        process.stdin.flush()
    for process in processes:
        errors = process.communicate()[1]
        assert process.returncode == 0, errors
    with Database.open(address) as database, database.read() as tx:
        assert tx.value("SELECT value FROM counters WHERE name = 'shared'") == 150
        assert tx.rows("SELECT value, count(*) FROM meta GROUP BY value ORDER BY value") == [
            ("a", 50),
            ("b", 50),
            ("c", 50),
        ]


def test_a_database_that_may_not_grow_is_full(start, tmp_path):
    """SQLite's own limit of pages: it answers as it does on a full disk."""
    script = FILL.format(limit="", inside='tx.execute("PRAGMA max_page_count=100")')
    output, errors = start(script, str(tmp_path)).communicate()
    assert output.startswith("StorageFull: no space left for"), errors
    assert output.endswith("\nTrue True []\n")


def test_a_limit_on_file_size_loses_nothing_committed(start, tmp_path):
    limit = (
        "import resource, signal\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (900_000, 900_000))"
    )
    output, errors = start(FILL.format(limit=limit, inside="pass"), str(tmp_path)).communicate()
    assert output.startswith("StorageError: "), errors
    assert "check the disk" in output
    assert output.endswith("\nTrue True []\n")


def test_a_full_file_system_loses_nothing_committed(tmp_path):
    """A real one of 2 MB, in a private mount namespace; ordinary users may have one where the kernel lets them."""
    unshare = shutil.which("unshare")
    mount = f"mount -t tmpfs -o size=2m none {tmp_path}"
    allowed = unshare and subprocess.run([unshare, "-rm", "sh", "-c", mount], capture_output=True, check=False)
    if not allowed or allowed.returncode:
        pytest.skip("this user may not mount a small file system")
    script = FILL.format(limit="", inside="pass")
    command = [unshare, "-rm", "sh", "-c", f'{mount} && exec "$0" -c "$1" {tmp_path}', sys.executable, script]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout.startswith("StorageFull: no space left for"), done.stderr
    assert done.stdout.endswith("\nTrue True []\n")
