"""Past queries: who is counted, what becomes a row, and how several servers add up."""

from __future__ import annotations

import json

import pytest
from search_samples import DOCUMENTS, PATIENT, build

from periplus.errors import StorageError
from periplus.search import Engine
from periplus.search.suggesting.asked import FILE_NAME, READ_EVERY, PastQueries
from periplus.settings import SearchSettings, Settings
from periplus.storage import Database, Follower, LocalFiles


def texts(suggestions):
    return [suggestion.text for suggestion in suggestions]


def rows(database):
    with database.read() as tx:
        return tx.rows("SELECT query, asked FROM past_queries ORDER BY query")


def test_a_query_is_kept_when_three_people_asked(database):
    past = PastQueries(lambda: database)
    for person in ("one", "two", "one", "two"):
        past.note("  Low   tide ", person)
    assert past.counts == {}
    past.note("Low tide", "three")
    assert past.counts == {"Low tide": 3}
    past.note("Low tide", "one")
    past.note("x" * 500, "one")
    past.note(" ", "one")
    past.close()
    assert rows(database) == [("Low tide", 4)]


def test_servers_that_saw_one_person_each_tell_nothing(database):
    servers = [PastQueries(lambda: database) for _ in range(4)]
    followers = [Follower(server) for server in servers]
    for person, server in enumerate(servers):
        server.note("low tide", f"person {person}")
    for server in servers:  # one who goes from server to server is one person at each of them
        server.note("spring tide", "the same")
    assert [follower.look(database) for follower in followers] == [[]] * 4
    assert rows(database) == []
    with database.read() as tx:
        assert tx.value("SELECT COUNT(*) FROM counters") == 0

    for person in ("x", "y"):
        servers[0].note("low tide", person)
    followers[0].look(database)
    assert rows(database) == [("low tide", 3)]


def test_servers_add_up_what_they_counted(database):
    now = [0.0]
    one, other = (PastQueries(lambda: database, clock=lambda: now[0]) for _ in range(2))
    looks = [Follower(one), Follower(other)]
    for look in looks:
        look.look(database)
    other.note("low tide", "d")
    for person in "abc":
        one.note("low tide", person)
    looks[0].look(database)
    looks[1].look(database)
    assert other.counts == {}  # read once a minute
    now[0] = READ_EVERY
    looks[1].look(database)
    assert other.counts == {"low tide": 3}
    other.note("low tide", "d")  # known from now on, whoever asks
    one.note("low tide", "a")
    for look in looks:
        look.look(database)
    assert rows(database) == [("low tide", 5)]


def test_rows_are_bounded_and_the_rarest_leave(database, monkeypatch):
    monkeypatch.setattr("periplus.search.suggesting.asked.MAX_KEPT", 3)
    past = PastQueries(lambda: database)
    for number in range(5):
        for person in range(3 + number):
            past.note(f"query {number}", str(person))
    past.share(changed=False)
    assert rows(database) == [("query 2", 5), ("query 3", 6), ("query 4", 7)]


def test_counts_that_cannot_be_saved_wait(database):
    opened = []

    def state():
        if not opened:
            raise StorageError("the database cannot be reached")
        return opened[0]

    past = PastQueries(state)
    for person in "abcd":
        past.note("low tide", person)
    with pytest.raises(StorageError):
        past.share(changed=True)
    assert past.counts == {"low tide": 4}
    opened.append(database)
    past.share(changed=True)
    assert past.counts == {"low tide": 4}
    assert rows(database) == [("low tide", 4)]


@pytest.mark.parametrize(("kept", "known"), [('{"spring tide": 5, "neap": 3}', 2), ("[", 0)])
def test_counts_of_an_earlier_version_are_taken_over_once(database, tmp_path, kept, known):
    """Damaged ones begin anew."""
    files = LocalFiles(tmp_path)
    files.write(FILE_NAME, kept.encode())
    for _ in range(2):
        past = PastQueries(lambda: database, files)
        assert len(past.counts) == known
        past.share(changed=True)
        assert len(past.counts) == known
        assert rows(database) == ([("neap", 3), ("spring tide", 5)] if known else [])
    if known:
        assert json.loads(files.read(FILE_NAME)) == past.counts


def test_a_copy_stays_for_searches_that_open_no_state(database, tmp_path):
    files = LocalFiles(tmp_path)
    past = PastQueries(lambda: database, files)
    past.share(changed=True)
    for person in "abc":
        past.note("low tide", person)
    past.close()
    for person in "abcd":
        past.note("low tide", person)
    past.close()

    def state():
        raise AssertionError("a search opens no state")

    assert PastQueries(state, files).counts == {"low tide": 7}
    assert rows(database) == [("low tide", 7)]
    again = PastQueries(lambda: database, files)
    again.share(changed=True)
    assert again.counts == {"low tide": 7}  # a copy is not taken over
    files.write(FILE_NAME, b"[")
    assert PastQueries(state, files).counts == {}
    Follower(PastQueries(lambda: database, files)).look(database)
    assert PastQueries(state, files).counts == {"low tide": 7}


def test_waiting_queries_are_bounded(monkeypatch):
    monkeypatch.setattr("periplus.search.suggesting.asked.MAX_WAITING", 3)
    past = PastQueries()
    for i in range(10):
        past.note(f"query {i}", "one")
    for person in ("two", "three"):
        past.note("query 0", person)
    assert past.counts == {}  # who asked first is forgotten


def test_the_setting_turns_past_queries_off(tmp_path):
    build(tmp_path, DOCUMENTS)
    database = Database.open(tmp_path / "state.db")
    for on in (True, False):
        engine = Engine(tmp_path, Settings(search=SearchSettings(past_queries=on)), state=lambda: database)
        for person in ("a", "b", "c"):
            engine.asked(f"tide clock {on}", person)
        engine.close()
    assert rows(database) == [("tide clock True", 3)]
    engine = Engine(tmp_path, PATIENT, state=lambda: database)
    assert "tide clock True" in texts(engine.suggest("tide cl"))
    engine.close()
    database.close()
