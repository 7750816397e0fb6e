"""The operator's file: synonyms, pinned results, lenses, words that are never suggested.

    [[synonyms]]
    words = ["tv", "television"]            # each finds the others; phrases are allowed

    [[pinned]]
    queries = ["opening hours"]
    urls = ["https://example.org/visit"]    # shown first, in this order, when they are indexed

    [lenses.science]                        # asked for with lens=science
    raise = ["arxiv.org"]
    lower = ["example.com"]
    block = ["spam.example"]
    pin = ["our-university.example"]

    [suggest]
    never = ["secret"]

The setting ``search.rules`` names it, relative to the collection; ``rule_book.py`` reads it again when it changed, and
has several servers agree on it. What is wrong in it is a ``SettingError`` that says where: a rule that silently does
nothing would be worse.
"""

from __future__ import annotations

import tomllib
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct, field

from periplus.errors import SettingError
from periplus.search.query import conditions
from periplus.search.query.text import folded

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

MAX_BYTES = 4_000_000
MAX_PINNED = 10  # results of one query


class _Synonyms(Struct, frozen=True, forbid_unknown_fields=True):
    words: tuple[str, ...]


class _Pinned(Struct, frozen=True, forbid_unknown_fields=True):
    queries: tuple[str, ...]
    urls: tuple[str, ...]


class _Suggest(Struct, frozen=True, forbid_unknown_fields=True):
    never: tuple[str, ...] = ()


class LensRule(Struct, frozen=True, forbid_unknown_fields=True, rename={"raised": "raise"}):
    """Preferences among sites: hosts or domains, with everything below them."""

    raised: tuple[str, ...] = ()
    lower: tuple[str, ...] = ()
    block: tuple[str, ...] = ()
    pin: tuple[str, ...] = ()


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    synonyms: tuple[_Synonyms, ...] = ()
    pinned: tuple[_Pinned, ...] = ()
    lenses: dict[str, LensRule] = field(default_factory=dict)
    suggest: _Suggest = _Suggest()


class Rules(Struct, frozen=True):
    """What the file says, ready to be looked up by folded text."""

    synonyms: dict[str, tuple[str, ...]] = field(default_factory=dict)  # word or phrase -> what it also means
    pinned: dict[str, tuple[str, ...]] = field(default_factory=dict)  # query -> addresses
    lenses: dict[str, LensRule] = field(default_factory=dict)
    never: frozenset[str] = frozenset()  # words not to suggest
    longest: int = 1  # words of the longest phrase that has synonyms

    def pins(self, query: str) -> tuple[str, ...]:
        return self.pinned.get(folded(query), ()) if self.pinned else ()


def read_rules(folder: Path, name: str) -> Rules:
    """The rules of the file called ``name``; none when that is empty."""
    return rules_of(*read_file(folder, name)) if name else Rules()


def read_file(folder: Path, name: str) -> tuple[Path, str]:
    """Where the file is, and what stands in it."""
    path = folder / name
    try:
        if path.stat().st_size > MAX_BYTES:
            raise SettingError(f"search.rules: {path} is larger than {MAX_BYTES} bytes; make it smaller")
        return path, path.read_text(encoding="utf-8")
    except OSError as error:
        advice = "correct search.rules in periplus.toml, or the file"
        raise SettingError(f"search.rules: {path} cannot be read: {error.strerror}; {advice}") from error
    except ValueError as error:
        raise SettingError(f"search.rules: {path} is not as it should be: {error}; correct that place") from error


def rules_of(path: Path, text: str) -> Rules:
    try:
        found = msgspec.convert(tomllib.loads(text), _File)
    except (ValueError, msgspec.ValidationError) as error:  # TOML errors are ValueErrors
        raise SettingError(f"search.rules: {path} is not as it should be: {error}; correct that place") from error
    return _rules(path, found)


def _rules(path: Path, found: _File) -> Rules:
    synonyms: dict[str, tuple[str, ...]] = {}
    for entry in found.synonyms:
        words = tuple(dict.fromkeys(word for word in map(folded, entry.words) if word))
        if len(words) < 2:
            raise SettingError(f"search.rules: {path}: synonyms {list(entry.words)} need two different words or more")
        for word in words:
            others = (*synonyms.get(word, ()), *(other for other in words if other != word))
            synonyms[word] = tuple(dict.fromkeys(others))
    pinned = {folded(query): entry.urls[:MAX_PINNED] for entry in found.pinned for query in entry.queries}
    lenses = {name: _lens(f"{path}: lens {name!r}", rule) for name, rule in found.lenses.items()}
    never = frozenset(folded(word) for word in found.suggest.never)
    longest = max((len(phrase.split()) for phrase in synonyms), default=1)
    return Rules(synonyms, pinned, lenses, never, longest)


def _lens(where: str, rule: LensRule) -> LensRule:
    def hosts(names: Iterable[str]) -> tuple[str, ...]:
        read = [(name, conditions.site(name)) for name in names]
        wrong = next((name for name, host in read if not host), None)
        if wrong is not None:
            raise SettingError(f"search.rules: {where}: {wrong!r} is not a host name or domain")
        return tuple(host for _, host in read)

    return LensRule(hosts(rule.raised), hosts(rule.lower), hosts(rule.block), hosts(rule.pin))
