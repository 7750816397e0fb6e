"""What every request passes through, in one piece: its id, the limit a client, the size of its body, headers, packing,
figures.

One wrapper instead of one for each job: what surrounds a search is to take a small part of its time.
"""

from __future__ import annotations

import math
import os
import re
import time
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request

from periplus.web.rendering.problems import answer, answer_to, cause_of, crash, no_memory, problem
from periplus.web.requests.limits import LIMITED
from periplus.web.serving import compression, headers

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from periplus.web.requests.limits import Limits
    from periplus.web.requests.proxies import Proxies
    from periplus.web.requests.public import PublicAddress
    from periplus.web.serving.access_log import AccessLog
    from periplus.web.serving.memory import MemoryBreaker
    from periplus.web.serving.metrics import Metrics

MAX_BODY = 64_000  # bytes of a request's body: forms only
CLIENT_GONE = 499  # counted for requests whose client left; never sent
_REQUEST_ID = re.compile(rb"[A-Za-z0-9._-]{8,64}")


class Envelope:
    def __init__(
        self,
        app: ASGIApp,
        metrics: Metrics,
        proxies: Proxies,
        public: PublicAddress,
        log: AccessLog | None = None,
        breaker: MemoryBreaker | None = None,
    ) -> None:
        self.app = app
        self.metrics = metrics
        self.limits: Limits | None = None
        self.proxies = proxies
        self.public = public
        self.log = log
        self.breaker = breaker

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await scope["app"].router(scope, receive, send)
            return
        started = time.perf_counter()
        self.proxies.apply(scope)
        self.public.enter(scope)
        given = dict(scope["headers"])
        request_id = _request_id(given)
        scope.setdefault("state", {})["request_id"] = request_id.decode()
        status = 500
        start: Message | None = None
        is_sent = False

        async def finish(message: Message) -> None:
            """The start of an answer waits for its body, since packing changes its headers."""
            nonlocal start, status, is_sent
            if message["type"] == "http.response.start":
                start, status = message, message["status"]
                headers.complete(start, request_id)
                return
            if start is not None:
                compression.pack(scope, start, message)
                is_sent = True
                await send(start)
                start = None
            await send(message)

        self.metrics.begin()
        try:
            refusal = self._refusal(scope, given)
            await (refusal or self.app)(scope, receive, finish)
        except ClientDisconnect:
            status = CLIENT_GONE  # nobody is left to be told, and nothing of ours went wrong
        except Exception:
            if not is_sent:
                await crash(Request(scope))(scope, receive, finish)
            raise  # the server's log has the traceback
        finally:
            seconds = time.perf_counter() - started
            self.metrics.end(scope, status, seconds)
            if self.log is not None:
                self.log.note(scope, status, seconds)

    def _refusal(self, scope: Scope, given: dict[bytes, bytes]) -> Response | None:
        length = given.get(b"content-length", b"")
        if length and length.isdigit() and int(length[:20]) > MAX_BODY:
            told = problem(413, "content-too-large", f"the body is larger than {MAX_BODY} bytes; send less")
            return answer(Request(scope), told)
        if self.breaker is not None and scope["path"].startswith(LIMITED) and self.breaker.refuses():
            return no_memory(Request(scope))
        wait = self.limits.wait(scope) if self.limits else 0.0
        return _too_many(scope, wait) if wait else None


class Answered:
    """Errors of what it wraps become answers; what is no error of ours goes on to the envelope."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await self.app(scope, receive if scope["method"] in ("GET", "HEAD") else bounded(receive), send)
        except Exception as error:
            request = Request(scope)
            response = answer_to(request, await cause_of(request, error))
            if response is None:
                raise
        else:
            return
        await response(scope, receive, send)


def bounded(receive: Receive) -> Receive:
    """Messages up to the most that a body may hold; a body without a length could go on for ever."""
    left = MAX_BODY

    async def counted() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise HTTPException(413, f"the body is larger than {MAX_BODY} bytes; send less")
        return message

    return counted


def _request_id(given: dict[bytes, bytes]) -> bytes:
    """The caller's own id, when it sent a plain one, so that logs on both sides can be laid side by side."""
    own = given.get(b"x-request-id")
    return own if own and _REQUEST_ID.fullmatch(own) else os.urandom(8).hex().encode()


def _too_many(scope: Scope, wait: float) -> Response:
    seconds = max(1, math.ceil(wait))
    told = f"more requests than one client may send; wait {seconds} s"
    response = answer(Request(scope), problem(429, "too-many-requests", told))
    response.headers["retry-after"] = str(seconds)
    return response
