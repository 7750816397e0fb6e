"""Parameters that name a visit rather than a page, listed in ``tracking.txt``."""

from __future__ import annotations

import re
from functools import cache
from importlib import resources


@cache
def _names() -> tuple[frozenset[str], tuple[str, ...]]:
    """Whole names, and beginnings of names, in lower case."""
    text = resources.files(__package__).joinpath("tracking.txt").read_text(encoding="utf-8")
    lines = [line.strip().lower() for line in text.splitlines()]
    names = [line for line in lines if line and not line.startswith("#")]
    whole = frozenset(name for name in names if not name.endswith("*"))
    return whole, tuple(name[:-1] for name in names if name.endswith("*"))


@cache
def suspect() -> re.Pattern[str]:
    """Finds any listed name at the start of a parameter: a quick test before the query is taken apart."""
    whole, beginnings = _names()
    ends = "|".join(re.escape(name) for name in sorted(whole))
    starts = "|".join(re.escape(name) for name in beginnings)
    return re.compile(rf"(?:^|&)(?:(?:{starts})|(?:{ends})(?=[=&]|$))", re.IGNORECASE)


def without_tracking(query: str) -> str:
    """``query`` (without its question mark) less the listed parameters; the others keep their order and spelling."""
    if not suspect().search(query):
        return query
    whole, beginnings = _names()
    kept = []
    for parameter in query.split("&"):
        name = parameter.partition("=")[0].lower()
        if name and name not in whole and not name.startswith(beginnings):
            kept.append(parameter)
    return "&".join(kept)
