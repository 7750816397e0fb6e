"""Which address each host was fetched from, as the crawl's journal has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from periplus.storage import Database

# Loopback and private addresses say nothing about who owns a host: there, one machine plays many.
_QUERY = "SELECT host, MAX(ip) FROM journal WHERE exempt = 0 AND ip <> '' GROUP BY host"


def host_addresses(database: Database) -> dict[str, str]:
    """For ``refresh_ranks(ips=…)``: host to IP address; several addresses of one host count as one of them."""
    with database.read() as transaction:
        return {str(host): str(ip) for host, ip in transaction.rows(_QUERY)}
