"""A result list in the shapes that other programs know: RSS, Atom, and the JSON that SearXNG's clients read."""

from __future__ import annotations

import datetime
import time
from email.utils import format_datetime
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from periplus.web.api.api import json_response
from periplus.web.rendering.rendering import href, page
from periplus.web.requests.public import public_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from periplus.records import InstantAnswer, SearchAnswer, SearchResult

FEEDS = ("rss", "atom", "jsonfeed")
FORMATS = ("html", "json", *FEEDS)
JSON_FEED = "application/feed+json"
_TIME_RANGES = {"day": 1, "week": 7, "month": 31, "year": 366}


def foreign_parameters(values: dict[str, Any], given: dict[str, str]) -> dict[str, Any]:
    """``values`` with SearXNG's names for page, language, age and safety understood as well."""
    changes: dict[str, Any] = {}
    number = given.get("pageno", "")
    if number.isascii() and number.isdigit() and 1 <= int(number[:4]) <= 1_000:
        changes["page"] = int(number[:4])
    language = given.get("language", "")
    if language not in ("", "all", "auto"):
        changes["lang"] = language.split("-")[0].lower()[:35]
    if given.get("time_range") in _TIME_RANGES:
        changes["after"] = days_ago(_TIME_RANGES[given["time_range"]])
    if given.get("safesearch") in ("1", "2"):
        changes["safe"] = True
    return {**values, **changes}


def days_ago(days: int) -> str:
    return _day(int(time.time()) // 86_400 - days)


@lru_cache(64)
def _day(number: int) -> str:
    """The day of that number since the epoch."""
    return (datetime.date(1970, 1, 1) + datetime.timedelta(days=number)).isoformat()


def searxng(answer: SearchAnswer) -> Response:
    return json_response(
        {
            "query": answer.query.text,
            "number_of_results": answer.total.value,
            "results": [_searxng_result(result) for result in answer.results],
            "answers": [_searxng_answer(found) for found in answer.answers or ()],
            "corrections": list(answer.corrections),
            "infoboxes": [],
            "suggestions": list(answer.suggestions),
            "unresponsive_engines": [[part, "degraded"] for part in answer.degraded],
        }
    )


def _searxng_answer(found: InstantAnswer) -> dict[str, Any]:
    sign = "=" if found.exact else "≈"
    return {"answer": f"{found.question} {sign} {found.answer}", "url": None, "engine": "periplus"}


def _searxng_result(result: SearchResult) -> dict[str, Any]:
    return {
        "url": result.url,
        "title": result.title,
        "content": result.snippet,
        "publishedDate": result.published,
        "engine": "periplus",
        "engines": ["periplus"],
        "parsed_url": _parsed(result.url),
        "template": "default.html",
        "positions": [result.rank],
        "score": result.score,
        "category": "general",
        "thumbnail": "",
    }


def _parsed(url: str) -> list[str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return []
    return [parts.scheme, parts.netloc, parts.path, "", parts.query, parts.fragment]


def feed(request: Request, answer: SearchAnswer, kind: str, home: str) -> Response:
    """RSS 2.0 or Atom 1.0 of the list; ``home`` is the address of the page with the same list."""
    now = datetime.datetime.now(datetime.UTC)
    base = public_of(request).base(request)
    context = {
        "answer": answer,
        "home": base + home,
        "itself": f"{base}{request.url.path}?{request.url.query}",
        "updated": now.isoformat(timespec="seconds"),
        "mail_date": mail_date,
        "full_time": full_time,
    }
    return page(request, f"{kind}.xml", context, media_type=f"application/{kind}+xml")


def json_feed(request: Request, answer: SearchAnswer, home: str) -> Response:
    """JSON Feed 1.1 of the list."""
    base = public_of(request).base(request)
    listed = {
        "version": "https://jsonfeed.org/version/1.1",
        "title": f"{answer.query.text} · Periplus",
        "home_page_url": base + home,
        "feed_url": f"{base}{request.url.path}?{request.url.query}",
        "items": [_json_item(result) for result in answer.results],
    }
    return json_response(listed, media_type=JSON_FEED)


def _json_item(result: SearchResult) -> dict[str, str]:
    item = {
        "id": result.id,
        "url": href(result.url),
        "title": result.title or result.display_url,
        "content_text": result.snippet,
        "date_published": full_time(result.published or result.fetched),
        "language": result.language,
    }
    return {name: text for name, text in item.items() if text or name == "content_text"}


def mail_date(text: str) -> str:
    """An ISO time in the form that RSS asks for; empty when it is none."""
    when = _time(text)
    return format_datetime(when) if when else ""


def full_time(text: str) -> str:
    """An ISO day or time as a whole time with its zone, which Atom asks for; empty when it is none."""
    when = _time(text)
    return when.isoformat(timespec="seconds") if when else ""


def _time(text: str) -> datetime.datetime | None:
    try:
        when = datetime.datetime.fromisoformat(text)
    except ValueError:
        return None
    return when if when.tzinfo else when.replace(tzinfo=datetime.UTC)
