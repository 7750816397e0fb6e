"""Batches of a collection on many machines: their files are objects, and their rows make them visible."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from periplus.documents import BatchLog, compaction
from periplus.documents.batches import tables_of
from periplus.documents.compaction import FAN, Compaction
from periplus.errors import NotFound, SettingError, StorageBusy
from periplus.records import Document, Link
from periplus.storage import FILES, Database, Depot, LocalFiles, SharedCopies, Stored, open_objects, retirement
from periplus.storage.shared import changes

if TYPE_CHECKING:
    from collections.abc import Iterator


class Machine:
    """A folder of its own, and what all machines share."""

    def __init__(self, folder: Path, database: Database, store: str) -> None:
        self.files = LocalFiles(folder)
        self.database = database
        self.depot = Depot(self.files, open_objects(store))
        self.log = BatchLog(self.files, database, self.depot)
        self.copies = SharedCopies(database, self.depot)

    @property
    def stored(self) -> set[str]:
        return set(self.depot.objects.names())

    def local(self) -> set[str]:
        return {name for name in self.files.names() if not name.startswith(".depot/")}

    def compact(self) -> int:
        return Compaction(self.log, self.files, self.database, self.depot).run(self.log.numbers()[-1])

    def retired(self) -> int:
        with self.database.read() as tx:
            return tx.value("SELECT COUNT(*) FROM retired_objects")


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    with Database.open(tmp_path / "state.db") as opened:
        yield opened


@pytest.fixture
def machines(tmp_path: Path, database: Database) -> list[Machine]:
    return [Machine(tmp_path / name, database, f"file://{tmp_path}/store") for name in ("one", "two")]


def document(name: str) -> Document:
    links = (Link(f"https://a.test/{name}/next", "on"),)
    return Document(f"https://a.test/{name}", hash(name) % 10**9, 1.0, text=f"text of {name}", links=links)


def texts(log: BatchLog) -> dict[str, str]:
    return {
        one.url.rpartition("/")[2]: one.text for number in log.numbers() for one in log.documents(number, links=True)
    }


def test_what_one_machine_appends_another_reads(machines: list[Machine]) -> None:
    one, two = machines
    assert one.log.append([document("a")]) == 1
    assert two.log.append([document("b")]) == 2
    for machine in machines:
        assert texts(machine.log) == {"a": "text of a", "b": "text of b"}
        assert machine.log.links(1).num_rows == 1
        assert machine.log.size(2) > 0
    assert one.stored == one.local() >= set(one.log.names_of(1))
    assert not [name for name in one.stored if re.fullmatch(r"documents/[0-9]{8}\.parquet", name)]  # no name twice


def test_a_reader_goes_to_another_process_and_pulls_there(machines: list[Machine]) -> None:
    one, two = machines
    number = one.log.append([document("a")])
    two.log.numbers()
    sent = pickle.loads(pickle.dumps(two.log.only(number)))
    assert two.local() == set()
    assert [doc.text for doc in sent.documents(number, links=True)] == ["text of a"]
    assert two.local() == set(one.log.names_of(number))


def test_without_its_store_a_shared_batch_is_not_read(machines: list[Machine], database: Database) -> None:
    one, _ = machines
    one.log.append([document("a")])
    with pytest.raises(SettingError, match=r"batch 1 is in an object store; say in storage.files"):
        BatchLog(one.files, database).documents(1)


def test_a_batch_that_is_refused_leaves_nothing(machines: list[Machine]) -> None:
    one, _ = machines

    def refuse(*_: object) -> None:
        raise RuntimeError("no")

    with pytest.raises(RuntimeError):
        one.log.append([document("a")], also=refuse)
    assert one.stored == one.local() == set()
    staged = one.log.stage(tables_of([document("a")]))
    assert len(one.stored) == 2
    one.log.discard(staged)
    assert one.stored == one.local() == set()


def test_a_takedown_writes_new_objects_and_removes_the_old_ones_at_once(machines: list[Machine]) -> None:
    one, two = machines
    one.log.append([document("a"), document("b")])
    assert texts(two.log) == texts(one.log)
    before = one.stored
    empty = Document("https://a.test/a", document("a").key, 1.0, refusal="removed")
    counted = changes(one.database).get(FILES, 0)
    two.log.replace(1, {0: empty})
    assert changes(one.database)[FILES] > counted  # which tells all machines to forget their copies
    assert len(one.stored) == 2
    assert not one.stored & before
    assert two.retired() == 0
    assert texts(one.log) == texts(two.log) == {"a": "", "b": "text of b"}
    assert sorted(one.copies.forget()) == sorted(before)
    assert one.local() == two.local() == one.stored
    assert b"text of a" not in b"".join(one.files.read(name) for name in one.local())
    assert one.log.links(1).column("target").to_pylist()[0] == "https://a.test/a"
    assert one.log.empty(1) is False
    assert texts(one.log) == {}


def test_a_takedown_that_dies_before_it_removes_is_finished_by_the_next_sweep(
    machines: list[Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = machines
    one.log.append([document("a")])
    before = one.stored
    with monkeypatch.context() as dying:
        dying.setattr("periplus.documents.batches.remove_retired", lambda *_, **__: None)
        one.log.replace(1, {0: Document("https://a.test/a", document("a").key, 1.0, refusal="removed")})
    assert before < one.stored
    one.log.forget_merged()
    assert not before & one.stored
    assert texts(one.log) == {"a": ""}


def test_of_two_that_change_a_batch_at_once_one_begins_again(machines: list[Machine]) -> None:
    one, two = machines
    one.log.append([document("a"), document("b")])
    removed = Document("https://a.test/a", document("a").key, 1.0, refusal="removed")
    one.log.numbers()
    table = one.log.document_table
    one.log.document_table = lambda *arguments: (
        (found := table(*arguments), two.log.replace(1, {0: removed}))[0] and found
    )
    with pytest.raises(StorageBusy, match="another process changed batch 1"):
        one.log.replace(1, {1: removed})
    del one.log.document_table
    assert texts(one.log) == {"a": "", "b": "text of b"}
    assert len(one.stored) == 2


def test_merged_batches_are_read_on_other_machines_and_their_parts_go_later(
    machines: list[Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = machines
    for name in "abcdefgh"[:FAN]:
        one.log.append([document(name)])
    parts, before = one.stored, texts(two.log)
    assert one.compact() == FAN - 1
    assert parts < one.stored
    assert one.retired() == len(parts)
    assert one.log.numbers() == [FAN]
    assert texts(two.log) == before
    assert two.log.documents(3)[0].url  # by a number that it had listed: the merged batch, or the old object
    monkeypatch.setattr(compaction, "RETIRED_SECONDS", 0)
    one.log.forget_merged()
    assert one.stored == set(one.log.names_of(FAN))
    assert one.local() == one.stored
    two.copies.forget()
    assert {doc.url for doc in two.log.documents(3, links=True)} == {f"https://a.test/{name}" for name in before}
    assert two.local() == one.stored


def test_a_merge_is_undone_when_a_batch_was_taken_down_meanwhile(machines: list[Machine]) -> None:
    one, two = machines
    for name in "abcdefgh"[:FAN]:
        one.log.append([document(name)])
    stage = one.log.stage
    removed = Document("https://a.test/a", document("a").key, 1.0, refusal="removed")
    one.log.stage = lambda tables: (stage(tables), two.log.replace(1, {0: removed}))[0]
    with pytest.raises(StorageBusy, match="changed batch 1 while it was merged"):
        one.compact()
    del one.log.stage
    assert one.log.numbers() == list(range(1, FAN + 1))
    assert len(one.stored) == 2 * FAN
    assert texts(one.log)["a"] == ""
    assert one.compact() == FAN - 1
    assert texts(two.log)["a"] == ""


def test_objects_that_no_row_ever_named_go_after_a_while(
    machines: list[Machine], monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = machines
    one.log.append([document("a")])
    staged = one.log.stage(tables_of([document("b")]))  # its writer dies
    one.compact()
    assert len(one.stored) == 4
    with one.database.write() as tx:
        tx.execute("DELETE FROM meta WHERE key LIKE 'objects.swept %'")
    monkeypatch.setattr(retirement, "ORPHAN_SECONDS", -1)
    one.compact()
    assert one.stored == set(one.log.names_of(1))
    with pytest.raises(NotFound):
        one.depot.objects.get(staged.documents_name)


def test_a_row_that_names_no_object_is_damage(machines: list[Machine]) -> None:
    from periplus.errors import Corrupt

    with pytest.raises(Corrupt, match="does not name an object"):
        Stored.decode("{}")
    assert Stored.decode(Stored("a", 1, "b").encode()) == Stored("a", 1, "b")
