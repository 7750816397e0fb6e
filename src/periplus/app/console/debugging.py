"""One query taken apart: its tokens, how it was read, what the index is asked, how long each part took."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from periplus.errors import NotReady
from periplus.records import SearchRequest
from periplus.text import analysis_steps

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.app.collection import Collection
    from periplus.search import QueryPlan

SHOWN = 10

T = TypeVar("T")


def debug(collection: Collection, query: str, profiles: tuple[str, ...]) -> dict[str, Any]:
    """``profiles`` are answered one by one; an empty name is the collection's own."""
    from periplus.ranking import PROFILES
    from periplus.search import plan, read

    names = {"profiles": list(PROFILES), "chosen": [name or collection.settings.search.profile for name in profiles]}
    if not query:
        return {**names, "query": ""}
    timings: dict[str, float] = {}
    reading = _timed(timings, "read", lambda: read(query))
    made = _timed(timings, "plan", lambda: plan(reading))
    steps = analysis_steps(query, "")
    return {
        **names,
        "query": query,
        "parsed": str(reading),
        "terms": next((step["terms"] for step in steps if step["step"] == "terms"), []),
        "plan": msgspec.to_builtins(made.query),
        "ignored": list(made.ignored),
        "words": _words(collection, made),
        "timings": timings,
        "runs": [_run(collection, query, name) for name in names["chosen"]],
    }


def _timed(timings: dict[str, float], name: str, work: Callable[[], T]) -> T:
    started = time.perf_counter()
    result = work()
    timings[name] = round((time.perf_counter() - started) * 1000, 3)
    return result


def _words(collection: Collection, made: QueryPlan) -> list[dict[str, Any]]:
    """The words that score, with the number of documents that have each of their forms."""
    forms = [form for word in made.words for form in word.forms]
    try:
        counts = iter(collection.engine.frequencies([form.term for form in forms]))
    except NotReady:
        return []
    return [
        {
            "word": word.text,
            "weight": word.weight,
            "forms": [{"term": form.term, "share": form.share, "documents": next(counts)} for form in word.forms],
        }
        for word in made.words
    ]


def _run(collection: Collection, query: str, profile: str) -> dict[str, Any]:
    """The answer of one profile, asked twice: the second time shows what the cache saves."""
    request = SearchRequest(query=query, size=SHOWN, profile=profile)
    timings: dict[str, float] = {}
    answer = _timed(timings, "search", lambda: collection.engine.search(request))
    _timed(timings, "again", lambda: collection.engine.search(request))
    plain: dict[str, Any] = msgspec.to_builtins(answer)
    return {"profile": profile, "timings": timings, "answer": plain}
