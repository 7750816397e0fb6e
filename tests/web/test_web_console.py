"""The operator's console: its menu, its panels as pages and as JSON, judgements, and who may see it."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from asgi_client import Client
from hypothesis import given
from hypothesis import strategies as st

from periplus.settings import SearchSettings, Settings
from periplus.web import create_app
from periplus.web.console.panels import MENU, PANELS
from periplus.web.rendering.plots import HEIGHT, WIDTH, curve
from periplus.web.requests.operator import session_of

PATHS = [panel.path for panel in PANELS]


def test_the_menu_is_short_and_marks_where_one_is(client):
    assert len(MENU) <= 8
    text = client.get("/console/hosts").text
    assert '<a href="/console/hosts" aria-current="page">Hosts</a>' in text
    assert all(f'href="{panel.path}"' in text for panel in MENU)


@pytest.mark.parametrize("path", PATHS)
def test_every_panel_is_also_json(client, path):
    answer = client.get(f"{path}.json")

    assert (answer.status, answer.media_type) == (200, "application/json")
    assert f'href="{path}.json' in client.get(path).text


@pytest.mark.parametrize("path", [*PATHS, *(f"{path}.json" for path in PATHS), "/console/qrels.tsv"])
def test_only_the_operator_sees_it(guarded, path):
    assert guarded.get(path).status == 401
    assert guarded.get(path, authorization="Bearer s3same").status == 200


def test_a_panel_as_json_tells_its_problems_as_json(guarded):
    assert guarded.get("/console/hosts.json").media_type == "application/problem+json"


def test_the_key_opens_the_panel_that_was_asked_for(guarded):
    answer = guarded.get("/console/hosts?key=s3same")

    assert (answer.status, answer.headers["location"]) == (303, "/console/hosts")


def test_who_has_the_key_is_asked_for_it(guarded):
    text = guarded.get("/console/hosts").text

    assert '<form class="lookup" action="/console/hosts" method="get">' in text
    assert 'name="key" type="password"' in text
    assert 'action="/console" method="get"' in guarded.post("/console/crawl/pause").text
    assert 'name="key"' not in guarded.get("/nothing").text


def test_overview_shows_figures_curves_workers_and_events(client):
    text = client.get("/console").text

    assert text.count('class="plot-line"') == 4
    assert "quay:4242" in text
    assert "the disk is nearly full" in text
    assert 'data-live="4"' in text


def test_overview_of_a_new_collection(client, backend):
    backend.panels.overview = dict
    backend.status = lambda: {"collection": "new", "crawl": {}, "index": None, "ranks": None}

    assert "No requests in the last hour." in client.get("/console").text


def test_hosts_can_be_ordered_and_filtered(client):
    assert client.get("/console/hosts.json?text=tides&order=errors").json["order"] == "errors"
    assert client.get("/console/hosts.json?order=;drop").json["order"] == "queue"
    assert len(client.get("/console/hosts.json?text=tides").json["hosts"]) == 1


def test_errors_name_the_reason_and_link_to_the_inspector(client):
    text = client.get("/console/errors").text

    assert "the server failed" in text
    assert "/console/inspect?url=http%3A%2F%2Fhostile.test%2F%3Cscript%3E" in text
    assert "robots.txt forbids the address" in text


def test_two_profiles_stand_side_by_side(client):
    text = client.get("/console/queries?text=tide&profile=periplus&beside=bm25").text

    assert text.count('<ol class="judged">') == 2
    assert "<h3>bm25</h3>" in text
    assert "judged in the other list" in text


def test_judgements_are_kept_and_come_out_as_files_for_evaluate(client, backend, tmp_path):
    ids = [
        result["id"] for result in client.get("/console/queries.json?text=tide").json["runs"][0]["answer"]["results"]
    ]
    body = f"text=tide&profile=bm25&grade:{ids[0]}=3&grade:{ids[1]}=0&grade:{ids[2]}="

    answer = client.post("/console/judge", body.encode())
    assert (answer.status, answer.headers["location"]) == (303, "/console/queries?text=tide&profile=bm25")
    assert backend.panels.judged == {"tide": {ids[0]: 3, ids[1]: 0}}
    assert '<option value="3" selected>' in client.get("/console/queries?text=tide").text

    from periplus.evaluation import read_qrels, read_queries

    for name in ("qrels.tsv", "queries.tsv"):
        file = client.get(f"/console/{name}")
        assert file.headers["content-disposition"] == f'attachment; filename="{name}"'
        (tmp_path / name).write_bytes(file.body)
    assert read_queries(tmp_path / "queries.tsv") == {"1": "tide"}
    assert read_qrels(tmp_path / "qrels.tsv") == {"1": {ids[0]: 3, ids[1]: 0}}


@pytest.mark.parametrize("body", [b"", b"text=", b"text=tide&grade:x=9", b"text=tide&grade:x=banana"])
def test_wrong_judgements_are_refused(client, body):
    assert client.post("/console/judge", body).status == 400


def test_judgements_come_only_from_our_own_pages(client):
    assert client.post("/console/judge", b"text=tide", sec_fetch_site="cross-site").status == 403


def test_settings_that_differ_are_marked_and_secrets_stay_secret(client):
    text = client.get("/console/settings").text

    assert text.count('class="changed"') == 4
    assert "(kept secret)" in text


def test_ranks_and_index_before_there_are_any(client, backend):
    backend.panels.ranks = backend.panels.index = dict

    assert "No ranks are published yet" in client.get("/console/ranks").text
    assert "No generation is published yet" in client.get("/console/index").text


@given(st.lists(st.floats(0, 1e12), min_size=2, max_size=80), st.booleans())
def test_curves_stay_in_their_box(values, log):
    drawn = curve(values, log=log)

    points = [tuple(map(float, point.split())) for point in drawn.line[1:].split("L")]
    assert len(points) == len(values)
    assert all(0 <= x <= WIDTH + 1 and 0 <= y <= HEIGHT for x, y in points)
    assert drawn.highest == max(values)


@pytest.mark.parametrize("values", [[], [1.0], [1.0, float("nan")], [1.0, float("inf")]])
def test_no_curve_where_there_is_none(values):
    assert curve(values) is None


# What an operator does to hosts, addresses, workers and crawls


def pressed(client, path, back="/console/hosts", **fields):
    return client.post(path, urlencode({"back": back, **fields}).encode())


@pytest.mark.parametrize("action", ["recrawl", "boost", "block", "unblock", "remove"])
def test_hosts_and_addresses_are_steered(client, backend, action):
    answer = pressed(client, f"/console/steer/{action}", target="tides.test", back="/console/hosts?order=pages")

    assert backend.steered == [(action, "tides.test")]
    assert answer.headers["location"] == f"/console/hosts?order=pages&done={action}&target=tides.test"
    told = client.get(answer.headers["location"]).text
    assert '<b class="address">tides.test</b>' in told


def test_steering_says_what_is_wrong(client, backend):
    assert pressed(client, "/console/steer/paint", target="tides.test").status == 404
    assert pressed(client, "/console/steer/block").status == 400
    assert pressed(client, "/console/steer/recrawl", target="nowhere.test").status == 404
    assert backend.steered == []
    away = pressed(client, "/console/steer/block", back="//evil.test/", target="a.test").headers["location"]
    assert away.startswith("/console?")


def test_shard_servers_are_drained_and_restarted_where_that_can_be_done(client, backend):
    shown = client.get("/console/shards").text
    offered = [(order, port) for order in ("Drain", "Restart") for port in (8650, 8651)
               if f'aria-label="{order}: http://127.0.0.1:{port}"' in shown]  # fmt: skip
    assert offered == [("Drain", 8650), ("Restart", 8650), ("Restart", 8651)]
    answer = pressed(client, "/console/shards/drain", target="http://127.0.0.1:8650")
    assert backend.steered == [("drain", "http://127.0.0.1:8650")]
    assert "finishes what it has and ends" in client.get(answer.headers["location"]).text
    assert pressed(client, "/console/shards/drain", target="http://127.0.0.1:8651").status == 404
    assert pressed(client, "/console/shards/paint", target="http://127.0.0.1:8650").status == 404
    assert len(backend.steered) == 1


def test_a_crawl_is_started_with_its_scope(client, backend):
    answer = pressed(
        client, "/console/crawl/start", seeds="http://a.test/\nhttp://b.test/", scope="host", max_pages="50"
    )

    assert answer.status == 303
    assert backend.options == {"scope": "host", "max_pages": 50}
    assert "http://a.test/ and 1 more" in client.get(answer.headers["location"]).text
    assert pressed(client, "/console/crawl/start", seeds="http://a.test/").status == 409  # one is under way
    assert pressed(client, "/console/crawl/start", seeds="  ").status == 400
    assert pressed(client, "/console/crawl/start", seeds="http://a.test/", max_pages="many").status == 400


def test_a_worker_is_restarted_from_the_console_and_the_api(client, backend):
    assert pressed(client, "/console/crawl/workers/3/restart").headers["location"].startswith("/console?done=restart")
    assert client.post("/api/v1/crawl/workers/4/restart").json == {"command": "restart", "accepted": True}
    assert backend.commands == ["restart 3", "restart 4"]
    assert client.post("/api/v1/crawl/workers/x/restart").status == 400


@pytest.mark.parametrize("order", ["pause", "resume", "restart", "shutdown"])
def test_any_worker_is_ordered_from_the_console(client, backend, order):
    shown = client.get("/console").text
    assert [f'aria-label="Restart: {number}"' in shown for number in (1, 2)] == [True, True]  # the first included
    assert ('aria-label="Pause: 1"' in shown, 'aria-label="Resume: 1"' in shown) == (True, False)
    assert ('aria-label="Pause: 2"' in shown, 'aria-label="Resume: 2"' in shown) == (False, True)
    answer = pressed(client, f"/console/crawl/workers/2/{order}")
    assert backend.commands == [f"{order} 2"]
    assert "is the number of the worker" in client.get(answer.headers["location"]).text
    assert pressed(client, "/console/crawl/workers/2/paint").status == 404


def test_machines_are_shown_and_ordered(client, backend):
    shown = client.get("/console/machines").text
    assert all(text in shown for text in ("quay-1a2b", "drained", "silent", "cluster.slot.shard:0:0", "and 3 more"))
    assert "in use &lt;b&gt;" in shown
    nodes = ("quay-1a2b", "mole-3c4d", "pier-5e6f")
    offered = [(order, node) for order in ("Drain", "Let it work", "Take out") for node in nodes
               if f'aria-label="{order}: {node}"' in shown]  # fmt: skip
    assert offered == [
        ("Drain", "quay-1a2b"),
        ("Let it work", "mole-3c4d"),
        ("Take out", "quay-1a2b"),
        ("Take out", "mole-3c4d"),
    ]
    answer = pressed(client, "/console/machines/drain", target="quay-1a2b")
    assert "takes nothing any more" in client.get(answer.headers["location"]).text
    pressed(client, "/console/machines/stop", target="10.0.0.1:6379")
    assert backend.steered == [("drain", "quay-1a2b"), ("stop", "10.0.0.1:6379")]
    assert pressed(client, "/console/machines/drain", target="elsewhere").status == 404
    assert pressed(client, "/console/machines/sink", target="quay-1a2b").status == 404


def test_without_machines_the_page_says_how_to_have_some(client, backend):
    backend.panels.machines = dict
    assert "periplus cluster start" in client.get("/console/machines").text


def test_counts_of_queries_are_shown_as_text(client):
    page = client.get("/console/queries").text

    assert "1\u202f234 searches" in page
    assert "&lt;img src=x onerror" in page
    assert client.get("/console/queries.json").json["counts"]["top"] == [{"query": "tide tables", "count": 40}]


ACTIONS = (
    "/console/steer/block",
    "/console/shards/drain",
    "/console/machines/drain",
    "/console/crawl/start",
    "/console/crawl/stop",
    "/console/crawl/workers/1/restart",
    "/console/judge",
)


@pytest.mark.parametrize("path", ACTIONS)
def test_strangers_and_other_sites_cannot_press_buttons(client, guarded, backend, path):
    target = {"shards": "http://127.0.0.1:8650", "machines": "quay-1a2b"}.get(path.split("/")[2], "tides.test")
    body = f"target={target}&seeds=http://a.test/&text=tide".encode()
    token = session_of("s3same")

    assert guarded.post(path, body).status == 401
    assert guarded.post(path, body, cookie="operator=wrong").status == 401
    assert client.post(path, body, origin="https://evil.test").status == 403
    assert guarded.post(path, body, cookie=f"operator={token}", sec_fetch_site="cross-site").status == 403
    assert (backend.steered, backend.commands, backend.panels.judged) == ([], [], {})
    assert guarded.post(path, body, cookie=f"operator={token}", sec_fetch_site="same-origin").status == 303


def test_events_can_be_narrowed_to_those_that_are_bad(client, backend):
    row = {"at": 1_763_240_000.0, "room": "crawl", "level": "info", "text": "crawl 1 begins"}
    backend.panels.events_kept += [row, {**row, "level": "error", "text": "the archive is torn"}]
    told = {
        level: [event["text"] for event in client.get(f"/console/events.json?level={level}").json["events"]]
        for level in ("", "info", "warning", "error")
    }
    assert told[""] == told["info"] == ["the disk is nearly full", "crawl 1 begins", "the archive is torn"]
    assert told["warning"] == ["the disk is nearly full", "the archive is torn"]
    assert told["error"] == ["the archive is torn"]
    assert [event["text"] for event in client.get("/console/events.json?level=warning&limit=1").json["events"]] == [
        "the disk is nearly full"
    ]
    page = client.get("/console/events?level=error").text
    assert "the archive is torn" in page
    assert "crawl 1 begins" not in page
    backend.panels.events_kept.clear()
    assert "Nothing of that kind happened" in client.get("/console/events?level=error").text


def test_counts_can_be_taken_away_as_tables(client, guarded):
    days = client.get("/console/searches.csv")
    assert (days.status, days.media_type) == (200, "text/csv")
    assert days.text.splitlines()[:2] == ["day,searches,without_result,clicks", "2026-11-01,41,1,1"]
    assert client.get("/console/asked.csv").text.splitlines()[1] == '"\'=tide, tables",40,0,7'  # no formula
    assert [guarded.get(f"/console/{name}.csv").status for name in ("searches", "asked")] == [401, 401]
    page = client.get("/console/queries").text
    assert page.count('class="plot"') == 3


def test_a_click_is_counted_by_our_own_page_only(client, backend):
    assert client.post("/click", b"q=tide", origin="http://127.0.0.1:8080").status == 204
    assert client.post("/click", b"q=tide", origin="http://evil.test").status == 403
    assert backend.opened == ["tide"]
    assert "data-clicks" not in client.get("/search?q=tide").text
    counting = Settings(search=SearchSettings(clicks=True))
    assert 'data-clicks="/click"' in Client(create_app(backend, counting)).get("/search?q=tide").text
