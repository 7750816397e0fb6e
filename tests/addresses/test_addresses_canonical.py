"""The canonical form: the rules of the README, one stable spelling, quick and thorough path alike."""

from __future__ import annotations

import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from periplus.addresses import canonical, parse, try_canonical
from periplus.addresses.canonical import _thorough
from periplus.errors import InvalidAddress

BASE = "https://example.org/guide/%7eann/page.html?q=1#x"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("HTTP://Example.ORG/Path", "http://example.org/Path"),
        ("http://example.org", "http://example.org/"),
        ("http://example.org:80/", "http://example.org/"),
        ("https://example.org:443/", "https://example.org/"),
        ("http://example.org:443/", "http://example.org:443/"),
        ("http://example.org:/", "http://example.org/"),
        ("http://example.org:0080/", "http://example.org/"),
        ("http://example.org/a/./b/../c", "http://example.org/a/c"),
        ("http://example.org/a/%2e%2E/c", "http://example.org/c"),
        ("http://example.org/.well-known/x", "http://example.org/.well-known/x"),
        ("http://example.org//a//b", "http://example.org//a//b"),
        ("http://example.org/%7Eann/%e4%41", "http://example.org/~ann/%E4A"),
        ("http://example.org/a%2Fb%3Fc", "http://example.org/a%2Fb%3Fc"),
        ("http://example.org/100%/%41", "http://example.org/100%/%41"),
        ("http://example.org/%2%35", "http://example.org/%2%35"),
        ("http://example.org/a b\u00e4", "http://example.org/a%20b%C3%A4"),
        ("http://example.org/#part", "http://example.org/"),
        ("http://example.org/?#", "http://example.org/"),
        ("http://example.org/?", "http://example.org/"),
        ("http://example.org/?b=2&a=1", "http://example.org/?b=2&a=1"),
        ("http://example.org/?a=&b", "http://example.org/?a=&b"),
        ("http://example.org/?utm_source=x", "http://example.org/"),
        ("http://example.org/?UTM_Source=x&a=1&gclid=2&b=2&fbclid", "http://example.org/?a=1&b=2"),
        ("http://example.org/?utm%5Fsource=x&a=%7e", "http://example.org/?a=~"),
        ("http://example.org/?gclids=1&xgclid=2", "http://example.org/?gclids=1&xgclid=2"),
        ("http://example.org/?a=gclid=1", "http://example.org/?a=gclid=1"),
        ("http://ann:secret@example.org/", "http://example.org/"),
        ("http://example.org./", "http://example.org/"),
        ("http://b\u00fccher.example/", "http://xn--bcher-kva.example/"),
        ("http://B\u00dcCHER.example/", "http://xn--bcher-kva.example/"),
        ("http://ex%41mple.org/", "http://example.org/"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://127.0.0.1.:8080/", "http://127.0.0.1:8080/"),
        ("http://[0:0::1]:8080/x", "http://[::1]:8080/x"),
        ("http://localhost:8081/", "http://localhost:8081/"),
        ("http://port.localhost/", "http://port.localhost/"),
        ("http:\\\\example.org\\a", "http://example.org/a"),
        ("  http://exam\nple.org/\t ", "http://example.org/"),
        ("http://example.org/\ud800", "http://example.org/%EF%BF%BD"),
        ("http://example.org/;jsessionid=1?a;b", "http://example.org/;jsessionid=1?a;b"),
    ],
)
def test_rules(text: str, expected: str) -> None:
    assert canonical(text) == expected
    assert canonical(expected) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "https://example.org/guide/~ann/page.html?q=1"),
        ("#top", "https://example.org/guide/~ann/page.html?q=1"),
        ("?", "https://example.org/guide/~ann/page.html"),
        ("?n=2", "https://example.org/guide/~ann/page.html?n=2"),
        ("next.html", "https://example.org/guide/~ann/next.html"),
        ("next/?utm_id=1#x", "https://example.org/guide/~ann/next/"),
        ("../up", "https://example.org/guide/up"),
        ("./x", "https://example.org/guide/~ann/x"),
        (".", "https://example.org/guide/~ann/"),
        ("/", "https://example.org/"),
        ("/top?a=b", "https://example.org/top?a=b"),
        ("//other.example/x", "https://other.example/x"),
        ("//other.example", "https://other.example/"),
        ("/.//x", "https://example.org//x"),
        ("a:b", None),
        ("./a:b", "https://example.org/guide/~ann/a:b"),
        ("mailto:ann@example.org", None),
        ("javascript:void(0)", None),
        ("tel:+1", None),
        ("data:text/html,x", None),
        ("https:x", "https://example.org/guide/~ann/x"),
        ("http:x", "http://x/"),
    ],
)
def test_links_of_a_page(text: str, expected: str | None) -> None:
    assert try_canonical(text, BASE) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "example.org",
        "ftp://example.org/",
        "http://",
        "http:///",
        "http://exa mple.org/",
        "http://example.org:99999/",
        "http://[::1/",
        "http://a..b/",
        "http://.a/",
        "http://a../",
        "http://./",
        "http://a!b/",
        f"http://{'a' * 64}.org/",
        f"http://{'a.' * 127}org/",
        f"http://example.org/{'a' * 20_000}",
        "http://1.2.3.4.5/",
    ],
)
def test_refused(text: str) -> None:
    assert try_canonical(text) is None
    with pytest.raises(InvalidAddress) as caught:
        canonical(text)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 300


def test_a_bad_base_refuses_relative_links() -> None:
    assert try_canonical("x.html", "not an address") is None
    assert try_canonical("http://example.org/", "not an address") == "http://example.org/"


def test_userinfo_never_reaches_the_canonical_address() -> None:
    assert try_canonical("x", "http://ann:secret@example.org/a/") == "http://example.org/a/x"


PIECES = st.sampled_from(
    [
        *["http://", "https://", "//", "/", "?", "#", "&", "=", ":", "@", ".", "..", "%", "%2e", "%7E", "%41", "%2F"],
        *["example.org", "WWW.example.org.", "127.0.0.1", "[::1]", "xn--bcher-kva.de", "\u00e4", " ", "\t", "\\", "'"],
        *[
            "utm_source=1",
            "gclid",
            "a",
            "B",
            "0x",
            "9",
            "-",
            "--",
            "~",
            "%e4",
            "%zz",
            "|",
            "^",
            "\ud800",
            ";",
            "+",
            "80",
        ],
    ]
)
TEXT = st.lists(PIECES, max_size=9).map("".join) | st.text(max_size=20)
ADDRESS = st.builds(
    str.__add__, st.sampled_from(["http://example.org/", "https://a.example", "http://b:8080/x/"]), TEXT
)


@given(TEXT | ADDRESS, st.none() | ADDRESS)
@example("%35", "http://example.org/%2")
@example("p", "http://example.org/%41/%zz")
@settings(max_examples=600, deadline=None)
def test_canonical_is_idempotent_and_both_paths_agree(text: str, base: str | None) -> None:
    url = try_canonical(text, base)
    if url is None:
        return
    assert try_canonical(url) == url
    assert _thorough(url) == url
    assert url.isascii()
    thorough = _thorough(text, base)
    assert url == thorough or (base is not None and thorough is None)


@given(ADDRESS)
@settings(max_examples=200, deadline=None)
def test_canonical_addresses_have_no_userinfo_fragment_or_default_port(text: str) -> None:
    url = try_canonical(text)
    if url is not None:
        parts = parse(url)
        assert (parts.username, parts.password, parts.fragment) == ("", "", "")
        assert parts.path.startswith("/")


def test_bases_kept_are_bounded() -> None:
    for number in range(3000):
        try_canonical("x", f"http://example.org/{number}/")
    from periplus.addresses.canonical import _base

    assert _base.cache_info().currsize <= 1024
    assert sys.getsizeof(_base) < 10_000
