"""Options of a crawl by their short names, as the Python surface takes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from periplus import settings
from periplus.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Mapping


def crawl_flags(options: Mapping[str, Any]) -> dict[str, Any]:
    """``max_pages`` as ``crawl.max_pages``; raises ``UsageError`` for what is no setting of a crawl."""
    known = {info.name for info in settings.catalogue() if info.section == "crawl"}
    unknown = sorted(set(options) - known)
    if unknown:
        raise UsageError(f"unknown crawl option {unknown[0]!r}; known are {', '.join(sorted(known))}")
    return {f"crawl.{name}": value for name, value in options.items()}
