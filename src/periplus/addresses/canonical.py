"""The one spelling of an address that Periplus crawls, stores and compares. Rules and reasons: README.md.

``canonical`` is idempotent. Most links of real pages take one of two quick paths, which recognise texts that are
already in their normal spelling; a test compares both paths on the same input.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from periplus.addresses import address
from periplus.addresses.escapes import normal_escapes
from periplus.addresses.hosts import usable_hostname
from periplus.addresses.tracking import without_tracking

_BASES_KEPT = 1024
_QUICK_HOST_LIMIT = 63  # beyond it the lengths of labels must be looked at

# Characters that the standard leaves as they are, without "%", which may start an escape.
_SEGMENT = r"A-Za-z0-9_~!$&'()*+,;=@.\-"
_QUERY = r"A-Za-z0-9_~!$&()*+,;=:@./?\-"
_TAIL = rf"(?:\?([{_QUERY}]*+))?(?:#.*)?"
_SEGMENTS = rf"(?:/(?!\.)[{_SEGMENT}:]*+)"  # none begins with a dot, so none is a dot segment

# Groups are not possessive: Python before 3.11.5 does not step back from an iteration that failed half-way.
# The last label is letters only, so the host is no IPv4 number; no "--", so no label is encoded IDNA.
_PLAIN = re.compile(rf"(https?://(?:[a-z0-9]++[-.])+[a-z]{{2,}}+)({_SEGMENTS}*){_TAIL}", re.DOTALL)
_RELATIVE = re.compile(
    rf"((?:/(?![/.])|(?![/.]))[{_SEGMENT}]*+(?=[/?#]|\Z){_SEGMENTS}*){_TAIL}",
    re.DOTALL,
)


class _Base(NamedTuple):
    origin: str  # "https://example.org"
    folder: str  # "https://example.org/guide/"
    whole: str  # the canonical base itself


def canonical(text: str, base: str | None = None) -> str:
    """The canonical address of ``text``, seen from the page ``base``; raises ``InvalidAddress``."""
    url = try_canonical(text, base)
    if url is None:
        raise address.refusal(text, _why_not(text, base))
    return url


def try_canonical(text: str, base: str | None = None) -> str | None:
    """The canonical address, or None when ``text`` is not a usable http(s) URL."""
    if len(text) > address.MAX_TEXT:
        return None
    plain = _PLAIN.fullmatch(text)
    if plain and plain.end(1) <= _QUICK_HOST_LIMIT:
        return _joined(plain[1] + (plain[2] or "/"), plain[3])
    if base is not None:
        relative = _RELATIVE.fullmatch(text)
        if relative:
            return _from_base(text, relative, base)
    return _thorough(text, base)


def _from_base(text: str, relative: re.Match[str], base: str) -> str | None:
    parts = _base(base)
    if parts is None:
        return None
    path = relative[1]
    if not path:
        return parts.whole if relative[2] is None else _thorough(text, base)
    return _joined((parts.origin if path[0] == "/" else parts.folder) + path, relative[2])


def _joined(page: str, query: str | None) -> str:
    kept = without_tracking(query) if query else ""
    return f"{page}?{kept}" if kept else page


@lru_cache(maxsize=_BASES_KEPT)
def _base(base: str) -> _Base | None:
    whole = _thorough(base)
    if whole is None:
        return None
    page = whole.partition("?")[0]
    origin = "/".join(page.split("/", 3)[:3])
    # A stray "%" in the last segment stops the respelling of the whole path, but that segment is not inherited.
    folder = normal_escapes(page[len(origin) : page.rindex("/") + 1])
    return _Base(origin, origin + folder, whole)


def _thorough(text: str, base: str | None = None) -> str | None:
    href = address.normal(text, base)
    if href is None:
        return None
    parts = address.split(href)
    hostname = usable_hostname(parts.hostname)
    if hostname is None:
        return None
    place = f"{hostname}:{parts.port}" if parts.port else hostname
    return _joined(f"{parts.scheme}://{place}{normal_escapes(parts.path)}", normal_escapes(parts.query))


def _why_not(text: str, base: str | None) -> str:
    if len(text) > address.MAX_TEXT:
        return f"is longer than {address.MAX_TEXT} characters"
    if address.normal(text, base) is not None:
        return "has a host name that cannot exist"
    return "is not an http or https URL"
