"""Limits a client, and answers made smaller."""

from __future__ import annotations

import pytest
from asgi_client import Client
from hypothesis import given
from hypothesis import strategies as st

from periplus.settings import ServeSettings, Settings
from periplus.web import create_app
from periplus.web.requests.limits import CLIENTS, Buckets
from periplus.web.serving.compression import chosen


class Clock:
    now = 0.0

    def __call__(self):
        return self.now


@given(st.lists(st.floats(0, 3), max_size=80), st.integers(1, 5), st.floats(0.5, 4))
def test_no_client_gets_more_than_its_burst_and_rate(pauses, burst, rate):
    clock = Clock()
    buckets = Buckets(rate, burst, clock)
    admitted = 0
    for pause in pauses:
        clock.now += pause
        wait = buckets.take("a")
        admitted += not wait
        assert 0 <= wait <= 1 / rate + 1e-9
    assert admitted <= burst + rate * clock.now + 1e-6
    clock.now += 1 / rate + 1e-6
    assert buckets.take("a") == 0


def test_the_table_of_clients_is_bounded():
    buckets = Buckets(1, 1, Clock())
    for number in range(CLIENTS + 50):
        buckets.take(str(number))
    assert len(buckets) == CLIENTS


@pytest.fixture
def strict(backend):
    return create_app(backend, Settings(serve=ServeSettings(rate=0.1, burst=3)))


def test_who_asks_too_often_is_told_to_wait(strict):
    client = Client(strict, address="192.0.2.1")

    assert [client.get("/api/v1/search?q=tide").status for _ in range(4)] == [200, 200, 200, 429]
    answer = client.get("/api/v1/search?q=tide")
    assert answer.media_type == "application/problem+json"
    assert answer.json["code"] == "too-many-requests"
    assert 1 <= int(answer.headers["retry-after"]) <= 10
    assert "content-security-policy" in answer.headers
    page = client.get("/search?q=tide")
    assert (page.status, page.media_type) == (429, "text/html")
    assert "Too many requests in a short time." in page.text
    assert 1 <= int(page.headers["retry-after"]) <= 10
    dear = ("/similar", "/cached", "/inspect")
    assert {client.get(f"{path}?url=http://tides.test/").status for path in dear} == {429}
    assert client.get("/healthz").status == client.get("/").status == 200
    assert Client(strict, address="192.0.2.2").get("/search?q=tide").status == 200


def test_a_network_of_ipv6_is_one_client_and_this_machine_is_none(strict):
    addresses = [f"2001:db8::{number}" for number in range(1, 5)]

    assert [Client(strict, address=one).get("/search?q=tide").status for one in addresses] == [200, 200, 200, 429]
    assert {Client(strict).get("/search?q=tide").status for _ in range(6)} == {200}


@pytest.mark.parametrize(
    ("accepted", "encoding"),
    [("br, gzip", "br"), ("gzip, deflate", "gzip"), ("gzip, br;q=0", "gzip"), ("", ""), ("identity", ""),
     ("br;q=0.0, gzip;q=0", ""), ("GZIP;q=0.5", "gzip"), ("*", "")],
)  # fmt: skip
def test_the_encoding_is_what_the_client_takes(accepted, encoding):
    assert chosen(accepted) == encoding


def test_brotli_is_smaller_than_gzip_and_small_answers_stay(client):
    plain = client.get("/search?q=tide")
    packed = {name: client.get("/search?q=tide", accept_encoding=name) for name in ("br", "gzip")}

    assert all(answer.headers["content-encoding"] == name for name, answer in packed.items())
    assert packed["br"].text.count("<li") == packed["gzip"].text.count("<li") == plain.text.count("<li")
    assert int(packed["br"].headers["content-length"]) < int(packed["gzip"].headers["content-length"]) < len(plain.body)
    assert "content-encoding" not in plain.headers
    assert plain.headers["vary"] == "Accept-Encoding"
    assert "content-encoding" not in client.get("/healthz", accept_encoding="br").headers
