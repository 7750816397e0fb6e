"""Host names to IP addresses, with the guard against addresses that are nobody's business.

A crawler fetches what strangers link to, so it must not be led into a private network: every address is checked after
resolution, and again when the socket is made (address literals and rebinding never pass the resolver); ``guard``
says which may be visited.
``--resolve`` entries come before DNS, may name a port to connect to, and are trusted, since the operator wrote them.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple

from periplus.crawl.fetching.guard import is_loopback, is_private, parsed
from periplus.errors import FetchError, SettingError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

TTL_LEAST, TTL_MOST = 60.0, 3_600.0
NAMES_KEPT = 20_000
LOOKUP_SECONDS = 10.0


class Route(NamedTuple):
    """Where a host is reached. ``exempt`` from the gap of an IP address: loopback and --resolve targets."""

    ip: str
    port: int
    exempt: bool


class PrivateAddress(OSError):
    """A connection to an address that must not be visited."""


class Mapping:
    """The ``HOST=IP[:PORT]`` entries; ``*.test`` stands for every host under ``test``, ``*`` for all."""

    def __init__(self, entries: Sequence[str]) -> None:
        self._exact: dict[str, tuple[str, int]] = {}
        self._under: list[tuple[str, tuple[str, int]]] = []
        for entry in entries:
            self._add(entry)
        self._under.sort(key=lambda item: -len(item[0]))
        self._targets = frozenset([*self._exact.values(), *(target for _, target in self._under)])

    def is_target(self, ip: str, port: int) -> bool:
        return (ip, port) in self._targets or (ip, 0) in self._targets

    def find(self, name: str) -> tuple[str, int] | None:
        """IP and port (0: the URL's own) for a host name without port."""
        found = self._exact.get(name)
        if found is not None:
            return found
        return next((target for suffix, target in self._under if name.endswith(suffix)), None)

    def _add(self, entry: str) -> None:
        name, _, place = entry.partition("=")
        name = name.strip().lower()
        target = _target(place.strip())
        if not name or target is None:
            raise SettingError(f"crawl.resolve: {entry!r} is not HOST=IP[:PORT]; for example *.test=127.0.0.1:8081")
        if name.startswith("*"):
            self._under.append((name[1:], target))
        else:
            self._exact[name] = target


def _target(place: str) -> tuple[str, int] | None:
    host, port = place, ""
    if place.startswith("["):
        host, _, rest = place[1:].partition("]")
        port = rest.removeprefix(":")
    elif place.count(":") == 1:
        host, port = place.split(":")
    try:
        ip = str(ipaddress.ip_address(host))
    except ValueError:
        return None
    if port and not (port.isdigit() and 0 < int(port) < 65_536):
        return None
    return ip, int(port or 0)


class Resolver:
    """Routes for host names, cached as long as DNS says (bounded); raises ``FetchError`` with the reason."""

    def __init__(self, mapping: Mapping, *, allow_private: bool, lookup: Callable[[str], Any] | None = None) -> None:
        self.mapping = mapping
        self.allow_private = allow_private
        self._lookup = lookup or Dns().lookup
        self._known: OrderedDict[str, tuple[float, list[str]]] = OrderedDict()
        self._trusted: set[tuple[str, int]] = set()

    async def trusted_route(self, name: str, port: int) -> Route:
        """Where something is reached that the operator named, such as a proxy: not guarded, at that port only."""
        mapped = self.mapping.find(name)
        ip = mapped[0] if mapped else _literal(name) or (await self._addresses(name))[0]
        place = (ip, (mapped[1] if mapped else 0) or port)
        self._trusted.add(place)
        return Route(*place, exempt=True)

    def guard_name(self, name: str) -> None:
        """What can be said of a host without resolving it: literal addresses and this machine's own names."""
        ip = "127.0.0.1" if name == "localhost" or name.endswith(".localhost") else _literal(name)
        if ip and not self.allow_private and is_private(ip):
            raise FetchError("private-address", _whose(name, ip))

    async def route(self, name: str, port: int) -> Route:
        """Where ``name`` (without port, IPv6 in brackets) is reached; guarded."""
        mapped = self.mapping.find(name)
        if mapped is not None:
            return Route(mapped[0], mapped[1] or port, exempt=True)
        literal = _literal(name)
        ip = literal or (await self._addresses(name))[0]
        if not self.allow_private and is_private(ip):
            raise FetchError("private-address", _whose(name, ip))
        return Route(ip, port, is_loopback(ip))

    def forbids(self, ip: str, port: int) -> bool:
        """The last check, when a socket is about to be made and when it is connected."""
        if self.allow_private or self.mapping.is_target(ip, port) or (ip, port) in self._trusted:
            return False
        return is_private(ip)

    def failed(self, name: str) -> None:
        """The first address did not answer: try the next one next time."""
        found = self._known.get(name)
        if found is not None and len(found[1]) > 1:
            found[1].append(found[1].pop(0))

    async def _addresses(self, name: str) -> list[str]:
        now = time.monotonic()
        found = self._known.get(name)
        if found is not None and found[0] > now:
            return found[1]
        ips, ttl = await self._look_up(name)
        self._known[name] = (now + min(max(ttl, TTL_LEAST), TTL_MOST), ips)
        self._known.move_to_end(name)
        if len(self._known) > NAMES_KEPT:
            self._known.popitem(last=False)
        return ips

    async def _look_up(self, name: str) -> tuple[list[str], float]:
        if name == "localhost" or name.endswith(".localhost"):
            return ["127.0.0.1"], TTL_MOST  # RFC 6761: never asked of DNS
        if name.endswith((".invalid", ".onion")):
            raise FetchError("dns-failure", f"{name} is not a name of DNS")
        try:
            async with asyncio.timeout(LOOKUP_SECONDS):
                ips, ttl = await self._lookup(name)
        except (OSError, TimeoutError, UnicodeError) as error:
            raise FetchError("dns-failure", f"{name}: {error}") from error
        if not ips:
            raise FetchError("dns-failure", f"{name} has no address")
        return ips, ttl


def _whose(name: str, ip: str) -> str:
    """An address, with the name that leads there."""
    return ip if name.strip("[]") == ip else f"{name} is {ip}"


def _literal(name: str) -> str:
    """The address that a host of a URL spells out; empty when it is a name."""
    address = parsed(name)
    return str(address) if address is not None else ""


class Dns:
    """Lookups through c-ares, which tells how long an answer holds; made when first needed."""

    def __init__(self, nameservers: Sequence[str] = (), port: int = 0) -> None:
        self._options: dict[str, Any] = {"nameservers": list(nameservers)} if nameservers else {}
        if port:
            self._options |= {"udp_port": port, "tcp_port": port}
        self._client: Any = None

    async def lookup(self, name: str) -> tuple[list[str], float]:
        import aiodns

        if self._client is None:
            self._client = aiodns.DNSResolver(timeout=LOOKUP_SECONDS / 2, tries=2, **self._options)
        try:
            answer = await self._client.getaddrinfo(name, family=socket.AF_UNSPEC, type=socket.SOCK_STREAM)
        except aiodns.error.DNSError as error:
            raise OSError(str(error)) from error
        nodes = sorted(answer.nodes, key=lambda node: node.family != socket.AF_INET)
        ips = [_as_text(node.addr[0]) for node in nodes]
        return list(dict.fromkeys(ips)), min((float(node.ttl) for node in nodes), default=TTL_LEAST)


def _as_text(value: bytes | str) -> str:
    return value.decode("ascii") if isinstance(value, bytes) else value
