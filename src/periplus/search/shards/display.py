"""Addresses and times as results show them."""

from __future__ import annotations

import datetime
from functools import lru_cache

from periplus import addresses
from periplus.addresses import SEPARATOR
from periplus.addresses.display import MAX_LENGTH

ADDRESSES_KEPT = 10_000  # as people read them
DAYS_KEPT = 4_096
DAY = 86_400
_SCHEMES = ("http", "https")
_EPOCH = datetime.date(1970, 1, 1)


@lru_cache(maxsize=DAYS_KEPT)
def moment(seconds: float) -> str:
    """A time as ISO 8601 in UTC; empty for never or for what no calendar holds."""
    if seconds == 0:
        return ""
    try:
        days, rest = divmod(int(seconds), DAY)
        minutes, second = divmod(rest, 60)
        return f"{_date(days)}T{minutes // 60:02}:{minutes % 60:02}:{second:02}Z"
    except (ValueError, OverflowError):
        return ""


@lru_cache(maxsize=DAYS_KEPT)
def _date(days: int) -> str:
    return (_EPOCH + datetime.timedelta(days)).isoformat()


def displayed(url: str, host: str) -> str:
    """``addresses.display``, at once for an address in which nothing is to be decoded or left out."""
    scheme, _, rest = url.partition("://")
    is_odd = "%" in rest or "#" in rest or "//" in rest or "xn--" in rest or not rest.isascii()
    if is_odd or scheme not in _SCHEMES or not rest.startswith(f"{host}/"):
        return _displayed(url)
    path, _, query = rest.partition("?")
    shown = path.rstrip("/").replace("/", SEPARATOR)
    if query:
        shown = f"{shown}{SEPARATOR}?{query}"
    return shown if len(shown) <= MAX_LENGTH and ":" not in host else _displayed(url)


@lru_cache(maxsize=ADDRESSES_KEPT)
def _displayed(url: str) -> str:
    return addresses.display(url)
