"""The tables of a voyage: its steps, how the crawl went on, and the yield by kind of host."""

from __future__ import annotations

import statistics
from collections import Counter
from typing import TYPE_CHECKING

from periplus import Collection

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from bench.voyage.steps import Sample, Step
    from bench.voyage.web import Web

PARTS = 10  # rows of the crawl's table
REQUESTS = "SELECT host, COUNT(*) FROM journal WHERE url NOT LIKE '%/robots.txt' GROUP BY host"
OUTCOMES = (
    "SELECT hosts.name, urls.state, urls.reason, urls.refusal, urls.same_as, COUNT(*) FROM urls JOIN hosts ON"
    " hosts.key = urls.host WHERE urls.tried_at > 0 GROUP BY 1, 2, 3, 4, 5"
)


def step_table(steps: Sequence[Step]) -> list[str]:
    columns = ("wall, s", "CPU, s", "largest process, MB", "all without mapped files, MB", "disk, MB", "load")
    lines = [f"| step | {' | '.join(columns)} | |", f"|---|{'--:|' * len(columns)}---|"]
    for one in steps:
        numbers = (one.wall, one.cpu, one.megabytes, one.own, one.disk, one.load)
        lines.append(f"| {one.name} | {' | '.join(f'{number:,.0f}' for number in numbers)} | {one.figure} |")
    return lines


def crawl_table(samples: Sequence[Sample]) -> list[str]:
    """What a page cost at the beginning, and what it cost at the end."""
    crawl = [(int(one.figure), one) for one in samples if one.step == "crawl" and one.figure]
    lines = [
        "| crawl, pages | pages a second | pages a CPU-second | all its processes, MB | load of the machine |",
        "|--:|--:|--:|--:|--:|",
    ]
    if not crawl:
        return lines
    last, (before, first) = crawl[-1][0], crawl[0]
    for pages, one in crawl:
        if pages - before < last / PARTS * 0.97:
            continue
        rates = [(pages - before) / max(1e-9, width) for width in (one.at - first.at, one.cpu - first.cpu)]
        lines.append(f"| {pages:,} | {rates[0]:,.0f} | {rates[1]:,.0f} | {one.megabytes:,.0f} | {one.load:.0f} |")
        before, first = pages, one
    return lines


def yield_table(folder: Path, web: Web) -> list[str]:
    """Requests and findable documents by kind of host, with what became of the rest."""
    with Collection(folder) as made, made.database.read() as tx:
        asked = Counter(dict(tx.rows(REQUESTS)))
        rows = tx.rows(OUTCOMES)
    findable: Counter[str] = Counter()
    lost: dict[str, Counter[str]] = {}
    for name, state, reason, refusal, same_as, count in rows:
        if state == 1 and not refusal and not same_as:
            findable[name] += count
        else:
            why = "duplicate" if same_as else refusal or reason
            lost.setdefault(_kind(web, name), Counter())[why] += count
    return _by_kind(asked, findable, lost, web)


def _by_kind(asked: Counter[str], findable: Counter[str], lost: dict[str, Counter[str]], web: Web) -> list[str]:
    kinds: dict[str, list[str]] = {}
    for name in asked:
        kinds.setdefault(_kind(web, name), []).append(name)
    lines = ["| hosts | number | pages there | requests | findable | yield, all | of a host, p10 / median | why not |"]
    lines.append("|---|--:|--:|--:|--:|--:|--:|---|")
    for kind, names in sorted(kinds.items(), key=lambda one: -len(one[1])):
        requests, found = sum(asked[name] for name in names), sum(findable[name] for name in names)
        there = sum(web.sizes[_number(name)] for name in names)
        shares = sorted(findable[name] / asked[name] for name in names)
        why = ", ".join(f"{reason} {count:,}" for reason, count in lost.get(kind, Counter()).most_common(5))
        spread = f"{shares[len(shares) // 10]:.0%} / {statistics.median(shares):.0%}"
        numbers = f"{len(names):,} | {there:,} | {requests:,} | {found:,} | {found / requests:.0%}"
        lines.append(f"| {kind} | {numbers} | {spread} | {why} |")
    return lines


def _number(name: str) -> int:
    return int(name.split(".", maxsplit=1)[0][1:])


def _kind(web: Web, name: str) -> str:
    return web.host_kind(_number(name))
