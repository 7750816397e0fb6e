"""From the addresses that a page names to rows of the frontier: filters, traps, priority, recent keys."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING

from periplus import addresses
from periplus.crawl.frontier.rows import FEED, ICON, NEVER, PAGE, PICTURE, QUEUED, REFUSED, SITEMAP, FoundAddress
from periplus.crawl.rules import icons
from periplus.crawl.rules.scope import NOT_KEPT

if TYPE_CHECKING:
    from collections.abc import Iterable

    from periplus.crawl.frontier.rows import Trap, UrlRow
    from periplus.crawl.rules.scope import Scope
    from periplus.crawl.rules.traps import TrapRules
    from periplus.documents import Outline

RECENT_KEYS = 200_000
FIRST, LATER = 0, 10  # sitemaps, feeds and icons come first; a page's priority is ten times its depth
QUERY_PENALTY = 3  # addresses with a query wait behind those without
CANONICAL_HOPS = 3  # canonical addresses and redirects on the way to a page whose canonical address is no deeper
SITEMAP_LEVELS = 5  # sitemaps that lead to each other, with redirects between them


class RecentKeys:
    """Keys seen lately: most links repeat, and this spares the database from being asked about them."""

    def __init__(self, size: int = RECENT_KEYS) -> None:
        self._size = size
        self._keys: OrderedDict[int, None] = OrderedDict()

    def add(self, key: int) -> bool:
        """Remember ``key``; whether it is new here."""
        if key in self._keys:
            self._keys.move_to_end(key)
            return False
        self._keys[key] = None
        if len(self._keys) > self._size:
            self._keys.popitem(last=False)
        return True

    def forget(self, keys: Iterable[int]) -> None:
        for key in keys:
            self._keys.pop(key, None)


class LinkFilter:
    """Turns what was named into what is queued; one a worker."""

    def __init__(self, scope: Scope, traps: TrapRules) -> None:
        self.scope = scope
        self._traps = traps
        self._recent = RecentKeys()
        self._linked: dict[str, set[str]] = {}
        self.refused = 0

    def of_page(self, outline: Outline, source: UrlRow) -> list[FoundAddress]:
        """What a page leads to: its followed links, its canonical address, its other languages, its feeds.

        The canonical address is the page itself under its right name, so it is as near to the seeds, and nofollow
        does not concern it. Behind a few redirects and canonical addresses it is a link like others.
        """
        urls = dict.fromkeys(outline.followed, PAGE)
        urls.update(dict.fromkeys(outline.alternates, PAGE))
        urls.update(dict.fromkeys(outline.feeds, FEED))
        if self.scope.is_open:
            self._note_foreign(urls, source.url)
        urls.pop(outline.canonical, None)
        elsewhere = outline.canonical not in ("", source.url)
        itself = self._of_canonical(outline.canonical, source) if elsewhere else None
        listed = [found for url, kind in urls.items() if (found := self.of_link(url, source, kind)) is not None]
        return [itself, *listed] if itself is not None else listed

    def _of_canonical(self, url: str, source: UrlRow) -> FoundAddress | None:
        is_far = source.hops >= CANONICAL_HOPS
        hops = source.hops if is_far else source.hops + 1
        return self.found(url, depth=source.depth + is_far, parent=source.key, hops=hops)

    def of_link(self, url: str, source: UrlRow, kind: int = PAGE) -> FoundAddress | None:
        return self.found(url, kind=kind, depth=source.depth + (kind == PAGE), parent=source.key)

    def of_redirect(self, url: str, source: UrlRow) -> FoundAddress | None:
        """Where a redirect leads: as near to the seeds as its source, with the chain that led there."""
        chain = f"{source.chain},{source.key}".strip(",")
        return self.found(
            url, kind=source.kind, depth=source.depth, parent=source.key, hops=source.hops + 1, chain=chain
        )

    def of_icon(self, source: UrlRow, named: str) -> list[FoundAddress]:
        """The small picture of the host that a front page stands for; nothing where a filter passes it over."""
        url = icons.icon_of(source, named)
        found = self.found(url, kind=ICON, depth=icons.DEPTH, parent=source.key) if url is not None else None
        return [found] if found is not None and found.state == QUEUED else []

    def of_picture(self, source: UrlRow, url: str) -> list[FoundAddress]:
        """The picture of a page; nothing where a filter passes it over."""
        found = self.found(url, kind=PICTURE, depth=source.depth + 1, parent=source.key) if url else None
        return [found] if found is not None and found.state == QUEUED else []

    def of_announced(self, texts: Iterable[str], origin: str, depth: int = 0) -> list[FoundAddress]:
        """The sitemaps that a robots.txt announces, which was read ``depth`` links from the seeds."""
        urls = [addresses.try_canonical(text, origin + "/") for text in texts]
        found = [self.found(url, kind=SITEMAP, depth=depth) for url in urls if url is not None]
        return [one for one in found if one is not None]

    def of_sitemap(self, urls: Iterable[str], source: UrlRow) -> list[FoundAddress]:
        """The pages that a sitemap lists."""
        found = (self.found(url, depth=source.depth + 1, parent=source.key) for url in urls)
        return [one for one in found if one is not None]

    def of_sitemap_index(self, urls: Iterable[str], source: UrlRow) -> list[FoundAddress]:
        """The sitemaps that a sitemap lists; those of one that is too far down a chain of sitemaps are not read."""
        hops = source.hops + 1
        if hops > SITEMAP_LEVELS:
            return []
        found = (self.found(url, kind=SITEMAP, depth=source.depth, parent=source.key, hops=hops) for url in urls)
        return [one for one in found if one is not None]

    def found(
        self, url: str, *, kind: int = PAGE, depth: int = 0, parent: int = 0, hops: int = 0, chain: str = ""
    ) -> FoundAddress | None:
        """The row for an address, none when it was seen lately or is not kept."""
        key = addresses.key(url)
        if not self._recent.add(key):
            return None
        reason = self.scope.refusal(url, depth)
        if not reason:
            reason = self._traps.refusal(url) if kind == PAGE else self._traps.list_refusal(url, kind)
        if reason:
            self.refused += 1
            if reason in NOT_KEPT:
                return None
        host = addresses.host(url)
        if reason:
            return FoundAddress(key, url, host, kind, depth, state=REFUSED, next_at=NEVER, reason=reason, parent=parent)
        return FoundAddress(
            key, url, host, kind, depth, _priority(url, kind, depth), QUEUED, parent=parent, hops=hops, chain=chain
        )

    def forbids(self, url: str) -> bool:
        """Whether nothing may lead there, by the scope of this moment."""
        return self.scope.forbids(url)

    def forget(self, keys: Iterable[int]) -> None:
        """What was dropped after all (a duplicate's links, a full queue) may be found again."""
        self._recent.forget(keys)

    def _note_foreign(self, urls: Iterable[str], source: str) -> None:
        """Which hosts of other sites a page links to: their budget grows with the sites that do."""
        origin = source[: source.index("/", 8) + 1]
        hosts = {addresses.host(url) for url in urls if not url.startswith(origin)}
        site = addresses.site(source) if hosts else ""
        for host in hosts:
            if addresses.site(host) != site:
                self._linked.setdefault(host, set()).add(site)

    def take_linked(self) -> dict[str, set[str]]:
        """Hosts that were linked to from other sites since the last call, and those sites."""
        linked, self._linked = self._linked, {}
        return linked

    def take_traps(self) -> list[Trap]:
        """Patterns that were closed since the last call."""
        return self._traps.take_news()


def _priority(url: str, kind: int, depth: int) -> int:
    if kind in (SITEMAP, FEED, ICON):
        return FIRST
    return depth * LATER + (QUERY_PENALTY if "?" in url else 0)
