"""Imports are read in confined processes: the same outcomes, and what breaks a limit costs a record or a stretch."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from periplus import Collection, archive
from periplus.app.importing import import_paths, reading_apart, work
from periplus.app.importing.archives import ArchiveStretch
from periplus.app.importing.intake import outcomes_of
from periplus.app.importing.items import Kept, LeftOut, outcome_of
from periplus.app.importing.opening import FileAsked, below, beside, regular
from periplus.app.importing.sizes import Sizes
from periplus.app.importing.sources import FileContents
from periplus.documents import apart
from periplus.errors import Corrupt, OverBudget


def record(number: int, told: str = "") -> bytes:
    body = f"<title>Tide {number}</title><p>High water {number}. {told}".encode()
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n" + body
    head = f"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h.test/{number}\r\nContent-Length: {len(block)}"
    return gzip.compress(head.encode() + b"\r\n\r\n" + block + b"\r\n\r\n", mtime=0)


def archive_of(path: Path, count: int, told: dict[int, str] | None = None) -> Path:
    path.write_bytes(b"".join(record(number, (told or {}).get(number, "")) for number in range(count)))
    return path


def outcomes(path: Path, workers: int = 1) -> list[Kept | LeftOut]:
    jobs = work.Work([path], "", workers)
    return [outcome for job in iter(jobs.next, None) for outcome in outcomes_of(job.portions)]


def whole(path: Path) -> ArchiveStretch:
    return ArchiveStretch(archive.Stretch(str(path), 0, path.stat().st_size, is_last=True))


def numbers(found: list[Kept | LeftOut]) -> list[int]:
    return [int(one.document.url.rpartition("/")[2]) for one in found if isinstance(one, Kept)]


@pytest.fixture
def hostile(monkeypatch):
    """Readers that do what records tell them, and little patience with them."""
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent))
    monkeypatch.setattr(reading_apart, "PROGRAM", "hostile_reader")
    monkeypatch.setattr(apart, "CPU_SECONDS", 2.0)
    monkeypatch.setattr(apart, "LOOK", 0.05)
    pool = apart.ProcessPool(reading_apart.ImportReader)
    monkeypatch.setattr(reading_apart, "READERS", pool)
    yield pool
    pool.close()


FENCED = """
import os, socket, sys, threading
from pathlib import Path
from periplus.app.importing.reader_process import MEMORY_BYTES, _libraries
from periplus.documents import confinement, reading_process
folder, handle = Path(sys.argv[1]), int(sys.argv[2])
standing = []
real = confinement.confine
reading_process.confine = lambda *args, **options: standing.extend(real(*args, **options))
reading_process.shut_in(MEMORY_BYTES, _libraries(), threads=True)
print(*standing)
def tried(what, action):
    try:
        action()
    except (OSError, MemoryError, RuntimeError) as error:
        print(what, "refused")
    else:
        print(what, "allowed")
tried("memory", lambda: bytearray(2 * MEMORY_BYTES))
tried("network", lambda: socket.create_connection(("127.0.0.1", 9), 1))
tried("socket", socket.socket)
tried("program", lambda: os.execv("/bin/true", ["true"]))
tried("process", os.fork)
tried("spawning", lambda: os.posix_spawn("/bin/true", ["true"], {}))
tried("signal", lambda: os.kill(os.getppid(), 0))
tried("reading", lambda: (folder / "given.warc").read_bytes())
tried("listing", lambda: list(folder.iterdir()))
tried("passwords", lambda: Path("/etc/passwd").read_text())
tried("writing", lambda: (folder / "new").write_text("x"))
tried("overwriting", lambda: os.write(handle, b"x"))
tried("removing", lambda: (folder / "given.warc").unlink())
print("handle", os.read(handle, 100).decode())
done = []
thread = threading.Thread(target=lambda: [done.append("thread"), tried("network_of_a_thread", socket.socket)])
thread.start()
thread.join()
print(*done, "allowed")
import pyarrow.parquet  # what Python loads late it can load
print("imports allowed")
tried("files", lambda: [os.dup(0) for _ in range(100)])
"""


def test_a_confined_reader_of_imports_can_only_read_what_it_was_handed(tmp_path):
    given = tmp_path / "given.warc"
    given.write_text("given")
    with regular(os.fsencode(given)) as handle:
        done = subprocess.run(
            [sys.executable, "-c", textwrap.dedent(FENCED), str(tmp_path), str(handle.fileno())],
            capture_output=True, text=True, check=False, pass_fds=(handle.fileno(),),
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    standing, *lines = done.stdout.splitlines()
    said = dict(line.split() for line in lines)
    assert (said.pop("handle"), said.pop("thread"), said.pop("imports")) == ("given", "allowed", "allowed")
    if standing.split() != ["limits", "landlock", "seccomp"]:
        pytest.skip(f"this system has only: {standing}")
    assert set(said.values()) == {"refused"}
    assert len(said) == 15
    assert given.read_text() == "given"


def test_what_is_read_apart_is_what_is_read_here(tmp_path):
    path = archive_of(tmp_path / "a.warc.gz", 30)
    path.write_bytes(path.read_bytes() + b"rubbish")
    question = FileContents(str(path), workers=2, sizes=Sizes(shortest=300, longest=1_500))
    portions = list(reading_apart.contents(question))
    assert len(portions) > 3
    assert portions == list(question.answers(beside(path)))
    for portion in portions:
        assert isinstance(portion, ArchiveStretch)
        here = [outcome_of(entry) for entry in portion.entries(beside(path))]
        assert list(reading_apart.outcomes(portion)) == here


@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize("does", ["die", "hang", "swell", "babble", "rave", "stall"])
def test_a_page_that_takes_its_reader_over_costs_that_page(tmp_path, does):
    found = outcomes(archive_of(tmp_path / "a.warc.gz", 6, {2: f"parser, {does}"}))
    assert numbers(found) == [0, 1, 3, 4, 5]
    (lost,) = [one for one in found if isinstance(one, LeftOut)]
    assert lost.problem is not None or does == "swell"  # without memory the parser gives up by itself
    assert lost.reason == "parse-bound"
    if lost.problem is not None:
        assert (lost.problem.file, lost.problem.what.partition(": ")[0]) == (
            str(tmp_path / "a.warc.gz"),
            "http://h.test/2",
        )


@pytest.mark.usefixtures("hostile")
@pytest.mark.parametrize("does", ["die", "hang", "swell", "rave"])
def test_an_archive_that_takes_its_reader_over_costs_what_follows_in_it(tmp_path, does):
    path = archive_of(tmp_path / "a.warc.gz", 6, {3: f"archive, {does}"})
    found = list(reading_apart.outcomes(whole(path)))
    assert numbers(found) == [0, 1, 2]
    (lost,) = [one for one in found if isinstance(one, LeftOut)]
    assert lost.problem is not None
    assert (lost.reason, lost.problem.file) == ("read-bound", str(path))
    assert "what follows record 3 is passed over" in lost.problem.what


@pytest.mark.usefixtures("hostile")
def test_a_file_that_takes_its_reader_over_costs_that_file(tmp_path):
    path = archive_of(tmp_path / "a.warc.gz", 6, {3: "archive, die"})
    other = archive_of(tmp_path / "b.warc.gz", 2)
    with Collection(tmp_path / "c", flags={"index.workers": 1}) as collection:
        report = import_paths(collection, [path, other])
    assert (report.documents, report.left_out) == (2, {"read-bound": 1})
    (problem,) = report.problems
    assert (problem.file, problem.reason) == (str(path), "read-bound")


@pytest.mark.usefixtures("hostile")
def test_a_stretch_that_takes_its_reader_over_costs_that_stretch(tmp_path, monkeypatch):
    monkeypatch.setattr(work, "SIZES", Sizes(shortest=300, longest=1_000))
    found = outcomes(archive_of(tmp_path / "a.warc.gz", 40, {20: "archive, die"}), workers=2)
    (lost,) = [one for one in found if isinstance(one, LeftOut)]
    assert lost.problem is not None
    assert (lost.reason, lost.problem.place.startswith("byte ")) == ("read-bound", True)
    kept = numbers(found)
    assert {*range(15), *range(30, 40)} <= set(kept)
    assert 20 not in kept
    assert kept == sorted(set(kept))


@pytest.mark.usefixtures("hostile")
def test_a_reader_that_is_taken_over_gets_no_file_that_is_not_imported(tmp_path):
    assert numbers(outcomes(archive_of(tmp_path / "a.warc.gz", 4, {1: "parser, snoop"}))) == [0, 1, 2, 3]


def test_a_strict_import_stops_where_a_reader_is_taken_over(tmp_path, hostile):
    path = archive_of(tmp_path / "a.warc.gz", 6, {3: "archive, die"})
    with (
        Collection(tmp_path / "c", flags={"index.workers": 1}) as collection,
        pytest.raises(Corrupt, match=r"a\.warc\.gz: the reading process ended; what follows is passed over"),
    ):
        import_paths(collection, [path], strict=True)
    assert all(process.is_at_rest for process in hostile._idle)


def test_more_than_a_file_can_hold_is_not_taken(tmp_path, monkeypatch):
    path = archive_of(tmp_path / "a.warc.gz", 200)
    monkeypatch.setattr(reading_apart, "FLOOR", 20_000)
    monkeypatch.setattr(reading_apart, "RATIO", 0)
    found = list(reading_apart.outcomes(whole(path)))
    assert 5 < len(numbers(found)) < 100
    (lost,) = [one for one in found if isinstance(one, LeftOut)]
    assert lost.reason == "read-bound"
    assert "more than a file of its size can hold" in str(lost.problem)


def test_an_answer_that_is_too_long_is_not_taken(tmp_path, monkeypatch):
    path = archive_of(tmp_path / "a.warc.gz", 3)
    monkeypatch.setattr(reading_apart, "ANSWER_BYTES", 10)
    with pytest.raises(OverBudget, match=r"a\.warc\.gz: an answer is larger than 10 bytes"):
        list(reading_apart.contents(FileContents(str(path), workers=1)))


@pytest.mark.usefixtures("hostile")
def test_a_file_that_breaks_its_reader_again_and_again_is_given_up(tmp_path, monkeypatch):
    monkeypatch.setattr(reading_apart, "BREAKS", 3)
    found = outcomes(archive_of(tmp_path / "a.warc.gz", 12, dict.fromkeys(range(2, 10), "parser, die")))
    assert [one.reason for one in found if isinstance(one, LeftOut)] == ["parse-bound", "parse-bound", "read-bound"]
    assert numbers(found) == [0, 1]


def test_only_the_file_and_archives_beside_it_are_opened(tmp_path):
    path = archive_of(tmp_path / "a.warc.gz", 1)
    archive_of(tmp_path / "b.warc.gz", 1)
    (tmp_path / "below").mkdir()
    archive_of(tmp_path / "below" / "c.warc.gz", 1)
    (tmp_path / "secret").write_text("x")
    os.mkfifo(tmp_path / "pipe.warc.gz")

    def opens(opener, name):
        try:
            opener(FileAsked(os.fsencode(tmp_path / name))).close()
        except OSError:
            return False
        return True

    names = ["a.warc.gz", "b.warc.gz", "below/c.warc.gz", "secret", "pipe.warc.gz", "below/../b.warc.gz", "none.warc"]
    assert [name for name in names if opens(beside(path), name)] == ["a.warc.gz", "b.warc.gz"]
    assert [name for name in names if opens(below(tmp_path), name)] == ["a.warc.gz", "b.warc.gz", "below/c.warc.gz"]
    assert not opens(below(tmp_path / "below"), "a.warc.gz")


def test_a_name_that_is_no_utf8_is_refused(tmp_path):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff.jsonl"))
    path.write_text("{}")
    with Collection(tmp_path / "c") as collection, pytest.raises(Exception, match="no name in UTF-8"):
        import_paths(collection, [path])
