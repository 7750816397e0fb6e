"""robots.txt: RFC 9309's rules, lines named, agreement with another implementation."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from protego import Protego

from periplus.crawl import RobotsFile
from periplus.crawl.robots import SIZE_LIMIT

HOST = "http://a.test"


def allowed(text: str, path: str, token: str = "Periplus") -> bool:
    return RobotsFile.parse(text, token).verdict(HOST + path).allowed


@pytest.mark.parametrize(
    ("rules", "path", "expected"),
    [
        ("Disallow: /", "/", False),
        ("Disallow: /", "/robots.txt", True),
        ("Disallow:", "/x", True),
        ("Disallow: /a", "/ab", False),
        ("Disallow: /a", "/b", True),
        ("Disallow: /a\nAllow: /ab", "/abc", True),
        ("Allow: /a\nDisallow: /a", "/a", True),  # a tie goes to allow
        ("Disallow: /*.gif$", "/x/y.gif", False),
        ("Disallow: /*.gif$", "/x/y.gif?z", True),
        ("Disallow: /a*b*c", "/a1b2c3", False),
        ("Disallow: /a*b*c", "/a1c2b3", True),
        ("Disallow: *", "/anything", False),
        ("Disallow: /%7Ejoe", "/~joe/x", False),
        ("Disallow: /~joe", "/%7ejoe", False),
        ("Disallow: /caf%C3%A9", "/caf%c3%a9/menu", False),
        ("Disallow: /café", "/caf%C3%A9", False),
        ("Disallow: /a%2Fb", "/a/b", True),
        ("Disallow: /search?q=", "/search?q=x", False),
        ("disallow : /upper", "/upper", False),
        ("Disallow: /x # not /y", "/x", False),
        ("Disallow: /$", "/", False),
        ("Disallow: /$", "/a", True),
        ("Disallow: /fish*.php", "/fishheads/catfish.php?p=1", False),
        ("Disallow: /p\nAllow: /page$\nDisallow: /pag", "/page", True),
    ],
)
def test_rules(rules: str, path: str, expected: bool) -> None:
    assert allowed(f"User-agent: *\n{rules}", path) is expected


def test_the_deciding_line_is_named() -> None:
    text = "# hello\nUser-agent: *\nAllow: /\n\nDisallow: /private # keep out\n"
    verdict = RobotsFile.parse(text, "Periplus").verdict(HOST + "/private/x")
    assert (verdict.allowed, verdict.line, str(verdict)) == (False, 5, "line 5: Disallow: /private")
    assert str(RobotsFile.parse("", "Periplus").verdict(HOST + "/x")) == "no rule matches"


def test_groups_are_chosen_by_token_and_merged() -> None:
    text = (
        "User-agent: other\nDisallow: /\n\nUser-agent: PERIPLUS/9\nUser-agent: friend\nDisallow: /one\nCrawl-delay: 3\n"
        "User-agent: *\nDisallow: /all\n\nUser-agent: periplus\nDisallow: /two\n"
    )
    mine = RobotsFile.parse(text, "Periplus")
    assert [mine.verdict(HOST + path).allowed for path in ("/one", "/two", "/all")] == [False, False, True]
    assert (mine.group, mine.delay) == ("periplus", 3.0)
    stranger = RobotsFile.parse(text, "Stranger")
    assert stranger.group == "*"
    assert not stranger.verdict(HOST + "/all").allowed
    assert RobotsFile.parse("User-agent: peri\nDisallow: /", "Periplus").group == ""


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
def test_line_ends_and_byte_order_mark(end: str) -> None:
    body = b"\xef\xbb\xbf" + end.join(["User-agent: *", "Disallow: /x", "Sitemap: http://a.test/s.xml"]).encode()
    robots = RobotsFile.parse(body, "Periplus")
    assert not robots.verdict(HOST + "/x").allowed
    assert robots.sitemaps == ("http://a.test/s.xml",)


@pytest.mark.parametrize(("value", "delay"), [("2", 2.0), ("0.5", 0.5), ("soon", None), ("-1", None), ("inf", None)])
def test_crawl_delay(value: str, delay: float | None) -> None:
    assert RobotsFile.parse(f"User-agent: *\nCrawl-delay: {value}", "Periplus").delay == delay


def test_what_lies_behind_the_size_limit_is_not_read() -> None:
    body = b"User-agent: *\n" + b"# sea\n" * (SIZE_LIMIT // 6) + b"Disallow: /\n"
    assert RobotsFile.parse(body, "Periplus").verdict(HOST + "/x").allowed


def test_hostile_patterns_take_linear_time() -> None:
    robots = RobotsFile.parse("User-agent: *\nDisallow: /" + "*a" * 2_000 + "$", "Periplus")
    assert robots.verdict(HOST + "/" + "a" * 1_999 + "b").allowed


words = st.text(alphabet="ab/*$.?=%-é", max_size=8)
paths = st.text(alphabet="ab/.?=-", max_size=12).map(lambda text: "/" + text.lstrip("/"))
lines = st.lists(st.tuples(st.sampled_from(["Allow", "Disallow"]), words), max_size=6)


@given(lines, paths)
def test_agrees_with_protego(rules: list[tuple[str, str]], path: str) -> None:
    """Where the two mean the same; protego has rules of its own for "$", index.html and bad escapes."""
    kept = [(name, "/" + rule.lstrip("/")) for name, rule in rules if "%" not in rule and "$" not in rule[:-1]]
    kept = [(name, rule) for name, rule in kept if not rule.endswith("$")]
    text = "User-agent: *\n" + "\n".join(f"{name}: {rule}" for name, rule in kept)
    assert allowed(text, path) is Protego.parse(text).can_fetch(HOST + path, "Periplus"), text


@given(st.binary(max_size=400))
def test_any_bytes_can_be_read(body: bytes) -> None:
    RobotsFile.parse(body, "Periplus").verdict(HOST + "/x?y")
