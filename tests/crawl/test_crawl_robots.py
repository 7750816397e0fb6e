"""robots.txt: RFC 9309's rules, lines named, agreement with another implementation."""

from __future__ import annotations

import tracemalloc

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from protego import Protego

from periplus.crawl import RobotsFile
from periplus.crawl.rules.robots import SIZE_LIMIT, _rule
from periplus.crawl.rules.robots_matcher import Matcher
from support.own_time import own_seconds

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
        ("Disallow: /$", "/$a", True),
        ("Disallow: /a%2Ab", "/a*b", False),
        ("Disallow: /a%2Ab", "/axb", True),
        ("Disallow: /a%24", "/a$b", False),
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


# Lines between the agents of a group: RFC 9309 2.2.4, other records must not interfere with rules

_OTHERS = ["Crawl-delay: 7", "Request-rate: 1/5", "Host: a.test", "Noindex: /x", "Sitemap: /s.xml", "", "?", "a: b"]


@pytest.mark.parametrize("other", _OTHERS)
def test_other_lines_do_not_end_a_list_of_agents(other: str) -> None:
    text = f"User-agent: Periplus\n{other}\nUser-agent: friend\nDisallow: /x\n"
    assert not allowed(text, "/x")
    assert not allowed(text, "/x", "friend")
    assert allowed(text, "/x", "stranger")


def test_a_delay_is_for_the_agents_right_above_it() -> None:
    text = (
        "User-agent: *\nCrawl-delay: 10\nUser-agent: one\nUser-agent: two\nCrawl-delay: 2\nUser-agent: three\n"
        "Disallow: /x\nCrawl-delay: 4\nUser-agent: one\nCrawl-delay: 1\n"
    )
    delays = {token: RobotsFile.parse(text, token).delay for token in ("other", "one", "two", "three")}
    assert delays == {"other": 10.0, "one": 2.0, "two": 2.0, "three": 4.0}
    assert all(not allowed(text, "/x", token) for token in delays)


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("User-agent: *\ndisallow /x", "/x", False),
        ("User-agent: *\nDisallow\t/x  # why not", "/x", False),
        ("User-agent *\nDisallow /x:y\nAllow: /", "/x:y", False),
        ("user agent Periplus\nDisallow: /x", "/x", False),
        ("User-agent: *\nDisallow /x", "/y", True),
        ("User-agent: *\nDisallow /x and /y please", "/x", True),  # prose
        ("User-agent: *\nDisallow: /x\nUser agents may come\nDisallow: /y", "/y", False),
        ("User-agent: *\nDisallow/x", "/x", True),
    ],
)
def test_a_line_without_its_colon_is_read_as_meant(text: str, path: str, expected: bool) -> None:
    assert allowed(text, path) is expected


def test_a_delay_and_a_sitemap_without_their_colons() -> None:
    robots = RobotsFile.parse("User-agent: *\nCrawl-delay 3\nSitemap http://a.test/s.xml", "Periplus")
    assert (robots.delay, robots.sitemaps) == (3.0, ("http://a.test/s.xml",))


def test_thousands_of_agents_with_thousands_of_rules_take_little_memory() -> None:
    names = "\n".join(f"User-agent: {'a' * (n % 40)}b{'c' * (n // 40)}" for n in range(3_000))
    text = f"{names}\nUser-agent: Periplus\n" + "Allow:/a\n" * 20_000 + "Disallow: /x"
    assert len(text) < SIZE_LIMIT
    tracemalloc.start()
    try:
        robots = RobotsFile.parse(text, "Periplus")
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 50_000_000  # bytes; a list of rules for each agent takes 500 MB
    assert not robots.verdict(HOST + "/x").allowed


@pytest.mark.parametrize("line", ["User-agent{0}", "Disallow: x{0}y", "{0}Disallow: /", "Disallow {0}x{0}y", "x{0}: y"])
def test_long_lines_take_linear_time(line: str) -> None:
    """Half a megabyte of spaces: a minute and more where their square is looked at."""
    RobotsFile.parse("User-agent: *\n" + line.format(" " * (SIZE_LIMIT // 2 - 100)), "Periplus")


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


_TEXTS = ["a", "b", "/", ".", "?", "=", "-", "+", "&", "%41", "%2F", "%7e", "%c3%a9", "%3F", "%25", "%20"]
words = st.lists(st.sampled_from([*_TEXTS, "*", "$", "é", "%2A", "%24"]), max_size=6).map("".join)
paths = st.lists(st.sampled_from([*_TEXTS, "~", "%2A", "%24", "*", "$", "A"]), max_size=8).map(
    lambda t: "/" + "".join(t)
)
lines = st.lists(st.tuples(st.sampled_from(["Allow", "Disallow"]), words), max_size=6)


@given(lines, paths)
@example([("Disallow", "*%41")], "/%2F%41")
def test_agrees_with_protego(rules: list[tuple[str, str]], path: str) -> None:
    """Wildcards, anchors and escapes alike; but protego lets the anchor of "/$" match a dollar sign."""
    kept = [(name, "/" + rule.lstrip("/")) for name, rule in rules]
    if "$" in path or "%24" in path:
        kept = [(name, rule) for name, rule in kept if not rule.endswith("$")]
    text = "User-agent: *\n" + "\n".join(f"{name}: {rule}" for name, rule in kept)
    assert allowed(text, path) is Protego.parse(text).can_fetch(HOST + path, "Periplus"), text


_agents = st.sampled_from(["User-agent: *", "User-agent: Periplus", "User-agent: other", "User-agent *"])
_rules = st.sampled_from(["Disallow: /a", "Allow: /ab", "Disallow /b", "Disallow: /", "Allow: /a$", "Disallow:"])
_unknown = st.sampled_from(["Crawl-delay: 3", "Host: x", "nonsense", "Sitemap: /s", "", "# note", "Noindex: /a"])


@given(st.lists(st.one_of(_agents, _rules, _unknown), max_size=12), st.sampled_from(["/", "/a", "/ab", "/b", "/c"]))
def test_other_lines_change_nothing_about_rules(text: list[str], path: str) -> None:
    """The same verdict without them; which is protego's, whose groups end with a Crawl-delay."""
    plain = [line for line in text if line.startswith(("User-agent", "Allow", "Disallow"))]
    verdict = allowed("\n".join(plain), path)
    assert allowed("\n".join(text), path) is verdict
    assert Protego.parse("\n".join(plain)).can_fetch(HOST + path, "Periplus") is verdict


many = st.lists(st.tuples(st.booleans(), st.text(alphabet="ab/*$", max_size=7)), min_size=30, max_size=80)


@given(many, st.lists(st.text(alphabet="ab/", max_size=12), min_size=1, max_size=10))
def test_the_matcher_decides_like_trying_all_rules(rules: list[tuple[bool, str]], tried: list[str]) -> None:
    made = [_rule(allow, "/" + text, number, text) for number, (allow, text) in enumerate(rules)]
    made.sort(key=lambda rule: (-rule.length, not rule.allow))
    matcher = Matcher(made)
    for path in tried:
        slow = next((rule for rule in made if rule.matches("/" + path)), None)
        fast = matcher.find("/" + path)
        assert (fast and (fast.allow, fast.length)) == (slow and (slow.allow, slow.length))


@pytest.mark.parametrize("shape", ["/*word{0}*/x{0}$", "/dir{0}/page", "/*?{0}=", "/*z$"])
def test_a_verdict_among_many_rules_is_quick(shape: str) -> None:
    robots = RobotsFile.parse("User-agent: *\n" + "\n".join(f"Disallow: {shape.format(n)}" for n in range(15_000)), "x")
    asked = [f"{HOST}/some/path/{number}/page.html?id={number}&q=7" for number in range(50)]
    verdicts = []
    assert own_seconds(lambda: verdicts.extend(map(robots.verdict, asked))) / 50 < 0.01  # trying all takes 0.05
    assert all(verdict.allowed for verdict in verdicts)
    assert not robots.verdict(HOST + shape.format(77).replace("*", "q").replace("$", "")).allowed


# Files as they are found on the web, by shape; the words are ours.

BLOG = """# Rules for robots
User-agent: *
Disallow: /wp-admin/
Allow: /wp-admin/admin-ajax.php
Disallow: /*?s=
Disallow: /*/feed/$
Disallow: /page/*/?replytocom

Sitemap: https://blog.test/sitemap_index.xml
"""
WIKI = """#
User-agent: GreedyBot
User-agent: SiteCopier
Disallow: /

User-agent: *
Allow: /w/api.php?action=mobileview&
Allow: /w/load.php?
Disallow: /w/
Disallow: /wiki/Special:
Disallow: /wiki/Special%3A
Disallow: /wiki/Spezial:Suche
Noindex: /wiki/Talk:
"""
SHOP = """User-agent: Periplus
Crawl-delay: 2
Disallow: /checkout
Disallow: /*sort=
Disallow: /*.json$
Allow: /catalogue.json$

User-agent: *
Disallow: /
Clean-param: ref /catalogue
Host: shop.test
"""
CLOSED = "User-agent: *\nDisallow: /\nUser-agent: Periplus\nDisallow:\n"
PAGE_INSTEAD = "<!doctype html><html><head><title>Not found: User-agent</title></head><body>Disallow: /</body></html>"


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        (BLOG, "/wp-admin/options.php", False),
        (BLOG, "/wp-admin/admin-ajax.php?x=1", True),
        (BLOG, "/?s=tide", False),
        (BLOG, "/2024/tides/feed/", False),
        (BLOG, "/2024/tides/feed/atom", True),
        (BLOG, "/page/2/?replytocom=9", False),
        (WIKI, "/wiki/Tide", True),
        (WIKI, "/w/index.php?title=Tide&action=edit", False),
        (WIKI, "/w/load.php?modules=site", True),
        (WIKI, "/w/api.php?action=mobileview&page=Tide", True),
        (WIKI, "/wiki/Special:Search", False),
        (WIKI, "/wiki/Special%3ASearch", False),
        (WIKI, "/wiki/Talk:Tide", True),  # not a rule of the standard
        (SHOP, "/catalogue?sort=price", False),
        (SHOP, "/catalogue.json", True),
        (SHOP, "/stock.json", False),
        (SHOP, "/stock.json?v=2", True),
        (SHOP, "/checkout/basket", False),
        (SHOP, "/", True),
        (CLOSED, "/anything", True),
        (PAGE_INSTEAD, "/", True),
    ],
)
def test_files_as_they_are_found(text: str, path: str, expected: bool) -> None:
    assert allowed(text, path) is expected
    assert Protego.parse(text).can_fetch(HOST + path, "Periplus") is expected


@given(st.binary(max_size=400))
def test_any_bytes_can_be_read(body: bytes) -> None:
    RobotsFile.parse(body, "Periplus").verdict(HOST + "/x?y")
