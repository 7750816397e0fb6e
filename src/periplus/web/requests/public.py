"""The address by which readers know this server, which behind a proxy is not the one that it listens on.

``serve.public_url`` may have a path (``https://example.org/find/``), its *root* here. Inside the app every path is as
if there were none: the envelope takes the root off what is asked (a proxy may do so before), and links, redirects and
cookies get it back in one place each. Without the setting a request's own ``Host`` and scheme are the address.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from msgspec import Struct
from starlette.responses import RedirectResponse

from periplus.errors import SettingError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.types import Scope

SEE_OTHER = 303
YEAR = 365 * 86_400  # seconds that a cookie is kept


class PublicAddress(Struct, frozen=True):
    origin: str = ""  # https://example.org; empty when it is the request's own
    root: str = ""  # /find, or empty

    def enter(self, scope: Scope) -> None:
        """Take the root off the path of a request."""
        if self.root and (scope["path"] == self.root or scope["path"].startswith(f"{self.root}/")):
            scope["path"] = scope["path"][len(self.root) :] or "/"

    def base(self, request: Request) -> str:
        """Where the landing page is, without its last slash."""
        return (self.origin or str(request.base_url).rstrip("/")) + self.root

    def is_secure(self, request: Request) -> bool:
        return self.origin.startswith("https://") if self.origin else request.url.scheme == "https"


def read_address(text: str) -> PublicAddress:
    """``serve.public_url`` in its parts."""
    if not text:
        return PublicAddress()
    wrong = f"serve.public_url = {text!r} is no address of a server; write https://example.org/ or with a path"
    try:
        parts = urlsplit(text)
        name, _ = parts.hostname, parts.port
    except ValueError as error:
        raise SettingError(wrong) from error
    root = parts.path.rstrip("/")
    is_plain = root.isascii() and root.isprintable() and not set(root) & set(" \"'<>\\;{}%") and "//" not in root
    if (
        parts.scheme not in ("http", "https")
        or not name
        or parts.query
        or parts.fragment
        or "@" in text
        or not is_plain
    ):
        raise SettingError(wrong)
    return PublicAddress(f"{parts.scheme}://{parts.netloc}", root)


def public_of(request: Request) -> PublicAddress:
    public: PublicAddress = request.app.state.public
    return public


def own_path(text: str) -> str:
    """``text`` when it is a path on this server, else the landing page: never a redirect to somebody else."""
    is_path = text.startswith("/") and not text.startswith(("//", "/\\"))
    return text if is_path and text.isprintable() and "\\" not in text else "/"


def redirect(request: Request, path: str, status: int = SEE_OTHER) -> Response:
    """To a path of ours."""
    return RedirectResponse(public_of(request).root + path, status)


def set_cookie(request: Request, response: Response, name: str, value: str, max_age: int, **more: Any) -> None:
    """A cookie for our pages alone; over a secure address never sent without it. An empty one is forgotten."""
    public = public_of(request)
    response.set_cookie(
        name,
        value,
        max_age=max_age if value else 0,
        path=f"{public.root}/",
        secure=public.is_secure(request),
        **{"samesite": "lax", "httponly": True, **more},
    )
