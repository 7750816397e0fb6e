"""From the flags of ``crawl`` and ``up`` to crawl settings, and the limits in force in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from periplus.cli.options import byte_size
from periplus.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from periplus.settings import CrawlSettings


def crawl_options(**flags: Any) -> dict[str, Any]:
    """Only what was given; ``--lang en,de`` becomes a list, ``--max-bandwidth 2MB`` a number."""
    languages = flags.pop("lang", None)
    flags["headers"] = flags.pop("header", None)
    flags["max_bandwidth"] = byte_size(flags.pop("max_bandwidth", None))
    if languages:
        flags["languages"] = [part.strip() for part in languages.split(",") if part.strip()]
    return {name: value for name, value in flags.items() if value not in (None, [])}


def all_seeds(urls: list[str] | None, file: Path | None) -> list[str]:
    """Addresses from the command line, then those of the file."""
    seeds = list(urls or [])
    if file is not None:
        seeds += read_seeds(file)
    return seeds


def read_seeds(file: Path) -> list[str]:
    """One address a line; empty lines and ``#`` comments do not count."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"--seeds {file} cannot be read: {reason}") from error
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def limits(settings: CrawlSettings) -> str:
    """The limits in force, as one line."""
    pages = f"{settings.max_pages:,} pages" if settings.max_pages else "no page limit"
    more = [
        f"at most {settings.max_bandwidth:,} bytes/s" if settings.max_bandwidth else "",
        f"only at {settings.hours} o'clock" if settings.hours else "",
        "through a proxy" if settings.proxy else "",
        "documents later" if settings.documents == "later" else "",
    ]
    return ", ".join(
        [
            f"scope {settings.scope}, {pages}, depth {settings.max_depth}",
            f"delay {settings.delay:g} s or what robots.txt asks",
            *filter(None, more),
        ]
    )
