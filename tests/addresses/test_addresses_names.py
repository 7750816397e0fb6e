"""Hosts, sites, keys, sort keys and what people read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.addresses import display, host, host_key, is_ip, key, page_key, site, surt
from periplus.errors import InvalidAddress


@pytest.mark.parametrize(
    ("url", "expected_host", "expected_site", "expected_surt"),
    [
        ("https://www.example.org/a?b", "www.example.org", "example.org", "org,example,www)/a?b"),
        ("http://example.org:8080/", "example.org:8080", "example.org", "org,example:8080)/"),
        ("http://a.b.example.co.uk/", "a.b.example.co.uk", "example.co.uk", "uk,co,example,b,a)/"),
        ("http://ann.github.io/", "ann.github.io", "ann.github.io", "io,github,ann)/"),
        ("http://github.io/", "github.io", "github.io", "io,github)/"),
        ("http://co.uk/", "co.uk", "co.uk", "uk,co)/"),
        ("http://127.0.0.1:81/x", "127.0.0.1:81", "127.0.0.1", "127.0.0.1:81)/x"),
        ("http://[::1]:81/x", "[::1]:81", "[::1]", "[::1]:81)/x"),
        ("http://[2001:db8::1]/x", "[2001:db8::1]", "[2001:db8::1]", "[2001:db8::1])/x"),
        ("http://localhost/", "localhost", "localhost", "localhost)/"),
        ("http://a.x.localhost/", "a.x.localhost", "x.localhost", "localhost,x,a)/"),
        ("http://www.xn--bcher-kva.de/", "www.xn--bcher-kva.de", "xn--bcher-kva.de", "de,xn--bcher-kva,www)/"),
    ],
)
def test_names(url: str, expected_host: str, expected_site: str, expected_surt: str) -> None:
    assert host(url) == expected_host
    assert site(url) == site(expected_host) == expected_site
    assert surt(url) == expected_surt


def test_addresses_of_machines() -> None:
    assert is_ip("127.0.0.1")
    assert is_ip("[::1]")
    assert not is_ip("example.org")
    assert not is_ip("1.2.3.example")


@pytest.mark.parametrize("function", [host, surt])
def test_what_is_no_address_is_refused(function) -> None:
    with pytest.raises(InvalidAddress):
        function("nothing")


def test_a_site_sorts_together() -> None:
    urls = ["http://b.example.org/", "http://example.net/", "http://a.example.org/", "http://example.org/z"]
    assert sorted(urls, key=surt) == [urls[1], urls[3], urls[2], urls[0]]


def test_keys_are_stable_across_versions() -> None:
    assert key("https://example.org/") == -8202114674208552119
    assert host_key("example.org") == 4627260942063550277


def test_page_keys_fold_the_scheme_and_nothing_else() -> None:
    assert page_key("http://example.org/a") == page_key("https://example.org/a")
    assert key("http://example.org/a") != key("https://example.org/a")
    assert page_key("http://example.org/a") != page_key("http://example.org/b")
    assert page_key("http://example.org/a") != page_key("http://example.org:8080/a")


def test_a_name_that_is_no_address_has_a_page_key_all_the_same() -> None:
    assert page_key("report-17") == key("report-17")


@given(st.text("abc/?&=.", max_size=30))
def test_keys_fit_a_signed_column(path: str) -> None:
    for function in (key, page_key):
        assert -(2**63) <= function(f"http://example.org/{path}") < 2**63


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://example.org/", "example.org"),
        ("https://example.org/guide/tides/", "example.org > guide > tides"),
        ("http://example.org:8080/a?b=c", "example.org:8080 > a > ?b=c"),
        ("https://example.org/caf%C3%A9/%E4", "example.org > caf\u00e9 > %E4"),
        ("https://example.org/%E2%80%AEx", "example.org > %E2%80%AEx"),
        ("https://xn--bcher-kva.de/", "b\u00fccher.de"),
        ("https://xn--80ak6aa92e.com/", "xn--80ak6aa92e.com"),  # Cyrillic that reads like a Latin name
        (
            "https://xn--e1afmkfd.xn--80akhbyknj4f/",
            "\u043f\u0440\u0438\u043c\u0435\u0440.\u0438\u0441\u043f\u044b\u0442\u0430\u043d\u0438\u0435",
        ),
        ("https://xn--wgv71a119e.jp/", "\u65e5\u672c\u8a9e.jp"),
        ("https://xn--exmple-4uf.org/", "xn--exmple-4uf.org"),  # Cyrillic among Latin letters
        ("https://[::1]/x", "[::1] > x"),
    ],
)
def test_display(url: str, expected: str) -> None:
    assert display(url).replace("\u203a", ">") == expected


def test_long_addresses_are_shortened_in_the_middle() -> None:
    shown = display("https://example.org/" + "/".join(["segment"] * 30) + "/last-one")
    assert len(shown) <= 90
    assert "\u2026" in shown
    assert shown.startswith("example.org")
    assert shown.endswith("last-one")
    assert len(display("https://example.org/" + "x" * 500)) <= 90
