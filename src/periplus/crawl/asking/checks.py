"""Settings that must be read before they are known to be right, all at once and before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from periplus.crawl.fetching.access import HostHeaders, proxy_address
from periplus.crawl.fetching.pacing import Hours
from periplus.crawl.fetching.resolver import Mapping
from periplus.crawl.rules.scope import compile_patterns, read_banned
from periplus.errors import SettingError, UnfitFile, UsageError
from periplus.settings import FLAG

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Mapping as Table

    from periplus.settings import CrawlSettings

_READERS: dict[str, Callable[[CrawlSettings], object]] = {
    "crawl.include": lambda settings: compile_patterns(settings.include, "include"),
    "crawl.exclude": lambda settings: compile_patterns(settings.exclude, "exclude"),
    "crawl.banned_hosts": lambda settings: read_banned(settings.banned_hosts),
    "crawl.resolve": lambda settings: Mapping(settings.resolve),
    "crawl.headers": lambda settings: HostHeaders(replace(settings, auth=())),
    "crawl.auth": lambda settings: HostHeaders(replace(settings, headers=())),
    "crawl.proxy": lambda settings: proxy_address(settings.proxy),
    "crawl.hours": lambda settings: Hours.parse(settings.hours),
}


def check(settings: CrawlSettings, origins: Table[str, str] | None = None) -> None:
    """Raise ``SettingError`` for the first pattern, entry or time that cannot be read, ``UnfitFile`` for a file.

    ``origins`` say where settings come from: whoever typed a wrong flag is told so by the exit code.
    """
    for key, read in _READERS.items():
        try:
            read(settings)
        except UnfitFile:
            raise
        except UsageError as error:
            raise SettingError(str(error), key, by_flag=(origins or {}).get(key) == FLAG) from error
