"""What a page and its headers ask of robots: noindex, nofollow, noarchive, none, unavailable_after.

Directives addressed to all robots and to ``periplus`` by name both count, and the strictest wins; those addressed to
other robots do not concern us.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from periplus.documents.dates import instant

if TYPE_CHECKING:
    from periplus.records import Headers

NAMES: Final = frozenset({"robots", "periplus"})
_KNOWN: Final = frozenset({"noindex", "nofollow", "noarchive", "nosnippet", "none", "all", "index", "follow"})
_FOR_ROBOT: Final = re.compile(r"^\s*([a-z0-9_-]+)\s*:\s*", re.IGNORECASE)
_EXPIRY: Final = re.compile(r"unavailable_after\s*:\s*([^;]*)", re.IGNORECASE)


def directives(content: str, fetched: float = 0.0) -> set[str]:
    """The directives of a robots meta; an ``unavailable_after`` that has passed means noindex."""
    found = {word.strip().lower() for word in content.split(",")} & _KNOWN
    if "none" in found:
        found |= {"noindex", "nofollow"}
    expiry = _EXPIRY.search(content)
    if expiry and 0 < instant(expiry.group(1).strip()) <= fetched:
        found.add("noindex")
    return found


def from_headers(headers: Headers, fetched: float = 0.0) -> set[str]:
    """The directives of all X-Robots-Tag headers that concern us."""
    found: set[str] = set()
    for name, value in headers:
        if name.lower() == "x-robots-tag":
            found |= _from_header(value, fetched)
    return found


def _from_header(value: str, fetched: float) -> set[str]:
    """One header: ``noindex, nofollow`` or ``somebot: noindex``; a robot's name holds until the next one."""
    found: set[str] = set()
    concerned = True
    rest = value
    for part in rest.split(","):
        named = _FOR_ROBOT.match(part)
        directive = part
        if named and named.group(1).lower() != "unavailable_after":
            concerned = named.group(1).lower() in NAMES
            directive = part[named.end() :]
        if concerned:
            found |= directives(directive, fetched)
    if concerned and "unavailable_after" in value.lower():
        found |= directives(value, fetched)  # its date holds a comma
    return found
