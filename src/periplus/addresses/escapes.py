"""Percent-encoding: one spelling for the same bytes, changed only where no server can tell the difference.

Escapes of unreserved characters (RFC 3986, 2.3) are undone and the hexadecimal digits of all others are written in
upper case. A component that holds a stray ``%`` is left as it is: undoing an escape beside it could make a new escape,
which would be another address.
"""

from __future__ import annotations

import re

UNRESERVED = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_STRAY = re.compile(r"%(?![0-9A-Fa-f]{2})")

_SPELLING = {
    spelled: chr(byte) if byte in UNRESERVED else f"%{byte:02X}"
    for byte in range(256)
    for spelled in {
        f"%{byte:02x}",
        f"%{byte:02X}",
        f"%{byte >> 4:X}{byte & 15:x}",
        f"%{byte >> 4:x}{byte & 15:X}",
    }
}


def _respell(match: re.Match[str]) -> str:
    return _SPELLING[match[0]]


def normal_escapes(component: str) -> str:
    """The one spelling of a path or a query."""
    if "%" not in component or _STRAY.search(component):
        return component
    return _ESCAPE.sub(_respell, component)
