"""The list of blocked hosts over several machines: folders with a file each, and one state."""

from __future__ import annotations

import json

import pytest

from periplus.errors import Corrupt, OverBudget, StateLost, StorageError
from periplus.storage import Blocklist, Follower, LocalFiles
from periplus.storage.sealing import sealed


class Machine:
    def __init__(self, folder, database):
        folder.mkdir(exist_ok=True)
        self.path = folder / "blocked.json"
        self.list = Blocklist(LocalFiles(folder), lambda: database)
        self._follower, self._database = Follower(self.list), database

    def look(self):
        return self._follower.look(self._database)

    @property
    def targets(self):
        """As a search reads them, in whatever process."""
        return Blocklist(LocalFiles(self.path.parent)).targets()


@pytest.fixture
def here(tmp_path, database):
    return Machine(tmp_path / "here", database)


@pytest.fixture
def there(tmp_path, other):
    return Machine(tmp_path / "there", other)


def test_what_one_blocks_and_frees_the_other_does(here, there):
    assert (here.look(), there.look()) == ([], [])
    assert not here.path.exists()
    here.list.add("a.test", "http://b.test/1")
    assert here.targets == {"a.test", "http://b.test/1"}
    assert there.targets == frozenset()
    assert there.look() == []
    assert there.targets == here.targets
    assert there.list.targets() is there.list.targets()
    assert there.list.discard("a.test")
    assert not there.list.discard("a.test")
    here.look()
    assert here.targets == {"http://b.test/1"}


def test_a_machine_that_was_away_takes_up_what_was_freed_meanwhile(here, there):
    here.list.add("a.test", "b.test")
    there.look()
    here.list.discard("a.test")
    Machine(there.path.parent, there._database).look()
    assert there.targets == {"b.test"}


@pytest.mark.parametrize("body", [sealed({"a.test": 1.0}), b'{"a.test": 1.0}'])
def test_a_list_of_an_earlier_version_is_taken_over(here, there, body):
    here.path.write_bytes(body)
    here.look()
    there.look()
    here.list.add("b.test")
    there.look()
    assert here.targets == there.targets == {"a.test", "b.test"}


def test_what_is_written_by_hand_is_the_operators_word(here, there):
    here.list.add("a.test")
    there.look()
    here.path.write_text(json.dumps({"c.test": 2.0}))
    here.look()
    there.look()
    assert here.targets == there.targets == {"c.test"}
    here.path.write_text("{}")
    here.list.add("d.test")
    assert here.targets == {"d.test"}


@pytest.mark.parametrize("damage", ["missing", "flipped", "empty"])
def test_a_lost_file_is_written_again_from_the_rows(here, damage):
    here.list.add("a.test")
    here.look()
    body = here.path.read_bytes()
    if damage == "missing":
        here.path.unlink()
    else:
        here.path.write_bytes(body.replace(b"a.test", b"a.tesu") if damage == "flipped" else b"")
    with pytest.raises(Corrupt):
        _ = here.targets
    assert here.look() == []
    assert here.path.read_bytes() == body


def test_a_damaged_list_that_was_never_shared_stops_all(here):
    here.path.write_bytes(b'{"a.te')
    (error,) = here.look()
    assert isinstance(error, Corrupt)
    with pytest.raises(Corrupt):
        _ = here.targets


def test_a_lost_state_leaves_the_file_as_it_is(tmp_path):
    files = LocalFiles(tmp_path)
    Blocklist(files).add("a.test")

    def state():
        raise StateLost("state.db is missing beside stored files")

    blocklist = Blocklist(files, state)
    with pytest.raises(StateLost):
        blocklist.share(changed=True)
    assert blocklist.targets() == {"a.test"}


def test_where_the_file_cannot_be_written_the_rows_hide_as_well(here, there, monkeypatch):
    here.list.add("a.test")
    there.list.add("b.test")

    def refuse(*_, **__):
        raise StorageError("a read-only disk")

    monkeypatch.setattr(LocalFiles, "write", refuse)
    (error,) = here.look()
    assert "read-only" in str(error)
    assert here.targets == {"a.test"}
    assert here.list.targets() == {"a.test", "b.test"}
    assert here.list.targets() is here.list.targets()
    monkeypatch.undo()
    assert here.look() == []
    assert here.list.targets() == here.targets == {"a.test", "b.test"}


def test_the_list_is_bounded(here, monkeypatch):
    monkeypatch.setattr("periplus.storage.blocklist.MOST", 2)
    here.list.add("a.test", "b.test")
    with pytest.raises(OverBudget):
        here.list.add("c.test")
    here.list.add("a.test")
    assert here.list.discard("a.test")
    assert here.targets == {"b.test"}


def test_a_kill_between_rows_and_file_is_made_good(here, monkeypatch):
    here.list.add("a.test")

    class Killed(BaseException):
        pass

    def killed(*_):
        raise Killed

    monkeypatch.setattr(Blocklist, "_copy", killed)
    with pytest.raises(Killed):
        here.list.add("b.test")
    monkeypatch.undo()
    assert here.targets == {"a.test"}
    assert here.look() == []
    assert here.targets == {"a.test", "b.test"}


def test_without_a_state_the_file_is_all(tmp_path):
    blocklist = Blocklist(LocalFiles(tmp_path))
    blocklist.add("a.test")
    blocklist.share(changed=True)
    assert blocklist.discard("a.test")
    assert blocklist.targets() == frozenset()
