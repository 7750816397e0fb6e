"""Own sites behind a login or a proxy: which headers a host gets, and what of them may be written down.

``HOST=Name: value`` and ``HOST=user:password-file`` entries name a host as it stands in addresses (with the port where
that is not the scheme's own), or ``*.example.org`` for all hosts below a name. Headers go to those hosts only, also
after redirects, as each hop is a request of its own. What was added here is a secret: it reaches no archive, journal
or log, and an entry that cannot be read is named in errors without its value.
"""

from __future__ import annotations

import base64
import re
from pathlib import Path
from typing import TYPE_CHECKING

from yarl import URL

from periplus.errors import SettingError, UnfitFile

if TYPE_CHECKING:
    from collections.abc import Iterable

    from periplus.records import Headers
    from periplus.settings import CrawlSettings

NEVER_ARCHIVED = frozenset({"authorization", "proxy-authorization", "cookie"})
_OURS = frozenset({"host", "connection", "content-length", "transfer-encoding", "accept-encoding", "user-agent"})
_NAME = re.compile(r"[A-Za-z0-9!#$%&'*+.^_`|~-]+")


class HostHeaders:
    """Additional request headers, by host."""

    def __init__(self, settings: CrawlSettings) -> None:
        self._by_host: dict[str, dict[str, str]] = {}
        for entry in settings.headers:
            host, name, value = _header_entry(entry)
            self._by_host.setdefault(host, {})[name] = value
        for entry in settings.auth:
            host, value = _auth_entry(entry)
            self._by_host.setdefault(host, {})["Authorization"] = value
        self._under = sorted((host[1:] for host in self._by_host if host.startswith("*")), key=len)
        self._hidden = NEVER_ARCHIVED | {name.lower() for found in self._by_host.values() for name in found}

    def of(self, host: str) -> dict[str, str]:
        """What a request to ``host`` (as in addresses) carries besides our own headers; a nearer name wins."""
        found: dict[str, str] = {}
        for suffix in self._under:
            if host.endswith(suffix):
                found |= self._by_host["*" + suffix]
        return found | self._by_host.get(host, {})

    def archived(self, headers: Iterable[tuple[str, str]]) -> Headers:
        """The headers of a request without the secrets."""
        return tuple((name, value) for name, value in headers if name.lower() not in self._hidden)


def _header_entry(entry: str) -> tuple[str, str, str]:
    host, _, line = entry.partition("=")
    name, colon, value = line.partition(":")
    name, value = name.strip(), value.strip()
    if not colon or not _NAME.fullmatch(name) or not value.isprintable():
        raise SettingError(f"crawl.headers: the entry for {host!r} is not HOST='Name: value'")
    if name.lower() in _OURS:
        raise SettingError(f"crawl.headers: {name} is set by the crawler itself; leave it out")
    return _host(host, "crawl.headers"), name, value


def _auth_entry(entry: str) -> tuple[str, str]:
    host, _, login = entry.partition("=")
    user, colon, file = login.partition(":")
    if not (user and colon and file):
        raise SettingError(f"crawl.auth: the entry for {host!r} is not HOST=user:password-file")
    try:
        password = Path(file).read_text(encoding="utf-8").partition("\n")[0].rstrip("\r")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UnfitFile(f"crawl.auth: the password file {file} cannot be read: {reason}") from error
    packed = base64.b64encode(f"{user}:{password}".encode()).decode("ascii")
    return _host(host, "crawl.auth"), f"Basic {packed}"


def _host(text: str, setting: str) -> str:
    host = text.strip().lower()
    if not host or "/" in host or "*" in host.removeprefix("*.") or host == "*.":
        raise SettingError(f"{setting}: {text!r} is no host; write example.org, example.org:8080 or *.example.org")
    return host


def proxy_address(text: str) -> URL | None:
    """The proxy's address; none when none is set. Its password is not repeated in errors."""
    if not text:
        return None
    try:
        url = URL(text)
    except ValueError:
        url = URL()
    if url.scheme != "http" or not url.host or url.path not in ("", "/"):
        raise SettingError("crawl.proxy is not an address like http://proxy.example.org:3128")
    return url
