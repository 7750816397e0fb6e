"""Words that mean something to the planner: stop words, words that ask for the new, the language they betray."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_YEAR = re.compile(r"20\d\d$")
LEAST_EVIDENCE = 2  # stop words of a language that a query must have before we believe it is in that language


@cache
def _table(section: str) -> dict[str, frozenset[str]]:
    text = resources.files("periplus.search").joinpath("words.toml").read_text(encoding="utf-8")
    return {language: frozenset(words.split()) for language, words in tomllib.loads(text)[section].items()}


@cache
def _by_word(section: str) -> dict[str, frozenset[str]]:
    """Each word of the table to its languages: most words are in none, which is said at once."""
    found: dict[str, set[str]] = {}
    for language, words in _table(section).items():
        for word in words:
            found.setdefault(word, set()).add(language)
    return {word: frozenset(languages) for word, languages in found.items()}


def is_stop_word(word: str, language: str = "") -> bool:
    """Is ``word`` (lower case) a stop word of ``language``, or of any language we know when that is empty?"""
    languages = _by_word("stop").get(word)
    return languages is not None and (language in languages or language not in _table("stop"))


def guessed_language(words: Iterable[str]) -> str:
    """The language whose stop words a query uses most; empty when it says too little."""
    stops = _by_word("stop")
    typed = {word for word in words if word in stops}
    if len(typed) < LEAST_EVIDENCE:
        return ""
    counts = Counter(language for word in typed for language in stops[word])
    (winner, best), (_, second) = [*counts.most_common(2), ("", 0), ("", 0)][:2]
    return winner if best >= LEAST_EVIDENCE and second < best else ""


def asks_for_new(words: Iterable[str], year: int) -> bool:
    """Does the query want recent pages: by a word that says so, or by naming this year or the last?"""
    fresh = _by_word("fresh")
    telling = [word for word in words if word in fresh or word[:2] == "20"]
    return any(word in fresh or (_YEAR.match(word) and year - 1 <= int(word) <= year + 1) for word in telling)
