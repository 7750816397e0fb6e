"""The JSON API: shapes, parameter checks, error documents, OpenAPI."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest
from asgi_client import Client
from fake_backend import FakeBackend
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from periplus.errors import Corrupt, Incompatible, NotReady, OverBudget
from periplus.settings import ServeSettings, Settings
from periplus.web import create_app
from periplus.web.api.operations import OPERATIONS

PROBLEM = "application/problem+json"
APP = create_app(FakeBackend(), Settings())


def test_search_has_the_documented_shape(client):
    answer = client.get("/api/v1/search?q=tide&size=5")

    assert (answer.status, answer.media_type) == (200, "application/json")
    content = answer.json
    assert set(content) == {
        "query", "results", "total", "page", "size", "next", "corrections", "suggestions", "took_ms", "degraded",
        "generation", "counts", "lens", "coverage", "answers", "panels",
    }  # fmt: skip
    assert set(content["results"][0]) == {
        "rank", "id", "url", "display_url", "site", "title", "snippet", "highlights", "language", "published",
        "fetched", "type", "score", "more_from_site", "explain", "duplicates", "pinned",
    }  # fmt: skip
    assert content["total"] == {"value": 33, "relation": "eq"}
    assert content["results"][0]["explain"] is None
    assert content["next"] == "/api/v1/search?q=tide&page=2&size=5"


def test_every_parameter_reaches_the_backend(client, backend):
    client.get(
        "/api/v1/search?q=a&page=2&size=3&profile=bm25&lang=de&site=x.test&type=text/html"
        "&before=2025-02-01&after=2024-01-01&safe=1&lens=l&sort=date&explain=1"
    )
    asked = backend.requests[-1]

    assert (asked.query, asked.page, asked.size, asked.profile, asked.language) == ("a", 2, 3, "bm25", "de")
    assert (asked.site, asked.type, asked.before, asked.after) == ("x.test", "text/html", "2025-02-01", "2024-01-01")
    assert (asked.safe, asked.lens, asked.sort, asked.explain) == (True, "l", "date", True)


def test_choices_are_listed_without_the_empty_one(client):
    answer = client.get("/api/v1/search?q=tide&tab=music")

    assert (answer.status, answer.media_type) == (400, PROBLEM)
    assert "is none of all, news, places" in answer.json["detail"]


def test_next_leads_through_the_whole_list(client):
    address, seen = "/api/v1/search?q=tide&size=10", []
    while address:
        content = client.get(address).json
        seen += [result["rank"] for result in content["results"]]
        address = content["next"]

    assert seen == list(range(1, 34))


def test_highlights_count_code_points(client):
    results = client.get("/api/v1/search?q=tide&size=100").json["results"]
    astral = next(result for result in results if result["url"] == "http://astral.test/")

    assert [astral["snippet"][start:end] for start, end in astral["highlights"]] == ["tide", "tide"]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("q=a&foo=1", "'foo'"),
        ("q=a&pagee=2", "did you mean 'page'"),
        ("q=a&q=b", "'q' was given twice"),
        ("", "'q' is missing"),
        ("q=", "'q' is missing"),
        ("q=a&page=0", "'page'"),
        ("q=a&page=1e9", "'page'"),
        ("q=a&page=²", "'page'"),
        ("q=a&size=101", "'size'"),
        ("q=a&sort=up", "'sort'"),
        ("q=a&before=2025-13-01", "'before'"),
        ("q=a&explain=maybe", "'explain'"),
        ("q=a&page=11&size=100", "1000 results"),
        ("q=a&profile=nope", "unknown profile"),
        ("q=" + "a" * 2001, "longer than 2000"),
    ],
)
def test_wrong_use_is_a_problem_that_names_it(client, query, words):
    answer = client.get(f"/api/v1/search?{query}")

    assert (answer.status, answer.media_type) == (400, PROBLEM)
    assert set(answer.json) == {"type", "title", "status", "detail", "code"}
    assert answer.json["status"] == 400
    assert answer.json["code"] == "usage"
    assert words in answer.json["detail"]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_every_operation_refuses_unknown_parameters(client, operation):
    answer = client.call(operation.method, f"{operation.path}?surprise=1")

    assert (answer.status, answer.media_type) == (400, PROBLEM)
    assert "'surprise'" in answer.json["detail"]


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
@given(data=st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_nothing_that_is_asked_fails_the_server(operation, data):
    values = {item.name: data.draw(_value_for(item)) for item in operation.parameters if data.draw(st.booleans())}
    answer = Client(APP).call(operation.method, f"{operation.path}?{urlencode(values, errors='replace')}")

    assert answer.status < 500
    assert answer.media_type == (PROBLEM if answer.status >= 400 else answer.media_type)


def _value_for(parameter):
    likely = {
        "integer": st.integers(-2, 1_200).map(str),
        "flag": st.sampled_from(["0", "1", "yes"]),
        "date": st.dates().map(str),
        "choice": st.sampled_from(parameter.choices or ("",)),
    }
    return st.one_of(st.text(max_size=40), likely.get(parameter.kind, st.just("http://tides.test/springs")))


def test_suggest(client):
    content = client.get("/api/v1/suggest?q=tide&limit=2").json
    texts = [suggestion["text"] for suggestion in content["suggestions"]]

    assert (content["query"], texts) == ("tide", ["tide", "tide tables"])


def test_suggest_for_browsers(client):
    answer = client.get("/api/v1/suggest?q=tide+t&format=opensearch")

    assert answer.media_type == "application/x-suggestions+json"
    assert answer.json == ["tide t", ["tide tables", "tide tables and how to read them"], [], []]


def test_explain_inspect_analyze_status(client):
    explanation = client.get("/api/v1/explain?q=tide&url=http://tides.test/springs").json
    inspection = client.get("/api/v1/inspect?url=http://tides.test/springs").json

    assert explanation["name"] == "score"
    assert [part["name"] for part in explanation["parts"]] == ["text", "page rank", "freshness"]
    assert inspection["verdict"] == "can be found"
    assert [step["step"] for step in inspection["steps"]] == ["discovered", "robots", "index"]
    assert client.get("/api/v1/analyze?text=High+Tide&lang=en").json["tokens"][1]["term"] == "tide"
    assert client.get("/api/v1/status").json["index"]["generation"] == 7


@pytest.mark.parametrize(
    ("path", "status", "code"),
    [
        ("/api/v1/inspect?url=ftp://x", 400, "invalid-address"),
        ("/api/v1/explain?q=a&url=http://no.test/", 404, "not-found"),
        ("/api/v1/nothing", 404, "not-found"),
        ("/api/v1/crawl", 405, "method-not-allowed"),
    ],
)
def test_error_codes(client, path, status, code):
    answer = client.get(path)

    assert (answer.status, answer.media_type, answer.json["code"]) == (status, PROBLEM, code)


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (Corrupt("segment 3 is damaged; run periplus doctor"), 503, "corrupt"),
        (OverBudget("too long"), 503, "over-budget"),
    ],
)
def test_errors_of_ours_keep_their_message(client, backend, error, status, code):
    backend.error = error
    answer = client.get("/api/v1/search?q=a")

    assert (answer.status, answer.json["code"], answer.json["detail"]) == (status, code, str(error))


def test_a_crash_tells_nothing_of_the_inside(client, backend):
    backend.error = RuntimeError("secret /path")

    for path, media_type in (("/api/v1/search?q=a", PROBLEM), ("/search?q=a", "text/html")):
        answer = client.get(path)
        assert (answer.status, answer.media_type) == (500, media_type)
        assert "secret" not in answer.text
        assert "content-security-policy" in answer.headers
        assert isinstance(answer.raised, RuntimeError)  # so that the server logs it


def test_etag_by_generation(client, backend):
    first = client.get("/api/v1/search?q=tide")
    tag = first.headers["etag"]

    assert tag.startswith('W/"7-')
    assert client.get("/api/v1/search?q=tide", if_none_match=tag).status == 304
    assert client.get("/api/v1/search?q=harbour", if_none_match=tag).status == 200
    backend.degraded = ("shard 1",)
    assert "etag" not in client.get("/api/v1/search?q=tide").headers


def test_openapi_describes_what_is_checked(client):
    document = client.get("/openapi.json").json

    assert document["openapi"].startswith("3.1")
    for operation in OPERATIONS:
        described = document["paths"][operation.path][operation.method.lower()]
        assert described["operationId"] == operation.name
        named = [item.name for item in (*operation.places, *operation.parameters)]
        assert [item["name"] for item in described["parameters"]] == named
        assert ("security" in described) == bool(operation.scope)
        assert ({} in described.get("security", [{}])) == (operation.scope != "crawl")  # open to all
    schemas = document["components"]["schemas"]
    assert {"SearchAnswer", "SearchResult", "Explanation", "Inspection", "Problem"} <= set(schemas)
    assert set(schemas["SearchAnswer"]["properties"]) == set(client.get("/api/v1/search?q=tide").json)


def test_every_reference_in_openapi_leads_somewhere(client):
    document = client.get("/openapi.json").json

    def references(node):
        if isinstance(node, dict):
            yield from [node["$ref"]] if "$ref" in node else []
            for child in node.values():
                yield from references(child)
        elif isinstance(node, list):
            for child in node:
                yield from references(child)

    known = {f"#/components/schemas/{name}" for name in document["components"]["schemas"]}
    assert set(references(document)) <= known


def test_health_and_readiness(client, backend):
    assert client.get("/healthz").text == "ok\n"
    assert client.get("/readyz").status == 200
    backend.is_ready = False
    assert client.get("/healthz").status == 200
    answer = client.get("/readyz")
    assert (answer.status, answer.media_type, answer.json["code"]) == (503, PROBLEM, "not-ready")


def test_an_index_that_cannot_be_opened_is_not_ready(client, backend):
    backend.error = Incompatible("/srv/private/index/manifest has format 99; run periplus index --rebuild")
    answer = client.get("/readyz")
    assert (answer.status, answer.media_type, answer.json["code"]) == (503, PROBLEM, "not-ready")
    assert "doctor" in answer.text
    assert "/srv" not in answer.text


def test_alive_tells_the_last_write(client):
    assert client.get("/alive").json == {"alive": True, "last_write": "2026-11-15T20:00:00+00:00"}


def test_metrics_have_bounded_labels(client):
    for path in ("/search?q=tide", "/api/v1/search?q=a&foo=1", "/no/such/place", "/site/a.test", "/site/b.test"):
        client.get(path)
    client.call("BREW", "/")
    text = client.get("/metrics").text

    assert 'periplus_http_requests_total{method="GET",route="/search",status="2xx"} 1.0' in text
    assert 'periplus_http_requests_total{method="GET",route="/api/v1/search",status="4xx"} 1.0' in text
    assert 'periplus_http_requests_total{method="GET",route="/site/{host}",status="4xx"} 2.0' in text
    assert 'route="other"' in text
    assert "/no/such/place" not in text
    assert "BREW" not in text


def test_head_is_answered_everywhere(client):
    for path in ("/", "/search?q=tide", "/api/v1/search?q=tide", "/healthz", "/static/style.css"):
        assert client.call("HEAD", path).status == 200


# Orders


def order(client, path, body, **headers):
    return client.post(path, body, content_type="application/json", **headers)


def test_a_crawl_is_started_with_seeds_and_only_once(client):
    answer = order(client, "/api/v1/crawl", b'{"seeds": ["http://tides.test/"]}')

    assert answer.status == 202
    assert answer.json == {"seeds": ["http://tides.test/"], "status": "/api/v1/status"}
    again = order(client, "/api/v1/crawl", b'{"seeds": ["http://tides.test/"]}')
    assert (again.status, again.json["code"]) == (409, "storage-busy")


def test_a_page_is_asked_for_and_where_to_look_is_told(client):
    answer = order(client, "/api/v1/pages", b'{"url": "http://new.test/a?b=c"}')

    assert (answer.status, answer.json["state"]) == (202, "queued")
    assert client.get(answer.json["status"]).json["url"] == "http://new.test/a?b=c"
    assert order(client, "/api/v1/pages", b'{"url": "http://tides.test/tables/"}').json["state"] == "known"
    assert order(client, "/api/v1/pages", b'{"url": "mailto:x"}').json["code"] == "invalid-address"


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'{"seeds": []}', b'{"seeds": "x"}', b'{"seeds": ["x"], "y": 1}', b"\xff"]
)
def test_a_wrong_body_is_named(client, body):
    answer = order(client, "/api/v1/crawl", body)

    assert (answer.status, answer.media_type) == (400, "application/problem+json")
    assert "seeds" in answer.json["detail"]


def test_orders_are_the_operators(guarded):
    assert order(guarded, "/api/v1/crawl", b'{"seeds": ["http://tides.test/"]}').status == 401
    assert order(guarded, "/api/v1/pages", b'{"url": "http://tides.test/"}').status == 401
    assert order(guarded, "/api/v1/pages", b'{"url": "http://t.test/"}', authorization="Bearer s3same").status == 202


def test_what_is_not_there_says_where_to_look(client):
    missing = client.get("/api/v1/nothing")
    wrong = client.get("/api/v1/crawl")

    assert (missing.status, missing.json["code"]) == (404, "not-found")
    assert "/openapi.json" in missing.json["detail"]
    assert (wrong.status, wrong.headers["allow"]) == (405, "DELETE, POST")
    assert wrong.json["detail"] == "GET is not taken here; use DELETE, POST"
    assert "openapi" not in client.get("/nothing").text.split("<main")[1].split("</main>")[0]


def test_an_answer_that_is_known_depends_on_the_same_headers(client):
    whole = client.get("/api/v1/search?q=tide")
    known = client.get("/api/v1/search?q=tide", if_none_match=whole.headers["etag"])

    assert (known.status, known.body) == (304, b"")
    assert known.headers["vary"] == whole.headers["vary"] == "Accept-Encoding"


def test_strangers_are_not_told_where_a_collection_lies(client, backend):
    status = backend.status()
    backend.status = lambda: {**status, "collection": "/srv/search/coast"}

    assert client.get("/api/v1/status").json["collection"] == "coast"
    assert "/srv/search" not in client.get("/").text


def test_a_query_that_cannot_be_answered_yet_stays_in_its_box(client, backend):
    def not_ready(_request, **_):
        raise NotReady("no index is published yet; run periplus index")

    backend.search = not_ready
    answer = client.get("/search?q=spring+tide")

    assert answer.status == 503
    assert 'type="search" value="spring tide"' in answer.text


@pytest.fixture
def open_to_visitors(backend):
    settings = Settings(serve=ServeSettings(submissions="visitors", submission_rate=2))
    return create_app(backend, settings, operator_key="s3same")


def test_visitors_submit_pages_where_the_operator_lets_them(open_to_visitors):
    visitor = Client(open_to_visitors, address="192.0.2.7")

    answer = order(visitor, "/api/v1/pages", b'{"url": "http://tides.test/new"}')
    refused = order(visitor, "/api/v1/pages", b'{"url": "http://elsewhere.test/"}')

    assert (answer.status, answer.json["state"], answer.json["reason"]) == (202, "queued", "")
    assert refused.json["reason"] == "out-of-scope"
    assert "scope" in refused.json["detail"]
    assert order(visitor, "/api/v1/pages", b'{"url": "http://tides.test/"}', authorization="Bearer no").status == 401
    trusted = order(visitor, "/api/v1/pages", b'{"url": "http://elsewhere.test/"}', authorization="Bearer s3same")
    assert trusted.json["state"] == "queued"


def test_visitors_submit_so_many_an_hour_each_and_for_one_site(open_to_visitors):
    first, second, third = (Client(open_to_visitors, address=f"192.0.2.{number}") for number in (7, 8, 9))
    body = b'{"url": "http://tides.test/new"}'

    assert [order(first, "/api/v1/pages", body).status for _ in range(3)] == [202, 202, 429]
    too_many = order(second, "/api/v1/pages", body)  # for that site, whoever asks
    assert too_many.status == 429
    assert 1 <= int(too_many.headers["retry-after"]) <= 1800
    assert order(second, "/api/v1/pages", b'{"url": "http://other.tides.test/"}').status == 429
    assert order(third, "/api/v1/pages", b'{"url": "http://waves.test/"}').status == 202
    assert order(second, "/api/v1/pages", body, authorization="Bearer s3same").status == 202


def test_a_visitor_submits_with_the_inspectors_button(open_to_visitors, guarded):
    visitor = Client(open_to_visitors, address="192.0.2.7")
    form = {"content_type": "application/x-www-form-urlencoded"}

    assert 'action="/submit"' in visitor.get("/inspect?url=http://tides.test/").text
    assert 'action="/submit"' not in guarded.get("/inspect?url=http://tides.test/").text
    answer = visitor.post("/submit", b"url=http%3A%2F%2Ftides.test%2Fnew", **form)
    assert (answer.status, answer.headers["location"]) == (303, "/inspect?url=http%3A%2F%2Ftides.test%2Fnew")
    assert visitor.post("/submit", b"url=mailto%3Ax", **form).status == 400
    assert visitor.post("/submit", b"url=x", origin="http://evil.test", **form).status in (401, 403)
    assert guarded.post("/submit", b"url=http%3A%2F%2Ftides.test%2F", **form).status == 401
