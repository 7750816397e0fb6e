"""Which IP addresses a crawler may visit: a table of our own, the same with every version of Python.

Of IPv4, everything but the special blocks. Of IPv6, only global unicast (``2000::/3``) without its special blocks; an
address that carries an IPv4 address inside, by which a translator or a tunnel would pass it on, is judged by that one
too. All other IPv6 is refused: loopback, mapped and compatible IPv4, unique local, site-local, link-local, multicast.

The blocks are those of the IANA registries of special-purpose addresses, whatever these say of their reach (no web
page lives in any of them), of multicast, and the servers by which clouds hand out secrets to their own machines:

- https://www.iana.org/assignments/iana-ipv4-special-registry (October 2024)
- https://www.iana.org/assignments/iana-ipv6-special-registry (October 2024)
- https://www.iana.org/assignments/multicast-addresses
"""

from __future__ import annotations

from ipaddress import AddressValueError, IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import NamedTuple


class AddressBlock(NamedTuple):
    """Addresses that are nobody's web site, and what they are for."""

    prefix: str
    use: str


SPECIAL_IPV4 = (
    AddressBlock("0.0.0.0/8", "this network, RFC 791"),
    AddressBlock("10.0.0.0/8", "private use, RFC 1918"),
    AddressBlock("100.64.0.0/10", "shared address space, RFC 6598; in it the metadata of Alibaba Cloud"),
    AddressBlock("127.0.0.0/8", "loopback, RFC 1122"),
    AddressBlock("168.63.129.16/32", "metadata of Azure"),
    AddressBlock("169.254.0.0/16", "link-local, RFC 3927; in it the metadata of most clouds"),
    AddressBlock("172.16.0.0/12", "private use, RFC 1918"),
    AddressBlock("192.0.0.0/24", "protocol assignments, RFC 6890"),
    AddressBlock("192.0.2.0/24", "documentation, RFC 5737"),
    AddressBlock("192.31.196.0/24", "AS112, RFC 7535"),
    AddressBlock("192.52.193.0/24", "automatic multicast tunnelling, RFC 7450"),
    AddressBlock("192.88.99.0/24", "6to4 relays, RFC 7526"),
    AddressBlock("192.168.0.0/16", "private use, RFC 1918"),
    AddressBlock("192.175.48.0/24", "AS112, RFC 7534"),
    AddressBlock("198.18.0.0/15", "benchmarking, RFC 2544"),
    AddressBlock("198.51.100.0/24", "documentation, RFC 5737"),
    AddressBlock("203.0.113.0/24", "documentation, RFC 5737"),
    AddressBlock("224.0.0.0/4", "multicast, RFC 5771"),
    AddressBlock("240.0.0.0/4", "reserved, RFC 1112; at its end broadcast, RFC 8190"),
)
SPECIAL_IPV6 = (  # inside 2000::/3; what lies outside needs no list
    AddressBlock("2001::/23", "protocol assignments, RFC 2928: Teredo, benchmarking, ORCHID, drones and others"),
    AddressBlock("2001:db8::/32", "documentation, RFC 3849"),
    AddressBlock("2620:4f:8000::/48", "AS112, RFC 7534"),
    AddressBlock("3ffe::/16", "the old 6bone, RFC 3701"),
    AddressBlock("3fff::/20", "documentation, RFC 9637"),
)
GLOBAL_UNICAST = IPv6Network("2000::/3")
NAT64 = IPv6Network("64:ff9b::/96")  # RFC 6052: how a network without IPv4 reaches IPv4; its DNS gives such answers
SIX_TO_FOUR = IPv6Network("2002::/16")  # RFC 3056: the next 32 bits are the router's IPv4 address
ISATAP = (0x0000_5EFE, 0x0200_5EFE)  # RFC 5214: the first half of an interface's number; the second is an IPv4 address

_IPV4 = tuple(IPv4Network(block.prefix) for block in SPECIAL_IPV4)
_IPV6 = tuple(IPv6Network(block.prefix) for block in SPECIAL_IPV6)


def is_private(ip: str) -> bool:
    """Whether an address is none that the crawler may visit; also of what is no address, or has a zone."""
    address = parsed(ip)
    if address is None or "%" in ip:
        return True
    return _is_special_ipv4(address) if isinstance(address, IPv4Address) else _is_special_ipv6(address)


def is_loopback(ip: str) -> bool:
    """Whether an address is this machine, in either way of writing it."""
    address = parsed(ip)
    if isinstance(address, IPv6Address) and int(address) >> 32 == 0xFFFF:
        address = _last_bits(address)
    return address is not None and address.is_loopback


def parsed(ip: str) -> IPv4Address | IPv6Address | None:
    """The address that a text means, in brackets or with a zone (which is left out) as well; none when it is none."""
    bare = ip.strip("[]").partition("%")[0]
    try:
        return IPv6Address(bare) if ":" in bare else IPv4Address(bare)
    except AddressValueError:
        return None


def _is_special_ipv4(address: IPv4Address) -> bool:
    return any(address in block for block in _IPV4)


def _is_special_ipv6(address: IPv6Address) -> bool:
    if address in NAT64:
        return _is_special_ipv4(_last_bits(address))
    if address not in GLOBAL_UNICAST or any(address in block for block in _IPV6):
        return True
    return any(map(_is_special_ipv4, _carried(address)))


def _carried(address: IPv6Address) -> list[IPv4Address]:
    """The IPv4 addresses to which tunnels would pass an address on."""
    number = int(address)
    carried = [IPv4Address(number >> 80 & 0xFFFF_FFFF)] if address in SIX_TO_FOUR else []
    if number >> 32 & 0xFFFF_FFFF in ISATAP:
        carried.append(_last_bits(address))
    return carried


def _last_bits(address: IPv6Address) -> IPv4Address:
    return IPv4Address(int(address) & 0xFFFF_FFFF)
