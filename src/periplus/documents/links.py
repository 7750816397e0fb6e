"""Links as a page wrote them, made absolute, canonical and distinct.

A target may appear several times with different text; the same target with the same text counts once, the first time.
``rel`` keeps only what matters to us: nofollow, ugc, sponsored.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from periplus.addresses import try_canonical
from periplus.documents import bounds
from periplus.documents.text import clean
from periplus.records import Link

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

_RELATIONS: Final = ("nofollow", "ugc", "sponsored")
# Steps upwards before a name that no other reading of an address could begin with.
_UPWARDS: Final = re.compile(r"(?:\.\./){1,30}(?=[A-Za-z0-9_][^:\\]*\Z)")

_REMEMBERED: Final = 200  # characters of an href beyond which its address is not kept
_FOLDERS: Final = 128  # whose links are remembered …
_EACH: Final = 512  # … so many of them
_UNKNOWN: Final = "?"  # in place of an address that is not remembered: no address is spelled like this


@lru_cache(maxsize=_FOLDERS)
def _known_in(folder: str) -> dict[str, str | None]:
    """Addresses by href on the pages of a folder, as far as they are known: the same menus stand on all of them."""
    return {}


def _resolved(href: str, folder: str) -> str | None:
    """The address of ``href`` on the pages of a folder.

    ``../x`` is ``x`` seen from the folder above, which takes the quick way of ``try_canonical``.
    """
    steps = _UPWARDS.match(href) if href[0] == "." else None
    if steps is None:
        return try_canonical(href, folder)
    return try_canonical(href[steps.end() :], _above(folder, steps.end() // 3))


@lru_cache(maxsize=1024)
def _above(folder: str, steps: int) -> str:
    """The address of the folder so many steps above."""
    return try_canonical("../" * steps, folder) or folder


def _relations(written: str) -> tuple[str, ...]:
    """Those of a link's relations that matter."""
    stated = written.lower().split()
    return tuple([name for name in _RELATIONS if name in stated])


class LinkSet:
    """Collects the links of one page, at most ``bounds.LINKS`` of them."""

    def __init__(self, base: str) -> None:
        self._base = base
        self._folder = base[: base.partition("?")[0].rfind("/") + 1]
        self._known = _known_in(self._folder)
        self._links: dict[tuple[str | None, str], Link] = {}
        self.truncated = False

    def address(self, href: str) -> str | None:
        """The canonical address that ``href`` means on this page; None for what is no page on the web."""
        if not 0 < len(href) <= bounds.ADDRESS_CHARS:
            return None
        if href[0] in "?#":
            return try_canonical(href, self._base)
        page, sign, _ = href.partition("#")
        if sign and page[-1] <= " ":  # white space that is not at the end of the address belongs to it
            page = href
        if len(page) > _REMEMBERED:
            return try_canonical(page, self._base)
        known = self._known
        try:
            return known[page]
        except KeyError:
            if len(known) >= _EACH:
                known.clear()
            url = known[page] = _resolved(page, self._folder)
            return url

    def add(self, href: str, text: str, title: str = "", rel: Collection[str] = (), place: str = "content") -> None:
        """Take a link in; ``text`` and ``title`` are clean."""
        url = self.address(href)
        if url is None or href[0] == "#":
            return
        if len(self._links) >= bounds.LINKS:
            self.truncated = True
            return
        text = text[: bounds.LINK_TEXT_CHARS]
        if (url, text) not in self._links:
            kept = tuple([name for name in _RELATIONS if name in rel]) if rel else ()
            self._links[url, text] = Link(url, text, title[: bounds.LINK_TEXT_CHARS], kept, place)

    def add_all(
        self,
        hrefs: list[str],
        texts: list[str],
        places: list[str],
        relations: Mapping[int, str],
        titles: Mapping[int, str],
    ) -> None:
        """Take in the links of a page, as they stand in it; relations and titles by number, where there are some."""
        count = len(hrefs)
        if len(self._links) + count > bounds.LINKS:
            self._add_until_full(hrefs, texts, places, relations, titles)
            return
        # All steps that can be taken for all links at once are: a page has some 160 of them.
        if max(map(len, texts), default=0) > bounds.LINK_TEXT_CHARS:
            texts = [text[: bounds.LINK_TEXT_CHARS] for text in texts]
        rel: list[tuple[str, ...]] = [()] * count
        for number, written in relations.items():
            rel[number] = _relations(written)
        named = [""] * count
        for number, written in titles.items():
            named[number] = clean(written)[: bounds.LINK_TEXT_CHARS]
        found = self._links
        pairs = zip(self._targets(hrefs), texts, strict=True)
        for pair, title, kept, place in zip(pairs, named, rel, places, strict=True):
            if pair not in found and pair[0] is not None:
                found[pair] = Link(pair[0], pair[1], title, kept, place)

    def _targets(self, hrefs: list[str]) -> list[str | None]:
        """Where each link leads; None for those that do not count."""
        known = self._known
        targets = [known.get(href, _UNKNOWN) for href in hrefs]
        if _UNKNOWN in targets:
            for number, target in enumerate(targets):
                if target is _UNKNOWN:
                    targets[number] = self._target(hrefs[number])
        return targets

    def _target(self, written: str) -> str | None:
        href = written.strip()
        return self.address(href) if href and href[0] != "#" else None

    def _add_until_full(
        self,
        hrefs: list[str],
        texts: list[str],
        places: list[str],
        relations: Mapping[int, str],
        titles: Mapping[int, str],
    ) -> None:
        """Add links one by one, for pages that may have more of them than are kept."""
        for number, (written, text, place) in enumerate(zip(hrefs, texts, places, strict=True)):
            url = self._target(written)
            if url is None:
                continue
            if len(self._links) >= bounds.LINKS:
                self.truncated = True
                return
            pair = url, text[: bounds.LINK_TEXT_CHARS]
            if pair in self._links:
                continue
            rel = _relations(relations[number]) if number in relations else ()
            title = clean(titles[number])[: bounds.LINK_TEXT_CHARS] if number in titles else ""
            self._links[pair] = Link(*pair, title, rel, place)

    def links(self) -> list[Link]:
        return list(self._links.values())
