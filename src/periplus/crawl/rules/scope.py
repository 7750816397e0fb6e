"""Which addresses a crawl may visit: the settings' filters, each refusal with its reason code.

Addresses outside the scope are not kept; those that another filter refuses are, so that a change of settings can
take them up again (``REOPENED``).
"""

from __future__ import annotations

import re
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING

from periplus import addresses
from periplus.crawl.rules.foreign_ports import is_foreign
from periplus.errors import UnfitFile, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from periplus.settings import CrawlSettings

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?!\d)")  # "example.org:8080" has a port, not a scheme

# Refusals that depend on settings: looked at again when a crawl starts.
REOPENED = ("excluded", "not-included", "banned-host", "too-deep", "address-too-long", "host-budget", "queue-full")
NOT_KEPT = frozenset({"out-of-scope", "invalid-address", "banned-host", "foreign-port"})


class Scope:
    """Decides about one address at a time; immutable."""

    def __init__(
        self,
        settings: CrawlSettings,
        seeds: Iterable[str],
        removed: Iterable[str] = (),
        blocked: Iterable[str] = (),
    ) -> None:
        self._settings = settings
        self._include = compile_patterns(settings.include, "include")
        self._exclude = compile_patterns(settings.exclude, "exclude")
        self._banned = read_banned(settings.banned_hosts)
        self._removed = frozenset(removed)
        self._blocked = frozenset(blocked)
        listed = list(seeds)
        self._seeds = frozenset(listed)
        self._hosts = frozenset(map(addresses.host, listed))
        self._sites = frozenset(map(addresses.site, listed))

    def without(self, removed: Iterable[str], blocked: Iterable[str]) -> Scope:
        """This scope with other lists of what was taken down and what is blocked."""
        changed = copy(self)
        changed._removed = frozenset(removed)  # noqa: SLF001 - our own copy
        changed._blocked = frozenset(blocked)  # noqa: SLF001
        return changed

    def with_seed(self, url: str) -> Scope:
        """This scope, measured from one more address."""
        changed = copy(self)
        changed._seeds = self._seeds | {url}  # noqa: SLF001
        changed._hosts = self._hosts | {addresses.host(url)}  # noqa: SLF001
        changed._sites = self._sites | {addresses.site(url)}  # noqa: SLF001
        return changed

    def refusal(self, url: str, depth: int = 0) -> str:
        """The reason code that keeps ``url`` out, or an empty text."""
        if len(url) > self._settings.max_address:
            return "address-too-long"
        host = addresses.host(url)
        never = self._never(url, host)
        if never:
            return never
        if not self._within(host):
            return "out-of-scope"
        if depth > self._settings.max_depth:
            return "too-deep"
        return self._pattern_refusal(url)

    def forbids(self, url: str) -> bool:
        """Whether nothing may lead there, not even a robots.txt: taken down, a banned host, another protocol's port."""
        return bool(self._never(url, addresses.host(url)))

    def _never(self, url: str, host: str) -> str:
        if self._removed and (url in self._removed or host in self._removed):
            return "removed"
        if self._blocked and (url in self._blocked or host in self._blocked):
            return "blocked"
        if self._banned and self._is_banned(host):
            return "banned-host"
        return "foreign-port" if is_foreign(host) else ""

    @property
    def is_open(self) -> bool:
        """Whether any host may be visited."""
        return self._settings.scope == "any"

    def _within(self, host: str) -> bool:
        scope = self._settings.scope
        if scope == "any" or host in self._hosts:
            return True
        return scope == "site" and addresses.site(host) in self._sites

    def _pattern_refusal(self, url: str) -> str:
        if any(pattern.search(url) for pattern in self._exclude):
            return "excluded"
        if not self._include or url in self._seeds:  # a seed is where a crawl enters, whatever it is to find
            return ""
        return "" if any(pattern.search(url) for pattern in self._include) else "not-included"

    def _is_banned(self, host: str) -> bool:
        name = host.rsplit(":", 1)[0] if not host.endswith("]") else host
        labels = name.split(".")
        return any(".".join(labels[start:]) in self._banned for start in range(len(labels)))


def compile_patterns(patterns: Sequence[str], name: str) -> tuple[re.Pattern[str], ...]:
    compiled = []
    for pattern in patterns:
        try:
            compiled.append(re.compile(pattern))
        except re.error as error:
            raise UsageError(f"crawl.{name}: {pattern!r} is not a regular expression: {error}") from error
    return tuple(compiled)


def read_banned(path: str) -> frozenset[str]:
    """Host names of a file, one a line, ``#`` starts a comment; a name bans its subdomains too."""
    if not path:
        return frozenset()
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UnfitFile(f"crawl.banned_hosts: {path} cannot be read ({error}); name a readable file") from error
    names = (line.partition("#")[0].strip().lower().removeprefix("*.") for line in lines)
    return frozenset(name for name in names if name)


def canonical_seeds(seeds: Iterable[str]) -> list[str]:
    """Seeds in canonical form, each once; a name without a scheme is taken as https. Names all that are wrong."""
    good: dict[str, None] = {}
    bad = []
    for seed in seeds:
        text = seed.strip()
        url = addresses.try_canonical(text if _SCHEME.match(text) else f"https://{text}") if text else None
        if url is None:
            bad.append(seed)
        else:
            good[url] = None
    if bad:
        raise UsageError(f"not an http or https URL: {', '.join(map(repr, bad))}; seeds look like https://example.org/")
    return list(good)
