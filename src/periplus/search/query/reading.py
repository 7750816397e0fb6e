"""A query understood against one generation: its language, which stop words may go, what it names, what it wants."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from msgspec import Struct, structs

from periplus import addresses
from periplus.index import IndexQuery
from periplus.ranking import formulas
from periplus.search.query import conditions
from periplus.search.query.language import prose, read, words_alone
from periplus.search.query.lexicon import KnownWord
from periplus.search.query.plan import QueryPlan, plan, stops
from periplus.search.query.plan import typed as words_of
from periplus.search.query.synonyms import with_synonyms
from periplus.search.query.syntax import Condition, ParsedQuery, Signed, TypedWord
from periplus.search.query.vectors import with_related
from periplus.search.query.vocabulary import are_silent, asks_for_new, asks_only_for_news, guessed_language, light_words
from periplus.tracing import traced

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from periplus.index import Filters, Group
    from periplus.search.query.lexicon import Lexicon
    from periplus.search.query.plan import QueryWord
    from periplus.search.query.rules import Rules
    from periplus.search.query.syntax import Node
    from periplus.search.query.vectors import RelatedWords

MAX_NAMED = 8
# Of a front page that has no shorter address: in a folder of pages, or where a site sends its visitors there.
FRONT_FILES = ("index.html", "index.htm", "index.xhtml", "index.php", "index.en.html", "default.html", "default.htm")
DAY = 86_400
LIGHT = 0.2  # what a word counts that only says that the new is wanted, or what is compared with what
_NOBODY: tuple[int, ...] = ()
_NO_FILTERS = IndexQuery().filters
_BETWEEN = re.compile(r"[\s'’.&-]+")  # parts of a site's name
_HOST_ALONE = re.compile(r"https?://[^/]+/$")
_ADDRESS_LIKE = re.compile(r"(?:https?://)?[^\s/]+\.[^\s/]{2,}(?:/\S*)?$", re.IGNORECASE)


# Documents by the keys of their addresses
Find = Callable[[list[int]], list[int | None]]


class KnownGeneration(Protocol):
    """What a plan needs to know of the collection."""

    @property
    def lexicon(self) -> Lexicon:
        """Its words."""

    @property
    def related(self) -> RelatedWords | None:
        """Words that nearly mean the same, where the operator brought some."""

    @property
    def languages(self) -> tuple[str, ...]:
        """Its main ones, most frequent first."""

    @property
    def hosts_by_name(self) -> Mapping[str, Sequence[str]]:
        """The name that people call a site by, to its hosts."""


class Understood(Struct, frozen=True):
    text: str
    reading: ParsedQuery
    plan: QueryPlan
    language: str  # that pages had better be in
    wants_fresh: bool
    named: tuple[int, ...]
    contradictory: bool = False  # parameters and operators admit nothing together
    words: tuple[KnownWord, ...] = ()  # of the plan, that occur
    only_news: bool = False  # it says nothing else than that it wants news
    told_language: str = ""  # by its words or its filter; empty where nothing tells it

    @property
    def parsed(self) -> str:
        return str(self.reading)

    @property
    def title(self) -> str:
        """The text as it may be the title of a page: without filters."""
        others = tuple([node for node in self.reading.nodes if not _is_filter(node)])
        return self.text if len(others) == len(self.reading.nodes) else str(ParsedQuery(others))


def _is_filter(node: Node) -> bool:
    return type(node) is Condition or (type(node) is Signed and type(node.node) is Condition)


@traced("search.understand")
def understand(
    generation: KnownGeneration,
    find: Find,
    text: str,
    language: str = "",
    filters: Filters | None = None,
    *,
    plain: bool = False,
    rules: Rules | None = None,
    reader: str = "",
) -> Understood:
    """How ``text`` is read in this generation, with the filters of the request added to its own.

    ``plain`` text has no operators: every word of it is a word. Where the text does not tell its language, that of
    the ``reader`` is the better one for a page to be in, and one that is filtered by (``lang:``) in any case; words are
    not read by it.
    """
    alone = words_alone(text)
    reading = ParsedQuery(tuple(map(TypedWord, alone))) if alone else prose(text) if plain else read(text)
    typed = alone or [node.text for node in reading.nodes if type(node) is TypedWord]
    lowered = [word.lower() for word in alone] if alone else [word for text in typed for word in words_of(text)]
    tells = not (alone and are_silent(lowered))
    guessed = language or (guessed_language(lowered) if tells else "")
    languages = (guessed,) if guessed else generation.languages or ("",)
    is_words = len(typed) == len(reading.nodes)
    made = _planned(generation, reading, languages)
    if rules is not None and rules.synonyms:
        made = with_synonyms(made, reading, rules, languages[0])
    wants_fresh = tells and asks_for_new(lowered, _year(int(time.time()) // DAY))
    light = light_words(lowered, wants_fresh=wants_fresh)
    if light:
        made = _with_light_words(made, light)
    if generation.related is not None:
        made = with_related(made, generation.related)
    named = _NOBODY
    if alone:
        named = _site(generation, find, "".join(lowered))
    elif typed and is_words:
        named = _named(generation, find, reading)
    own = made.query.filters
    both = conditions.combined(own, filters) if filters is not None and filters != _NO_FILTERS else own
    if both is not None and both is not own:
        made = structs.replace(made, query=structs.replace(made.query, filters=both))
    only = both.languages[0] if both is not None and len(both.languages) == 1 else ""
    told = only or guessed
    return Understood(
        text,
        reading,
        made,
        told or reader,
        wants_fresh,
        named,
        both is None,
        generation.lexicon.known(made.words),
        only_news=tells and is_words and not named and asks_only_for_news(lowered),
        told_language=told,
    )


def _planned(generation: KnownGeneration, reading: ParsedQuery, languages: tuple[str, ...]) -> QueryPlan:
    made = plan(
        reading,
        languages,
        lambda word: stops(word, languages[0] or "-") or generation.lexicon.is_frequent(word),
        lambda word: _telling(generation.lexicon, word),
        lambda term: generation.lexicon.frequency(term) > 0,
    )
    return structs.replace(made, query=_expanded(generation.lexicon, made.query)) if "*" in str(reading) else made


def _with_light_words(made: QueryPlan, texts: frozenset[str]) -> QueryPlan:
    """The plan in which words such as *latest* or *vs* hardly say what is on a page."""
    light = [word.forms for word in made.words if word.text in texts]
    if not light or len(light) == len(made.words):
        return made
    words = [structs.replace(word, weight=LIGHT * word.weight) if word.forms in light else word for word in made.words]
    groups = made.query.should
    should = [structs.replace(one, weight=LIGHT * one.weight) if one.forms in light else one for one in groups]
    return structs.replace(made, words=tuple(words), query=structs.replace(made.query, should=tuple(should)))


def _expanded(lexicon: Lexicon, query: IndexQuery) -> IndexQuery:
    """The query with the words that its prefixes stand for."""

    def expanded(groups: tuple[Group, ...]) -> tuple[Group, ...]:
        return tuple(
            structs.replace(group, forms=lexicon.beginning(group.prefix)) if group.prefix else group for group in groups
        )

    return structs.replace(
        query,
        should=expanded(query.should),
        must=expanded(query.must),
        must_not=expanded(query.must_not),
        any_of=tuple(map(expanded, query.any_of)),
    )


@lru_cache(maxsize=1)
def _year(day: int) -> int:
    return time.gmtime(day * DAY).tm_year


def _telling(lexicon: Lexicon, word: QueryWord) -> float:
    """How much a word says about what is wanted."""
    known = max(lexicon.frequencies([form.term for form in word.forms]), default=0)
    return word.weight * float(formulas.bm25_idf(max(lexicon.documents, 1), known)) if known else 0.0


def _named(generation: KnownGeneration, find: Find, reading: ParsedQuery) -> tuple[int, ...]:
    """Documents that words name all together: an address typed out, a host name, the name of a site."""
    text = str(reading)
    if "." in text and _ADDRESS_LIKE.match(text):
        return _found(find, _spelled_out(text))
    return _site(generation, find, name_of(text))


def name_of(text: str) -> str:
    """The name that a site may have, if a query is nothing else."""
    plain = text.replace(" ", "")
    return (plain if plain.isalnum() else _BETWEEN.sub("", text)).lower()


def _site(generation: KnownGeneration, find: Find, name: str) -> tuple[int, ...]:
    """The front pages of the hosts that people call so."""
    known = generation.hosts_by_name.get(name)
    if known is None:
        return _NOBODY
    hosts = sorted(known, key=lambda host: (len(host), host))[:MAX_NAMED]
    return _found(find, [f"{scheme}://{host}/" for host in hosts for scheme in ("https", "http")])


def _found(find: Find, urls: list[str]) -> tuple[int, ...]:
    fronts = [url + name for url in urls if _HOST_ALONE.match(url) for name in FRONT_FILES]
    return _at(find, urls) or _at(find, fronts)


def _at(find: Find, urls: list[str]) -> tuple[int, ...]:
    found = set(find([addresses.key(url) for url in urls]))
    return tuple(sorted(number for number in found if number is not None))


def _spelled_out(text: str) -> list[str]:
    bare = re.sub(r"^https?://", "", text, flags=re.IGNORECASE)
    names = [bare, f"www.{bare}"] if not bare.lower().startswith("www.") else [bare, bare[4:]]
    spelled = [addresses.try_canonical(f"{scheme}://{name}") for name in names for scheme in ("https", "http")]
    return [url for url in spelled if url]
