"""Which panels a query asks for, by the table ``rules.toml``: words of the query, and what the best results are."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from periplus.records import Explanation
from periplus.verticals.provider import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

MAX_LENGTH = 200  # characters of a query that may ask for a panel
TOP = 10  # results that are looked at
MOST_PANELS = 3
# A query that is put together with operators asks for pages, and for nothing else.
_OPERATORS = re.compile(r"[\"“”()|*]|\b[a-z]+:\S|(?:^|\s)[-+]\w")
_UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]")


class PanelRule(Struct, frozen=True):
    words: dict[str, float]
    results: float = 0.0  # weight of the share of the top results that are of this kind


class PanelRules(Struct, frozen=True):
    panels: dict[str, PanelRule]
    small: frozenset[str]
    least: float


class ChosenPanel(Struct, frozen=True):
    kind: str
    subject: str
    score: float
    explain: Explanation


@cache
def panel_rules() -> PanelRules:
    table = tomllib.loads(files(__package__).joinpath("rules.toml").read_text(encoding="utf-8"))
    panels = {kind: msgspec.convert(table[kind], PanelRule) for kind in KINDS}
    return PanelRules(panels, frozenset(table["small"].split()), table["least"])


def choose(query: str, found: Mapping[str, int], rules: PanelRules | None = None) -> list[ChosenPanel]:
    """The panels for a query, surest first. ``found`` says how many of the first ten results are of a kind."""
    if len(query) > MAX_LENGTH or _OPERATORS.search(query):
        return []
    known = rules or panel_rules()
    text = " ".join(query.casefold().split())
    chosen = [_weighed(kind, rule, text, query, found.get(kind, 0), known) for kind, rule in known.panels.items()]
    shown = sorted((one for one in chosen if one.score >= known.least), key=lambda one: -one.score)
    return shown[:MOST_PANELS]


def _weighed(kind: str, rule: PanelRule, text: str, query: str, found: int, rules: PanelRules) -> ChosenPanel:
    heard = {word: weight for word, weight in rule.words.items() if _holds(text, word)}
    word = max(heard, key=lambda one: (heard[one], len(one)), default="")
    by_word = heard.get(word, 0.0)
    by_results = rule.results * min(found, TOP) / TOP
    parts = (
        Explanation(f"word: {word}" if word else "word", by_word, "weight of the strongest word"),
        Explanation("results", by_results, f"{rule.results} × {found} of the first {TOP}"),
    )
    score = min(1.0, by_word + by_results)
    explain = Explanation(f"panel: {kind}", score, f"word + results, at most 1; shown from {rules.least} on", parts)
    return ChosenPanel(kind, _subject(query, heard, rules.small), score, explain)


def _holds(text: str, word: str) -> bool:
    if word not in text:  # the usual case, at once
        return False
    return bool(_UNSPACED.search(word)) or re.search(rf"(?<!\w){re.escape(word)}(?!\w)", text) is not None


def _subject(query: str, heard: Mapping[str, float], small: frozenset[str]) -> str:
    text = query
    for word in sorted(heard, key=len, reverse=True):
        bounds = ("", "") if _UNSPACED.search(word) else (r"(?<!\w)", r"(?!\w)")
        text = re.sub(f"{bounds[0]}{re.escape(word)}{bounds[1]}", " ", text, flags=re.IGNORECASE)
    left = text.replace("?", " ").split()
    while left and left[0].casefold() in small:
        left.pop(0)
    while left and left[-1].casefold() in small:
        left.pop()
    return " ".join(left)
