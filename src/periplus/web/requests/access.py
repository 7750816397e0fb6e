"""Who is the operator: whoever holds the key, or, when there is no key, whoever sits at this machine.

A browser shows the key once (``/console?key=…``) and then carries a cookie made from it, never the key itself
(``operator.py``).
Programs send ``Authorization: Bearer KEY``: the operator's, or one of their own that opens only what its scopes name
(``keys.py``). Anything that changes something and relies on a cookie or on being local
must also come from our own pages, so that another site cannot press our buttons.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException

from periplus.errors import Corrupt, StorageError
from periplus.web.requests.limits import Buckets, client_of, is_loopback
from periplus.web.requests.operator import Operator

if TYPE_CHECKING:
    from starlette.requests import Request

    from periplus.web.requests.keys import ApiKey, KeyRing

COOKIE = "operator"
GUARDED = ("crawl",)  # scopes that are never open to all
_FORWARDED = ("forwarded", "x-forwarded-for", "x-real-ip", "via")
_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
TRIES = 5  # wrong keys of one client at once
TRIES_RATE = 0.1  # of them a second, after that


class Gate:
    """``operator`` is a key or who keeps one; ``keys`` are those of programs, ``required`` for the API."""

    def __init__(self, operator: str | Operator = "", keys: KeyRing | None = None, *, required: bool = False) -> None:
        self._operator = operator if isinstance(operator, Operator) else Operator(key=operator)
        self._tries = Buckets(TRIES_RATE, TRIES)
        self._keys = keys
        self.required = required  # may change while it serves

    def opens_with(self, request: Request, key: str) -> bool:
        """Whether ``key`` is the operator's. Raises 429, without a look at it, after too many wrong ones.

        Wrong keys are counted by client: nobody can keep the operator out from another address, and a browser that
        has the cookie already shows no key.
        """
        if not self._operator.has_key or not key:
            return False
        client = _guesser(request)
        wait = math.ceil(self._tries.wait(client))
        if wait:
            told = f"too many wrong keys came from your address; wait {wait} s"
            raise HTTPException(429, told, {"retry-after": str(wait)})
        is_right = self._operator.is_key(key)
        if not is_right and not self._is_a_programs(key):
            self._tries.take(client)
        return is_right

    def _is_a_programs(self, key: str) -> bool:
        try:
            return self._keys is not None and self._keys.find(key) is not None
        except StorageError:  # it looks like one, and which there are cannot be told
            return True

    def _known(self, key: str) -> ApiKey | None:
        try:
            return self._keys.find(key) if self._keys else None
        except Corrupt:
            raise
        except StorageError as error:
            raise HTTPException(503, "the state cannot be read, so no key can be looked up; try again later") from error

    def check(self, request: Request) -> None:
        """Raises 401 or 403 unless the request is the operator's."""
        if self.opens_with(request, _bearer(request)):
            return
        if not self._admits(request):
            if self._operator.has_key:
                raise HTTPException(401, "the operator's key is needed", {"www-authenticate": "Bearer"})
            raise HTTPException(403, "without an operator's key this answers only on this machine itself")
        if request.method not in _SAFE_METHODS:
            require_own_page(request)

    def check_scope(self, request: Request, scope: str, *, closed: bool = False) -> None:
        """Raises 401 or 403 unless the request may do what ``scope`` stands for; an empty scope is open to all.

        The operator may do everything. A key that is shown must be right, even where none is needed; where it is
        ``closed`` one is always needed.
        """
        shown = _bearer(request)
        if shown and not self.opens_with(request, shown):
            key = self._known(shown)
            if key is None:
                raise HTTPException(401, "this key is not known here, or was revoked", {"www-authenticate": "Bearer"})
            if scope and not key.allows(scope):
                raise HTTPException(403, f"the key {key.name!r} does not have the scope {scope!r}")
        elif scope in GUARDED:
            self.check(request)
        elif scope and (self.required or closed) and not shown and not self._admits(request):
            raise HTTPException(401, f"a key with the scope {scope!r} is needed", {"www-authenticate": "Bearer"})

    def _admits(self, request: Request) -> bool:
        if self._operator.has_key:
            return self._operator.is_session(request.cookies.get(COOKIE, ""))
        return _is_local(request)


def _guesser(request: Request) -> str:
    """Whose wrong keys count together. A proxy of this machine that nobody declared names its client last."""
    host = request.client.host if request.client else ""
    named = request.headers.get("x-forwarded-for", "").rpartition(",")[2].strip() if is_loopback(host) else ""
    return client_of(host) or f"{host} {named[:45]}"


def has_key(request: Request) -> bool:
    """Whether a key is shown, right or wrong."""
    return bool(_bearer(request))


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
    return is_loopback(request.client.host) and (named == "localhost" or is_loopback(named))


def _host_name(address: str) -> str:
    try:
        return urlsplit(address).hostname or ""
    except ValueError:
        return ""


def require_own_page(request: Request) -> None:
    """Raises 403 where a page of another site sent the reader's browser."""
    if not from_own_page(request):
        raise HTTPException(403, "the request came from another site's page")


def from_own_page(request: Request) -> bool:
    if request.headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
        return False
    origin = request.headers.get("origin")
    if origin is None or origin == request.app.state.public.origin:
        return True
    return origin.partition("://")[2] == request.headers.get("host", "")
