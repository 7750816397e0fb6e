"""Host names: which can exist, which host an address is on, and which registered site a host belongs to."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from typing import Any

from periplus.addresses.address import refusal, split_port

_SITES_KEPT = 65_536

_LABEL = r"[a-z0-9_-]{1,63}"
_NAME = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")
_IPV4 = re.compile(r"[0-9]+(?:\.[0-9]+){3}")


def usable_hostname(hostname: str) -> str | None:
    """A parsed host name without the dot of the root, or None for a name that DNS cannot hold."""
    if hostname.startswith("["):
        return hostname
    name = hostname.removesuffix(".")
    return name if _NAME.fullmatch(name) else None


def is_ip(hostname: str) -> bool:
    """Whether a parsed host name is an IPv4 or a bracketed IPv6 address."""
    return hostname.startswith("[") or _IPV4.fullmatch(hostname) is not None


def host(url: str) -> str:
    """The host of a canonical address, with the port when it is not the scheme's own."""
    try:
        return url.split("/", 3)[2]
    except IndexError:
        raise refusal(url, "is not an http or https URL") from None


def site(url_or_host: str) -> str:
    """The registered domain of a canonical address or of a host; the host name itself where there is none.

    Ports do not part sites. Names that no rule of the public suffix list knows follow its default rule: the last
    two labels are the site, so ``a.b.localhost`` belongs to ``b.localhost``.
    """
    return _site(host(url_or_host) if "://" in url_or_host else url_or_host)


@lru_cache(maxsize=_SITES_KEPT)
def _site(place: str) -> str:
    hostname, _ = split_port(place)
    if is_ip(hostname):
        return hostname
    registered: str | None = _suffixes().privatesuffix(hostname)
    return registered or hostname


@cache
def _suffixes() -> Any:
    from publicsuffixlist import PublicSuffixList  # reads 16,000 rules: only where needed

    return PublicSuffixList()
