"""The rules of one origin, from its robots.txt as it is stored; parsed files are kept, since many serve the same."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct

from periplus.crawl.rules.robots import ALLOW_ALL, RobotsFile

if TYPE_CHECKING:
    from periplus.crawl.frontier.rows import RobotsRow

SMALL_FILE, FILES_KEPT = 20_000, 512  # characters of a robots.txt that is kept parsed, and how many are
LARGE_KEPT = 4  # larger ones that are: one may take a quarter of a second to parse, and 8 MB


class HostRules(Struct):
    """The robots.txt of one origin, as far as it concerns us."""

    file: RobotsFile
    fetched_at: float
    expires_at: float
    status: int
    note: str = ""  # why all is allowed, when no file was read


def rules_of(row: RobotsRow, token: str) -> HostRules:
    """Rules from a stored robots.txt."""
    if row.reason:
        return HostRules(ALLOW_ALL, row.fetched_at, row.expires_at, row.status, row.reason)
    parse = _parsed if len(row.body) <= SMALL_FILE else _parsed_large
    return HostRules(parse(row.body, token), row.fetched_at, row.expires_at, row.status)


@lru_cache(maxsize=FILES_KEPT)
def _parsed(body: str, token: str) -> RobotsFile:
    """Hosts come and go, and many serve the same file; a parsed one is never changed."""
    return RobotsFile.parse(body, token)


@lru_cache(maxsize=LARGE_KEPT)
def _parsed_large(body: str, token: str) -> RobotsFile:
    """A host with a huge file gives its place away and gets it back without the file being parsed again."""
    return RobotsFile.parse(body, token)


def origin_of(url: str) -> str:
    """Scheme and host: what a robots.txt speaks for."""
    return url[: url.index("/", url.index("://") + 3)]
