"""One index on several machines: each has a folder of its own; a database and an object store are for all."""

import threading

import numpy as np
import pytest
from index_world import make_document, make_prior, prior_of_keys, random_document
from oracle import Oracle

from periplus.errors import Corrupt, LeaseLost, NotReady, StorageBusy
from periplus.index import Group, IndexQuery, IndexStore, TermForm
from periplus.index.publishing import upkeep
from periplus.storage import Catalogs, Database, Depot, Leases, LocalFiles, open_objects

WORDS = [f"w{number}" for number in range(40)]
RANDOM = np.random.default_rng(21)
DOCUMENTS = [random_document(RANDOM, number, WORDS) for number in range(120)]


class Machine:
    def __init__(self, root, name, grace=1_800.0):
        self.folder = root / name
        self.database = Database.open(root / "state.db", busy_seconds=5)
        depot = Depot(LocalFiles(self.folder), open_objects(f"file://{root}/objects"))
        self.catalogs = Catalogs(self.database, depot, grace)
        self.store = self.opened()

    def opened(self, **more):
        return IndexStore(self.folder / "index", catalog=self.catalogs.index, **more)

    def files(self, *folders):
        """Names of files on this machine."""
        root = self.folder / "index"
        return {path.relative_to(root).as_posix() for part in folders for path in (root / part).rglob("*")}

    def segments(self):
        return {path.name for path in (self.folder / "index" / "segments").iterdir()}


@pytest.fixture
def machine(tmp_path):
    made = []

    def make(name, **more):
        made.append(Machine(tmp_path, name, **more))
        return made[-1]

    yield make
    for one in made:
        one.database.close()


def word(*terms):
    return IndexQuery(should=tuple(Group(forms=(TermForm(term),)) for term in terms))


def check(store, documents):
    """The index has these documents and finds them as the oracle does."""
    with store.open() as snapshot:
        oracle = Oracle(documents, snapshot.manifest.epoch, None, {row.key: make_prior(row) for row in documents})
        assert snapshot.live == len(documents)
        expected = sorted(oracle.search(word("w0", "w3")).items(), key=lambda pair: (-pair[1], pair[0]))
        hits = snapshot.top(word("w0", "w3"), 500)
        assert snapshot.column("key", hits.numbers).tolist() == [key for key, _ in expected]
        assert hits.scores.tolist() == [score for _, score in expected]


def update(store, number, documents, **more):
    return store.update([(number, documents)], prior=prior_of_keys, **more)


def published_objects(catalog):
    return {stored.name for stored in catalog.current().files.values()}


def test_machines_take_turns_and_find_the_same(machine):
    a, b = machine("a"), machine("b")
    assert b.store.manifest() is None
    assert b.store.newest() == 0
    with pytest.raises(NotReady, match="periplus index"):
        b.store.open()

    update(a.store, 1, DOCUMENTS[:60])
    assert b.store.newest() == 1
    check(b.store, DOCUMENTS[:60])
    update(b.store, 2, [*DOCUMENTS[60:], make_document(7, refusal="gone")])
    left = [row for number, row in enumerate(DOCUMENTS) if number != 7]
    check(a.store, left)
    a.store.refresh_prior(prior_of_keys)
    check(b.store, left)
    assert a.store.verify() == b.store.verify()
    assert not a.files("merging")


def test_a_shard_server_has_only_its_shard_and_a_broker_only_summaries(machine):
    a = machine("a")
    store = a.opened(shards=3)
    update(store, 1, DOCUMENTS[:60], merge=False)
    update(store, 2, [*DOCUMENTS[60:], make_document(7, refusal="gone")], merge=False)
    manifest = a.store.manifest()

    for shard in range(3):
        server = machine(f"server-{shard}")
        with server.store.open(shard=shard) as snapshot:
            assert snapshot.live == manifest.of_shard(shard).documents
        own = [entry for entry in manifest.segments if entry.shard == shard]
        assert server.segments() == {entry.name for entry in own}
        overlays = {f"overlays/{name}" for entry in own for name in (entry.live_file, entry.prior_file) if name}
        assert server.files("overlays") == overlays
        assert not server.files("summaries")
    broker = machine("broker")
    with broker.store.open_files() as files:
        assert files.manifest == manifest
    assert broker.files("summaries") == {
        f"summaries/{name}" for name in (manifest.summary.words, manifest.summary.pages)
    }
    assert not broker.files("segments", "overlays")


def test_merges_and_reshards_travel(machine):
    a, b, server = machine("a"), machine("b"), machine("server")
    for number in range(8):
        update(a.store, number + 1, DOCUMENTS[15 * number : 15 * number + 15], merge=False)
    assert len(a.store.manifest().segments) == 8
    check(b.store, DOCUMENTS)
    merged = b.store.merge()
    assert merged is not None
    assert len(merged.segments) == 1
    check(a.store, DOCUMENTS)

    with server.store.open(shard=0):
        resharded = b.store.reshard(2)
        assert a.store.manifest() == resharded
        check(a.store, DOCUMENTS)
        with server.store.open(shard=1) as snapshot:
            assert snapshot.live == resharded.of_shard(1).documents
    update(a.store, 9, [make_document(7, refusal="gone")])
    check(b.store, [row for number, row in enumerate(DOCUMENTS) if number != 7])


def test_what_another_machine_writes_while_one_merges_is_kept(machine, monkeypatch):
    a, b = machine("a"), machine("b")
    for number in range(8):
        update(a.store, number + 1, DOCUMENTS[10 * number : 10 * number + 10], merge=False)
    real, calls = upkeep.merge, []

    def merging(*arguments):
        order = real(*arguments)
        if not calls:
            calls.append(update(b.store, 9, [*DOCUMENTS[80:], make_document(3, refusal="gone")], merge=False))
        return order

    monkeypatch.setattr(upkeep, "merge", merging)
    a.store.merge()

    left = [row for number, row in enumerate(DOCUMENTS) if number != 3]
    check(a.store, left)
    check(b.store, left)


def test_a_second_writer_is_refused_in_one_line(machine):
    a, b = machine("a"), machine("b")
    inside, done = threading.Event(), threading.Event()

    def slow():
        yield DOCUMENTS[0]
        inside.set()
        done.wait()
        yield DOCUMENTS[1]

    thread = threading.Thread(target=update, args=(a.store, 1, slow()))
    thread.start()
    inside.wait()
    try:
        with pytest.raises(StorageBusy, match=r"another process is writing the index of this collection \(") as refused:
            update(b.store, 1, DOCUMENTS)
    finally:
        done.set()
        thread.join()
    assert "\n" not in str(refused.value)
    check(b.store, DOCUMENTS[:2])


def test_a_frozen_writer_that_comes_back_publishes_nothing(machine):
    """Its lease expired and went to another machine, which published the number that it was about to."""
    a, b = machine("a"), machine("b")
    update(a.store, 1, DOCUMENTS[:60])

    def frozen():
        yield make_document(1, refusal="gone")
        leases = Leases(b.database)
        known = next(lease for lease in leases.held() if lease.name == "index.writer")
        lease = leases.take_over(known, "another machine", 60, dead=True)
        leases.release(lease)
        update(b.store, 2, [*DOCUMENTS[60:], make_document(2, refusal="gone")])

    with pytest.raises(LeaseLost):
        update(a.store, 2, frozen())

    left = [row for number, row in enumerate(DOCUMENTS) if number != 2]
    check(a.store, left)
    update(a.store, 3, [make_document(1, refusal="gone")])
    check(b.store, [row for row in left if row.url != make_document(1).url])


def test_what_nobody_needs_is_removed_after_the_grace(machine, tmp_path):
    a, b = machine("a", grace=-1.0), machine("b")
    objects = open_objects(f"file://{tmp_path}/objects")
    update(a.store, 1, DOCUMENTS[:60])
    with b.store.open() as held:
        before = b.segments()
        a.store.rebuild([(1, DOCUMENTS)], prior=prior_of_keys)
        update(a.store, 2, [])
        a.store.remove(())  # a further step, which sweeps
        assert set(objects.names("index/")) == published_objects(a.catalogs.index)
        check(b.store, DOCUMENTS)
        assert before < b.segments()
        assert held.live == 60
        hits = held.top(word("w0"), 5)
        assert held.stored(int(hits.numbers[0])).url
    update(a.store, 3, [make_document(1, refusal="gone")])
    with b.store.open():
        assert b.segments() == {entry.name for entry in b.store.manifest().segments}
    assert a.segments() == b.segments()
    assert not [name for name in b.catalogs.depot._copies("index/") if not b.catalogs.depot.files.exists(name)]


def test_a_takedown_leaves_nobody_time(machine, tmp_path):
    a, b = machine("a"), machine("b")
    update(a.store, 1, DOCUMENTS)
    check(b.store, DOCUMENTS)
    entry = b.catalogs.index.current()
    a.store.rebuild([(1, DOCUMENTS[1:])], prior=prior_of_keys)
    a.store.drop_replaced()

    names = set(open_objects(f"file://{tmp_path}/objects").names("index/"))
    assert names == published_objects(a.catalogs.index)
    assert not names & {stored.name for stored in entry.files.values()}
    check(b.store, DOCUMENTS[1:])


def test_objects_stay_while_half_an_hour_has_not_passed(machine, tmp_path):
    a, late = machine("a"), machine("late")
    update(a.store, 1, DOCUMENTS[:60])
    entry = late.catalogs.index.current()
    a.store.rebuild([(1, DOCUMENTS)], prior=prior_of_keys)
    a.store.remove(())

    late.catalogs.index.pull(entry)

    assert {stored.name for stored in entry.files.values()} <= set(open_objects(f"file://{tmp_path}/objects").names())


def test_uploads_of_a_writer_that_died_are_swept_by_the_next(machine, tmp_path, monkeypatch):
    a, b = machine("a"), machine("b")
    objects = open_objects(f"file://{tmp_path}/objects")
    update(a.store, 1, DOCUMENTS[:60])

    def killed(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(a.catalogs.index, "_put", killed)
    with pytest.raises(KeyboardInterrupt):
        update(a.store, 2, DOCUMENTS[60:])
    assert set(objects.names("index/")) > published_objects(b.catalogs.index)

    update(b.store, 2, DOCUMENTS[60:])
    assert set(objects.names("index/")) >= published_objects(b.catalogs.index)
    monkeypatch.undo()
    check(a.store, DOCUMENTS)
    update(a.store, 3, DOCUMENTS[:1])
    with b.database.read() as tx:
        rows = " ".join(files for (files,) in tx.rows("SELECT files FROM generations"))
    assert [name for name in objects.names("index/") if name not in rows] == []


def test_a_copy_that_was_lost_or_damaged_is_pulled_again(machine):
    a, b = machine("a"), machine("b")
    update(a.store, 1, DOCUMENTS)
    check(b.store, DOCUMENTS)
    texts = next((b.folder / "index" / "segments").glob("*/terms.bin"))
    texts.unlink()
    check(b.opened(), DOCUMENTS)
    data = bytearray(texts.read_bytes())
    data[-1] ^= 1
    texts.write_bytes(bytes(data))
    check(b.opened(), DOCUMENTS)


def test_a_damaged_object_is_told_and_a_rebuild_needs_nothing_of_it(machine, tmp_path):
    a, b = machine("a"), machine("b")
    update(a.store, 1, DOCUMENTS)
    objects = LocalFiles(tmp_path / "objects")
    name = next(name for name in objects.names("index/") if name.endswith("terms.bin"))
    objects.write(name, b"x" * objects.size(name))

    with pytest.raises(Corrupt, match="is not what was written there"):
        b.store.open()
    b.store.rebuild([(1, DOCUMENTS)], prior=prior_of_keys)
    check(a.store, DOCUMENTS)
    check(b.store, DOCUMENTS)


def test_segments_that_are_not_here_are_not_called_damaged(machine):
    a, server = machine("a"), machine("server")
    update(a.opened(shards=2), 1, DOCUMENTS)
    with server.store.open(shard=0):
        pass
    manifest = a.store.manifest()
    here = {entry.name: server.store._generations.is_here(entry.name) for entry in manifest.segments}
    assert here == {entry.name: entry.shard == 0 for entry in manifest.segments}
    a.store.check_format()
    server.store.check_format()


def test_a_folder_by_itself_writes_no_row(tmp_path):
    database = Database.open(tmp_path / "state.db")
    store = IndexStore(tmp_path / "index")
    update(store, 1, DOCUMENTS)
    with database.read() as tx:
        assert tx.value("SELECT COUNT(*) FROM generations") == 0
        assert tx.value("SELECT COUNT(*) FROM leases") == 0
    database.close()
