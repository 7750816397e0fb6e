"""Crawler traps: addresses that never end, recognised by their shape or by what came of their like.

Rules by shape need only the address. Rules by experience count, a path pattern (numbers folded, values of the query
dropped), how many variants were seen and how many of them gave nearly the same text; one over its limit is closed.
The counts are bounded: the least recently used patterns are forgotten.
"""

from __future__ import annotations

import re
import time
from collections import OrderedDict
from urllib.parse import urlsplit

from periplus.crawl.frontier.rows import FEED, SITEMAP, Trap

MAX_SEGMENTS = 30
MAX_REPEATS = 3  # of one segment, or of a run of segments, in one path
MAX_PARAMETERS = 10
MAX_VARIANTS = 300  # of one path's query
MAX_MONTHS = 24  # pages of one calendar by months
MAX_DAYS = 400  # pages of one calendar by days
FIRST_YEAR, YEARS_AHEAD = 1000, 2
MAX_SITEMAPS, MAX_FEEDS = 1_000, 200  # of one host; they are no pages, so no limit of pages ends them
MAX_NEAR_DUPLICATES = 20  # of one pattern, before it is closed
NEAR_BITS = 3  # of a 64-bit fingerprint
_ALL_BITS = 2**64 - 1  # fingerprints are signed
FINGERPRINTS_KEPT = 8
SAMPLED_FROM, SAMPLED_EVERY = 50, 4  # pages of one pattern whose texts are compared, where texts are read later
PATTERNS_KEPT = 20_000

_MOST_LISTS = {SITEMAP: MAX_SITEMAPS, FEED: MAX_FEEDS}
_SESSION = re.compile(
    r"(?:^|[;&?/])(?:jsessionid|phpsessid|aspsessionid[a-z]*|cfid|cftoken|sessionid|session_id|sess_id|"
    r"zenid|oscsid|s_id|sid)=[0-9a-z._-]{8,}",
    re.IGNORECASE,
)
_NET_SESSION = re.compile(r"/\(s\([0-9a-z]{24}\)\)/", re.IGNORECASE)
_NUMBER = re.compile(r"\d+")
_DATE_END = re.compile(r"(?:^|/)((?:1[0-9]|2[0-9])\d\d|\d{5,6})[/-](?:0?[1-9]|1[0-2])([/-](?:[0-2]?\d|3[01]))?/?$")
_DATE_QUERY = re.compile(r"(?:^|&)(?:year|yr|y|month|mon|m|week|day|date|cal|calendar|from|start)=", re.IGNORECASE)
_DAY = re.compile(r"(?:^|&)(?:day|date)=", re.IGNORECASE)
_YEAR = re.compile(r"(?:^|&)(?:year|yr|y|date|month|cal|from|start)=(\d{4,6})", re.IGNORECASE)


class _Experience:
    __slots__ = ("fingerprints", "near", "variants")

    def __init__(self) -> None:
        self.variants = 0
        self.near = 0
        self.fingerprints: list[int] = []


class TrapRules:
    """One a worker. ``refusal`` is asked about new addresses, ``learn`` is told what a fetched page was like."""

    def __init__(self, year: int | None = None) -> None:
        self._year = year or time.gmtime().tm_year
        self._experience: OrderedDict[tuple[str, str], _Experience] = OrderedDict()
        self._closed: dict[tuple[str, str], str] = {}
        self._news: list[Trap] = []

    def close(self, host: str, pattern: str, reason: str) -> None:
        self._closed[host, pattern] = reason

    def take_news(self) -> list[Trap]:
        """Patterns closed since the last call, to be stored."""
        news, self._news = self._news, []
        return news

    def refusal(self, url: str) -> str:
        """The reason why ``url`` looks like a trap, or an empty text; counts it as a variant of its pattern."""
        parts = urlsplit(url)
        shape = shape_refusal(parts.path, parts.query, self._year)
        if shape:
            return shape
        pattern = pattern_of(parts.path, parts.query)
        closed = self._closed.get((parts.netloc, pattern), "") if self._closed else ""
        return closed or self._count(parts.netloc, parts.path, parts.query, pattern)

    def list_refusal(self, url: str, kind: int) -> str:
        """The reason why a sitemap or feed is not asked for, or an empty text: its host has named too many of them."""
        most = _MOST_LISTS.get(kind)
        if most is None:
            return ""
        seen = self._of(urlsplit(url).netloc, f"lists {kind}")
        seen.variants += 1
        return "trap-lists" if seen.variants > most else ""

    def learn(self, url: str, fingerprint: int) -> None:
        """A page was fetched: does its pattern keep giving the same text?"""
        parts = urlsplit(url)
        pattern = pattern_of(parts.path, parts.query)
        if not fingerprint or pattern == parts.path:
            return  # nothing varies in this address
        seen = self._of(parts.netloc, pattern)
        if any(((fingerprint ^ other) & _ALL_BITS).bit_count() <= NEAR_BITS for other in seen.fingerprints):
            seen.near += 1
        else:
            seen.fingerprints = [*seen.fingerprints[1 - FINGERPRINTS_KEPT :], fingerprint]
        if seen.near >= MAX_NEAR_DUPLICATES:
            self._shut(parts.netloc, pattern)

    def samples(self, url: str) -> bool:
        """Whether the text of this page should be looked at now: its pattern has brought many pages already."""
        parts = urlsplit(url)
        pattern = pattern_of(parts.path, parts.query)
        if pattern == parts.path:
            return False
        seen = self._of(parts.netloc, "pages " + pattern)
        seen.variants += 1
        return seen.variants > SAMPLED_FROM and seen.variants % SAMPLED_EVERY == 0

    def _count(self, host: str, path: str, query: str, pattern: str) -> str:
        if is_calendar(path, query):
            seen = self._of(host, "calendar " + pattern)
            seen.variants += 1
            return "trap-calendar" if seen.variants > _calendar_limit(path, query) else ""
        if not query:
            return ""
        seen = self._of(host, "query " + path)
        seen.variants += 1
        return "trap-parameters" if seen.variants > MAX_VARIANTS else ""

    def _of(self, host: str, pattern: str) -> _Experience:
        key = (host, pattern)
        found = self._experience.get(key)
        if found is None:
            found = self._experience[key] = _Experience()
            if len(self._experience) > PATTERNS_KEPT:
                self._experience.popitem(last=False)
        else:
            self._experience.move_to_end(key)
        return found

    def _shut(self, host: str, pattern: str) -> None:
        if (host, pattern) not in self._closed:
            reason = "trap-near-duplicates"
            self._closed[host, pattern] = reason
            self._news.append(Trap(host, pattern, reason))


def shape_refusal(path: str, query: str, year: int) -> str:
    """What the shape of an address alone tells."""
    if _SESSION.search(path) or _SESSION.search("?" + query) or _NET_SESSION.search(path):
        return "trap-session"
    if repeats(path):
        return "trap-repeated-segments"
    if query.count("&") >= MAX_PARAMETERS:
        return "trap-parameters"
    if _year_refused(path, query, year):
        return "trap-calendar"
    return ""


def repeats(path: str) -> bool:
    """Does the path go round in circles?"""
    segments = [segment for segment in path.split("/") if segment]
    count = len(segments)
    if count > MAX_SEGMENTS:
        return True
    for width in range(1, count // MAX_REPEATS + 1):
        if _repeats_run(segments, width, MAX_REPEATS if width > 1 else MAX_REPEATS + 1):
            return True
    return False


def _repeats_run(segments: list[str], width: int, times: int) -> bool:
    """A run of ``width`` segments that follows itself ``times`` times in all."""
    same = 0
    for place in range(width, len(segments)):
        same = same + 1 if segments[place] == segments[place - width] else 0
        if same >= width * (times - 1):
            return True
    return False


def is_calendar(path: str, query: str) -> bool:
    return bool(_DATE_END.search(path) or (query and _DATE_QUERY.search(query)))


def _year_refused(path: str, query: str, year: int) -> bool:
    match = _DATE_END.search(path) or _YEAR.search(query)
    if match is None:
        return False
    number = int(match[1][:4]) if len(match[1]) == 6 and "=" in match[0] else int(match[1])
    return not FIRST_YEAR <= number <= year + YEARS_AHEAD


def _calendar_limit(path: str, query: str) -> int:
    """A page a day may be a journal's own content; a page a month is an overview of it."""
    match = _DATE_END.search(path)
    by_days = match[2] if match else _DAY.search(query)
    return MAX_DAYS if by_days else MAX_MONTHS


def pattern_of(path: str, query: str) -> str:
    """The path with numbers folded, and the names of the query's parameters."""
    folded = _NUMBER.sub("#", path)
    if not query:
        return folded
    names = sorted({part.partition("=")[0] for part in query.split("&")})
    return f"{folded}?{'&'.join(names)}"
