"""How current copies stay over 24 simulated hours: our schedule beside a fixed interval with as many requests.

A web of pages that change at random, at rates from hourly to never, on hosts that are asked one request at a time with
a gap between two. What decides when a page is visited again is the crawler's own (``Interpreter``, rows of ``urls``,
``crawl/rules/schedule.py``), and of pages that are due the one that is due longest comes first, as in the frontier.
Clock and web are played, and the web is the same for all schedules. ``make soak-freshness`` prints a table; ``--write``
does so into docs/reliability.md.

The ceiling is what nobody can exceed: the best intervals of one who knows all rates and is bound by the number of
requests alone (Cho and Garcia-Molina, "Effective page refresh policies for web crawlers", 2003).
"""

from __future__ import annotations

import argparse
import heapq
import math
import random
import sys
from bisect import bisect_right
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from msgspec.structs import replace

from periplus.crawl.fetching.fetcher import Fetched
from periplus.crawl.frontier.rows import FETCHED, UrlRow
from periplus.crawl.rules.interpretation import Interpreter
from periplus.crawl.rules.links import LinkFilter
from periplus.crawl.rules.scope import Scope
from periplus.crawl.rules.traps import TrapRules
from periplus.documents import Outline
from periplus.records import Exchange
from periplus.settings import CrawlSettings

if TYPE_CHECKING:
    from collections.abc import Callable

    Schedule: TypeAlias = Callable[[UrlRow, Fetched], UrlRow]

HOUR, DAY = 3_600.0, 86_400.0
# Seconds between two changes of a page, and the share of such pages: after "The evolution of the web" (Cho and
# Garcia-Molina, 2000), in which a fifth of all pages changed daily, and a third never in four months.
CHANGES = (
    (HOUR, 0.04),
    (6 * HOUR, 0.06),
    (DAY, 0.10),
    (4 * DAY, 0.15),
    (18 * DAY, 0.15),
    (75 * DAY, 0.15),
    (0.0, 0.35),
)
HOSTS = (200,) * 6 + (1_000,) * 2  # pages of each
TOOK = 0.2  # seconds of a request
MARK = "<!-- freshness -->"
PAGE_OF_DOCS = Path(__file__).parents[2] / "docs/reliability.md"


class Page(NamedTuple):
    rate: float  # of its changes, a second
    found: float
    changes: list[float]

    def version(self, at: float) -> int:
        return bisect_right(self.changes, at)

    def stale_from(self, copied: float) -> float:
        """When a copy of that time was no longer current."""
        place = bisect_right(self.changes, copied)
        return self.changes[place] if place < len(self.changes) else math.inf


class Played(NamedTuple):
    """What a schedule did in the hours that were looked at."""

    requests: int
    fresh: float  # share of copies that are current, of all pages and over all the time
    changing: float  # … of those pages that change at all


class Course(NamedTuple):
    """One comparison."""

    told: str
    gap: float  # seconds between two requests to a host
    first: float  # recrawl_after
    learning: float  # seconds before the 24 hours; in the first seventh of a month, or at once, pages are found
    hosts: tuple[int, ...] = HOSTS
    seed: int = 1

    @property
    def end(self) -> float:
        return self.learning + DAY


COURSES = (
    Course("after 30 days, gap 10 s", gap=10.0, first=DAY, learning=30 * DAY),
    Course("after 30 days, gap 60 s", gap=60.0, first=DAY, learning=30 * DAY),
    Course("after 30 days, gap 10 s, `recrawl_after` 6 h", gap=10.0, first=6 * HOUR, learning=30 * DAY),
    Course("the first day, gap 10 s, `recrawl_after` 1 h", gap=10.0, first=HOUR, learning=0.0),
)


def ours(first: float, *, depth: int = 1) -> Schedule:
    """The crawler's own; pages at depth 0 are seeds to it, which are polled by their changes alone."""
    settings = CrawlSettings(recrawl_after=first, documents="later")
    traps = TrapRules(year=2026)
    judge = Interpreter(settings, LinkFilter(Scope(settings, []), traps), traps)

    def next_row(row: UrlRow, fetched: Fetched) -> UrlRow:
        return judge.response(replace(row, depth=depth), fetched, None, settings.delay, reading=Outline()).row

    return next_row


def fixed(interval: float) -> Schedule:
    def next_row(row: UrlRow, fetched: Fetched) -> UrlRow:
        at = fetched.started + fetched.elapsed
        return replace(row, state=FETCHED, tried_at=at, next_at=at + interval)

    return next_row


def web_of(course: Course) -> list[list[Page]]:
    """The pages of each host, with the times of all their changes."""
    chance = random.Random(course.seed)
    means, shares = zip(*CHANGES, strict=True)
    over = min(course.learning, 7 * DAY)
    return [
        [_page(mean, chance.random() * over, course.end, chance) for mean in chance.choices(means, shares, k=size)]
        for size in course.hosts
    ]


def _page(mean: float, found: float, end: float, chance: random.Random) -> Page:
    changes: list[float] = []
    at = chance.expovariate(1 / mean) if mean else math.inf
    while at < end:
        changes.append(at)
        at += chance.expovariate(1 / mean)
    return Page(1 / mean if mean else 0.0, found, changes)


def play(course: Course, web: list[list[Page]], schedule: Schedule) -> Played:
    hosts = [_played_host(course, pages, schedule) for pages in web]
    pages = [page for host in web for page in host]
    changing = [page for page in pages if page.rate]
    still = (len(pages) - len(changing)) * DAY
    fresh = sum(seconds for _, seconds in hosts)
    return Played(sum(asked for asked, _ in hosts), (fresh + still) / len(pages) / DAY, fresh / len(changing) / DAY)


def _played_host(course: Course, pages: list[Page], schedule: Schedule) -> tuple[int, float]:
    """Requests to one host, and the seconds for which copies of its changing pages were current."""
    rows = [_new_row(number, page) for number, page in enumerate(pages)]
    copied: list[float] = [math.nan] * len(pages)
    due = [(page.found, number) for number, page in enumerate(pages)]
    heapq.heapify(due)
    ready, asked, fresh = 0.0, 0, 0.0
    while (at := max(ready, due[0][0])) + TOOK < course.end:
        number = due[0][1]
        page, end = pages[number], at + TOOK
        fresh += _current(course, page, copied[number], end)
        copied[number] = end
        rows[number] = schedule(rows[number], _answer(rows[number].url, page.version(end), at))
        heapq.heapreplace(due, (rows[number].next_at, number))
        ready = end + course.gap
        asked += at >= course.learning
    fresh += sum(_current(course, page, copy, course.end) for page, copy in zip(pages, copied, strict=True))
    return asked, fresh


def _current(course: Course, page: Page, copied: float, until: float) -> float:
    """Seconds of the 24 hours in which the copy of then was current, until another one came."""
    if not page.rate or math.isnan(copied):
        return 0.0
    return max(0.0, min(page.stale_from(copied), until) - max(copied, course.learning))


def _new_row(number: int, page: Page) -> UrlRow:
    return UrlRow(number + 1, f"http://a.test/{number}", 1, depth=1, found_at=page.found)


def _answer(url: str, version: int, at: float) -> Fetched:
    body = b"<p>version %d" % version
    exchange = Exchange(url, "GET", (), 200, "OK", (("Content-Type", "text/html"),), body, body, "", at, TOOK)
    return Fetched(url, at, TOOK, exchange)


def as_many(course: Course, web: list[list[Page]], requests: int) -> Played:
    """A fixed interval that makes at least so many requests; where the gaps allow no more, as many as it can."""
    interval = sum(course.hosts) * DAY / max(1, requests)
    for _ in range(12):
        played = play(course, web, fixed(interval))
        if played.requests >= requests or interval < 60:
            break
        interval *= 0.99 * max(0.5, played.requests / requests)
    return played


def as_fresh(course: Course, web: list[list[Page]], fresh: float, requests: int) -> Played:
    """A fixed interval that keeps as many copies current; the most that gaps allow where none does."""
    played = as_many(course, web, requests)
    while played.fresh < fresh:
        more = as_many(course, web, int(played.requests * 1.1))
        if more.requests < played.requests * 1.02:
            break
        played = more
    return played


def ceiling(web: list[list[Page]], requests: int) -> float:
    """The share of current copies with the best intervals for rates that are known, by as many requests a day."""
    rates = Counter(page.rate for host in web for page in host)
    low, high = 1.0, 1e9
    for _ in range(60):
        price = math.sqrt(low * high)
        asked = sum(pages * DAY / _best(rate, price) for rate, pages in rates.items())
        low, high = (price, high) if asked > requests else (low, price)
    return sum(pages * _fresh(rate * _best(rate, price)) for rate, pages in rates.items()) / rates.total()


def _best(rate: float, price: float) -> float:
    """Where another look adds as much as the price: 1 - (1 + x) e^-x = price * rate; never beyond that."""
    worth = price * rate
    if not rate or worth >= 1:
        return math.inf
    low, high = 0.0, 60.0
    for _ in range(60):
        x = (low + high) / 2
        low, high = (x, high) if 1 - (1 + x) * math.exp(-x) < worth else (low, x)
    return high / rate


def _fresh(x: float) -> float:
    return 0.0 if x == math.inf else 1.0 if math.isnan(x) or x < 1e-12 else (1 - math.exp(-x)) / x


class Compared(NamedTuple):
    course: Course
    pages: int
    schedule: Played
    by_change: Played  # polled by changes alone
    as_many: Played
    as_fresh: Played
    ceiling: float

    @property
    def stale(self) -> float:
        """Stale copies of ours, as a share of those of the fixed interval."""
        return (1 - self.schedule.fresh) / (1 - self.as_many.fresh)


def compare(course: Course, *, thorough: bool = True) -> Compared:
    web = web_of(course)
    found = play(course, web, ours(course.first))
    by_change = play(course, web, ours(course.first, depth=0)) if thorough else found
    same = as_many(course, web, found.requests)
    fresh = as_fresh(course, web, found.fresh, found.requests) if thorough else same
    return Compared(course, sum(course.hosts), found, by_change, same, fresh, ceiling(web, found.requests))


def table(rows: list[Compared]) -> str:
    head = (
        "| 24 hours | schedule | requests a page | current copies | … that change | beside the fixed interval |\n"
        "|---|---|--:|--:|--:|---|\n"
    )
    return head + "".join(map(_lines, rows))


def _lines(row: Compared) -> str:
    same, best = row.as_many, row.ceiling / row.as_many.fresh - 1
    better = f"{row.schedule.fresh / same.fresh - 1:+.1%}; stale copies {row.stale - 1:+.0%}"
    told = [
        ("ours", row.schedule, better),
        ("fixed, as many requests", same, ""),
        ("fixed, as fresh", row.as_fresh, f"{row.as_fresh.requests / row.schedule.requests:.1f} times the requests"),
        ("by changes alone (before)", row.by_change, ""),
    ]
    lines = [
        f"| {row.course.told if not place else ''} | {name} | {one.requests / row.pages:.2f} | {one.fresh:.3f} |"
        f" {one.changing:.3f} | {note} |\n"
        for place, (name, one, note) in enumerate(told)
    ]
    lines.append(f"| | ceiling | {row.schedule.requests / row.pages:.2f} | {row.ceiling:.3f} | | {best:+.1%} |\n")
    return "".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--write", action="store_true", help="into docs/reliability.md")
    options = parser.parse_args()
    told = table([compare(course._replace(seed=options.seed)) for course in COURSES])
    sys.stdout.write(told)
    if options.write:
        before, _, after = PAGE_OF_DOCS.read_text(encoding="utf-8").split(MARK)
        PAGE_OF_DOCS.write_text(f"{before}{MARK}\n{told}{MARK}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
