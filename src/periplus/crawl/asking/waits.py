"""What the hosts whose addresses wait are waiting for, read from the state database."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.crawl.asking.condition import HostWait

if TYPE_CHECKING:
    from periplus.storage import Transaction

LOOKED_AT = 500  # hosts with waiting addresses, at most; a standstill has the same reasons everywhere

_WAITING = (  # the first address in line tells why a host that did not fail itself is waited for
    "SELECT h.reason, h.active, CASE WHEN h.active > 0 THEN h.ready_at ELSE h.next_at END, h.delay,"
    " (SELECT u.reason FROM urls u WHERE u.host = h.key AND u.state = 0 ORDER BY u.priority LIMIT 1)"
    " FROM hosts h WHERE h.queued > 0 LIMIT ?"
)


def host_waits(tx: Transaction) -> tuple[HostWait, ...]:
    """The waiting hosts, by the reason for which they wait."""
    groups: dict[str, HostWait] = {}
    for reason, active, at, delay, of_address in tx.rows(_WAITING, (LOOKED_AT,)):
        why = str(reason or of_address or "")
        asked = int(active > 0)
        one = HostWait(why, 1, float(at), float(delay), asked)
        groups[why] = _together(groups[why], one) if why in groups else one
    return tuple(groups.values())


def _together(one: HostWait, other: HostWait) -> HostWait:
    return HostWait(
        one.reason,
        one.hosts + other.hosts,
        min(one.next_at, other.next_at),
        min(one.delay, other.delay),
        one.asked + other.asked,
    )
