"""Damage is refused, crashes lose nothing, readers and writers do not disturb each other."""

import os
import shutil
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import numpy as np
import pytest
from index_world import make_document, prior_of_keys

from periplus.errors import Corrupt, Incompatible, NotFound, Truncated
from periplus.index import Group, IndexQuery, IndexStore, TermForm
from periplus.index.format import files
from periplus.index.format.manifest import read_manifest

TIDE = IndexQuery(should=(Group(forms=(TermForm("tide"),)),))


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    """An index with two segments, deletes and priors."""
    folder = tmp_path_factory.mktemp("sound") / "index"
    store = IndexStore(folder)
    store.update([(1, [make_document(n, f"tide w{n} " * 20) for n in range(60)])], prior=prior_of_keys)
    store.update([(2, [make_document(n, f"port w{n}") for n in range(50, 70)])], prior=prior_of_keys)
    return folder


@pytest.fixture
def copy(sound, tmp_path):
    return Path(shutil.copytree(sound, tmp_path / "copy"))


def all_files(folder):
    return sorted(
        p for p in folder.rglob("*") if p.is_file() and p.suffix != ".lock" and p.parent.name != "generations"
    )


def everything(store):
    """Read all there is; the number of documents."""
    with store.open() as snapshot:
        snapshot.top(TIDE, 10)
        snapshot.top(IndexQuery(must=(Group(phrase=("tide", "w3")),)), 10)
        return len([snapshot.stored(number) for number in snapshot.numbers().tolist()])


def test_all_files_are_there(sound):
    names = {path.name for path in all_files(sound)}
    assert {"segment.json", "terms.bin", "postings.bin", "positions.bin", "columns.bin", "texts.bin"} < names
    assert any(name.endswith(".live") for name in names)
    assert any(name.endswith(".prior") for name in names)
    assert everything(IndexStore(sound)) == 70


def test_missing_files_are_named(sound, tmp_path):
    for number, path in enumerate(all_files(sound)):
        if path.name == "manifest.json":
            continue
        folder = Path(shutil.copytree(sound, tmp_path / str(number)))
        (folder / path.relative_to(sound)).unlink()
        with pytest.raises(NotFound, match=path.name):
            everything(IndexStore(folder))


def test_truncated_files_are_refused(sound, tmp_path):
    for number, path in enumerate(all_files(sound)):
        folder = Path(shutil.copytree(sound, tmp_path / str(number)))
        damaged = folder / path.relative_to(sound)
        os.truncate(damaged, damaged.stat().st_size // 2)
        kind = Truncated if path.suffix in (".bin", ".live", ".prior") else Corrupt
        with pytest.raises(kind):
            everything(IndexStore(folder))


def test_flipped_bits_are_refused_or_harmless(sound, tmp_path):
    """No flipped bit crashes or changes an answer: it is refused, or it lies where nothing is read (padding)."""
    random = np.random.default_rng(11)
    with IndexStore(sound).open() as snapshot:
        expected = snapshot.top(TIDE, 10)
    folder = Path(shutil.copytree(sound, tmp_path / "flipped"))
    for path in all_files(folder):
        if path.name == "manifest.json":
            continue
        original = path.read_bytes()
        for place in random.integers(0, len(original), 12).tolist():
            damaged = bytearray(original)
            damaged[place] ^= 1 << int(random.integers(8))
            path.write_bytes(damaged)
            try:
                assert everything(IndexStore(folder)) == 70
            except (Corrupt, Incompatible):
                continue
            else:
                with IndexStore(folder).open() as snapshot:
                    assert snapshot.top(TIDE, 10).scores.tolist() == expected.scores.tolist()
        path.write_bytes(original)
    assert everything(IndexStore(folder)) == 70


def test_other_formats_are_refused(copy):
    path = next(copy.glob("segments/*/terms.bin"))
    data = bytearray(path.read_bytes())
    data[8] = 99
    path.write_bytes(data)
    with pytest.raises(Incompatible, match="format 99"):
        IndexStore(copy).open()
    manifest = msgspec.json.decode((copy / "manifest.json").read_bytes())
    (copy / "manifest.json").write_bytes(msgspec.json.encode({**manifest, "format": 99}))
    with pytest.raises(Incompatible, match="format 99"):
        IndexStore(copy).open()


def test_damaged_manifest_is_refused(copy):
    (copy / "manifest.json").write_text("{")
    with pytest.raises(Corrupt, match="rebuild"):
        IndexStore(copy).open()


class Crash(BaseException):
    """A power failure: nothing after it runs."""


@pytest.mark.parametrize("step", range(0, 40, 3))
def test_a_crash_at_any_step_leaves_the_last_generation(copy, step, monkeypatch):
    """Every flush to the disk is a place where the power may fail."""
    before = read_manifest(copy)
    steps = iter(range(1000))
    real = os.fsync

    def failing(descriptor):
        if next(steps) == step:
            raise Crash
        real(descriptor)

    batch = [(3, [make_document(n, "tide fresh") for n in range(65, 75)])]
    monkeypatch.setattr(files.os, "fsync", failing)
    try:
        IndexStore(copy).update(batch, prior=prior_of_keys)
    except Crash:
        assert read_manifest(copy).generation in (before.generation, before.generation + 1)
    monkeypatch.undo()
    assert everything(IndexStore(copy)) in (70, 75)
    manifest = IndexStore(copy).update(batch, prior=prior_of_keys)
    assert manifest.documents == 75
    assert everything(IndexStore(copy)) == 75
    assert {p.name for p in (copy / "segments").iterdir()} == {entry.name for entry in manifest.segments}


WRITER = """
import sys
sys.path.insert(0, sys.argv[2])
from pathlib import Path
from index_world import make_document
from periplus.index import IndexStore
store = IndexStore(Path(sys.argv[1]))
store.open().close()
first = store.manifest().last_batch + 1
print("ready", flush=True)
for batch in range(first, 10_000):
    store.update([(batch, [make_document(batch * 10 + n, "tide") for n in range(10)])])
    print(batch, flush=True)
"""


def test_kill_9_loses_nothing_published(tmp_path):
    store = IndexStore(tmp_path / "index")
    store.update([(1, [make_document(10 + n, "tide") for n in range(10)])])
    for updates in (3, 7):
        process = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path / "index"), str(Path(__file__).parent)],
            stdout=subprocess.PIPE,
            text=True,
        )
        lines = [next(process.stdout) for _ in range(updates + 1)]
        process.send_signal(signal.SIGKILL)
        acknowledged = [int(line) for line in (*lines, *process.stdout) if line.strip().isdigit()]
        process.wait()
        process.stdout.close()
        manifest = store.manifest()
        assert manifest.last_batch >= acknowledged[-1] > 1
        with store.open() as snapshot:
            assert snapshot.live == 10 * manifest.last_batch
            assert snapshot.top(TIDE, 5).total.value == 10 * manifest.last_batch


def test_readers_and_a_writer_side_by_side(tmp_path):
    store = IndexStore(tmp_path / "index")
    store.update([(1, [make_document(number, "tide") for number in range(20)])])
    done = threading.Event()

    def read():
        seen = 0
        while not done.is_set() or seen == 0:
            with store.open() as snapshot:
                hits = snapshot.top(TIDE, 1000)
                assert hits.total.value == snapshot.live == len(hits.numbers)
                assert snapshot.stored(int(hits.numbers[-1])).text == "tide"
            seen += 1
        return seen

    with ThreadPoolExecutor(3) as pool:
        readers = [pool.submit(read) for _ in range(3)]
        try:
            for batch in range(2, 14):
                store.update([(batch, [make_document(batch * 20 + n, "tide") for n in range(20)])])
        finally:
            done.set()
        assert all(reader.result() > 0 for reader in readers)


def test_files_stay_while_a_reader_holds_them(tmp_path):
    store = IndexStore(tmp_path / "index")
    store.update([(1, [make_document(number, "tide") for number in range(5)])])
    held = store.open()
    names = [entry.name for entry in held.manifest.segments]
    for batch in range(2, 12):
        store.update([(batch, [make_document(number, "port") for number in range(5)])])
    assert all((tmp_path / "index" / "segments" / name).exists() for name in names)
    assert held.top(TIDE, 10).total.value == 5
    assert held.stored(int(held.numbers()[0])).text == "tide"
    held.close()
    manifest = store.update([(12, [make_document(9, "port")])])
    assert {path.name for path in (tmp_path / "index" / "segments").iterdir()} == {e.name for e in manifest.segments}
    assert len(list((tmp_path / "index" / "generations").iterdir())) == 1
