"""Settings that must be read before they are known to be right, all at once and before anything is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.crawl.access import HostHeaders, proxy_address
from periplus.crawl.pacing import Hours
from periplus.crawl.resolver import Mapping
from periplus.crawl.scope import Scope

if TYPE_CHECKING:
    from periplus.settings import CrawlSettings


def check(settings: CrawlSettings) -> None:
    """Raise ``SettingError`` or ``UsageError`` for the first pattern, file, entry or time that cannot be read."""
    Scope(settings, ())
    Mapping(settings.resolve)
    HostHeaders(settings)
    proxy_address(settings.proxy)
    Hours.parse(settings.hours)
