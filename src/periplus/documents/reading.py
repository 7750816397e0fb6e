"""What a reader hands back: the raw findings of one body, before language, fingerprint and verdicts are added."""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from periplus.records import Heading, Link


class Dates(Struct):
    published: float = 0.0
    modified: float = 0.0
    source: str = ""  # json-ld, meta, time, feed, file, address or header
    sure: float = 0.0  # how far to believe it; 0.0 for what the source is worth as a rule


class Reading(Struct):
    """Findings of one reader; texts are clean, links canonical."""

    text: str = ""
    boilerplate: str = ""
    title: str = ""
    headings: list[Heading] = field(default_factory=list)
    description: str = ""
    declared_language: str = ""
    charset: str = "utf-8"
    charset_sure: bool = True
    canonical: str = ""
    redirect: str = ""  # where an immediate meta refresh leads
    robots: set[str] = field(default_factory=set)  # directives, in lower case
    dates: Dates = field(default_factory=Dates)
    author: str = ""
    site_name: str = ""
    favicon: str = ""
    feeds: list[str] = field(default_factory=list)
    hreflang: dict[str, str] = field(default_factory=dict)
    structured: list[dict[str, Any]] = field(default_factory=list)
    images: list[tuple[str, str]] = field(default_factory=list)
    links: list[Link] = field(default_factory=list)
    signals: dict[str, float] = field(default_factory=dict)
    needs_javascript: bool = False
