"""The operator's key: shown once, kept as digests, renewed for all servers; browsers stay logged in until then."""

from __future__ import annotations

import pytest
from asgi_client import Client

from periplus.errors import Corrupt, StorageError
from periplus.settings import Settings
from periplus.storage import Follower, LocalFiles
from periplus.web import create_app
from periplus.web.requests.operator import FILE_NAME, Operator, session_of

FAR = "192.0.2.7"


@pytest.fixture
def files(tmp_path):
    return LocalFiles(tmp_path)


@pytest.fixture
def operator(database, files):
    return Operator(lambda: database, files)


def everything(database):
    with database.read() as tx:
        return str(tx.rows("SELECT * FROM meta")) + str(tx.rows("SELECT * FROM counters"))


def signed_in(client, key):
    opened = client.get(f"/console?key={key}")
    assert opened.status in (302, 303), opened.text
    return opened.headers["set-cookie"].partition(";")[0]


def test_a_key_is_made_once_and_kept_as_digests(operator, database, files, tmp_path):
    key = operator.begin()
    assert len(key) > 20
    assert operator.begin() == key  # this process knows it
    again = Operator(lambda: database, files)
    assert again.begin() == ""
    assert again.is_key(key)
    assert not again.is_key(key + "x")
    assert not again.is_key("")
    assert again.created == operator.created
    assert key not in everything(database)
    assert session_of(key) not in everything(database)
    assert not any(key.encode() in path.read_bytes() for path in tmp_path.iterdir())


def test_a_browser_stays_logged_in_over_a_restart_and_not_over_a_new_key(operator, database, backend):
    def served(who):
        return Client(create_app(backend, Settings(), operator_key=who), address=FAR)

    key = operator.begin()
    cookie = signed_in(served(operator), key)
    again = Operator(lambda: database)
    again.begin()
    client, follower = served(again), Follower(again)
    follower.look(database)
    assert client.get("/console", cookie=cookie).status == 200
    new = operator.renew()
    assert client.get("/console", cookie=cookie).status == 200  # a request asks nobody
    follower.look(database)
    assert client.get("/console", cookie=cookie).status == 401
    assert client.get("/console", authorization=f"Bearer {key}").status == 401
    assert client.get("/console", cookie=signed_in(client, new)).status == 200


def test_what_the_state_holds_opens_nothing(operator, database, backend):
    operator.begin()
    client = Client(create_app(backend, Settings(), operator_key=operator), address=FAR)
    with database.read() as tx:
        kept = tx.value("SELECT value FROM meta WHERE key = 'operator.key'")
    for part in kept.split('"'):
        assert client.get("/console", cookie=f"operator={part}").status == 401
        if part.isalnum():
            assert client.get("/console", authorization=f"Bearer {part}").status in (401, 429)


def test_a_key_of_an_earlier_version_and_its_browsers_are_taken_over(operator, database, files, backend):
    files.write(FILE_NAME, b"a-key-of-the-console\n")
    assert operator.begin() == ""
    assert operator.is_key("a-key-of-the-console")
    assert operator.is_session(session_of("a-key-of-the-console"))
    assert not files.exists(FILE_NAME)
    operator.renew()
    files.write(FILE_NAME, b"a-key-of-the-console\n")  # as a kill before it was removed leaves it
    again = Operator(lambda: database, files)
    again.begin()
    assert not again.is_key("a-key-of-the-console")
    assert not files.exists(FILE_NAME)


@pytest.mark.parametrize("body", [b"", b"short", b"\xff" * 30])
def test_a_damaged_key_of_an_earlier_version_is_said_and_can_be_renewed(operator, files, body):
    files.write(FILE_NAME, body)
    with pytest.raises(Corrupt, match=r"console\.key holds no key"):
        operator.begin()
    assert operator.is_key(operator.renew())
    assert operator.check()
    assert not files.exists(FILE_NAME)


def test_a_damaged_row_is_said_and_can_be_renewed(operator, database):
    operator.begin()
    with database.write() as tx:
        tx.execute("UPDATE meta SET value = '{' WHERE key = 'operator.key'")
    again = Operator(lambda: database)
    with pytest.raises(Corrupt, match="keys operator --new"):
        again.begin()
    assert again.is_key(again.renew())


def test_a_row_that_is_lost_opens_nothing(operator, database, backend):
    key = operator.begin()
    with database.write() as tx:
        tx.execute("DELETE FROM meta WHERE key = 'operator.key'")
    operator.share(changed=True)
    assert operator.is_key(key)
    app = create_app(backend, Settings(), operator_key=operator)
    assert Client(app).get("/console").status == 401  # not even on this machine


def test_a_collection_that_cannot_be_written_to_has_a_key_for_each_start(files):
    def state():
        raise StorageError("state.db cannot be written to; mend the rights on it")

    one, other = Operator(state), Operator(state)
    assert one.begin() != other.begin()
    assert one.begin() == one.shown
    assert one.is_key(one.shown)
    assert "cannot be written" in one.trouble
    files.write(FILE_NAME, b"a-key-of-the-console")
    old = Operator(state, files)
    assert old.begin() == ""
    assert old.is_key("a-key-of-the-console")


def test_two_that_begin_at_once_have_one_key(database, operator):
    other = Operator(lambda: database)
    other.check()  # none yet
    key = operator.begin()
    assert other._make(replace=False) == ""
    assert other.is_key(key)
