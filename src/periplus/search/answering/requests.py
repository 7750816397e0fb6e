"""What a caller asked for, checked: paging, profile, sort, and filters from parameters in the form of the index."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote_plus, urlencode

from msgspec import Struct

from periplus.errors import UsageError
from periplus.index import Filters
from periplus.ranking import Profile, profile
from periplus.records import SearchRequest
from periplus.search.ordering.lens import NO_LENS, read_lens
from periplus.search.query import conditions
from periplus.search.query.rules import LensRule, Rules

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.settings import Settings

MAX_SIZE = 100
MAX_RESULTS = 1_000
SORTS = ("relevance", "date")
API_PATH = "/api/v1/search"
NO_RULES = Rules()
NO_FILTERS = Filters()
PAGES_KEPT = 1_024


class Checked(Struct, frozen=True):
    profile: Profile
    filters: Filters
    language: str
    order: str  # score or date
    first: int  # place of the page's first result, from 0
    last: int
    lens: LensRule = NO_LENS


def check(request: SearchRequest, settings: Settings, rules: Rules = NO_RULES) -> Checked:
    """The request in our terms; ``UsageError`` names the first parameter that makes no sense."""
    chosen = request.profile or settings.search.profile
    narrows = request.language or request.site or request.type or request.before or request.after or request.lens
    if not narrows and request.sort == SORTS[0]:
        return _usual(request.page, request.size, chosen)
    return _narrowed(request, chosen, rules)


@lru_cache(maxsize=PAGES_KEPT)
def _usual(page: int, size: int, name: str) -> Checked:
    """A request that asks for nothing but a page."""
    _check_paging(page, size)
    return Checked(profile(name), NO_FILTERS, "", "score", (page - 1) * size, page * size)


def _narrowed(request: SearchRequest, name: str, rules: Rules) -> Checked:
    _check_paging(request.page, request.size)
    if request.sort not in SORTS:
        raise UsageError(f"sort={request.sort!r} is unknown; use relevance or date")
    language = _read("lang", request.language, conditions.language, "a language code such as en")
    filters = Filters(
        _several(_read("site", request.site, conditions.site, "a host name or domain")),
        _several(language),
        _types(request.type),
        _date("before", request.before),
        _date("after", request.after),
    )
    first = (request.page - 1) * request.size
    order = "date" if request.sort == "date" else "score"
    lens = read_lens(request.lens, rules)
    return Checked(profile(name), filters, language, order, first, first + request.size, lens)


def _check_paging(page: int, size: int) -> None:
    if page < 1:
        raise UsageError(f"page={page} is too small; pages count from 1")
    if not 1 <= size <= MAX_SIZE:
        raise UsageError(f"size={size} is out of range; use 1 to {MAX_SIZE}")
    if page * size > MAX_RESULTS:
        raise UsageError(f"page={page} with size={size} reaches beyond {MAX_RESULTS} results; narrow the query")


def _read(name: str, value: str, reader: Callable[[str], str], wanted: str) -> str:
    if not value:
        return ""
    read = reader(value)
    if not read:
        raise UsageError(f"{name}={value!r} is not {wanted}")
    return read


def _several(value: str) -> tuple[str, ...]:
    return (value,) if value else ()


def _types(value: str) -> tuple[str, ...]:
    if not value:
        return ()
    name = _read("type", value, conditions.file_type, f"a type; use {', '.join(conditions.known_types())} or a/b")
    return conditions.content_types(name)


def _date(name: str, value: str) -> float:
    read = _read(name, value, conditions.date_text, "a date; write YYYY-MM-DD")
    return conditions.timestamp(read) if read else 0.0


def next_link(request: SearchRequest, query: str, listed: int) -> str | None:
    """The address of the next page of a list, if there is one; ``query`` is the request's, as people may see it."""
    page, size = request.page, request.size
    more = listed > page * size and (page + 1) * size <= MAX_RESULTS
    return page_link(request, query, page + 1) if more else None


def page_link(request: SearchRequest, query: str, page: int) -> str:
    """The address of another page of the same search, relative to the server; ``query`` as in ``next_link``."""
    words = query.replace(" ", "")
    typed = query.replace(" ", "+") if words.isascii() and words.isalnum() else quote_plus(query)
    usual = request == SearchRequest(request.query, request.page, reader=request.reader)
    return f"{API_PATH}?q={typed}&page={page}{'' if usual else _others(request)}"


def _others(request: SearchRequest) -> str:
    """What else was asked for."""
    given = {
        "size": request.size if request.size != 10 else "",
        "profile": request.profile,
        "lang": request.language,
        "site": request.site,
        "type": request.type,
        "before": request.before,
        "after": request.after,
        "safe": 1 if request.safe else "",
        "lens": request.lens,
        "sort": request.sort if request.sort != "relevance" else "",
        "explain": 1 if request.explain else "",
        "duplicates": 1 if request.duplicates else "",
        "counts": 1 if request.counts else "",
        "exact": "" if request.correct else 1,
    }
    more = {name: value for name, value in given.items() if value != ""}
    return f"&{urlencode(more)}" if more else ""
