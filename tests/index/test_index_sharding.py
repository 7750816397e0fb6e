"""One index in several shards: whole together, each an index of its own, whatever is updated, merged and resharded."""

import shutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from index_world import make_document, make_prior, prior_of_keys, random_document
from oracle import Oracle

from periplus import addresses
from periplus.errors import NotFound, NotReady, StorageBusy, UsageError
from periplus.index import Group, IndexQuery, IndexStore, TermForm
from periplus.index.building.sharding import MAX_SHARDS, shards_of
from periplus.index.format.files import os as file_system
from periplus.index.format.manifest import read_manifest
from periplus.index.publishing import upkeep
from periplus.index.reading import generation_files, titles

WORDS = [f"w{number}" for number in range(40)]
MOST_OF_MEAN = 1.1  # documents of the largest shard, in those of the mean one


def word(*terms):
    return IndexQuery(should=tuple(Group(forms=(TermForm(term),)) for term in terms))


def keys_of(store, shard=None):
    with store.open(shard=shard) as snapshot:
        return snapshot.column("key", snapshot.numbers()).tolist()


def check(store, documents, shards):
    """All documents are there once, in their shards, and found as the oracle finds them."""
    manifest = store.manifest()
    assert (manifest.shards, manifest.documents) == (shards, len(documents))
    by_shard = [keys_of(store, shard) for shard in range(shards)]
    assert sorted(key for keys in by_shard for key in keys) == sorted(document.key for document in documents)
    for shard, keys in enumerate(by_shard):
        assert (shards_of(np.array(keys, np.int64), shards) == shard).all()
    with store.open() as snapshot:
        oracle = Oracle(documents, manifest.epoch, None, {row.key: make_prior(row) for row in documents})
        expected = sorted(oracle.search(word("w0", "w3")).items(), key=lambda pair: (-pair[1], pair[0]))
        hits = snapshot.top(word("w0", "w3"), 500)
        assert snapshot.column("key", hits.numbers).tolist() == [key for key, _ in expected]
        assert hits.scores.tolist() == [score for _, score in expected]
        statistics, rows = snapshot.statistics, []
        for shard in range(shards):
            with store.open(shard=shard) as one:
                best = one.top(word("w0", "w3"), 500, statistics=statistics)
                rows += zip((-best.scores).tolist(), one.column("key", best.numbers).tolist(), strict=True)
        assert [(key, -score) for score, key in sorted(rows)] == expected


def files_of(store):
    return {path.name for path in store._generations.segments.iterdir()}


@pytest.fixture(scope="module")
def documents():
    random = np.random.default_rng(21)
    return [random_document(random, number, WORDS) for number in range(120)]


@pytest.fixture
def store(tmp_path, documents):
    """Three shards of two rounds."""
    store = IndexStore(tmp_path / "index", shards=3)
    store.update([(1, documents[:60])], prior=prior_of_keys, merge=False)
    store.update([(2, documents[60:80])], prior=prior_of_keys, merge=False)
    return store


def interrupted(monkeypatch, what):
    """Do something once, after a segment was written apart and before anything is published."""
    real, calls = upkeep.merge, []

    def merging(*arguments):
        order = real(*arguments)
        if not calls:
            calls.append(True)
            what()
        return order

    monkeypatch.setattr(upkeep, "merge", merging)


@pytest.mark.parametrize("shards", [2, 4, 7, 16])
def test_documents_of_one_site_spread_evenly(shards):
    keys = np.array([addresses.key(f"https://one.example/page/{number}") for number in range(100_000)], np.int64)
    sizes = np.bincount(shards_of(keys, shards), minlength=shards)
    assert sizes.max() <= MOST_OF_MEAN * sizes.mean()


def test_a_collection_of_one_site_has_shards_of_one_size(tmp_path):
    store = IndexStore(tmp_path / "index", shards=4)
    rows = [make_document(number, "tide", url=f"https://one.example/{number}") for number in range(8_000)]
    manifest = store.update([(1, rows)])
    sizes = [manifest.of_shard(shard).documents for shard in range(4)]
    assert sum(sizes) == 8_000
    assert max(sizes) <= MOST_OF_MEAN * sum(sizes) / 4


def test_every_update_goes_to_its_shards(store, documents):
    check(store, documents[:80], 3)
    newer = make_document(5, "w0 w0 newer")
    gone = {documents[7].key, newer.key}
    rows = [newer, make_document(7, refusal="gone"), *documents[80:]]
    store.update([(3, rows)], prior=prior_of_keys, merge=False)
    left = [document for document in documents if document.key not in gone]
    check(store, [*left, newer], 3)
    store.remove([newer.key])
    check(store, left, 3)


def test_one_shard_is_one_segment_a_round(tmp_path, documents):
    plain = IndexStore(tmp_path / "plain")
    manifest = plain.update([(1, documents)], prior=prior_of_keys)
    assert (manifest.shards, [entry.shard for entry in manifest.segments]) == (1, [0])
    check(plain, documents, 1)


def test_a_team_writes_shards(tmp_path, documents):
    store = IndexStore(tmp_path / "index", shards=3)
    older = [make_document(number, "w0 older") for number in range(40)]
    store.update([(1, [*older, *documents])], prior=prior_of_keys)
    check(store, documents, 3)


def test_merges_stay_within_a_shard(tmp_path, documents):
    store = IndexStore(tmp_path / "index", shards=2)
    for number in range(8):
        rows = documents[10 * number : 10 * number + 10]
        store.update([(number + 1, rows)], prior=prior_of_keys, merge=False)
    assert len(store.manifest().segments) == 16
    merged = store.merge()
    assert [entry.shard for entry in merged.segments] == [0, 1]
    check(store, documents[:80], 2)
    assert files_of(store) == {entry.name for entry in merged.segments}


def test_a_new_epoch_is_one_of_all_shards(tmp_path, monkeypatch):
    store = IndexStore(tmp_path / "index", shards=3)
    short = [make_document(number, "w0 w3") for number in range(9)]
    long = [make_document(number, "w0 " + "w3 w5 " * 30) for number in range(10, 60)]
    late = [make_document(number, "w3 late") for number in range(70, 90)]
    first = store.update([(1, short)], prior=prior_of_keys)
    store.update([(2, long)], prior=prior_of_keys, merge=False)
    other = IndexStore(tmp_path / "index")
    interrupted(monkeypatch, lambda: other.update([(3, late)], prior=prior_of_keys, merge=False))
    renewed = store.merge()
    assert renewed.epoch.number == first.epoch.number + 1
    assert {entry.shard for entry in renewed.segments} == {0, 1, 2}
    check(store, [*short, *long, *late], 3)


@pytest.mark.parametrize("chain", [(4, 2, 1), (7, 3, 5, 1, 2)])
def test_resharding_keeps_everything(tmp_path, documents, chain):
    store = IndexStore(tmp_path / "index")
    store.update([(1, documents[:70])], prior=prior_of_keys, merge=False)
    store.update([(2, [*documents[70:100], make_document(3, refusal="gone")])], prior=prior_of_keys, merge=False)
    left = [document for document in documents[:100] if document.key != make_document(3).key]
    for shards in chain:
        steps: list[tuple[int, int]] = []
        before = store.manifest()
        after = store.reshard(shards, lambda *step, steps=steps: steps.append(step))
        assert after.generation == before.generation + 1
        assert (after.epoch, after.last_batch, after.statistics["average_body"]) == (
            before.epoch, before.last_batch, before.statistics["average_body"],
        )  # fmt: skip
        assert steps[-1] == (99, 99)
        check(store, left, shards)
        assert files_of(store) == {entry.name for entry in after.segments}
    store.update([(3, documents[100:])], prior=prior_of_keys)
    check(store, [*left, *documents[100:]], chain[-1])


def test_the_same_number_is_nothing_to_do(store):
    assert store.reshard(3) == store.manifest()
    assert store.manifest().generation == 2


def test_the_number_stays_until_a_reshard(tmp_path, documents, store):
    """However the index is built again, and whatever a new one would have."""
    other = IndexStore(tmp_path / "index", shards=5)
    assert other.update([(3, [])], prior=prior_of_keys).shards == 3
    other.rebuild([(1, documents)], prior=prior_of_keys)
    check(store, documents, 3)
    (tmp_path / "index" / "manifest.json").write_text("{")
    other.rebuild([(1, documents)], prior=prior_of_keys)
    check(store, documents, 3)
    with pytest.raises(UsageError, match="1 to 1,024"):
        IndexStore(tmp_path / "index", shards=1_025)


def test_what_a_writer_does_during_a_reshard_is_kept(store, documents, monkeypatch):
    other = IndexStore(store._generations.segments.parent)
    newer = make_document(5, "w0 w0 newer")
    rows = [newer, make_document(17, refusal="gone"), *documents[80:]]
    interrupted(monkeypatch, lambda: other.update([(9, rows)], prior=prior_of_keys, merge=False))
    store.reshard(4)
    assert store.manifest().last_batch == 9
    gone = {make_document(5).key, make_document(17).key}
    check(store, [*(document for document in documents if document.key not in gone), newer], 4)
    assert files_of(store) == {entry.name for entry in store.manifest().segments}


def test_latecomers_are_parted_when_it_is_published(store, documents, monkeypatch):
    """They come when nothing is looked at without the writer's lock any more."""
    monkeypatch.setattr(upkeep, "ROUNDS", 1)
    other = IndexStore(store._generations.segments.parent)
    interrupted(monkeypatch, lambda: other.update([(9, documents[80:])], prior=prior_of_keys, merge=False))
    store.reshard(2)
    check(store, documents, 2)


def test_a_segment_that_lost_all_documents_meanwhile(store, documents, monkeypatch):
    gone = [make_document(number, refusal="gone") for number in range(60, 80)]
    other = IndexStore(store._generations.segments.parent)
    interrupted(monkeypatch, lambda: other.update([(9, gone)], prior=prior_of_keys, merge=False))
    store.reshard(4)
    check(store, documents[:60], 4)


def test_a_reshard_of_what_was_rebuilt_is_thrown_away(store, documents, monkeypatch):
    other = IndexStore(store._generations.segments.parent)
    interrupted(monkeypatch, lambda: other.rebuild([(1, documents[:30])], prior=prior_of_keys, merge=False))
    with pytest.raises(StorageBusy, match="run periplus reshard again"):
        store.reshard(4)
    check(store, documents[:30], 3)
    assert not any(store._generations.merging_folder.iterdir())


def test_files_of_the_generation(store, documents, tmp_path):
    """Only several shards have them; they are swept with their generation, and held by who reads them."""
    plain = IndexStore(tmp_path / "plain")
    plain.update([(1, documents)])
    assert plain.manifest().summary is None
    assert not list((tmp_path / "plain" / "summaries").iterdir())
    with pytest.raises(UsageError, match="one shard"):
        plain.open_files()
    with store.open_files() as old:
        before = set((tmp_path / "index" / "summaries").iterdir())
        store.update([(3, documents[80:])], prior=prior_of_keys, merge=False)
        assert len(before) == 2
        assert before < set((tmp_path / "index" / "summaries").iterdir())
        assert old.live == 80
        assert len(list(old.titled_pages())) == 80
    store.reshard(1)
    store.merge()
    store.update([(4, [])], prior=prior_of_keys)
    assert not list((tmp_path / "index" / "summaries").iterdir())


def test_titles_of_segments_that_stay_are_not_read_again(store, documents, monkeypatch):
    read = []
    real = titles._read
    monkeypatch.setattr(titles, "_read", lambda view, number: read.append(number) or real(view, number))
    store.update([(3, documents[80:90])], prior=prior_of_keys, merge=False)
    assert len(read) == 10
    with store.open_files() as files, store.open() as snapshot:
        assert sorted(files.titled_pages(), key=repr) == sorted(snapshot.titled_pages(), key=repr)


@pytest.mark.parametrize("run", [3, 1 << 16])
def test_words_are_changed_as_if_they_were_counted_anew(tmp_path, documents, monkeypatch, run):
    """To the byte, whatever came and went, and however long the runs are in which they are copied."""
    monkeypatch.setattr("periplus.index.reading.word_changes.RUN", run)
    store, folder = IndexStore(tmp_path / "index", shards=3), tmp_path / "index" / "summaries"
    counted = []
    real = generation_files.counted_terms
    monkeypatch.setattr(generation_files, "counted_terms", lambda views: counted.append(1) or real(views))

    def write(number, rows):
        return lambda: store.update([(number, rows)], prior=prior_of_keys, merge=False)

    steps = [
        write(1, documents[:50]),
        write(2, [make_document(200, "aaa w0 zzz"), make_document(201, "\u00e9t\u00e9 0 w3")]),
        write(3, [*documents[50:90], make_document(3, refusal="gone"), make_document(200, refusal="gone")]),
        lambda: [write(4 + n, documents[90 + n : 91 + n])() for n in range(9)],
        lambda: store.refresh_prior(None),
        store.merge,
        lambda: store.remove([document.key for document in documents[::2]]),
        lambda: store.reshard(4),
        lambda: store.remove([document.key for document in documents]),
        write(30, documents[:9]),
    ]
    for place, step in enumerate(steps):
        step()
        assert len(counted) == 1, place  # only for the first generation
        manifest = store.manifest()
        with store.open() as snapshot:
            (tmp_path / "anew").mkdir(exist_ok=True)
            anew = generation_files.write_summary(
                tmp_path / "anew", manifest, lambda _, views=snapshot.views: views, None
            )
        counted.pop()
        assert (folder / manifest.summary.words).read_bytes() == (tmp_path / "anew" / anew.words).read_bytes(), place


def test_words_are_counted_anew_when_much_changes_or_is_damaged(store, documents, monkeypatch):
    counted = []
    real = generation_files.counted_terms
    monkeypatch.setattr(generation_files, "counted_terms", lambda views: counted.append(1) or real(views))
    (store._generations.summaries / store.manifest().summary.words).write_bytes(b"damaged")
    store.update([(3, documents[80:90])], prior=prior_of_keys, merge=False)
    assert len(counted) == 1
    monkeypatch.setattr("periplus.index.reading.word_changes.MOST_CHANGES", 3)
    store.update([(4, documents[90:])], prior=prior_of_keys, merge=False)
    assert len(counted) == 2
    with store.open_files() as files, store.open() as snapshot:
        assert files.words(1_000) == snapshot.words(1_000)


def test_refusals(tmp_path, store):
    with pytest.raises(NotReady, match="periplus index"):
        IndexStore(tmp_path / "nothing").reshard(2)
    for shards in (0, -1, MAX_SHARDS + 1):
        with pytest.raises(UsageError, match="1 to 1,024"):
            store.reshard(shards)
    with store._generations.merging() as is_alone, pytest.raises(StorageBusy, match="try again when that is done"):
        assert is_alone
        store.reshard(2)
    for shard in (-1, 3):
        with pytest.raises(NotFound, match="shards are 0 to 2"):
            store.open(shard=shard)


def test_more_shards_than_documents(tmp_path):
    store = IndexStore(tmp_path / "index", shards=7)
    store.update([(1, [make_document(1, "w0 w3")])], prior=prior_of_keys)
    check(store, [make_document(1, "w0 w3")], 7)
    empty = next(shard for shard in range(7) if not keys_of(store, shard))
    with store.open(shard=empty, partial=True) as snapshot:
        assert (snapshot.live, snapshot.losses.codes) == (0, ())


def test_readers_keep_the_shards_they_opened(store, documents):
    with store.open(shard=1) as old:
        expected = old.column("key", old.numbers()).tolist()
        store.reshard(2)
        store.update([(3, documents[80:])], prior=prior_of_keys)
        assert old.column("key", old.numbers()).tolist() == expected
        assert [old.stored(number).host for number in old.numbers().tolist()]


class Crash(BaseException):
    """A power failure: nothing after it runs."""


@pytest.mark.parametrize("step", range(0, 80, 9))
def test_a_crash_at_any_step_leaves_the_old_or_the_new_shards(tmp_path, store, documents, step, monkeypatch):
    folder = Path(shutil.copytree(store._generations.segments.parent, tmp_path / "copy"))
    steps, real = iter(range(10_000)), file_system.fsync

    def failing(descriptor):
        if next(steps) == step:
            raise Crash
        real(descriptor)

    monkeypatch.setattr(file_system, "fsync", failing)
    try:
        IndexStore(folder).reshard(4)
    except Crash:
        assert read_manifest(folder).shards in (3, 4)
    monkeypatch.undo()
    check(IndexStore(folder), documents[:80], read_manifest(folder).shards)
    manifest = IndexStore(folder).reshard(5)
    check(IndexStore(folder), documents[:80], 5)
    assert {p.name for p in (folder / "segments").iterdir()} == {entry.name for entry in manifest.segments}


RESHARDER = """
import itertools, sys
from pathlib import Path
from periplus.index import IndexStore
store = IndexStore(Path(sys.argv[1]))
for shards in itertools.islice(itertools.cycle((4, 2, 1, 3)), 1_000):
    store.reshard(shards, lambda done, total: print(done, flush=True))
"""


def test_kill_9_leaves_the_old_or_the_new_shards(tmp_path, store, documents):
    for lines in (1, 6, 11):
        with subprocess.Popen(
            [sys.executable, "-c", RESHARDER, str(tmp_path / "index")], stdout=subprocess.PIPE, text=True
        ) as process:
            for _ in range(lines):
                next(process.stdout)
            process.send_signal(signal.SIGKILL)
        check(store, documents[:80], store.manifest().shards)
