"""Who is the operator: whoever holds the key, or, when there is no key, whoever sits at this machine.

A browser shows the key once (``/console?key=…``) and then carries a cookie made from it, never the key itself.
Programs send ``Authorization: Bearer KEY``: the operator's, or one of their own that opens only what its scopes name
(``keys.py``). Anything that changes something and relies on a cookie or on being local
must also come from our own pages, so that another site cannot press our buttons.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException

if TYPE_CHECKING:
    from starlette.requests import Request

    from periplus.web.keys import KeyRing

COOKIE = "operator"
GUARDED = ("crawl",)  # scopes that are never open to all
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class Gate:
    """``keys`` are those of programs; ``required`` closes the API to programs without one."""

    def __init__(self, key: str = "", keys: KeyRing | None = None, *, required: bool = False) -> None:
        self._key = key
        self._keys = keys
        self._required = required
        self.token = hmac.new(key.encode(), b"periplus operator's cookie", hashlib.sha256).hexdigest() if key else ""

    def opens_with(self, key: str) -> bool:
        return bool(self._key) and _same(key, self._key)

    def check(self, request: Request) -> None:
        """Raises 401 or 403 unless the request is the operator's."""
        if self._key and self.opens_with(_bearer(request)):
            return
        if not self._admits(request):
            if self._key:
                raise HTTPException(401, "the operator's key is needed", {"www-authenticate": "Bearer"})
            raise HTTPException(403, "without an operator's key this answers only on this machine itself")
        if request.method not in _SAFE_METHODS and not from_own_page(request):
            raise HTTPException(403, "the request came from another site's page")

    def check_scope(self, request: Request, scope: str) -> None:
        """Raises 401 or 403 unless the request may do what ``scope`` stands for; an empty scope is open to all.

        The operator may do everything. A key that is shown must be right, even where none is needed.
        """
        shown = _bearer(request)
        if shown and not self.opens_with(shown):
            key = self._keys.find(shown) if self._keys else None
            if key is None:
                raise HTTPException(401, "this key is not known here, or was revoked", {"www-authenticate": "Bearer"})
            if scope and not key.allows(scope):
                raise HTTPException(403, f"the key {key.name!r} does not have the scope {scope!r}")
        elif scope in GUARDED:
            self.check(request)
        elif scope and self._required and not shown and not self._admits(request):
            raise HTTPException(401, f"a key with the scope {scope!r} is needed", {"www-authenticate": "Bearer"})

    def _admits(self, request: Request) -> bool:
        if self._key:
            return _same(request.cookies.get(COOKIE, ""), self.token)
        return _is_local(request)


def _same(given: str, wanted: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "replace"), wanted.encode())


def _bearer(request: Request) -> str:
    # Most requests show none, and to make Starlette's view of the headers takes longer than to look.
    for name, value in request.scope["headers"]:
        if name == b"authorization":
            scheme, _, key = value.decode("latin-1").partition(" ")
            return str(key.strip()) if scheme.lower() == "bearer" else ""
    return ""


def _is_local(request: Request) -> bool:
    """From loopback, by a loopback name (no rebound DNS), and not passed on by a proxy."""
    if request.client is None or any(name in request.headers for name in _FORWARDED):
        return False
    named = _host_name(f"//{request.headers.get('host', '')}")
    return _is_loopback(request.client.host) and (named == "localhost" or _is_loopback(named))


def _host_name(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def _is_loopback(text: str) -> bool:
    try:
        return ipaddress.ip_address(text).is_loopback
    except ValueError:
        return False


def from_own_page(request: Request) -> bool:
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = request.headers.get("origin")
    return origin is None or origin.partition("://")[2] == request.headers.get("host", "")
