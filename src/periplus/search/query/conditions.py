"""The values of filters: dates, languages, sites, content types. One reading for operators and parameters alike.

``combined`` gives what the filters of both admit together.
"""

from __future__ import annotations

import datetime
import re
import tomllib
from functools import cache
from importlib import resources

from periplus import addresses
from periplus.errors import PeriplusError
from periplus.index import Filters

_DATE = re.compile(r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?$")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$")
_HOST = re.compile(r"[^\s/?#@\\\"()<>*,;|]+$")


def understood(operator: str, value: str) -> str:
    """``value`` in its plain spelling when it makes sense for ``operator``, else empty."""
    readers = {
        "site": site,
        "filetype": file_type,
        "lang": language,
        "before": date_text,
        "after": date_text,
        "link": link,
    }
    return readers[operator](value)


def date_text(value: str) -> str:
    """A date as ``YYYY-MM-DD``; ``2025`` and ``2025-03`` mean their first day."""
    match = _DATE.match(value)
    if not match:
        return ""
    year, month, day = (int(part) if part else 1 for part in match.groups())
    try:
        return datetime.date(year, month, day).isoformat()
    except ValueError:
        return ""


def timestamp(date: str) -> float:
    """The first second (UTC) of a date as ``date_text`` spells it."""
    moment = datetime.datetime.combine(datetime.date.fromisoformat(date), datetime.time(), datetime.UTC)
    return moment.timestamp()


def language(value: str) -> str:
    """The primary language subtag, in lower case: ``de-AT`` is ``de``."""
    return value.split("-", maxsplit=1)[0].lower() if _LANGUAGE.match(value) else ""


def site(value: str) -> str:
    """A host name or domain in the spelling of our addresses; a whole address gives its host."""
    bare = re.sub(r"^[A-Za-z]+://", "", value.strip()).split("/")[0].strip(".").removeprefix("*.")
    if not bare or not _HOST.match(bare):
        return ""
    try:
        return addresses.host(addresses.canonical(f"http://{bare}/"))
    except (PeriplusError, ValueError):
        return ""


def link(value: str) -> str:
    """The canonical address that pages are asked to link to."""
    spelled = value if "://" in value else f"http://{value}"
    return addresses.try_canonical(spelled) or "" if "." in value or ":" in value else ""


def file_type(value: str) -> str:
    """A known short name of a content type (``pdf``, ``html`` …) or a content type itself."""
    name = value.lower().lstrip(".")
    return name if name in _types() or re.fullmatch(r"[a-z]+/[a-z0-9.+-]+", name) else ""


def content_types(name: str) -> tuple[str, ...]:
    """The content types that a name of ``file_type`` stands for."""
    return _types().get(name, (name,))


def known_types() -> tuple[str, ...]:
    return tuple(_types())


@cache
def _types() -> dict[str, tuple[str, ...]]:
    text = resources.files("periplus.search.query").joinpath("filetypes.toml").read_text(encoding="utf-8")
    return {name: tuple(types) for name, types in tomllib.loads(text).items()}


def host_matches(host: str, site: str) -> bool:
    """Is ``host`` (perhaps with a port) the site or below it?"""
    name = host.split(":", maxsplit=1)[0]
    return site in (host, name) or name.endswith(f".{site}")


def combined(one: Filters, other: Filters) -> Filters | None:
    """What both filters admit; ``None`` when they contradict each other."""
    sites = _narrower_sites(one.sites, other.sites)
    languages = _common(one.languages, other.languages)
    types = _common(one.types, other.types)
    if sites is None or languages is None or types is None:
        return None
    before = min((value for value in (one.before, other.before) if value), default=0.0)
    return Filters(sites, languages, types, before, max(one.after, other.after))


def _common(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...] | None:
    if not one or not other:
        return one or other
    return tuple(value for value in one if value in other) or None


def _narrower_sites(one: tuple[str, ...], other: tuple[str, ...]) -> tuple[str, ...] | None:
    if not one or not other:
        return one or other
    both = [a if host_matches(a, b) else b for a in one for b in other if host_matches(a, b) or host_matches(b, a)]
    return tuple(dict.fromkeys(both)) or None
