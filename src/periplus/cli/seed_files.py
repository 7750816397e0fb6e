"""Files of seeds: addresses one a line, OPML lists of feeds, bookmarks of a browser, or CDXJ listings."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

MAX_BYTES = 100_000_000  # of a file of seeds
_CDXJ = re.compile(r"^\S+ \d{14} (\{.*\})\s*$")
_MARKUP = re.compile(r"^\s*(?:<\?xml|<!doctype netscape|<opml|<html|<dl)", re.IGNORECASE)


def addresses_in(text: str) -> list[str]:
    """The addresses that a file of seeds names, in its order; what they are is not looked at."""
    if _MARKUP.match(text):
        reader = _Linked()
        reader.feed(text)
        return reader.addresses
    lines = [line.strip() for line in text.splitlines()]
    if listed := [found[1] for line in lines if (found := _CDXJ.match(line))]:
        return [url for url in map(_listed, listed) if url]
    return [line for line in lines if line and not line.startswith("#")]


def _listed(fields: str) -> str:
    try:
        url = json.loads(fields).get("url", "")
    except (ValueError, AttributeError, RecursionError):
        return ""
    return url if isinstance(url, str) else ""


class _Linked(HTMLParser):
    """Addresses of OPML's outlines (the site, then its feed) and of links; only those of the web."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        names = ("htmlurl", "xmlurl") if tag == "outline" else ("href",) if tag == "a" else ()
        for name in names:
            url = (given.get(name) or "").strip()
            if url.lower().startswith(("http://", "https://")):
                self.addresses.append(url)
