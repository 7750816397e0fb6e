"""Settings that the console changed: in force where and when, with their origin, undone; in SQLite and PostgreSQL."""

from __future__ import annotations

import http.client
import threading
from urllib.parse import urlencode, urlsplit

import pytest

from periplus import Collection, addresses
from periplus.app.console.setting_changes import KEPT, SettingChanges
from periplus.app.console.starting import crawl_once
from periplus.app.serving.backend import CollectionBackend
from periplus.app.serving.server import Reloader, operator_key, web_app, web_server
from periplus.app.serving.sharing import Sharing
from periplus.cli.main import run
from periplus.crawl import told
from periplus.documents import BatchLog
from periplus.errors import NotFound, SettingError, StateLost, UsageError
from periplus.records import Document, SearchRequest
from periplus.settings import CONSOLE, FILE_NAME, Remembered
from support.postgres import postgres_address  # noqa: F401 (a fixture)
from web.asgi_client import Client

PAGES = [f"http://a.test/{number}" for number in range(6)]


@pytest.fixture(params=["sqlite", pytest.param("postgresql", marks=pytest.mark.postgres)])
def folder(request, tmp_path):
    made = tmp_path / "c"
    made.mkdir()
    address = request.getfixturevalue("postgres_address") if request.param == "postgresql" else ""
    (made / FILE_NAME).write_text(f"[storage]\ndatabase = '{address}'\n[rank]\ndamping = 0.8\n", encoding="utf-8")
    return made


@pytest.fixture
def collection(folder):
    with Collection(folder) as opened:
        yield opened.create()


@pytest.fixture
def changes(collection):
    return SettingChanges(collection)


@pytest.fixture
def filled(tmp_path):
    """With six pages of one host that say much the same of tides."""
    with Collection(tmp_path / "filled") as collection:
        collection.create()
        documents = [
            Document(url, addresses.key(url), 1.7e9, title=f"Tide {place}", text=f"tide tables {place}", language="en")
            for place, url in enumerate(PAGES)
        ]
        BatchLog(collection.files, collection.database).append(documents)
        collection.index()
        yield collection


def in_force(collection, key):
    loaded = collection.in_force()
    return loaded.value(key), loaded.origins.get(key, "default").rpartition("/")[2]


def edit(collection, text):
    path = collection.folder / FILE_NAME
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


# Changing


def test_a_change_is_in_force_for_whoever_opens_the_collection(collection, changes):
    changes.change("crawl.delay", "2.5")
    changes.change("crawl.exclude", "/a,b\n/c")
    changes.change("rank.damping", "0.9")

    with Collection(collection.folder) as other:
        assert in_force(other, "crawl.delay") == (2.5, "console")
        assert in_force(other, "crawl.exclude") == (("/a,b", "/c"), "console")
        assert in_force(other, "rank.damping") == (0.9, "console")
        assert other.pipeline._settings.rank.damping == 0.9  # of every step that begins


def test_the_file_of_settings_is_not_written(collection, changes):
    before = (collection.folder / FILE_NAME).read_bytes()
    changes.change("rank.damping", "0.9")
    changes.reset("rank.damping")

    assert (collection.folder / FILE_NAME).read_bytes() == before


@pytest.mark.parametrize(
    ("key", "text", "said"),
    [
        ("crawl.delay", "-1", "Expected `float` >= 0.0"),
        ("crawl.hours", "25-99", "25-99"),
        ("crawl.include", "(", "include"),
        ("search.profile", "nonsense", "unknown profile 'nonsense'"),
        ("verticals.position", "here", "verticals.position"),
        ("bot.contact", "me\r\nX-Evil: 1", "line break"),
        ("crawl.exclude", "/a\n/b\x00", "control character"),
        ("crawl.headers", "a.test=X: y", "crawl.headers is not changed on the console: it is secret"),
        ("crawl.allow_private", "true", "opens private networks"),
        ("storage.database", "postgresql://x", "it is secret"),
        ("storage.files", "s3://x", "what the console changes is kept there"),
        ("serve.port", "1", "lock you out"),
        ("crawl.nonsense", "1", "unknown setting crawl.nonsense"),
    ],
)
def test_what_is_wrong_changes_nothing_and_is_said(collection, changes, key, text, said):
    with pytest.raises(UsageError) as caught:
        changes.change(key, text)

    assert said in str(caught.value)
    assert collection.remembered() == {}
    assert changes.last(10) == []


def test_a_variable_that_would_win_is_said(collection, changes, monkeypatch):
    monkeypatch.setenv("PERIPLUS_CRAWL_DELAY", "7")

    with pytest.raises(SettingError, match="PERIPLUS_CRAWL_DELAY is set where this server runs, and wins"):
        changes.change("crawl.delay", "2")
    assert in_force(collection, "crawl.delay") == (7.0, "PERIPLUS_CRAWL_DELAY")


def test_the_same_value_again_is_no_change(changes):
    assert changes.change("crawl.delay", "2") is not None
    assert changes.change("crawl.delay", "2.0") is None
    assert len(changes.last(10)) == 1


def test_a_later_edit_of_the_file_wins(collection, changes):
    changes.change("crawl.delay", "2")
    changes.change("rank.damping", "0.9")
    edit(collection, "[crawl]\ndelay = 4.0\n")

    assert in_force(collection, "crawl.delay") == (4.0, FILE_NAME)
    assert in_force(collection, "rank.damping") == (0.9, "console")
    changes.change("crawl.delay", "5")
    assert in_force(collection, "crawl.delay") == (5.0, "console")


def test_of_crawl_and_console_the_later_wins(collection, changes):
    changes.change("crawl.max_pages", "5")
    with Collection(collection.folder, flags={"crawl.max_pages": 7}) as another:
        another.remember(another.in_force())
    assert in_force(collection, "crawl.max_pages") == (7, "remembered")

    changes.change("crawl.max_pages", "9")
    assert in_force(collection, "crawl.max_pages") == (9, "console")


def test_a_flag_of_a_process_that_runs_gives_way_and_one_of_a_later_process_wins(collection, changes):
    with Collection(collection.folder, flags={"crawl.delay": 3.0}, flags_at=1.0) as running:
        changes.change("crawl.delay", "2")
        assert in_force(running, "crawl.delay") == (2.0, "console")
    with Collection(collection.folder, flags={"crawl.delay": 3.0}) as later:
        assert in_force(later, "crawl.delay") == (3.0, "flag")


def test_forgetting_what_crawls_were_told_leaves_what_the_console_changed(collection, changes):
    with Collection(collection.folder, flags={"crawl.max_pages": 7}) as another:
        another.remember(another.in_force())
    changes.change("crawl.delay", "2")
    assert set(collection.in_force(forget=True).origins.values()) >= {"console"}
    collection.forget()

    assert in_force(collection, "crawl.max_pages") == (10_000, "default")
    assert in_force(collection, "crawl.delay") == (2.0, "console")


def test_the_command_line_names_the_console_as_the_origin(collection, changes, capsys):
    changes.change("crawl.max_depth", "3")
    changes.change("crawl.delay", "0.01")
    run(["crawl", "http://127.0.0.1:1/", "--dir", str(collection.folder), "--workers", "1"])

    lines = [line.split() for line in capsys.readouterr().err.splitlines()]
    assert ["max-depth", "3", "console"] in lines


def test_the_command_line_tells_of_an_edit_that_replaced_what_the_console_said(collection, changes, capsys):
    changes.change("crawl.max_depth", "3")
    edit(collection, "[crawl]\nmax_depth = 6\ndelay = 0.01\n")
    run(["crawl", "http://127.0.0.1:1/", "--dir", str(collection.folder), "--workers", "1"])

    said = capsys.readouterr().err
    assert "periplus.toml was edited since: max-depth is 6, no longer the 3 that the console was told" in said


# Taking back


def test_every_change_can_be_undone_which_is_a_change_too(collection, changes):
    first = changes.change("crawl.delay", "2", "203.0.113.9")
    second = changes.change("crawl.delay", "3")
    changes.change("rank.damping", "0.9")

    undone = changes.undo(second.number, "203.0.113.9")
    assert in_force(collection, "crawl.delay") == (2.0, "console")
    assert (undone.old, undone.new, undone.undoes) == (3.0, 2.0, second.number)
    changes.undo(first.number)
    assert in_force(collection, "crawl.delay") == (1.0, "default")
    changes.undo(undone.number)
    assert in_force(collection, "crawl.delay") == (3.0, "console")

    assert [(one.setting, one.old, one.new) for one in changes.last(3)] == [
        ("crawl.delay", 1.0, 3.0),
        ("crawl.delay", 2.0, 1.0),
        ("crawl.delay", 3.0, 2.0),
    ]
    assert in_force(collection, "rank.damping") == (0.9, "console")


def test_undo_goes_back_to_what_the_file_says(collection, changes):
    change = changes.change("rank.damping", "0.9")
    assert (change.old, change.old_from, change.new_from) == (0.8, FILE_NAME, "console")
    changes.undo(change.number)

    assert in_force(collection, "rank.damping") == (0.8, FILE_NAME)
    assert collection.remembered() == {}


def test_what_a_crawl_was_told_comes_back(collection, changes):
    with Collection(collection.folder, flags={"crawl.max_pages": 7}) as another:
        another.remember(another.in_force())
    change = changes.change("crawl.max_pages", "9")
    assert (change.old, change.old_from) == (7, "remembered")
    changes.undo(change.number)

    assert collection.in_force().values.crawl.max_pages == 7


def test_a_setting_is_reset_to_what_file_and_default_say(collection, changes):
    changes.change("crawl.delay", "2")
    change = changes.reset("crawl.delay")

    assert (change.old, change.new, change.new_from) == (2.0, 1.0, "default")
    assert in_force(collection, "crawl.delay") == (1.0, "default")
    with pytest.raises(NotFound):
        changes.reset("crawl.delay")
    with pytest.raises(NotFound):
        changes.undo(99)


def test_every_change_is_an_event_that_says_who_and_what(collection, changes, capsys):
    change = changes.change("rank.damping", "0.9", "203.0.113.9")
    changes.undo(change.number)

    newest, before = CollectionBackend(collection).panels.events(2)["events"]
    assert before["room"] == "console"
    assert before["text"] == (
        f"change 1 of settings by the operator at 203.0.113.9: rank.damping is 0.9 (console), was 0.8 ({FILE_NAME})"
    )
    assert newest["text"].endswith(f"rank.damping is 0.8 ({FILE_NAME}), was 0.9 (console), which undoes change 1")
    assert run(["status", "--dir", str(collection.folder)]) == 0
    assert "change 2 of settings: rank.damping is 0.8" in " ".join(capsys.readouterr().out.split())


def test_changes_are_kept_up_to_a_bound(changes, monkeypatch):
    monkeypatch.setattr("periplus.app.console.setting_changes.KEPT", 3)
    for depth in range(1, 7):
        changes.change("crawl.max_depth", str(depth))

    assert [one.new for one in changes.last(KEPT)] == [6, 5, 4]


def test_a_lost_state_refuses_changes(tmp_path):
    with Collection(tmp_path / "c") as made:
        made.create()
        BatchLog(made.files, made.database).append([Document(PAGES[0], addresses.key(PAGES[0]), 1.7e9, text="tide")])
    (tmp_path / "c" / "state.db").unlink()
    with Collection(tmp_path / "c") as lost, pytest.raises(StateLost):
        SettingChanges(lost).change("crawl.delay", "2")


# At once


@pytest.fixture
def served(filled):
    """The pages of a collection, and a look at what changed, as the thread of every server has it."""
    app = web_app(filled)
    sharing = Sharing(filled)
    assert sharing.look() == []
    return app, Client(app), sharing


def test_a_server_takes_up_what_another_process_changed(filled, served):
    app, _, sharing = served
    with Collection(filled.folder) as elsewhere:
        changes = SettingChanges(elsewhere)
        for key, text in (
            ("search.budget_ms", "77"),
            ("search.per_host", "1"),
            ("search.profile", "bm25"),
            ("search.clicks", "true"),
            ("serve.public_status", "false"),
            ("serve.access_log", "full"),
        ):
            changes.change(key, text)
    assert filled.settings.search.budget_ms == 500
    assert sharing.look() == []

    assert filled.settings.search.budget_ms == 77
    assert app.state.settings.search.clicks
    assert app.state.settings.serve.access_log == "off"  # waits for the start of the server


def test_profile_and_results_of_a_host_change_with_the_next_query(filled, served):
    _, _, sharing = served
    changes = SettingChanges(filled)

    def answered():
        plain = filled.engine.search(SearchRequest("tide tables"))
        return [result.score for result in plain.results]

    filled.engine.warm()
    before = [answered() for _ in range(3)]  # the last from what is kept
    assert filled.engine.kept_answers
    changes.change("search.profile", "bm25")
    sharing.look()
    after = answered()
    assert before[0] == before[2] != after
    assert after == [one.score for one in filled.engine.search(SearchRequest("tide tables", profile="bm25")).results]

    changes.change("search.profile", "periplus")
    changes.change("search.answers", "false")
    assert filled.answers("2+2")
    sharing.look()
    assert answered() == before[0]
    assert not filled.answers("2+2")


def test_bounds_of_clients_and_keys_change_with_the_next_request(filled, served):
    app, _, sharing = served
    changes = SettingChanges(filled)
    stranger = Client(app, "203.0.113.7")

    def statuses(number):
        return [stranger.get("/api/v1/suggest?q=ti").status for _ in range(number)]

    assert statuses(4) == [200] * 4
    changes.change("serve.burst", "2")
    changes.change("serve.rate", "0.001")
    sharing.look()
    assert statuses(4) == [200, 200, 429, 429]
    changes.change("serve.rate", "0")
    changes.change("serve.api_keys", "true")
    changes.change("serve.public_status", "false")
    sharing.look()
    assert statuses(4) == [200] * 4
    assert stranger.get("/api/v1/search?q=tide").status == 401
    assert stranger.get("/metrics").status == 401
    changes.change("serve.submissions", "visitors")
    sharing.look()
    assert app.state.submissions.is_open


def test_an_edit_of_the_file_is_taken_up_and_a_wrong_one_is_not(filled, served):
    _, _, sharing = served
    edit(filled, "[search]\nper_host = 9\n")
    assert sharing.look() == []
    assert filled.settings.search.per_host == 9

    edit(filled, "budget_ms = 'long'\n")
    (wrong,) = sharing.look()
    assert "search.budget_ms = 'long'" in str(wrong)
    assert filled.settings.search.per_host == 9


def test_what_the_console_changed_is_in_force_with_its_answer(filled):
    web_app(filled)
    backend = CollectionBackend(filled)

    assert backend.change_setting("search.budget_ms", "77")
    assert filled.settings.search.budget_ms == 77
    backend.undo_setting(1)
    assert filled.settings.search.budget_ms == 500
    backend.undo_setting(2)
    backend.forget("search.budget_ms")
    assert filled.settings.search.budget_ms == 500


def test_a_running_server_looks_by_itself(filled):
    app = web_app(filled)
    taken = threading.Event()
    filled.live.listen(lambda fresh: taken.set() if fresh.search.per_host == 8 else None)
    with Reloader(filled), Collection(filled.folder) as elsewhere:
        SettingChanges(elsewhere).change("search.per_host", "8")
        assert taken.wait(30)
    assert app.state.settings.search.per_host == 8


# On the console


def test_the_console_changes_undoes_and_resets_over_http(filled):
    with Collection(filled.folder, flags={"serve.port": 0}) as collection, web_server(collection) as server:
        key = operator_key(collection)
        connection = http.client.HTTPConnection(urlsplit(server.address).netloc, timeout=60)

        def asked(method, path, *, key=key, **fields):
            connection.request(method, path, urlencode(fields), {"authorization": f"Bearer {key}"})
            answer = connection.getresponse()
            return answer.status, answer.read().decode()

        def shown():
            text = asked("GET", "/console/settings")[1]
            return text.partition('<tr id="search.per_host"')[2].partition("</tr>")[0], text

        change = "/console/settings/change"
        assert asked("POST", change, key="wrong", target="search.per_host", value="6")[0] == 401
        assert asked("POST", change, target="search.per_host", value="6")[0] == 303
        row, text = shown()
        assert 'title="console"' in row
        assert 'value="6"' in row
        assert 'aria-label="Undo change 1 of search.per_host"' in text

        status, text = asked("POST", change, target="search.per_host", value="0")
        assert status == 400
        assert "search.per_host = &#39;0&#39; (from console): Expected `int` &gt;= 1" in text
        assert asked("POST", change, target="serve.port", value="1")[0] == 400
        assert in_force(filled, "search.per_host") == (6, "console")

        assert asked("POST", "/console/settings/undo", number="1")[0] == 303
        assert 'value="3"' in shown()[0]
        assert asked("POST", "/console/settings/undo", number="77")[0] == 404
        assert asked("POST", "/console/settings/undo", number="2")[0] == 303
        assert 'aria-label="Reset search.per_host"' in shown()[0]
        assert asked("POST", "/console/settings/forget", target="search.per_host")[0] == 303
        events = asked("GET", "/console/events.json")[1]
        assert "by the operator at 127.0.0.1: search.per_host is 6 (console), was 3 (default)" in events
        connection.close()
    assert in_force(filled, "search.per_host") == (3, "default")


# Later


def test_a_server_that_starts_goes_by_what_was_changed_before(filled):
    changes = SettingChanges(filled)
    changes.change("search.past_queries", "false")
    changes.change("serve.access_log", "routes")
    changes.change("verticals.panels", "false")
    changes.change("search.per_host", "7")
    changes.change("serve.cors", "https://other.test")

    with Collection(filled.folder) as again:
        app = web_app(again)
        values = app.state.settings
        assert (values.search.past_queries, values.verticals.panels) == (False, False)
        assert values.serve.access_log == "routes"
        assert values.search.per_host == 7
        assert again.engine._past is None
        answer = Client(app).get("/api/v1/status", origin="https://other.test")
        assert answer.headers["access-control-allow-origin"] == "https://other.test"


def test_a_change_that_another_version_made_and_this_one_does_not_take_keeps_no_server_from_starting(filled):
    SettingChanges(filled).change("search.per_host", "7")
    with filled.database.write() as tx:
        for key, value in (("search.per_host", -7), ("search.gone", 1), ("search.budget_ms", 90)):
            told.keep(tx, key, Remembered(value, by=CONSOLE))

    with Collection(filled.folder) as again:
        web_app(again)
        shown = {row["key"]: row["value"] for row in CollectionBackend(again).panels.settings()["settings"]}
        assert (shown["search.budget_ms"], shown["search.per_host"]) == (90, 3)
        assert again.settings.search.budget_ms == 90
        assert again.settings.search.per_host == 3


def test_the_console_says_what_waits_for_the_start(filled, served):
    SettingChanges(filled).change("serve.access_log", "routes")
    SettingChanges(filled).change("search.per_host", "7")
    rows = {row["key"]: row for row in CollectionBackend(filled).panels.settings()["settings"]}

    assert rows["serve.access_log"]["running"] == "off"
    assert rows["serve.access_log"]["value"] == "routes"
    assert "running" not in rows["search.per_host"]


def test_the_next_crawl_goes_by_what_was_changed(collection, changes, tmp_path):
    for key, text in (
        ("crawl.max_depth", "3"),
        ("bot.contact", "https://a.test/bot"),
        ("archive.rotate_bytes", "2000000"),
    ):
        changes.change(key, text)

    seen = []
    made = Collection.crawler

    def crawler(self, loaded, *args, **options):
        seen.append(loaded.values)
        return made(self, loaded, *args, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Collection, "crawler", crawler)
        crawl_once(threading.Event(), str(collection.folder), {"crawl.workers": 1}, ["http://127.0.0.1:1/"])
    (values,) = seen
    assert (values.crawl.max_depth, values.bot.contact) == (3, "https://a.test/bot")
    assert values.archive.rotate_bytes == 2_000_000


def test_the_next_update_goes_by_what_was_changed(collection, changes):
    for key, text in (("index.memory", "300000000"), ("rank.damping", "0.5"), ("rank.nofollow", "keep")):
        changes.change(key, text)

    values = collection.pipeline._settings
    assert (values.index.memory, values.rank.damping, values.rank.nofollow) == (300_000_000, 0.5, "keep")
