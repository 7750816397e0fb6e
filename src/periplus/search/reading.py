"""A query understood against one generation: its language, which stop words may go, what it names, what it wants."""

from __future__ import annotations

import re
import time
from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from periplus import addresses
from periplus.index.query import IndexQuery
from periplus.ranking import formulas
from periplus.search.language import prose, read
from periplus.search.plan import WORDS_KEPT, Plan, plan, stops, typed
from periplus.search.requests import combined
from periplus.search.synonyms import with_synonyms
from periplus.search.syntax import Reading, Word
from periplus.search.typed import WordsOnly, is_frequent
from periplus.search.vocabulary import asks_for_new, guessed_language

if TYPE_CHECKING:
    from periplus.index.query import Filters
    from periplus.search.generations import Generation
    from periplus.search.plan import QueryWord
    from periplus.search.rules import Rules

MAX_NAMED = 8
DAY = 86_400
_NOBODY: frozenset[int] = frozenset()
_NO_FILTERS = IndexQuery().filters
_BETWEEN = re.compile(r"[\s'’.&-]+")  # parts of a site's name
_ADDRESS_LIKE = re.compile(r"(?:https?://)?[^\s/]+\.[^\s/]{2,}(?:/\S*)?$", re.IGNORECASE)


class Understood(Struct, frozen=True):
    text: str
    reading: Reading
    plan: Plan
    language: str
    wants_fresh: bool
    named: frozenset[int]
    contradictory: bool = False  # parameters and operators admit nothing together
    words: WordsOnly | None = None  # of a query that is words and nothing else, when nothing was added to it

    @property
    def parsed(self) -> str:
        return str(self.reading)


def understand(
    generation: Generation,
    text: str,
    language: str = "",
    filters: Filters | None = None,
    *,
    plain: bool = False,
    rules: Rules | None = None,
) -> Understood:
    """How ``text`` is read in this generation, with the filters of the request added to its own.

    ``plain`` text has no operators: every word of it is a word.
    """
    reading = prose(text) if plain else read(text)
    year = _year(int(time.time()) // DAY)
    traits = [_trait(node.text, year) for node in reading.nodes if type(node) is Word]
    guessed = language or guessed_language([word for stop_words, _ in traits for word in stop_words])
    languages = (guessed,) if guessed else generation.languages or ("",)
    words = generation.typed.query(reading, languages)
    made = words.plan if words is not None else _planned(generation, reading, languages)
    if rules is not None and rules.synonyms:
        made = with_synonyms(made, reading, rules, languages[0])
    own = made.query.filters
    both = combined(own, filters) if filters is not None and filters != _NO_FILTERS else own
    if both is not None and both is not own:
        made = structs.replace(made, query=structs.replace(made.query, filters=both))
    return Understood(
        text,
        reading,
        made,
        guessed,
        True in [is_new for _, is_new in traits],
        _named(generation, reading),
        both is None,
        words if words is not None and made is words.plan else None,
    )


def _planned(generation: Generation, reading: Reading, languages: tuple[str, ...]) -> Plan:
    return plan(
        reading,
        languages,
        lambda word: stops(word, languages[0] or "-") or is_frequent(generation.snapshot, word),
        lambda word: _telling(generation, word),
    )


@lru_cache(maxsize=1)
def _year(day: int) -> int:
    return time.gmtime(day * DAY).tm_year


@lru_cache(maxsize=WORDS_KEPT)
def _trait(text: str, year: int) -> tuple[list[str], bool]:
    """Of what is typed as one word: the stop words of any language in it, and whether it asks for what is new."""
    words = typed(text)
    return [word for word in words if stops(word, "")], asks_for_new(words, year)


def _telling(generation: Generation, word: QueryWord) -> float:
    """How much a word says about what is wanted."""
    snapshot = generation.snapshot
    known = max((snapshot.frequency(form.term) for form in word.forms), default=0)
    return word.weight * float(formulas.bm25_idf(max(snapshot.live, 1), known)) if known else 0.0


def _named(generation: Generation, reading: Reading) -> frozenset[int]:
    """Documents that the whole query names: an address typed out, a host name, the name of a site."""
    if not reading.nodes or not all(isinstance(node, Word) for node in reading.nodes):
        return _NOBODY
    text = str(reading)
    is_address = "." in text and _ADDRESS_LIKE.match(text)
    candidates = _spelled_out(text) if is_address else _front_pages(generation, text)
    if not candidates:
        return _NOBODY
    found = (generation.snapshot.find(addresses.key(url)) for url in candidates)
    return frozenset(number for number in found if number is not None)


def _spelled_out(text: str) -> list[str]:
    bare = re.sub(r"^https?://", "", text, flags=re.IGNORECASE)
    names = [bare, f"www.{bare}"] if not bare.lower().startswith("www.") else [bare, bare[4:]]
    spelled = [addresses.try_canonical(f"{scheme}://{name}") for name in names for scheme in ("https", "http")]
    return [url for url in spelled if url]


def _front_pages(generation: Generation, text: str) -> list[str]:
    plain = text.replace(" ", "")
    label = (plain if plain.isalnum() else _BETWEEN.sub("", text)).lower()
    known = generation.hosts_by_name.get(label)
    if known is None:
        return []
    hosts = sorted(known, key=lambda host: (len(host), host))[:MAX_NAMED]
    return [f"{scheme}://{host}/" for host in hosts for scheme in ("https", "http")]
