"""What is read behind a running server, and what searches do without what is damaged."""

from __future__ import annotations

import shutil

import pytest

from periplus import Collection
from periplus.app.doctor import examine, repair
from periplus.app.serving.backend import CollectionBackend
from periplus.app.serving.verifying import Verifier
from periplus.demo import DemoWeb
from periplus.errors import Corrupt
from periplus.web import create_app
from support.servers import listening, wait_for
from web.asgi_client import Client

PATIENCE = 120.0  # seconds


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("verified") / "c"
    with DemoWeb() as web, Collection(folder) as made:
        for pages in (8, 16):
            made.crawl(web.seeds(), max_pages=pages, scope="any", delay=0.01, ip_delay=0.0, resolve=web.resolve)
            made.pipeline.index(merge=False)
            if not made.folder.joinpath("ranks/current.json").exists():
                made.rank()  # before the last index, since new ranks write segments anew
        assert made.politeness().clean
    assert len(list(folder.glob("index/segments/*"))) > 1
    return folder


@pytest.fixture
def collection(sound, tmp_path):
    shutil.copytree(sound, tmp_path / "c")
    with Collection.existing(tmp_path / "c") as copy:
        yield copy


def flip(path, place: int) -> None:
    body = bytearray(path.read_bytes())
    body[place] ^= 0x10
    path.write_bytes(bytes(body))


def segments(collection, file: str):
    return sorted(collection.folder.glob(f"index/segments/*/{file}"))


def test_a_damaged_text_is_found_before_anybody_asks_for_it(collection):
    backend = CollectionBackend(collection)
    flip(segments(collection, "texts.bin")[0], 100)
    batch = next(iter(sorted(collection.folder.glob("links/*.parquet"))))
    flip(batch, batch.stat().st_size // 2)
    assert backend.status()["damage"] == []
    with Verifier(collection, pause=0.0) as verifier:
        assert verifier.first_round.wait(PATIENCE)
    told = backend.status()["damage"]
    assert [("texts.bin" in line, batch.name in line) for line in told] == [(True, False), (False, True)]
    with collection.database.read() as tx:
        assert tx.value("SELECT COUNT(*) FROM events WHERE room = 'files' AND level = 'error'") == 2


def test_what_is_replaced_while_it_is_read_is_no_damage(collection, tmp_path):
    """In ``up``, segments are merged beside the reading, and their files removed one by one."""
    verifier = Verifier(collection, pause=0.0)
    listed = [(name, check) for name, check in verifier._checks() if name.startswith("segment")]
    old = segments(collection, "postings.bin")[0].parent
    shutil.copytree(old, tmp_path / old.name)
    collection.index(rebuild=True)
    shutil.rmtree(old, ignore_errors=True)
    shutil.copytree(tmp_path / old.name, old, ignore=lambda *_: ["postings.bin"])
    for name, check in listed:
        verifier._verify(name, check)
    assert collection.damage == ()


def test_up_reads_every_file_as_serve_does(collection):
    batch = next(iter(sorted(collection.folder.glob("documents/*.parquet"))))
    flip(batch, batch.stat().st_size // 2)
    with listening("up", "--dir", str(collection.folder), "--port", "0") as server:
        wait_for(lambda: batch.name in str(server.get("/api/v1/status").json["damage"]))


def test_a_sound_collection_has_nothing_to_tell(collection):
    with Verifier(collection, pause=0.0) as verifier:
        assert verifier.first_round.wait(PATIENCE)
    assert collection.damage == ()


def test_one_damaged_segment_does_not_take_the_others_down(collection):
    whole = collection.search("the", k=50)
    collection.close()
    flip(segments(collection, "postings.bin")[0], 200)
    left = collection.search("the", k=50)
    assert "index" in left.degraded
    assert 0 < left.total.value < whole.total.value
    gone = ({hit.url for hit in whole} - {hit.url for hit in left}).pop()
    with pytest.raises(Corrupt, match=r"postings\.bin"):
        collection.engine.stored(gone)
    step = next(step for step in collection.inspect(gone).steps if step.step == "index")
    assert step.state == "failed"
    assert "postings.bin" in step.detail


def test_a_server_names_what_is_damaged(collection):
    for path in segments(collection, "postings.bin"):
        flip(path, 200)
    client = Client(create_app(CollectionBackend(collection), collection.settings, operator_key="only for operators"))
    answer = client.get("/api/v1/search?q=tide")
    assert (answer.status, answer.json["code"]) == (503, "corrupt")
    assert "postings.bin" in answer.json["detail"]
    assert str(collection.folder) not in answer.text


@pytest.mark.parametrize("file", ["current.json", "1/page_ranks.npy", "1/meta.json"])
def test_searches_go_on_without_ranks(collection, file):
    path = collection.folder / "ranks" / file
    flip(path, path.stat().st_size // 2)
    answer = collection.search("tide")
    assert answer.total.value
    assert "ranks" in answer.degraded
    assert path.name in " ".join(collection.damage)
    assert collection.index()  # nor does an update need them
    assert {one.check for one in examine(collection) if one.state == "failed"} == {"ranks"}
    repair(collection)
    assert "ranks" not in collection.search("tide").degraded
    assert collection.damage == ()


@pytest.mark.parametrize("folder", ["documents", "links"])
def test_a_damaged_batch_is_made_again_from_the_archive(collection, folder):
    before = {hit.url for hit in collection.search("the", k=50)}
    path = min(collection.folder.glob(f"{folder}/*.parquet"))
    broken = path.read_bytes()[:-20]
    path.write_bytes(broken)
    findings = repair(collection)
    said = [one.detail for one in findings if one.check == "documents" and one.state == "mended"]
    assert len(said) == 1
    assert "made again from the archive (http://" in said[0]
    assert "failed" not in {one.state for one in findings}
    assert (collection.folder / "damaged" / folder / path.name).read_bytes() == broken
    collection.index(rebuild=True)
    assert {hit.url for hit in collection.search("the", k=50)} == before


def test_a_rebuild_needs_nothing_of_what_was_there(collection):
    before = [hit.url for hit in collection.search("tide")]
    generation = collection.engine.generation
    collection.close()
    (collection.folder / "index" / "manifest.json").unlink()
    with pytest.raises(Corrupt, match=r"manifest\.json is missing"):
        collection.search("tide")
    for path in segments(collection, "segment.json"):
        path.write_bytes(b"")
    assert collection.index(rebuild=True).generation > generation
    assert [hit.url for hit in collection.search("tide")] == before
