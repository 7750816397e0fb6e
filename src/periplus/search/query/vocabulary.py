"""Words that mean something to the planner: stop words, words that ask for the new, the language they betray."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from functools import cache, lru_cache
from importlib import resources
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

_YEAR = re.compile(r"20\d\d$")
LEAST_EVIDENCE = 2  # stop words of a language that a query must have before we believe it is in that language
GUESSES_KEPT = 1_000  # by the stop words of a query


@cache
def _table(section: str) -> dict[str, frozenset[str]]:
    text = resources.files("periplus.search.query").joinpath("words.toml").read_text(encoding="utf-8")
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


def is_usual_in_queries(word: str) -> bool:
    """Is ``word`` (lower case) one that queries are full of, in any language, so that it is spelt rightly?"""
    return any(word in _by_word(section) for section in ("asking", "stop", "fresh"))


def are_silent(words: Iterable[str]) -> bool:
    """Whether words (lower case) say nothing of their language or of the new: so it is of most, and seen at once."""
    return _telling().isdisjoint(words)


@cache
def _telling() -> frozenset[str]:
    return frozenset([*_by_word("stop"), *_by_word("fresh"), *map(str, range(2000, 2100))])


def guessed_language(words: Iterable[str]) -> str:
    """The language whose stop words a query uses most; empty when it says too little."""
    stops = _by_word("stop")
    typed = frozenset([word for word in words if word in stops])
    return _most_likely(typed) if len(typed) >= LEAST_EVIDENCE else ""


@lru_cache(maxsize=GUESSES_KEPT)
def _most_likely(typed: frozenset[str]) -> str:
    stops = _by_word("stop")
    counts = Counter(language for word in typed for language in stops[word])
    (winner, best), (_, second) = [*counts.most_common(2), ("", 0), ("", 0)][:2]
    return winner if best >= LEAST_EVIDENCE and second < best else ""


def asks_only_for_news(words: Iterable[str]) -> bool:
    """Does a query say nothing else than that it wants news: ``latest news``? One word alone may be a name."""
    fresh, stops, news = _by_word("fresh"), _by_word("stop"), _by_word("news")
    said = [word for word in words if word not in stops]
    return len(said) > 1 and not news.keys().isdisjoint(said) and all(word in fresh or word in news for word in said)


def light_words(words: Iterable[str], *, wants_fresh: bool) -> frozenset[str]:
    """Those of a query that say nothing of what it is about: ``vs``, and ``latest`` where the new is wanted."""
    return _compared().intersection(words) | (_newest().intersection(words) if wants_fresh else frozenset())


@cache
def _compared() -> frozenset[str]:
    return frozenset(_by_word("compared"))


@cache
def _newest() -> frozenset[str]:
    return frozenset(_by_word("newest"))


def asks_for_new(words: Iterable[str], year: int) -> bool:
    """Does the query want recent pages: by a word that says so, or by naming this year or the last?"""
    fresh = _by_word("fresh")
    telling = [word for word in words if word in fresh or word[:2] == "20"]
    return any(word in fresh or (_YEAR.match(word) and year - 1 <= int(word) <= year + 1) for word in telling)
