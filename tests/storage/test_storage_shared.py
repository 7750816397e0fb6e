"""What several servers share: numbers that rise with changes, and files of earlier versions that become rows once."""

from __future__ import annotations

import pytest

from periplus.errors import StorageError
from periplus.storage import Follower, LocalFiles
from periplus.storage.shared import changes, note_change, take_over

NAME = "old.json"


class Part:
    def __init__(self, shares):
        self.shares, self.told, self.error = shares, [], None

    def share(self, *, changed):
        if self.error:
            raise self.error
        self.told.append(changed)


def change(database, name):
    with database.write() as tx:
        note_change(tx, name)


def test_parts_are_told_of_their_own_changes_only(database, other):
    fish, birds = Part("fish"), Part("birds")
    follower = Follower(fish, birds)
    follower.look(database)
    change(other, "fish")
    follower.look(database)
    follower.look(database)
    assert (fish.told, birds.told) == ([True, True, False], [True, False, False])
    assert changes(database) == {"fish": 1}


def test_a_part_that_failed_is_told_again_and_keeps_nobody_from_sharing(database):
    bad, good = Part("fish"), Part("fish")
    follower = Follower(bad, good)
    change(database, "fish")
    bad.error = StorageError("no")
    assert follower.look(database) == [bad.error]
    bad.error = None
    assert follower.look(database) == []
    assert (bad.told, good.told) == ([True], [True, False])


def test_a_change_that_was_undone_is_none(database, other):
    with pytest.raises(ZeroDivisionError), database.write() as tx:
        note_change(tx, "fish")
        raise ZeroDivisionError
    assert changes(other) == {}


def put(tx):
    tx.execute("INSERT INTO past_queries (query, asked) VALUES ('tide', 3)")


def rows(database):
    with database.read() as tx:
        return tx.rows("SELECT query, asked FROM past_queries")


def test_a_file_becomes_rows_once(database, tmp_path):
    files = LocalFiles(tmp_path)
    files.write(NAME, b"tide")
    take_over(database, files, NAME, put)
    assert (rows(database), files.exists(NAME)) == ([("tide", 3)], False)
    with database.write() as tx:
        tx.execute("DELETE FROM past_queries")
    files.write(NAME, b"tide")  # as a kill between commit and removal leaves it
    take_over(database, files, NAME, put)
    assert (rows(database), files.exists(NAME)) == ([], False)


def test_what_fails_to_become_rows_stays_a_file(database, tmp_path):
    files = LocalFiles(tmp_path)
    files.write(NAME, b"tide")

    def fails(tx):
        put(tx)
        raise StorageError("no")

    with pytest.raises(StorageError):
        take_over(database, files, NAME, fails)
    assert (rows(database), files.exists(NAME)) == ([], True)
    take_over(database, files, NAME, put)
    assert rows(database) == [("tide", 3)]


def test_two_that_begin_at_the_same_time_take_it_over_once(database, other, tmp_path):
    files = LocalFiles(tmp_path)
    files.write(NAME, b"tide")
    take_over(database, files, NAME, put)
    files.write(NAME, b"tide")
    take_over(other, files, NAME, put)
    assert rows(other) == [("tide", 3)]
