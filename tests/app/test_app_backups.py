"""Backups: of a collection in use, incremental, brought back with the same answers, checked to the last byte."""

from __future__ import annotations

import json
import re
import shutil
import sqlite3
import threading
from contextlib import closing

import msgspec
import pytest

from periplus import Collection
from periplus.app.backups import Inventory, back_up, check_backups, open_store, restore
from periplus.app.console.backup_reports import last_backup
from periplus.app.doctor import examine, examine_files
from periplus.app.importing import import_paths
from periplus.cli.main import run
from periplus.demo import DemoWeb
from periplus.errors import Corrupt, Incompatible, NotFound, Occupied, OverBudget, StorageBusy, UsageError
from periplus.storage import folder_lock
from periplus.storage.sealing import sealed, unsealed
from support.kills import killed_at
from support.object_store import bucket, object_server  # noqa: F401 (fixtures)

QUERIES = (
    "spring tide",
    "lighthouse",
    '"high water"',
    "tide -moon",
    "harbour OR port",
    "intitle:tide",
    "tid*",
    "nothing",
)


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("backups") / "c"
    with DemoWeb() as web, Collection(folder) as made:
        made.crawl(web.seeds(), max_pages=20, scope="host", delay=0.01, resolve=web.resolve)
        made.rank()
        made.index()
    return folder


@pytest.fixture
def collection(sound, tmp_path):
    shutil.copytree(sound, tmp_path / "c")
    with Collection.existing(tmp_path / "c") as copy:
        yield copy


@pytest.fixture
def store(tmp_path):
    return open_store(str(tmp_path / "kept"))


def answers(folder):
    """Everything that searches say, but for how long they took."""
    said = []
    with Collection.existing(folder) as collection:
        for query in QUERIES:
            for options in ({}, {"explain": True}, {"sort": "date"}, {"page": 2, "k": 3}):
                answer = msgspec.to_builtins(collection.search(query, **options))
                answer.pop("took_ms")
                said.append(answer)
        said.append(msgspec.to_builtins(collection.suggest("li")))
    return said


def failures(findings):
    return [finding for finding in findings if finding.state == "failed"]


def test_a_restored_collection_gives_the_same_answers(collection, store, tmp_path):
    before = answers(collection.folder)

    report = back_up(collection, store)
    done = restore(store, tmp_path / "elsewhere" / "d")

    assert (done.number, done.files, done.bytes) == (1, report.files, report.bytes)
    assert answers(tmp_path / "elsewhere" / "d") == before
    assert any(answer["results"] for answer in before[:-1])
    with Collection.existing(tmp_path / "elsewhere" / "d") as restored:
        assert not failures(examine(restored))
        assert restored.politeness().clean
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["d"]


def test_a_restore_says_which_backup_came_back_and_when_it_was_made(collection, store, tmp_path, capsys):
    back_up(collection, store)

    assert run(["restore", str(tmp_path / "kept"), "--dir", str(tmp_path / "d")]) == 0

    assert re.search(r"/d: backup 1 of \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC, \d+ files, ", capsys.readouterr().err)


def test_a_restored_folder_is_for_its_owner_alone_unless_it_was_there(collection, store, tmp_path):
    back_up(collection, store)
    (tmp_path / "open").mkdir()
    (tmp_path / "open").chmod(0o755)
    for name, rights in (("new", 0o700), ("open", 0o755)):
        restore(store, tmp_path / name)
        assert (tmp_path / name).stat().st_mode & 0o777 == rights


def test_only_what_changed_travels(collection, store, tmp_path, monkeypatch):
    monkeypatch.setattr("periplus.app.backups.capture.YOUNG", -1.0)
    first = back_up(collection, store)
    again = back_up(collection, store)

    assert first.sent_bytes > 100_000
    assert again.sent_bytes <= (collection.folder / "state.db").stat().st_size
    assert again.sent_chunks <= 1
    lines = tmp_path / "docs.jsonl"
    lines.write_text('{"id": "1", "title": "Winds", "text": "The trade winds are zephyrical."}\n')
    import_paths(collection, [lines])
    collection.index()
    third = back_up(collection, store)

    assert 0 < third.sent_bytes < first.sent_bytes
    restore(store, tmp_path / "d")
    with Collection.existing(tmp_path / "d") as restored:
        assert len(restored.search("zephyrical")) == 1
        assert not failures(examine(restored))


def test_last_backups_are_kept_and_older_ones_go(collection, store, tmp_path):
    removed = [back_up(collection, store, keep=2).removed for _ in range(4)]

    assert removed == [(), (), (1,), (2,)]
    assert [finding.check for finding in check_backups(store)] == ["backup 3", "backup 4"]
    restore(store, tmp_path / "d", number=3)
    with pytest.raises(NotFound, match="backup 1 is not in .*there are 3, 4"):
        restore(store, tmp_path / "e", number=1)
    with pytest.raises(UsageError, match="at least 1"):
        back_up(collection, store, keep=0)
    assert last_backup(collection).number == 4


def test_a_takedown_reaches_backups_at_their_next_run(collection, store, tmp_path):
    victim = next(iter(collection.search("lighthouse")))
    back_up(collection, store)
    held = _chunks(tmp_path, ("archive/", "documents/", "index/"))

    collection.remove(victim.url, rebuild=True)
    report = back_up(collection, store)

    assert report.removed == (1,)
    left = {path.name for path in (tmp_path / "kept" / "chunks").rglob("*")}
    assert not left & held["archive/"]  # the page was in the one file that there is
    assert held["documents/"] - left
    assert not left & {chunk for chunk in held["index/"] if chunk not in held["shared"]}
    assert not failures(check_backups(store))
    restore(store, tmp_path / "d")
    with Collection.existing(tmp_path / "d") as restored:
        assert victim.url not in [hit.url for hit in restored.search(victim.title, k=50)]
        assert not failures(examine(restored))


def _chunks(tmp_path, prefixes):
    """Chunks of the first backup by the beginning of their file's name; ``shared`` are those of tiny files."""
    inventory = unsealed((tmp_path / "kept" / "backups" / "00000001.json").read_bytes(), Inventory)
    found = {prefix: set() for prefix in (*prefixes, "shared")}
    for file in inventory.files:
        for prefix in prefixes:
            if file.name.startswith(prefix):
                found[prefix].update(file.chunks)
        if not file.name.endswith("texts.bin"):
            found["shared"].update(file.chunks)
    return found


def test_a_backup_under_load_is_whole(tmp_path, store):
    """While a crawl stores pages, an indexer publishes generations and compacts batches, and visitors search."""
    with DemoWeb() as web, Collection(tmp_path / "c") as collection:
        collection.crawl(web.seeds(), max_pages=3, scope="host", delay=0.01, resolve=web.resolve)
        collection.index()
        done, problems = threading.Event(), []

        def work(job):
            try:
                job()
            except Exception as error:  # noqa: BLE001 - told by the assertion below
                problems.append(error)

        def crawl():
            try:
                collection.crawl(max_pages=60, scope="host", delay=0.01, resolve=web.resolve)
            finally:
                done.set()

        def index():
            with Collection.existing(tmp_path / "c") as other:
                while not done.is_set():
                    other.index()
                    other.search("tide")
                other.rank()

        threads = [threading.Thread(target=work, args=(job,)) for job in (crawl, index)]
        for thread in threads:
            thread.start()
        made = 0
        while made < 3 or not done.is_set():
            with Collection.existing(tmp_path / "c") as other:
                back_up(other, store, keep=1_000)  # more than a slow crawl has time for
            made += 1
        for thread in threads:
            thread.join()
        assert not problems

    assert not failures(check_backups(store))
    for number in sorted({1, made // 2 + 1, made}):
        folder = tmp_path / f"restored-{number}"
        restore(store, folder, number=number)
        with Collection.existing(folder) as restored:
            assert not failures(examine(restored))
            assert [finding for finding in examine_files(restored) if "without a row" in finding.detail] == []
            restored.search("tide")


def test_a_kill_at_any_moment_leaves_the_last_backup_whole(collection, store, tmp_path):
    back_up(collection, store)
    before = answers(collection.folder)
    lines = tmp_path / "docs.jsonl"
    lines.write_text('{"id": "1", "title": "Winds", "text": "The trade winds are zephyrical."}\n')
    import_paths(collection, [lines])
    collection.index()
    folder = collection.folder
    collection.close()

    def work():
        with Collection.existing(folder) as child:
            back_up(child, store, keep=1)

    step = 1
    while killed_at(step, work):
        numbers = [finding.check for finding in check_backups(store) if finding.state == "ok"]
        assert not failures(check_backups(store)), step
        assert numbers
        step += 3
    assert step > 20
    restore(store, tmp_path / "d")
    with Collection.existing(tmp_path / "d") as restored:
        assert len(restored.search("zephyrical")) == 1
        assert not failures(examine(restored))
    assert answers(tmp_path / "d") != before
    back_up(Collection.existing(folder), store, keep=1)
    assert not list((tmp_path / "kept").rglob(".tmp-*"))


def test_a_killed_restore_leaves_no_half_collection(collection, store, tmp_path):
    back_up(collection, store)
    target = tmp_path / "d"

    step = 1
    while killed_at(step, lambda: restore(store, target)):
        assert not target.exists()
        step += 25
    with Collection.existing(target) as restored:
        assert not failures(examine(restored))
    assert not (tmp_path / ".d.restoring").exists()


def test_every_flipped_byte_is_named(collection, store, tmp_path):
    back_up(collection, store)
    kept = tmp_path / "kept"
    objects = [path for path in kept.rglob("*") if path.is_file()]
    names = set()
    for path in objects:
        whole = path.read_bytes()
        flipped = bytearray(whole)
        flipped[len(whole) // 2] ^= 1
        path.write_bytes(flipped)
        bad = failures(check_backups(store))
        path.write_bytes(whole)

        assert len(bad) >= 1, path
        assert path.name in bad[0].detail
        names.add(bad[0].detail.partition(" (")[2].partition(" from byte")[0])
    assert not failures(check_backups(store))
    assert {"state.db", "periplus.toml", "index/manifest.json"} <= names
    assert any(name.startswith("archive/") for name in names)


def test_damage_is_refused_by_a_restore_and_sent_again_by_a_backup(collection, store, tmp_path):
    back_up(collection, store)
    victim = max((tmp_path / "kept" / "chunks").rglob("*"), key=lambda path: path.stat().st_size)
    victim.write_bytes(victim.read_bytes()[:-1])

    with pytest.raises(Corrupt, match="is damaged; remove it and run periplus backup again"):
        restore(store, tmp_path / "d")
    assert not (tmp_path / "d").exists()
    victim.unlink()
    with pytest.raises(Corrupt, match="is missing; run periplus backup again"):
        restore(store, tmp_path / "d")
    back_up(collection, store)
    assert not failures(check_backups(store))
    restore(store, tmp_path / "d")


def test_a_newer_backup_and_a_newer_state_are_refused_with_what_to_do(collection, store, tmp_path):
    back_up(collection, store)
    path = tmp_path / "kept" / "backups" / "00000001.json"
    fields = unsealed(path.read_bytes(), dict)
    path.write_bytes(sealed(fields | {"schema": 999, "version": "9.9.9"}))

    with pytest.raises(Incompatible, match=r"was made by Periplus 9.9.9 .*install 9.9.9 or later"):
        restore(store, tmp_path / "d")
    with closing(sqlite3.connect(collection.folder / "state.db")) as state, state:
        state.execute("INSERT INTO schema_migrations VALUES (999, 'later', 'x', 0)")
    with Collection.existing(collection.folder) as older:
        found = [finding for finding in examine(older) if finding.check == "database"]

    assert [finding.state for finding in found] == ["failed"]
    assert "has schema 999" in found[0].detail
    assert "use a newer Periplus, or periplus restore a backup" in found[0].advice


def test_what_is_refused(collection, store, tmp_path):
    with pytest.raises(NotFound, match="periplus backup makes one"):
        restore(store, tmp_path / "d")
    with pytest.raises(NotFound, match="periplus backup makes one"):
        check_backups(store)
    back_up(collection, store)
    with pytest.raises(Occupied, match="is not empty"):
        restore(store, collection.folder)
    with Collection(tmp_path / "other").create() as other, pytest.raises(Occupied, match="of another collection"):
        back_up(other, store)
    with folder_lock(collection.folder / "backup.lock", "backing up"), pytest.raises(StorageBusy, match="backing up"):
        back_up(collection, store)
    with pytest.raises(UsageError, match="no place for backups"):
        open_store("ftp://example.org/")


def test_more_files_than_may_be_open(collection, store, monkeypatch):
    monkeypatch.setattr("periplus.app.backups.capture._most_descriptors", lambda: 3)

    with pytest.raises(OverBudget, match="ulimit -n"):
        back_up(collection, store)


@pytest.mark.postgres
def test_a_state_in_postgresql_comes_back_as_a_file(tmp_path, store, postgres_address):
    (tmp_path / "c").mkdir()
    (tmp_path / "c" / "periplus.toml").write_text(f'[storage]\ndatabase = "{postgres_address}"\n')
    with DemoWeb() as web, Collection(tmp_path / "c") as collection:
        collection.crawl(web.seeds(), max_pages=8, scope="host", delay=0.01, resolve=web.resolve)
        collection.rank()
        collection.index()
        back_up(collection, store)
        done = restore(store, tmp_path / "d")
        before = answers(tmp_path / "c")

    assert done.notes
    assert answers(tmp_path / "d") == before
    with Collection.existing(tmp_path / "d") as restored:
        assert restored.settings.storage.database == ""
        assert not failures(examine(restored))


def test_to_an_object_store(collection, tmp_path, bucket):  # noqa: F811
    before = answers(collection.folder)
    store = open_store(bucket)

    back_up(collection, store)
    again = back_up(collection, store)
    restore(store, tmp_path / "d")

    assert again.number == 2
    assert not failures(check_backups(store))
    assert answers(tmp_path / "d") == before


def test_the_verbs(collection, tmp_path, capsys):
    folder, kept, target = str(collection.folder), str(tmp_path / "kept"), str(tmp_path / "d")
    collection.close()

    assert run(["backup", kept, "--dir", folder, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["number"] == 1
    assert run(["verify", kept]) == 0
    assert run(["verify", "--dir", folder]) == 0
    assert run(["restore", kept, "--dir", target]) == 0
    assert run(["restore", kept, "--dir", target]) == 1
    assert "is not empty" in capsys.readouterr().err
    segment = next((tmp_path / "d" / "index" / "segments").rglob("postings.bin"))
    segment.write_bytes(segment.read_bytes()[:-1])
    assert run(["verify", "--dir", target]) == 1
    assert "postings.bin" in capsys.readouterr().out
