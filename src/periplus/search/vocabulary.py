"""Words that mean something to the planner: stop words, words that ask for the new, the language they betray."""

from __future__ import annotations

import re
import tomllib
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_YEAR = re.compile(r"20\d\d$")
WORDS_KEPT = 20_000  # of queries, that are remembered
LEAST_EVIDENCE = 2  # stop words of a language that a query must have before we believe it is in that language


@cache
def _table(section: str) -> dict[str, frozenset[str]]:
    text = resources.files("periplus.search").joinpath("words.toml").read_text(encoding="utf-8")
    return {language: frozenset(words.split()) for language, words in tomllib.loads(text)[section].items()}


def is_stop_word(word: str, language: str = "") -> bool:
    """Is ``word`` (lower case) a stop word of ``language``, or of any language we know when that is empty?"""
    lists = _table("stop")
    if language in lists:
        return word in lists[language]
    return any(word in words for words in lists.values())


@lru_cache(maxsize=WORDS_KEPT)
def _stops_anywhere(word: str) -> bool:
    return is_stop_word(word)


def guessed_language(words: Iterable[str]) -> str:
    """The language whose stop words a query uses most; empty when it says too little."""
    typed = {word for word in words if _stops_anywhere(word)}
    if len(typed) < LEAST_EVIDENCE:
        return ""
    counts = {language: len(typed & stops) for language, stops in _table("stop").items()}
    best = max(counts.values(), default=0)
    winners = [language for language, count in counts.items() if count == best]
    return winners[0] if best >= LEAST_EVIDENCE and len(winners) == 1 else ""


def asks_for_new(words: Iterable[str], year: int) -> bool:
    """Does the query want recent pages: by a word that says so, or by naming this year or the last?"""
    return any(_is_new(word, year) for word in words)


@lru_cache(maxsize=WORDS_KEPT)
def _is_new(word: str, year: int) -> bool:
    if any(word in table for table in _table("fresh").values()):
        return True
    return _YEAR.match(word) is not None and year - 1 <= int(word) <= year + 1
