"""Who may have a page visited now, and how often.

Who shows a key that opens it, or is the operator, may always. Anybody else may where ``serve.submissions`` says so, but
so many times an hour, and so many times an hour for one site, whoever asks: many visitors together must not send us
to one place, under however many names of it.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException

from periplus import addresses
from periplus.web.requests.access import from_own_page, has_key
from periplus.web.requests.limits import Buckets, client_of

if TYPE_CHECKING:
    from starlette.requests import Request

    from periplus.settings import ServeSettings
    from periplus.web.requests.access import Gate

SCOPE = "crawl"
HOUR = 3_600.0


class Submissions:
    """The rule of one server process."""

    def __init__(self, settings: ServeSettings, gate: Gate) -> None:
        self.is_open = settings.submissions == "visitors"
        self._gate = gate
        rate = settings.submission_rate / HOUR
        self._clients = Buckets(rate, settings.submission_rate)
        self._sites = Buckets(rate, settings.submission_rate)

    def is_trusted(self, request: Request) -> bool:
        """Whether it is no stranger who asks; raises 401 or 403 where strangers may not, or a key is wrong."""
        if not self.is_open or has_key(request):
            self._gate.check_scope(request, SCOPE)
            return True
        try:
            self._gate.check_scope(request, SCOPE)
        except HTTPException:
            if not from_own_page(request):
                raise
            return False
        return True

    def take(self, request: Request, url: str) -> None:
        """Count what a stranger submits; raises 429 when it is too much."""
        client = client_of(request.client.host if request.client else "") or "local"
        wait = self._clients.take(client) or self._sites.take(_site(url))
        if wait:
            seconds = math.ceil(wait)
            told = f"more pages were submitted than are taken in an hour; wait {seconds} s"
            raise HTTPException(429, told, {"retry-after": str(seconds)})


def _site(url: str) -> str:
    """The registered site of an address; of what is none, which is refused later, whatever stands for a host."""
    found = addresses.try_canonical(url)
    return addresses.site(found) if found is not None else (urlsplit(url).hostname or "")[:255]
