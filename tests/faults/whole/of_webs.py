"""Faults of the web that is crawled: poisoned pages, servers that hang, names that cannot be looked up."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from faults.whole.fault import Fault
from faults.whole.product import HOSTS
from mockweb.dns_server import SERVFAIL, TIMEOUT
from mockweb.faults import Bomb, Drop, Endless, Garbage, Hang, HugeHeaders
from periplus import Collection

if TYPE_CHECKING:
    import random

    from faults.whole.product import Whole

SECONDS = 5.0
HUNG = 10.0
POISONS = (Bomb(), Drop("part"), Endless(), Garbage(), Hang(), HugeHeaders())
NEW_NAMES = 4


def poison(whole: Whole, chance: random.Random) -> None:
    number, base = chance.randrange(10**9), [f"http://h{place}.test:{whole.web.port}" for place in range(HOSTS)]
    for place, kind in enumerate(POISONS):
        whole.web.at(f"{base[place]}/poison{number}", kind)
        whole.web.page(f"{base[place]}/door{number}", links=[f"/poison{number}"])
    links = [f"{base[place]}/door{number}" for place in range(len(POISONS))]
    submit(whole, whole.web.page(f"{base[0]}/doors{number}", links=links))
    time.sleep(SECONDS)


def hang(whole: Whole, chance: random.Random) -> None:
    """They take connections and requests, and say nothing."""
    whole.growing.hung = set(chance.sample(range(HOSTS), HOSTS - 2))
    time.sleep(HUNG)
    whole.growing.hung = set()


def lose_names(whole: Whole, chance: random.Random) -> None:
    """No name can be looked up; new ones are found meanwhile, since those of before are remembered for a minute."""
    number = chance.randrange(10**9)
    names = [f"n{number}-{place}.test" for place in range(NEW_NAMES)]
    hosts = [f"h{place}.test" for place in range(HOSTS)]
    for place, name in enumerate((*names, *hosts)):
        whole.dns.answer(name, SERVFAIL if place % 2 else TIMEOUT)
    links = [f"http://{name}:{whole.web.port}/" for name in names]
    for link in links:
        whole.web.page(link, f"<p>A page behind a name: {link}")
    submit(whole, whole.web.page(f"http://h0.test:{whole.web.port}/names{number}", links=links))
    time.sleep(HUNG)
    for name in (*names, *hosts):
        whole.dns.a(name, "127.0.0.1")
    if not any(whole.dns.queries(name) for name in names):
        raise LookupError("no name was looked up")


def submit(whole: Whole, url: str) -> None:
    from periplus.crawl import submit as ask_for

    with Collection(whole.folder) as made:
        ask_for(made.database, made.in_force().values.crawl, url)


FAULTS = (
    Fault("poisoned pages of every kind, for 5 s", poison),
    Fault("six of eight servers hang for 10 s", hang),
    Fault("no name can be looked up for 10 s", lose_names),
)
