"""Headers that every answer carries.

The policy allows nothing but our own files: no inline script or style, no frame, no third party. A route may set a
header itself first; only what is missing is filled in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Message

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
    )
)

SECURITY_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    # A visited site never learns what was searched for.
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(self), microphone=(), payment=(), usb=()",
}


_RAW = [(name.encode(), value.encode()) for name, value in (*SECURITY_HEADERS.items(), ("cache-control", "no-store"))]
_NAMES = frozenset(name for name, _ in _RAW)


def complete(start: Message, request_id: bytes) -> None:
    """Give an answer that begins the headers that its route did not set."""
    given: list[tuple[bytes, bytes]] = start["headers"]
    own = {name for name, _ in given if name in _NAMES}
    given.extend(_RAW if not own else [pair for pair in _RAW if pair[0] not in own])
    given.append((b"x-request-id", request_id))
