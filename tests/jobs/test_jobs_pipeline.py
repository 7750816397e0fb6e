"""The pipeline: what is due, and that both steps are functions of the batches."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from periplus import addresses
from periplus.app import Collection
from periplus.documents import BatchLog
from periplus.errors import Incompatible, StorageBusy
from periplus.graph import RankStore
from periplus.reasons import REASONS
from periplus.records import Document, Link
from periplus.storage import folder_lock


def page(name: str, text: str, links: tuple[str, ...] = (), refusal: str = "") -> Document:
    url = f"http://{name}/"
    return Document(
        url=url,
        key=addresses.key(url),
        fetched=1.0,
        title=name,
        text=text,
        language="en",
        refusal=refusal,
        links=tuple(Link(f"http://{target}/", f"the famous {target.split('.')[0]}") for target in links),
    )


@pytest.fixture
def collection(tmp_path):
    with Collection(tmp_path / "c").create() as collection:
        yield collection


def fetched_from(collection: Collection, addresses_of: dict[str, str]) -> None:
    """Journal rows as a crawl leaves them."""
    row = "INSERT INTO journal (at, host, ip, exempt, url, rule, gap, delay, ip_delay, outcome, status, bytes, ms,"
    row += " not_before) VALUES (1.0, ?, ?, 0, ?, '', 9.0, 1.0, 1.0, 'ok', 200, 1, 1.0, 0.0)"
    with collection.database.write() as transaction:
        for host, ip in addresses_of.items():
            transaction.execute(row, (host, ip, f"http://{host}/"))


def append(collection: Collection, *documents: Document) -> None:
    BatchLog(collection.files, collection.database).append(documents)


def test_nothing_is_due_in_an_empty_collection(collection):
    due = collection.pipeline.due()

    assert due.batches == 0
    assert not due.ranks


def test_new_batches_are_due_until_they_are_taken_in(collection):
    append(collection, page("a.test", "harbour", ("b.test",)), page("b.test", "lighthouse"))
    assert collection.pipeline.due().batches == 1
    assert collection.pipeline.due().ranks

    collection.rank()
    manifest = collection.index()

    due = collection.pipeline.due()
    assert (due.batches, due.ranks) == (0, False)
    assert manifest.documents == 2


def test_indexing_twice_is_indexing_once(collection):
    append(collection, page("a.test", "harbour"))

    first = collection.index()
    second = collection.index()

    assert first.generation == second.generation


def test_a_later_batch_replaces_and_takes_away(collection):
    append(collection, page("a.test", "harbour"), page("b.test", "harbour"))
    collection.index()
    append(collection, page("a.test", "anchorage"), page("b.test", "", refusal="gone"))
    collection.index()

    assert [hit.url for hit in collection.search("harbour")] == []
    assert [hit.url for hit in collection.search("anchorage")] == ["http://a.test/"]


def test_a_rebuild_gives_the_same_answers(collection):
    append(collection, page("a.test", "harbour master"), page("b.test", "harbour"))
    append(collection, page("b.test", "harbour lights at night"))
    collection.rank()
    collection.index()
    before = [(hit.url, hit.score) for hit in collection.search("harbour lights")]

    collection.index(rebuild=True)

    assert [(hit.url, hit.score) for hit in collection.search("harbour lights")] == before


def test_ranks_reach_a_published_index_without_indexing_again(collection):
    append(collection, page("a.test", "harbour"), page("b.test", "harbour"))
    collection.rank()
    before = collection.index()
    silent = [Link("http://b.test/", "")]
    linked = [page(f"s{number}.test", "harbour", refusal="noindex") for number in range(9)]
    append(collection, *(msgspec.structs.replace(one, links=tuple(silent)) for one in linked))
    collection.index()
    collection.rank()

    manifest = collection.pipeline.index()

    assert before.segments[0].name in [segment.name for segment in manifest.segments]
    assert next(iter(collection.search("harbour"))).url == "http://b.test/"


def test_anchor_text_makes_a_page_findable(collection):
    append(collection, page("a.test", "harbour", ("b.test",)), page("b.test", "nothing to see"))
    collection.rank()
    collection.index()

    assert "http://b.test/" in [hit.url for hit in collection.search("famous")]


def test_pages_get_a_new_name_after_they_were_indexed(collection):
    append(collection, page("a.test", "harbour", ("b.test",)), page("b.test", "nothing to see"), page("c.test", "quay"))
    collection.index()
    collection.rank()
    assert "http://b.test/" in [hit.url for hit in collection.search("famous")]

    append(collection, page("a.test", "harbour", ("c.test",)))
    collection.index()
    collection.rank()

    found = [hit.url for hit in collection.search("famous")]
    assert "http://c.test/" in found
    assert "http://b.test/" not in found
    assert collection.status().index.documents == 3


def test_a_second_builder_is_told_to_wait(collection):
    append(collection, page("a.test", "harbour"))

    with folder_lock(collection.folder / "building.lock", "testing"), pytest.raises(StorageBusy, match="indexing"):
        collection.index()


def test_the_lock_dies_with_its_holder(collection):
    append(collection, page("a.test", "harbour"))
    script = (
        "import os, pathlib, sys\n"
        "from periplus.storage import folder_lock\n"
        "with folder_lock(pathlib.Path(sys.argv[1]), 'dying'): os._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(collection.folder / "building.lock")], check=False)

    assert collection.index().documents == 1


def test_hosts_of_one_address_speak_with_one_voice(collection):
    many = [f"many{number}.example" for number in range(8)]
    single = "single.example"
    append(
        collection,
        *(page(name, "words", ("praised.example",)) for name in many),
        page(single, "words", ("lone.example",)),
        page("praised.example", "words"),
        page("lone.example", "words"),
    )

    def lead() -> float:
        collection.rank()
        table = RankStore(collection.folder / "ranks").current()
        praised, lone = (table.page_rank(addresses.page_key(f"http://{n}.example/")) for n in ("praised", "lone"))
        return praised / lone

    apart = lead()
    fetched_from(collection, {**dict.fromkeys(many, "198.51.100.7"), single: "203.0.113.9"})
    together = lead()

    assert apart > 2 * together > 2


def test_the_inspector_tells_what_the_links_say(collection):
    append(
        collection,
        page("a.example", "words", ("b.example",)),
        page("b.example", "words", ("a.example",)),
        page("c.example", "words", ("a.example", "b.example")),
    )
    collection.rank()
    steps = {step.step: step for step in collection.inspect("http://a.example/").steps}

    assert steps["rank"].state == "ok"
    assert "linked from 2 other sites" in steps["rank"].detail


def test_the_inspector_names_the_reason_when_links_of_a_host_count_less(collection):
    ring = [f"farm{number}.example" for number in range(30)]
    append(
        collection,
        *(page(name, "words", tuple(other for other in ring if other != name)) for name in ring),
    )
    collection.rank()
    step = next(step for step in collection.inspect("http://farm3.example/").steps if step.step == "rank")

    assert step.reason == "link-exchange"
    assert step.advice == REASONS["link-exchange"].advice
    assert "links from this host to others count 4" in step.detail


def test_a_large_update_is_shared_out_to_processes(tmp_path, monkeypatch):
    from periplus.index.building import segment_tasks

    monkeypatch.setattr(segment_tasks, "LEAST_BYTES", 1)
    monkeypatch.setattr(segment_tasks, "MEMORY_A_BYTE", 10_000_000)
    with Collection(tmp_path / "c", flags={"index.workers": 2}).create() as collection:
        append(collection, page("a.test", "tides", ("b.test",)), page("b.test", "winds"))
        collection.rank()
        append(collection, page("b.test", "trade winds", ("a.test",)), page("c.test", "charts"))
        manifest = collection.index()
        assert (manifest.documents, manifest.last_batch, len(manifest.segments)) == (3, 2, 2)
        assert [hit.url for hit in collection.search("famous b")][:1] == ["http://b.test/"]
        assert [hit.url for hit in collection.search("trade winds")] == ["http://b.test/"]


def test_an_index_of_an_earlier_format_is_built_anew_from_the_batches(collection):
    append(collection, page("a.test", "harbour"), page("b.test", "lighthouse"))
    kept = Path(__file__).parents[1] / "compat" / "index-4"
    shutil.copytree(kept, collection.folder / "index")
    with pytest.raises(Incompatible, match="format 4.*rebuild the index"):
        collection.search("harbour")
    assert collection.pipeline.due().batches == 1

    assert collection.index().documents == 2

    assert [hit.url for hit in collection.search("harbour")] == ["http://a.test/"]
    assert collection.pipeline.due().batches == 0
    with collection.database.read() as transaction:
        told = [text for (text,) in transaction.rows("SELECT text FROM events") if "from nothing" in text]
    assert len(told) == 1
    assert "has format 4" in told[0]
