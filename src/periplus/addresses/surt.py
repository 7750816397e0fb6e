"""Sort-friendly addresses: ``https://www.example.org/a?b`` becomes ``org,example,www)/a?b``.

The labels of the host are turned round, so that the pages of a site, then of a host, stand together when sorted.
The scheme is left out; a port that is not the scheme's own follows the labels.
"""

from __future__ import annotations

from periplus.addresses.address import refusal, split_port
from periplus.addresses.hosts import is_ip


def surt(url: str) -> str:
    """The sort key of a canonical address."""
    _, found, rest = url.partition("://")
    if not found:
        raise refusal(url, "is not an http or https URL")
    place, _, path = rest.partition("/")
    hostname, port = split_port(place)
    labels = hostname if is_ip(hostname) else ",".join(reversed(hostname.split(".")))
    return f"{labels}:{port})/{path}" if port else f"{labels})/{path}"
