"""Errors as people and programs see them: a page with a human sentence, or ``application/problem+json``.

Programs are requests under ``/api/`` and the routes that only programs read; everything else is a person's page.
"""

from __future__ import annotations

import errno
import math
import re
from http import HTTPStatus
from typing import TYPE_CHECKING

import msgspec
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.routing import Match

from periplus.errors import (
    Corrupt,
    Incompatible,
    Missing,
    NotFound,
    NotReady,
    OverBudget,
    Overloaded,
    PeriplusError,
    StorageBusy,
    StorageError,
    Truncated,
    UsageError,
    WrongState,
)
from periplus.web.rendering.rendering import page
from periplus.web.requests.parameters import MAX_TEXT

if TYPE_CHECKING:
    from starlette.requests import Request

MEDIA_TYPE = "application/problem+json"

_STATUS = (
    (UsageError, 400),
    (Corrupt, 503),  # before NotFound, which a missing file is too
    (NotFound, 404),
    (NotReady, 503),
    (OverBudget, 503),
    (StorageBusy, 409),
    (StorageError, 503),
    (WrongState, 409),
)
# What damaged values may stumble over, wherever they are used.
_STUMBLES = (TypeError, ValueError, LookupError, msgspec.MsgspecError)
_DAMAGED = frozenset(kind.code for kind in (Corrupt, Truncated, Missing, Incompatible, StorageError))
_PROGRAM_PATHS = ("/api/", "/alive", "/healthz", "/readyz", "/metrics")
_FOLDERS = re.compile(r"(?<![\w.])/(?:[^/\s]+/)+")  # of an absolute path
_BROKEN = "the collection cannot be read; the operator sees more with periplus doctor"
NO_MEMORY_WAIT = 2  # seconds until a search may find some again
GUESSED = 100  # characters of a query that is made of an address
_WORDS = re.compile(r"[^\W_]{2,40}")
_ENDING = re.compile(r"\.[a-z]{2,5}$")  # of a file
_STARVED = re.compile(r"out of memory|can't start new thread|annot allocate memory")  # SQLite, Python, the system
_NO_WORDS = ("site", "search", "cached", "index", "www")
_SENTENCES = {
    400: "This could not be understood.",
    401: "This page is for the operator.",
    403: "This page is for the operator.",
    404: "There is nothing at this address.",
    405: "This cannot be done at this address.",
    409: "Something else is at work on this.",
    413: "This is more than can be taken.",
    429: "Too many requests in a short time.",
    500: "Something went wrong here.",
    503: "The index is not ready yet.",
}


class Problem(msgspec.Struct, frozen=True):
    type: str
    title: str
    status: int
    detail: str
    code: str


def problem(status: int, code: str, detail: str) -> Problem:
    return Problem("about:blank", HTTPStatus(status).phrase, status, detail, code)


def status_of(error: PeriplusError) -> int:
    return next((status for kind, status in _STATUS if isinstance(error, kind)), 500)


def answer_to(request: Request, error: Exception) -> Response | None:
    """What is answered to an error that was meant for whoever asked; ``None`` for all others."""
    if _is_starved(error):
        return no_memory(request)
    if isinstance(error, PeriplusError):
        status = status_of(error)
        told = str(error) if status < 500 or _is_harmless(error) or _is_operator(request) else _public(error)
        response = answer(request, problem(status, error.code, told))
        if isinstance(error, Overloaded):
            response.headers["retry-after"] = str(math.ceil(error.retry_after))
        return response
    return _http_error(request, error) if isinstance(error, HTTPException) else None


def _is_starved(error: BaseException | None) -> bool:
    """Whether the system gave no more memory: to Python, to a thread, or to a library that says so in its own words."""
    while error is not None:
        if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
            return True
        if isinstance(error, RuntimeError | StorageError) and _STARVED.search(str(error)):
            return True
        error = error.__cause__ or error.__context__
    return False


def no_memory(request: Request) -> Response:
    """Before a search is begun (``MemoryBreaker``), or when one gets no more from the system."""
    told = "the server has no memory left for more searches; try again in a moment"
    response = answer(request, problem(503, "no-memory", told))
    response.headers["retry-after"] = str(NO_MEMORY_WAIT)
    return response


async def cause_of(request: Request, error: Exception) -> Exception:
    """The damage of the state behind an error that nobody foresaw, where there is some: SQLite reads damaged pages."""
    if isinstance(error, PeriplusError) or not isinstance(error, _STUMBLES):
        return error
    wrong = await run_in_threadpool(request.app.state.backend.unsound)
    return Corrupt(f"{wrong}; periplus doctor --repair builds it again from the stored files") if wrong else error


def _is_harmless(error: PeriplusError) -> bool:
    """What it says is for everybody: that something is not ready yet, or took too long."""
    return isinstance(error, NotReady | OverBudget)


def _public(error: PeriplusError) -> str:
    """Which file is damaged, without where on this machine it is; of other failures only that there is one."""
    return _FOLDERS.sub("", str(error)) if isinstance(error, Corrupt | Incompatible) else _BROKEN


def _is_operator(request: Request) -> bool:
    """Only the operator is told where files are."""
    try:
        request.app.state.gate.check(request)
    except HTTPException:
        return False
    return True


def _http_error(request: Request, error: HTTPException) -> Response:
    phrase = HTTPStatus(error.status_code).phrase
    headers = dict(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        headers["Allow"] = ", ".join(_methods(request))  # the router names those of the first route only
    detail = error.detail if error.detail != phrase else _advice(request, error.status_code, headers) or phrase
    response = answer(request, problem(error.status_code, phrase.lower().replace(" ", "-"), detail))
    for name, value in headers.items():
        response.headers[name] = value
    return response


def _methods(request: Request) -> list[str]:
    fitting = (route for route in request.app.routes if route.matches(request.scope)[0] is not Match.NONE)
    return sorted({method for route in fitting for method in getattr(route, "methods", None) or ()})


def _advice(request: Request, status: int, headers: dict[str, str]) -> str:
    """What a program can do where the router found nothing; people read a sentence of their own."""
    if not _is_program(request):
        return ""
    if status == HTTPStatus.NOT_FOUND:
        return "there is nothing at this path; /openapi.json lists what there is"
    return f"{request.method} is not taken here; use {headers['Allow']}" if "Allow" in headers else ""


def crash(request: Request) -> Response:
    """The last resort: says nothing of the inside; the server's log has the traceback."""
    return answer(request, problem(500, "internal", "the server met an error of its own; its log says more"))


def answer(request: Request, what: Problem) -> Response:
    path = request.scope["path"]
    if _is_program(request):
        return Response(msgspec.json.encode(what), what.status, media_type=MEDIA_TYPE)
    sentence = _SENTENCES.get(500 if what.code in _DAMAGED else what.status, what.title)
    context = {"problem": what, "sentence": sentence, "key_for": _locked_panel(request, what)}
    context["q"] = request.query_params.get("q", "")[:MAX_TEXT] if path == "/search" else ""  # to ask again
    context["guess"] = _guess(path) if what.status == HTTPStatus.NOT_FOUND else ""
    return page(request, "error.html", context, status=what.status)


def _guess(path: str) -> str:
    """The words of an address that leads nowhere, as a query."""
    words = _WORDS.findall(_ENDING.sub("", path))
    return " ".join(word for word in words if word.lower() not in _NO_WORDS)[:GUESSED].strip()


def is_program_path(path: str) -> bool:
    """Whether only programs ask for what is there."""
    return path.endswith(".json") or path.startswith(_PROGRAM_PATHS)


def _is_program(request: Request) -> bool:
    return is_program_path(request.scope["path"]) or request.query_params.get("format") == "json"


def _locked_panel(request: Request, what: Problem) -> str:
    """The panel that the operator's key would open; empty when nothing was locked."""
    path = request.url.path
    if what.status != HTTPStatus.UNAUTHORIZED or not path.startswith("/console"):
        return ""
    return path if request.method == "GET" and "." not in path else "/console"
