"""An address that somebody asks us to visit now, whether a crawl is at work or not.

Who is trusted (the operator, or a program with a key) names a seed: its site belongs to the crawl from then on. Anybody
else names one page: it must lie within the scope, its links are not followed further than the crawl does anyway, and a
page that was visited a short while ago is left alone. Robots rules, gaps and budgets hold for all of them.

A new address goes into the inbox of whoever has its host, which a worker at work empties once a second and a crawl that
begins empties first. One that is known becomes due.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from periplus import addresses
from periplus.crawl.frontier.frontier import Frontier
from periplus.crawl.frontier.inbox import InboxMessage
from periplus.crawl.frontier.partitions import partition_count
from periplus.crawl.frontier.removed import removed_targets
from periplus.crawl.frontier.rows import QUEUED, Bundle, FoundAddress
from periplus.crawl.frontier.seeds import known_seeds
from periplus.crawl.rules.scope import Scope
from periplus.crawl.rules.traps import shape_refusal

if TYPE_CHECKING:
    from collections.abc import Collection

    from periplus.settings import CrawlSettings
    from periplus.storage import Database

FRESH_SECONDS: Final = 600.0  # since the last visit: strangers cannot have a page fetched again earlier
MESSAGES_LOOKED_AT: Final = 200
LAST: Final = "crawl.submitted"  # in meta: when something was submitted last
_NOW: Final = "UPDATE urls SET next_at = 0, priority = 0 WHERE host = ? AND key = ?"
_HOST_NOW: Final = "UPDATE hosts SET next_at = ready_at WHERE key = ? AND active = 0"
_NOTE: Final = "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value"
_DECODER: Final = msgspec.msgpack.Decoder(InboxMessage)


class Submission(Struct, frozen=True):
    """What becomes of a submitted address: ``queued``, ``known`` (visited again or waiting already), ``refused``."""

    url: str
    state: str
    reason: str = ""  # of a refusal, one of ``periplus.reasons``


def submit(
    database: Database, settings: CrawlSettings, url: str, *, blocked: Collection[str] = (), trusted: bool = True
) -> Submission:
    """Have ``url`` visited as soon as politeness allows; raises ``InvalidAddress`` when it is none."""
    wanted = addresses.canonical(url)
    scope = Scope(settings, known_seeds(database), removed_targets(database), blocked)
    parts = urlsplit(wanted)
    judge = scope.with_seed(wanted) if trusted else scope
    reason = judge.refusal(wanted) or shape_refusal(parts.path, parts.query, time.gmtime().tm_year)
    if reason:
        return Submission(wanted, "refused", reason)
    host, key = addresses.host_key(addresses.host(wanted)), addresses.key(wanted)
    with database.write() as tx:
        row = tx.row("SELECT state, reason, tried_at FROM urls WHERE host = ? AND key = ?", (host, key))
        if row is not None:
            if trusted or row[0] == QUEUED or time.time() - float(row[2]) >= FRESH_SECONDS:
                tx.execute(_NOW, (host, key))
                tx.execute(_HOST_NOW, (host,))
            tx.execute(_NOTE, (LAST, repr(time.time())))
            return Submission(wanted, "known")
    _hand_over(database, settings, wanted, trusted=trusted)
    return Submission(wanted, "queued")


def _hand_over(database: Database, settings: CrawlSettings, url: str, *, trusted: bool) -> None:
    depth = 0 if trusted else settings.max_depth
    found = FoundAddress(addresses.key(url), url, addresses.host(url), depth=depth)
    frontier = Frontier(database, lambda _: 0, host_queue=settings.host_queue, host_budget=settings.host_budget)
    frontier.parts = ()  # into the inbox of whoever has its host
    frontier.commit(Bundle(found=[found], seeds=[url] if trusted else []), time.time())
    with database.write() as tx:
        tx.execute(_NOTE, (LAST, repr(time.time())))


def submitted_at(database: Database) -> float:
    """When something was submitted last; 0 where nothing ever was."""
    with database.read() as tx:
        return float(tx.value("SELECT value FROM meta WHERE key = ?", (LAST,)) or 0.0)


def is_arriving(database: Database, url: str) -> bool:
    """Whether an address lies in the inbox of its partition, as far as that is looked through."""
    part, key = addresses.host_key(addresses.host(url)) % partition_count(database), addresses.key(url)
    sql = "SELECT message FROM arrivals WHERE part = ? ORDER BY id DESC LIMIT ?"
    with database.read() as tx:
        messages = [_DECODER.decode(bytes(message)) for (message,) in tx.rows(sql, (part, MESSAGES_LOOKED_AT))]
    return any(one.key == key for message in messages for one in message.found)
