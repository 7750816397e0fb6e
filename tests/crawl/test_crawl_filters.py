"""Scope, seeds, traps and the filter of links."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus import addresses
from periplus.crawl.frontier.rows import FEED, PAGE, QUEUED, REFUSED, UrlRow
from periplus.crawl.rules.links import LinkFilter, RecentKeys
from periplus.crawl.rules.scope import Scope, canonical_seeds
from periplus.crawl.rules.traps import (
    MAX_MONTHS,
    MAX_NEAR_DUPLICATES,
    MAX_VARIANTS,
    PATTERNS_KEPT,
    TrapRules,
    pattern_of,
    repeats,
)
from periplus.documents import outline_of
from periplus.errors import UnfitFile, UsageError
from periplus.records import Document, Link
from periplus.settings import CrawlSettings

if TYPE_CHECKING:
    from pathlib import Path

SEEDS = ["https://www.example.org/", "http://blog.example.com:8080/x"]


@pytest.mark.parametrize(
    ("scope", "url", "reason"),
    [
        ("host", "https://www.example.org/a", ""),
        ("host", "https://example.org/a", "out-of-scope"),
        ("host", "http://blog.example.com/", "out-of-scope"),
        ("site", "https://docs.example.org/a", ""),
        ("site", "http://example.com/", ""),
        ("site", "http://example.net/", "out-of-scope"),
        ("any", "http://example.net/", ""),
    ],
)
def test_scope(scope: str, url: str, reason: str) -> None:
    assert Scope(CrawlSettings(scope=scope), SEEDS).refusal(url) == reason


def test_filters_in_order(tmp_path: Path) -> None:
    banned = tmp_path / "banned.txt"
    banned.write_text("# no thanks\nbad.example.org\n*.worse.example.org\n")
    settings = CrawlSettings(
        include=("/docs", r"\.html$"), exclude=("print",), max_depth=3, max_address=60, banned_hosts=str(banned)
    )
    scope = Scope(settings, SEEDS, removed=["https://www.example.org/docs/taken", "gone.example.org"])
    base = "https://www.example.org"
    assert scope.refusal(f"{base}/docs/a") == ""
    assert scope.refusal(f"{base}/docs/print") == "excluded"
    assert scope.refusal(f"{base}/other") == "not-included"
    assert scope.refusal(f"{base}/docs/a", 4) == "too-deep"
    assert scope.refusal(f"{base}/docs/{'x' * 60}") == "address-too-long"
    assert scope.refusal("https://a.bad.example.org/docs") == "banned-host"
    assert scope.refusal("https://worse.example.org/docs") == "banned-host"
    assert scope.refusal(f"{base}/docs/taken") == "removed"
    assert scope.refusal("http://gone.example.org/docs") == "removed"
    assert scope.without([], []).refusal(f"{base}/docs/taken") == ""
    assert scope.without([], ["www.example.org"]).refusal(f"{base}/docs/taken") == "blocked"


def test_bad_settings_are_named() -> None:
    with pytest.raises(UsageError, match=r"crawl.exclude: '\(' is not a regular expression"):
        Scope(CrawlSettings(exclude=("(",)), SEEDS)
    with pytest.raises(UnfitFile, match="nowhere"):
        Scope(CrawlSettings(banned_hosts="/nowhere/banned"), SEEDS)


def test_seeds_are_canonical_and_wrong_ones_are_named() -> None:
    assert canonical_seeds(["HTTP://Example.org", " example.org:8080/x ", "http://example.org/#top"]) == [
        "http://example.org/",
        "https://example.org:8080/x",
    ]
    with pytest.raises(UsageError, match=r"'ftp://a.org/', 'mailto:x@a.org'"):
        canonical_seeds(["ftp://a.org/", "https://a.org/", "mailto:x@a.org"])


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://a.org/a/b/c/d", ""),
        ("http://a.org/a/b/a/b/a/b/", "trap-repeated-segments"),
        ("http://a.org/x/x/x/x", "trap-repeated-segments"),
        ("http://a.org/2024/2024/2024/post", ""),
        ("http://a.org/" + "s/t/" * 2 + "u" * 3, ""),
        ("http://a.org/" + "/".join(f"s{n}" for n in range(40)), "trap-repeated-segments"),
        ("http://a.org/?" + "&".join(f"p{n}=1" for n in range(12)), "trap-parameters"),
        ("http://a.org/x;jsessionid=1A530637289A03B07199A44E8D531427", "trap-session"),
        ("http://a.org/?PHPSESSID=abcdef0123456789", "trap-session"),
        ("http://a.org/?sid=3", ""),
        ("http://a.org/(S(lit3py55t21z5v55vlm25s55))/page", "trap-session"),
        ("http://a.org/calendar/2031/05", "trap-calendar"),
        ("http://a.org/calendar/12026/05", "trap-calendar"),
        ("http://a.org/calendar?year=2099&month=1", "trap-calendar"),
        ("http://a.org/archive/1897/04/12", ""),
        ("http://a.org/2025/03/some-post", ""),
    ],
)
def test_traps_by_shape(url: str, reason: str) -> None:
    assert TrapRules(year=2026).refusal(url) == reason


def test_a_calendar_ends() -> None:
    traps = TrapRules(year=2026)
    found = [traps.refusal(f"http://a.org/cal/{1900 + n // 12}/{n % 12 + 1:02}") for n in range(60)]
    assert found.count("") == MAX_MONTHS
    assert set(found[MAX_MONTHS:]) == {"trap-calendar"}
    assert traps.refusal("http://b.org/cal/1900/01") == ""


def test_variants_of_a_query_end() -> None:
    traps = TrapRules()
    found = [traps.refusal(f"http://a.org/list?page={n}&q=x") for n in range(MAX_VARIANTS + 5)]
    assert found.count("trap-parameters") == 5


def test_a_pattern_of_near_duplicates_is_closed() -> None:
    traps = TrapRules()
    for number in range(MAX_NEAR_DUPLICATES + 1):
        url = f"http://a.org/item/{number}"
        assert traps.refusal(url) == ""
        traps.learn(url, 0b1011_0000 ^ (1 << number % 2))
    assert traps.refusal("http://a.org/item/999") == "trap-near-duplicates"
    assert traps.refusal("http://a.org/other/999") == ""
    (news,) = traps.take_news()
    assert (news.host, news.pattern, news.reason) == ("a.org", "/item/#", "trap-near-duplicates")
    again = TrapRules()
    again.close(*news)
    assert again.refusal("http://a.org/item/5") == "trap-near-duplicates"


def test_different_pages_of_one_pattern_stay_open() -> None:
    traps = TrapRules()
    for number in range(200):
        traps.learn(f"http://a.org/item/{number}", addresses.key(str(number)))
    assert traps.refusal("http://a.org/item/999") == ""


def test_what_traps_remember_is_bounded() -> None:
    traps = TrapRules()
    for number in range(PATTERNS_KEPT + 500):
        traps.refusal(f"http://a.org/{'x' * (number % 7)}{number}a?q=1")
    assert len(traps._experience) <= PATTERNS_KEPT


@given(st.lists(st.sampled_from("abc"), max_size=12))
def test_repeats_against_the_obvious_oracle(segments: list[str]) -> None:
    def obvious() -> bool:
        for width in range(1, len(segments) + 1):
            times = 4 if width == 1 else 3
            for start in range(len(segments)):
                run = segments[start : start + width]
                if len(run) == width and segments[start : start + width * times] == run * times:
                    return True
        return False

    assert repeats("/" + "/".join(segments)) is obvious()


def test_patterns_fold_numbers_and_values() -> None:
    assert pattern_of("/item/12/x9", "b=1&a=2&b=3") == "/item/#/x#?a&b"


def test_links_of_a_document() -> None:
    links = LinkFilter(Scope(CrawlSettings(scope="site", max_depth=2), SEEDS), TrapRules(year=2026))
    source = UrlRow(key=7, url=SEEDS[0], host=1, depth=1)
    document = Document(
        url=SEEDS[0],
        key=7,
        fetched=1.0,
        canonical="https://www.example.org/whole",
        feeds=("https://www.example.org/feed",),
        hreflang={"de": "https://de.example.org/"},
        links=(
            Link("https://www.example.org/a"),
            Link("https://www.example.org/a"),
            Link("https://www.example.org/b?x=1"),
            Link("https://www.example.org/no", rel=("nofollow",)),
            Link("https://elsewhere.net/"),
            Link("https://www.example.org/calendar/2099/01"),
        ),
    )
    found = {one.url: one for one in links.of_page(outline_of(document), source)}
    assert set(found) == {
        "https://www.example.org/a",
        "https://www.example.org/b?x=1",
        "https://www.example.org/whole",
        "https://www.example.org/feed",
        "https://de.example.org/",
        "https://www.example.org/calendar/2099/01",
    }
    a, query = found["https://www.example.org/a"], found["https://www.example.org/b?x=1"]
    assert (a.depth, a.parent, a.state, a.kind) == (2, 7, QUEUED, PAGE)
    assert a.priority < query.priority
    assert found["https://www.example.org/feed"].kind == FEED
    trap = found["https://www.example.org/calendar/2099/01"]
    assert (trap.state, trap.reason) == (REFUSED, "trap-calendar")
    assert links.of_page(outline_of(document), source) == []  # seen lately
    deeper = UrlRow(key=8, url=SEEDS[0], host=1, depth=2)
    assert links.of_link("https://www.example.org/deep", deeper).reason == "too-deep"


def test_recent_keys_are_bounded() -> None:
    recent = RecentKeys(3)
    assert [recent.add(key) for key in (1, 2, 3, 1, 4, 2)] == [True, True, True, False, True, True]
    recent.forget([4])
    assert recent.add(4)
