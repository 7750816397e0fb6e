"""Lenses: preferences among sites, of one reader or named by the operator.

``lens=science`` is a lens of the operator's file. ``lens=raise:arxiv.org,lower:example.com,block:spam.example,
pin:our.example`` spells one out; commas or spaces part its entries, and it goes through unchanged from page to page.
A raised site gains, and a lowered one loses, ``STEP`` of the best score; a pinned site comes before all others; a
blocked one is left out. Only the re-ranked results are moved; those of raised and pinned sites are brought into them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from msgspec import structs

from periplus.errors import UsageError
from periplus.ranking.parts import leaf, total
from periplus.search.query import conditions
from periplus.search.query.rules import LensRule
from periplus.search.shards.exchange import Numbers, Scores

if TYPE_CHECKING:
    from periplus.ranking import Part
    from periplus.search.query.plan import QueryPlan
    from periplus.search.query.rules import Rules

STEP = 0.3  # of the best score
PINNED_STEP = 2.0
MAX_ENTRIES = 200
KINDS = ("raise", "lower", "block", "pin")
_ENTRY = re.compile(r"(raise|lower|block|pin):([^\s,]+)$")

NO_LENS = LensRule()


def read_lens(text: str, rules: Rules) -> LensRule:
    """The lens that a request names or spells out; ``UsageError`` when it is neither."""
    if not text.strip():
        return NO_LENS
    if text.strip() in rules.lenses:
        return rules.lenses[text.strip()]
    found: dict[str, list[str]] = {kind: [] for kind in KINDS}
    entries = [entry for entry in re.split(r"[\s,]+", text) if entry]
    if len(entries) > MAX_ENTRIES:
        raise UsageError(f"lens has more than {MAX_ENTRIES} entries; use fewer")
    for entry in entries:
        match = _ENTRY.match(entry)
        host = conditions.site(match.group(2)) if match else ""
        if not match or not host:
            raise UsageError(f"lens={entry!r} is unknown; {_advice(rules)}")
        found[match.group(1)].append(host)
    return LensRule(*(tuple(dict.fromkeys(found[kind])) for kind in KINDS))


def _advice(rules: Rules) -> str:
    named = f"use {', '.join(sorted(rules.lenses))}, or" if rules.lenses else "this collection names no lenses; use"
    return f"{named} raise:HOST, lower:HOST, block:HOST, pin:HOST"


def spelled(lens: LensRule) -> str:
    """The lens as a request can say it."""
    parts = zip(KINDS, (lens.raised, lens.lower, lens.block, lens.pin), strict=True)
    return ",".join(f"{kind}:{host}" for kind, hosts in parts for host in hosts)


def without_blocked(plan: QueryPlan, lens: LensRule) -> QueryPlan:
    """The plan with the lens's blocked sites excluded."""
    if not lens.block:
        return plan
    excluded = plan.query.excluded
    sites = tuple(dict.fromkeys((*excluded.sites, *lens.block)))
    return structs.replace(plan, query=structs.replace(plan.query, excluded=structs.replace(excluded, sites=sites)))


# The keys of the hosts of some sites
HostsOf = Callable[[tuple[str, ...]], Numbers]


def adjusted(hosts_of: HostsOf, lens: LensRule, hosts: Numbers, score: Part) -> Part:
    """``score`` with what the lens adds to each page of some hosts, as a part of its own."""
    if not _moves(lens) or not len(hosts):
        return score
    step = adjustment(hosts_of, lens, hosts, score.values)
    added = leaf("lens", step, f"± {STEP} of the best score for raised and lowered sites, + {PINNED_STEP} for pinned")
    return total("with lens", [score, added], len(hosts))


def adjustment(hosts_of: HostsOf, lens: LensRule, hosts: Numbers, scores: Scores) -> Scores:
    """What the lens adds to each score of pages of some hosts."""
    if not _moves(lens) or not len(hosts):
        return np.zeros(len(hosts))
    best = max(float(np.abs(scores).max()), 1e-9)
    raised, lower, pin = (
        np.isin(hosts, hosts_of(sites)).astype(np.float64) for sites in (lens.raised, lens.lower, lens.pin)
    )
    return np.asarray(best * (STEP * raised - STEP * lower + PINNED_STEP * pin))


def _moves(lens: LensRule) -> bool:
    return bool(lens.raised or lens.lower or lens.pin)
