"""What an operator does to hosts and addresses from the console: visit again, prefer, block, take down.

Every action is one short transaction that a running crawl sees with its next step, and a line in the log of events.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from periplus import addresses, crawl
from periplus.errors import NotFound, UsageError
from periplus.storage import Blocklist, write_event

if TYPE_CHECKING:
    from periplus.app.collection import Collection
    from periplus.app.console.starting import CrawlStarter
    from periplus.storage import Transaction

ACTIONS = ("recrawl", "boost", "block", "unblock", "remove")
REMOVED, BLOCKED = "removed", "blocked"  # the reasons of what is taken down, and of what is hidden
FIRST_LEVEL = 0  # of hosts: those of the seeds, with long bursts and the whole budget

_DUE = "UPDATE urls SET next_at = ? WHERE host = ? AND state > 0 AND reason <> ?"
_HOST_DUE = (
    "UPDATE hosts SET failures = 0, next_at = CASE WHEN ready_at > ? THEN ready_at ELSE ? END"
    " WHERE key = ? AND active = 0"
)
_AGAIN = "UPDATE urls SET state = 0, reason = '', refusal = '', next_at = 0, attempts = 0 WHERE host = ? AND reason = ?"
_COUNT = "SELECT COUNT(*) FROM urls WHERE host = ?"


class Steering:
    def __init__(self, collection: Collection, starter: CrawlStarter) -> None:
        self._collection = collection
        self._starter = starter
        self._blocklist = Blocklist(collection.files, collection.sound_state)

    def steer(self, action: str, target: str) -> int:
        """Do it to a host or an address; how many addresses it concerns."""
        if action not in ACTIONS:
            raise UsageError(f"unknown action {action!r}; known are {', '.join(ACTIONS)}")
        name, is_host = target_of(target)
        if action == "boost" and not is_host:
            raise UsageError("only a host can be preferred; give its name")
        count = int(getattr(self, f"_{action}")(name, is_host))
        self._note(f"{action} {name}: {count} addresses")
        return count

    def _recrawl(self, name: str, is_host: bool) -> int:
        """Due now; the host's gap between requests is kept. What is blocked stays so."""
        if self._blocklist.targets() & {name, name if is_host else addresses.host(name)}:
            return 0
        now, host = time.time(), _host_key(name, is_host)
        where, values = _narrowed(name, is_host)
        with self._collection.database.write() as tx:
            self._known(tx, name, host)
            count = tx.execute(_DUE + where, (now, host, REMOVED, *values))
            tx.execute(_HOST_DUE, (now, now, host))
        self._starter.go_on()
        return count

    def _boost(self, name: str, _is_host: bool) -> int:
        host = addresses.host_key(name)
        with self._collection.database.write() as tx:
            self._known(tx, name, host)
            tx.execute("UPDATE hosts SET level = ? WHERE key = ?", (FIRST_LEVEL, host))
            return int(tx.value("SELECT queued FROM hosts WHERE key = ?", (host,)) or 0)

    def _block(self, name: str, is_host: bool) -> int:
        """Hidden from results and not asked for any more, from now on; nothing of it is deleted."""
        self._blocklist.add(*crawl.spellings(name))
        with self._collection.database.read() as tx:
            return self._count(tx, name, is_host)

    def _unblock(self, name: str, is_host: bool) -> int:
        """In results again at once; what was not asked for meanwhile is queued. A takedown is lifted as well."""
        host = _host_key(name, is_host)
        where, values = _narrowed(name, is_host)
        was_blocked = self._blocklist.discard(*crawl.spellings(name))
        with self._collection.database.write() as tx:
            if not was_blocked and not tx.value("SELECT 1 FROM removed WHERE target = ?", (name,)):
                raise NotFound(f"{name} is not blocked")
            tx.executemany("DELETE FROM removed WHERE target = ?", [(one,) for one in crawl.spellings(name)])
            for reason in (BLOCKED, REMOVED):
                tx.execute(_AGAIN + where, (host, reason, *values))
            tx.execute(f"{crawl.COUNT_QUEUED} WHERE key = ?", (host,))
            now = time.time()
            tx.execute(_HOST_DUE, (now, now, host))
            return self._count(tx, name, is_host)

    def _count(self, tx: Transaction, name: str, is_host: bool) -> int:
        where, values = _narrowed(name, is_host)
        return int(tx.value(_COUNT + where, (_host_key(name, is_host), *values)) or 0)

    def _remove(self, name: str, _is_host: bool) -> int:
        """Out of archive, documents and index, and never asked for again."""
        return len(self._collection.remove(name).addresses)

    def _known(self, tx: Transaction, name: str, host: int) -> None:
        if not tx.value("SELECT 1 FROM hosts WHERE key = ?", (host,)):
            raise NotFound(f"nothing is known of {name}; start a crawl there first")

    def _note(self, text: str) -> None:
        with self._collection.database.write() as tx:
            write_event(tx, "console", text)


def target_of(text: str) -> tuple[str, bool]:
    """The one spelling of an address or a host, and whether it is a host."""
    given = text.strip()
    is_host = "://" not in given
    address = addresses.canonical(f"http://{given}/" if is_host else given)
    return (addresses.host(address), True) if is_host else (address, False)


def _host_key(name: str, is_host: bool) -> int:
    return addresses.host_key(name if is_host else addresses.host(name))


def _narrowed(name: str, is_host: bool) -> tuple[str, tuple[int, ...]]:
    if is_host:
        return "", ()
    keys = tuple(addresses.key(url) for url in crawl.spellings(name))
    return f" AND key IN ({', '.join('?' * len(keys))})", keys
