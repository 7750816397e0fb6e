"""The operator's rules over several machines: the file is the source, its last edition is a row."""

from __future__ import annotations

import os

import pytest

from periplus.errors import SettingError, StorageError
from periplus.search.query.rule_book import RuleBook
from periplus.storage import Follower

NAME = "rules.toml"
OLD, NEW = (f'[[synonyms]]\nwords = ["tv", "{word}"]\n' for word in ("television", "telly"))


class Machine:
    def __init__(self, folder, database):
        folder.mkdir(exist_ok=True)
        self.path = folder / NAME
        self.book = RuleBook(folder, NAME, lambda: database)
        self._follower, self._database = Follower(self.book), database

    def write(self, text, changed):
        self.path.write_text(text)
        os.utime(self.path, (changed, changed))

    def look(self):
        return self._follower.look(self._database)

    @property
    def tv(self):
        return self.book.current().synonyms["tv"]


@pytest.fixture
def here(tmp_path, database):
    return Machine(tmp_path / "here", database)


@pytest.fixture
def there(tmp_path, database):
    return Machine(tmp_path / "there", database)


def test_a_file_that_changed_is_published_and_taken_up(here, there):
    here.write(OLD, 1_000)
    assert here.tv == ("television",)
    with pytest.raises(SettingError, match="cannot be read"):  # neither a file nor a row
        _ = there.tv
    assert here.look() == []
    assert there.look() == []
    assert there.tv == ("television",)
    here.write(NEW, 2_000)
    assert here.tv == ("telly",)
    here.look()
    there.look()
    assert there.tv == ("telly",)
    assert there.book.current() is there.book.current()
    assert not there.path.exists()


def test_the_later_edition_wins_whoever_begins(here, there):
    here.write(NEW, 2_000)
    there.write(OLD, 1_000)
    there.look()
    assert there.tv == ("television",)  # until the other is heard of
    here.look()
    there.look()
    here.look()
    assert here.tv == there.tv == ("telly",)
    there.write(OLD, 3_000)
    there.look()
    here.look()
    assert here.tv == there.tv == ("television",)


def test_a_start_beside_an_older_copy_publishes_nothing(here, there):
    here.write(NEW, 2_000)
    here.look()
    there.write(OLD, 1_000)
    there.look()
    here.look()
    assert here.tv == there.tv == ("telly",)


def test_a_wrong_file_is_told_where_it_lies_and_not_published(here, there):
    here.write(OLD, 1_000)
    here.look()
    there.look()
    here.write("[[synonyms]]\nwords = 7\n", 2_000)
    (error,) = here.look()
    assert str(here.path) in str(error)
    assert there.look() == []
    assert there.tv == ("television",)
    here.write(NEW, 3_000)
    assert here.look() == []
    there.look()
    assert there.tv == ("telly",)


def test_a_lost_file_is_stood_in_for_by_the_row(here):
    here.write(OLD, 1_000)
    here.look()
    here.path.unlink()
    assert here.tv == ("television",)
    assert Machine(here.path.parent, here._database).tv == ("television",)
    here.write(NEW, 2_000)
    assert here.tv == ("telly",)


def test_without_the_setting_nothing_is_read_or_published(tmp_path, database, here):
    here.write(OLD, 1_000)
    here.look()
    book = RuleBook(tmp_path, "", lambda: database)
    book.share(changed=True)
    assert book.current().synonyms == {}


def test_without_its_state_the_file_serves(tmp_path):
    def state():
        raise StorageError("the database cannot be reached")

    (tmp_path / NAME).write_text(OLD)
    book = RuleBook(tmp_path, NAME, state)
    assert book.current().synonyms["tv"] == ("television",)
    with pytest.raises(StorageError):
        book.share(changed=True)
    (tmp_path / NAME).unlink()
    with pytest.raises(SettingError, match="cannot be read"):
        book.current()
