"""Keys of programs: their scopes, what is kept of them, and who may ask without one."""

from __future__ import annotations

import msgspec
import pytest
from asgi_client import Client

from periplus.errors import Corrupt, NotFound, StorageError, UsageError, WrongState
from periplus.settings import ServeSettings, Settings
from periplus.storage import Follower, LocalFiles
from periplus.web import create_app
from periplus.web.api.operations import OPERATIONS
from periplus.web.requests.keys import FILE_NAME, ApiKey, KeyRing, digest_of

FAR = "192.0.2.7"


@pytest.fixture
def ring(database, tmp_path):
    return KeyRing(lambda: database, LocalFiles(tmp_path))


@pytest.fixture
def elsewhere(database):
    """The keys as the server of another machine has them."""
    return KeyRing(lambda: database)


@pytest.fixture
def closed(backend, ring):
    """The API for programs with a key only."""
    app = create_app(backend, Settings(serve=ServeSettings(api_keys=True)), operator_key="s3same", keys=ring)
    return Client(app, address=FAR)


def bearer(key):
    return {"authorization": f"Bearer {key}"}


def test_a_key_is_shown_once_and_kept_as_a_digest(ring, elsewhere, database):
    key = ring.create("reader", ["search"])

    with database.read() as tx:
        kept = str(tx.rows("SELECT * FROM api_keys"))
    assert digest_of(key) in kept
    assert key.removeprefix("periplus_") not in kept
    assert ring.find(key).name == "reader"
    assert ring.find(key + "x") is None
    assert ring.find("") is None
    assert elsewhere.find(key) == ring.find(key)


def test_another_server_sees_a_new_key_and_a_revoked_one_with_its_next_look(ring, elsewhere, database):
    follower = Follower(elsewhere)
    assert follower.look(database) == []
    key = ring.create("reader", ["search"])
    assert elsewhere.find(key) is None  # a request asks nobody
    assert follower.look(database) == []
    assert elsewhere.find(key).name == "reader"
    ring.revoke("reader")
    follower.look(database)
    assert elsewhere.find(key) is None


def test_keys_of_an_earlier_version_are_taken_over_once(ring, database, tmp_path):
    files, key = LocalFiles(tmp_path), "periplus_of-an-earlier-version"
    old = msgspec.json.encode([ApiKey("reader", digest_of(key), ("search", "crawl"), 12.5)])
    files.write(FILE_NAME, old)

    assert ring.find(key) == ApiKey("reader", digest_of(key), ("search", "crawl"), 12.5)
    assert not files.exists(FILE_NAME)
    ring.revoke("reader")
    files.write(FILE_NAME, old)  # as a kill before it was removed leaves it
    assert KeyRing(lambda: database, files).all() == []
    assert not files.exists(FILE_NAME)


def test_keys_that_cannot_be_read_are_said_and_tried_again(ring, elsewhere, database, tmp_path):
    key = ring.create("reader", ["search"])
    opened = []

    def state():
        if not opened:
            raise StorageError("the database cannot be reached; check the address and the server")
        return opened[0]

    late = KeyRing(state)
    for _ in range(2):
        with pytest.raises(StorageError, match="cannot be reached"):
            late.find(key)
    assert late.find("no key of ours") is None
    opened.append(database)
    Follower(late).look(database)
    assert late.find(key).name == "reader"
    opened.clear()
    with pytest.raises(StorageError):
        late.share(changed=True)
    assert late.find(key).name == "reader"  # those that were read last stay in force


def test_keys_of_an_earlier_version_open_what_cannot_be_written_to(tmp_path):
    files, key = LocalFiles(tmp_path), "periplus_of-an-earlier-version"
    files.write(FILE_NAME, msgspec.json.encode([ApiKey("reader", digest_of(key), ("search",), 1.0)]))

    def state():
        raise StorageError("state.db cannot be written to; mend the rights on it")

    assert KeyRing(state, files).find(key).name == "reader"
    assert files.exists(FILE_NAME)


def test_names_and_scopes_are_checked(ring):
    ring.create("a", ["search", "crawl"])

    with pytest.raises(WrongState, match="already"):
        ring.create("a", ["search"])
    for name, scopes in (("b", ["fly"]), ("b", []), ("", ["search"]), ("b\n", ["search"])):
        with pytest.raises(UsageError):
            ring.create(name, scopes)
    with pytest.raises(NotFound):
        ring.revoke("b")
    assert [(key.name, key.scopes) for key in ring.all()] == [("a", ("search", "crawl"))]


def test_a_damaged_file_is_said(ring, tmp_path):
    (tmp_path / FILE_NAME).write_bytes(b'[{"name": 1}]')

    with pytest.raises(Corrupt):
        ring.all()


def test_a_key_opens_what_its_scopes_name(closed, ring, backend):
    reader, crawler = ring.create("reader", ["search"]), ring.create("crawler", ["crawl"])

    assert closed.get("/api/v1/search?q=tide").status == 401
    assert closed.get("/api/v1/search?q=tide", **bearer(reader)).status == 200
    assert closed.get("/api/v1/inspect?url=http://a.test/", **bearer(reader)).status == 403
    assert closed.get("/api/v1/search?q=tide", **bearer(crawler)).status == 403
    assert closed.post("/api/v1/crawl/pause", **bearer(reader)).status == 403
    assert closed.post("/api/v1/crawl/pause", **bearer(crawler)).status == 202
    assert closed.post("/api/v1/crawl/pause", **bearer("s3same")).status == 202
    assert backend.commands == ["pause", "pause"]


def test_a_revoked_key_stops_at_once(closed, ring):
    key = ring.create("reader", ["search"])
    assert closed.get("/api/v1/search?q=tide", **bearer(key)).status == 200

    ring.revoke("reader")
    refused = closed.get("/api/v1/search?q=tide", **bearer(key))
    assert (refused.status, refused.json["code"]) == (401, "unauthorized")
    assert refused.headers["www-authenticate"] == "Bearer"


def test_the_shape_of_searxng_needs_the_key_too_and_the_page_does_not(closed, ring):
    key = ring.create("reader", ["search"])

    refused = closed.get("/search?q=tide&format=json")
    assert (refused.status, refused.media_type) == (401, "application/problem+json")
    assert closed.get("/search?q=tide&format=json", **bearer(key)).status == 200
    assert closed.get("/search?q=tide").status == closed.get("/api/v1/suggest?q=t").status == 200


def test_without_the_setting_reading_is_open_and_a_wrong_key_is_told(backend, ring):
    client = Client(create_app(backend, Settings(), operator_key="s3same", keys=ring), address=FAR)

    assert client.get("/api/v1/search?q=tide").status == 200
    assert client.get("/api/v1/search?q=tide", **bearer("periplus_wrong")).status == 401
    assert client.post("/api/v1/crawl/stop").status in (401, 404, 405)
    assert client.call("DELETE", "/api/v1/crawl").status == 401


def test_every_operation_but_completion_has_a_scope():
    assert [operation.name for operation in OPERATIONS if not operation.scope] == ["suggest"]


def test_a_key_has_a_limit_of_its_own(backend, ring):
    key = ring.create("reader", ["search"])
    app = create_app(backend, Settings(serve=ServeSettings(rate=0.1, burst=1)), keys=ring)
    one, other = Client(app, address="192.0.2.1"), Client(app, address="192.0.2.2")

    assert [one.get("/api/v1/search?q=a").status for _ in range(2)] == [200, 429]
    assert one.get("/api/v1/search?q=a", **bearer(key)).status == 200
    assert other.get("/api/v1/search?q=a", **bearer(key)).status == 429  # wherever it comes from
    assert other.get("/api/v1/search?q=a").status == 200


def test_other_origins_may_send_a_key(backend):
    app = create_app(backend, Settings(serve=ServeSettings(cors=("https://a.test",))))
    asked = {"origin": "https://a.test", "access-control-request-method": "GET"}
    answer = Client(app).call(
        "OPTIONS", "/api/v1/search?q=a", {**asked, "access-control-request-headers": "authorization"}
    )

    assert answer.status == 200
    assert "authorization" in answer.headers["access-control-allow-headers"].lower()
    assert "access-control-allow-credentials" not in answer.headers


# Ids of requests, and tags


def test_every_answer_has_an_id_of_its_own(client, backend):
    ids = [client.get(path).headers["x-request-id"] for path in ("/", "/search?q=tide", "/nothing", "/api/v1/search")]
    assert len(set(ids)) == len(ids)
    backend.search = None  # a crash
    crashed = client.get("/api/v1/search?q=tide", x_request_id="mine-12345")
    assert (crashed.status, crashed.headers["x-request-id"]) == (500, "mine-12345")


@pytest.mark.parametrize("odd", ["short", "x" * 65, "with space 12", "semi;colon-123", "línea-123456"])
def test_only_a_plain_id_of_the_caller_is_taken_over(client, odd):
    assert client.get("/healthz", x_request_id=odd).headers["x-request-id"] != odd
    assert client.get("/healthz", x_request_id="abc.DEF_12-3").headers["x-request-id"] == "abc.DEF_12-3"


def test_a_tag_is_known_in_a_list_and_by_its_weak_form(client):
    tag = client.get("/api/v1/search?q=tide").headers["etag"]

    assert tag.startswith('W/"7-')
    for header in (tag, f'"other", {tag}', tag.removeprefix("W/"), "*"):
        assert client.get("/api/v1/search?q=tide", if_none_match=header).status == 304
    assert client.get("/api/v1/search?q=tide", if_none_match='"other"').status == 200
    assert client.get("/api/v1/search?q=harbour", if_none_match=tag).status == 200


def test_a_damaged_file_of_keys_is_told_to_programs_and_keeps_nobody_else_out(backend, ring, tmp_path):
    (tmp_path / FILE_NAME).write_bytes(b"[{")
    app = create_app(backend, Settings(serve=ServeSettings(rate=10, burst=10)), operator_key="s3same", keys=ring)
    client = Client(app, address=FAR)

    refused = client.get("/api/v1/search?q=tide", **bearer("periplus_any"))
    assert (refused.status, refused.raised) == (503, None)
    assert FILE_NAME in refused.text
    assert client.get("/api/v1/search?q=tide").status == 200
    assert client.get("/console", **bearer("s3same")).status == 200
