"""A page's own title, without the name of its site that every title there repeats.

``asyncio — Python 3.11.2 documentation`` on docs.python.org is ``asyncio``. The name of the site is the first or last
part of a title (between dashes, bars and the like with blanks around them) that consists of the site's name alone: of
what the page calls its site, of labels of its host, of version numbers and of words such as *documentation*. It stays
searchable as text in the margin, where it counts little, and no longer makes a short title long.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import structs

from periplus import addresses
from periplus.text import TITLE_BORDER

if TYPE_CHECKING:
    from periplus.records import Document

HOSTS_KEPT = 10_000
_WORD = re.compile(r"[^\W_]+")
_NUMBER = re.compile(r"v?\d+[a-z]?\d*$|[ab]\d+$|rc\d*$")
_STOCK = """
blog book com css de docs documentation forum guide handbook help home homepage html io library manual net news official
online org page portal project reference release site standard support the version web website wiki www
"""
STOCK = frozenset(_STOCK.split())


def with_own_title(document: Document) -> Document:
    """The document with the name of its site taken from its title to its margin, where that is plain to see."""
    own, site = parted(document.title, document.url, document.site_name)
    if not site:
        return document
    margin = f"{document.boilerplate}\n{site}" if document.boilerplate else site
    return structs.replace(document, title=own, boilerplate=margin)


def parted(title: str, url: str, site_name: str = "") -> tuple[str, str]:
    """A page's own title, and the name of its site; that is empty where the title does not say it apart."""
    borders = list(TITLE_BORDER.finditer(title))
    if not borders:
        return title, ""
    names = _labels(addresses.host(url)) if url.startswith(("http://", "https://")) else frozenset[str]()
    names |= frozenset(_words(site_name))
    first, last = borders[0], borders[-1]
    for own, site in ((title[: last.start()], title[last.end() :]), (title[first.end() :], title[: first.start()])):
        if _names_site(site, names) and _WORD.search(own):
            return own.strip(), site.strip()
    return title, ""


def _names_site(part: str, names: frozenset[str]) -> bool:
    words = _words(part)
    telling = [word for word in words if word not in STOCK and not _NUMBER.match(word)]
    return bool(telling) and (names.issuperset(telling) or "".join(telling) in names)  # Node.js at nodejs.org


def _words(text: str) -> list[str]:
    return [word.casefold() for word in _WORD.findall(text)]


@lru_cache(maxsize=HOSTS_KEPT)
def _labels(host: str) -> frozenset[str]:
    """Words of a host's name, but for those that many have."""
    return frozenset(word for word in _words(host) if word not in STOCK and not word.isdigit())
