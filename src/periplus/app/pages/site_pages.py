"""What a site is best known by: its own description, and its best pages without those that every site has."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.records import SearchResult

BEST_PAGES = 10
LOOKED_AT = 3 * BEST_PAGES
_PARTS_OF_TITLE = re.compile(r"\s[–—|·:-]\s|\s?[|·»]\s?")  # what parts a page's own name from that of its site


def best_pages(ranked: Sequence[SearchResult]) -> list[dict[str, str]]:
    """The first of a site's pages; contact, privacy and their like only where there is nothing else."""
    chosen = [result for result in ranked if not is_formality(result.title, result.url)] or list(ranked)
    return [{"url": result.url, "title": result.title} for result in chosen[:BEST_PAGES]]


def description(ranked: Sequence[SearchResult]) -> str:
    """What the first page of the site says of itself; empty where that page is not among these."""
    return next((result.snippet for result in ranked if urlsplit(result.url).path in ("", "/")), "")


def is_formality(title: str, url: str) -> bool:
    """Whether a page is one that every site has, by how its title begins or how its address ends."""
    name = _PARTS_OF_TITLE.split(title.strip(), maxsplit=1)[0]
    last = unquote(urlsplit(url).path).rstrip("/").rpartition("/")[2]
    return not _formalities().isdisjoint({name.casefold(), _spoken(last)})


def _spoken(segment: str) -> str:
    return re.sub(r"[-_+ ]+", " ", re.sub(r"\.\w{2,5}$", "", segment)).strip().casefold()


@cache
def _formalities() -> frozenset[str]:
    text = files("periplus.app.pages").joinpath("formalities.txt").read_text(encoding="utf-8")
    return frozenset(line.strip().casefold() for line in text.splitlines() if line and not line.startswith("#"))
