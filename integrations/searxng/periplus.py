"""Periplus as an engine of SearXNG: copy this file to ``searx/engines/periplus.py`` and name it in ``settings.yml``.

engines:
  - name: periplus
    engine: periplus
    shortcut: pp
    base_url: http://127.0.0.1:8080
    enable_http: true        # where the address is no https
    # api_key: pk_...        where the operator asks for keys
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import urlencode

about = {
    "website": None,
    "wikidata_id": None,
    "official_api_documentation": None,
    "use_official_api": True,
    "require_api_key": False,
    "results": "JSON",
}

engine_type = "online"
categories = ["general"]
paging = True
time_range_support = True
safesearch = True

base_url = "http://127.0.0.1:8080"
api_key = ""
page_size = 10

_DAYS = {"day": 1, "week": 7, "month": 31, "year": 366}


def request(query: str, params: dict[str, Any]) -> dict[str, Any]:
    """What is asked of Periplus for a query of SearXNG."""
    asked: dict[str, Any] = {"q": query, "page": params.get("pageno", 1), "size": page_size, "answers": 1}
    language = params.get("language") or "all"
    if language not in ("all", "auto"):
        asked["lang"] = language.split("-")[0].lower()
    if params.get("time_range") in _DAYS:
        asked["after"] = (date.today() - timedelta(days=_DAYS[params["time_range"]])).isoformat()  # noqa: DTZ011
    if params.get("safesearch"):
        asked["safe"] = 1
    params["url"] = f"{base_url.rstrip('/')}/api/v1/search?{urlencode(asked)}"
    if api_key:
        params.setdefault("headers", {})["Authorization"] = f"Bearer {api_key}"
    return params


def response(resp: Any) -> list[dict[str, Any]]:
    """Results, corrections, suggestions and answers, as SearXNG takes them."""
    found = resp.json()
    results: list[dict[str, Any]] = [_result(item) for item in found["results"] if item["url"]]
    results += [{"correction": text} for text in found["corrections"]]
    results += [{"suggestion": text} for text in found["suggestions"]]
    for computed in found.get("answers") or ():
        sign = "=" if computed["exact"] else "≈"
        results.append({"answer": f"{computed['question']} {sign} {computed['answer']}"})
    results.append({"number_of_results": found["total"]["value"]})
    return results


def _result(item: dict[str, Any]) -> dict[str, Any]:
    made = {"url": item["url"], "title": item["title"], "content": item["snippet"]}
    if item["published"]:
        told = datetime.fromisoformat(item["published"])
        made["publishedDate"] = told if told.tzinfo else told.replace(tzinfo=UTC)
    return made
