"""How many pages of a host are wanted: by the settings, by its fame, and by what its pages were worth so far.

The yield of a host is the share of the bodies that it gave lately that became documents of their own. One that gives
copies and soft 404s only loses its budget for new pages, all but a hundredth. What we have of it is visited again all
the same, so that one that gets better has its budget back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from periplus.crawl.frontier.rows import HostRow, Visited
    from periplus.storage import Transaction

LEVELS = 3
FAMOUS = 20  # a host of the last level gets its whole budget when so many sites, less one, link to it
JUDGED_FROM = 50  # bodies of a host before its yield says anything
LEAST_ONE_IN = 4  # bodies of a host, of which one at least should be a document of its own
LEFT_OF_BUDGET = 100  # it is divided by this when the yield is less
REMEMBERED = 400  # bodies; then both counts are halved, so that the newest count most

_POOR = f"judged >= {JUDGED_FROM} AND findable * {LEAST_ONE_IN} < judged"
IN_BUDGET = (
    "pages < (CASE WHEN level < ? THEN ? WHEN linked >= ? THEN ? ELSE ? * (1 + linked) / ? END)"
    f" / (CASE WHEN {_POOR} THEN {LEFT_OF_BUDGET} ELSE 1 END)"
)
WITHDRAWN = f"SELECT COUNT(*) FROM hosts WHERE {_POOR}"  # noqa: S608
_JUDGE = "UPDATE hosts SET judged = judged + ?, findable = findable + ? WHERE key = ?"
_HALVE = f"UPDATE hosts SET judged = judged / 2, findable = findable / 2 WHERE key = ? AND judged >= {REMEMBERED}"  # noqa: S608


def budget_arguments(budget: int) -> tuple[int, ...]:
    """What ``IN_BUDGET`` asks for."""
    return (LEVELS - 1, budget, FAMOUS - 1, budget, budget, FAMOUS)


def budget_of(host: HostRow, most: int) -> int:
    """Pages that we want of a host: all that the settings allow of our seeds' sites, of others by their fame."""
    return pages_wanted(most, host.level, host.linked, withdrawn=is_withdrawn(host.judged, host.findable))


def pages_wanted(most: int, level: int, linked: int, *, withdrawn: bool) -> int:
    """Pages that are wanted of a host, by the columns of its row."""
    whole = most if level < LEVELS - 1 else max(1, most * min(1 + linked, FAMOUS) // FAMOUS)
    return whole // LEFT_OF_BUDGET if withdrawn else whole


def is_withdrawn(judged: int, findable: int) -> bool:
    """Whether so few of these bodies became documents that no more of the kind are wanted."""
    return judged >= JUDGED_FROM and findable * LEAST_ONE_IN < judged


def judge(tx: Transaction, visited: Iterable[Visited]) -> dict[int, tuple[int, int]]:
    """Add what these visits brought to their hosts' yields; the same for who holds them, as ``remember`` takes it."""
    counts: dict[int, tuple[int, int]] = {}
    for item in visited:
        if item.fresh_body:
            judged, findable = counts.get(item.row.host, (0, 0))
            own = not (item.row.refusal or item.row.same_as or item.echoes)
            counts[item.row.host] = (judged + 1, findable + own)
    tx.executemany(_JUDGE, [(judged, findable, key) for key, (judged, findable) in counts.items()])
    tx.executemany(_HALVE, [(key,) for key in counts])
    return counts


def remember(host: HostRow, judged: int, findable: int) -> None:
    """What ``judge`` has written, in the row that a worker holds."""
    host.judged += judged
    host.findable += findable
    if host.judged >= REMEMBERED:
        host.judged //= 2
        host.findable //= 2
