"""Addresses: WHATWG parsing, the canonical form for crawling, hosts, sites, keys and sort-friendly spellings."""

from periplus.addresses.address import Address, parse
from periplus.addresses.canonical import canonical, try_canonical
from periplus.addresses.display import SEPARATOR, display
from periplus.addresses.hosts import host, is_ip, site
from periplus.addresses.keys import host_key, key, page_key, page_keys
from periplus.addresses.surt import surt

__all__ = [
    "SEPARATOR",
    "Address",
    "canonical",
    "display",
    "host",
    "host_key",
    "is_ip",
    "key",
    "page_key",
    "page_keys",
    "parse",
    "site",
    "surt",
    "try_canonical",
]
