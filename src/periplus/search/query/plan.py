"""From a reading to what the index is asked.

The index takes no tree: groups that add score, groups that must (not) occur, and choices of which one must. Signs,
choices and brackets are turned into that form (conjunctive normal form of what is required; filters and ``-`` hold
for the whole query wherever they stand). The words that score are kept apart for ranking, snippets and spelling.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from msgspec import Struct, structs

from periplus.index import STRONG_SHARE, Filters, Group, IndexQuery
from periplus.search.query import conditions
from periplus.search.query.syntax import (
    FIELD_OPERATORS,
    AnyOf,
    Condition,
    InField,
    Phrase,
    Prefix,
    Sequence,
    Signed,
    TypedWord,
)
from periplus.search.query.vocabulary import is_stop_word
from periplus.text import EXACT_SHARE, FOLDED_SHARE, MAX_TERM_BYTES, TermForm, analyze, signless

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from periplus.search.query.syntax import Node, ParsedQuery
    from periplus.text import Token

MAX_CHOICES = 16  # clauses of the normal form; a query that needs more is read as one choice of all its words
COMPOUND_WEIGHT = 0.5  # of the phrase that the parts of foo::bar make, beside the parts themselves
MAX_COMPOUND = 8  # terms
FEW_WORDS = 6  # of a query: then stop words count, too, by what they tell
MAX_SCORING = 64  # words that score; of a longer query the most telling ones
WORDS_KEPT = 20_000  # words of queries whose terms are remembered
FOREIGN_SHARE = 0.4  # at most, of a stem in another than the first language: a chance hit rather than the same word


_NO_FILTERS = IndexQuery().filters
stops = is_stop_word


class QueryWord(Struct, frozen=True):
    """A word that scores: as typed, the forms it is found by, and how often it was asked for."""

    text: str
    forms: tuple[TermForm, ...]
    weight: float = 1.0
    prefix: str = ""


class QueryPlan(Struct, frozen=True):
    query: IndexQuery
    words: tuple[QueryWord, ...] = ()
    link: str = ""  # pages that link to this address
    ignored: tuple[str, ...] = ()  # stop words left out
    cut: bool = False  # words beyond ``MAX_SCORING`` were left out

    @property
    def empty(self) -> bool:
        """Nothing to look for: no word and no filter."""
        asks = self.query.should or self.query.must or self.query.any_of
        return not (asks or self.link or self.query.filters != _NO_FILTERS)

    @property
    def browses(self) -> bool:
        """Only filters: every page that they admit is an answer."""
        return not (self.query.should or self.query.must or self.query.any_of) and not self.empty


# A disjunction of groups; a tuple of them is a conjunction.
Clause = tuple[Group, ...]


def plan(
    reading: ParsedQuery,
    languages: tuple[str, ...] = ("",),
    frequent: Callable[[str], bool] | None = None,
    telling: Callable[[QueryWord], float] | None = None,
    occurs: Callable[[str], bool] | None = None,
) -> QueryPlan:
    """How to ask the index for ``reading``.

    ``languages`` give the stems, ``frequent`` says which stop words may go, ``telling`` which words of a very long
    query are worth most, ``occurs`` which terms there are: signs around a word count where it is written with them.
    """
    made = _Planner(languages, frequent or _always, occurs or _always).plan(reading)
    return _bounded(made, telling or (lambda word: word.weight))


def _always(_: str) -> bool:
    return True


def is_one_word(text: str) -> bool:
    """Whether the analysis finds one token in ``text``, which is its own term: nearly always it is so."""
    return text.isascii() and text.isalnum() and len(text) <= MAX_TERM_BYTES


def _bounded(made: QueryPlan, telling: Callable[[QueryWord], float]) -> QueryPlan:
    """The plan with at most ``MAX_SCORING`` groups of each kind; of optional words the most telling ones stay."""
    query = made.query
    sizes = (len(query.should), len(query.must), len(query.must_not), sum(map(len, query.any_of)), len(made.words))
    if max(sizes) <= MAX_SCORING:
        return made
    best = set(sorted(made.words, key=lambda word: -telling(word))[:MAX_SCORING])
    words = tuple(word for word in made.words if word in best)
    forms = {word.forms for word in words}
    kept = [group for group in query.should if group.forms in forms or group.prefix]
    shorter = structs.replace(
        query,
        should=tuple(kept[:MAX_SCORING]),
        must=query.must[:MAX_SCORING],
        must_not=query.must_not[:MAX_SCORING],
        any_of=_first_choices(query.any_of),
    )
    return structs.replace(made, query=shorter, words=words, cut=True)


def _first_choices(choices: tuple[Clause, ...]) -> tuple[Clause, ...]:
    kept: list[Clause] = []
    room = MAX_SCORING
    for choice in choices:
        if room > 0:
            kept.append(choice[:room])
            room -= len(choice)
    return tuple(kept)


class _Planner:
    def __init__(
        self, languages: tuple[str, ...], frequent: Callable[[str], bool], occurs: Callable[[str], bool]
    ) -> None:
        self.languages = languages
        self.frequent = frequent
        self.occurs = occurs
        self.should: list[Group] = []
        self.clauses: list[Clause] = []
        self.must_not: list[Group] = []
        self.words: dict[str, QueryWord] = {}
        self.ignored: list[str] = []
        self.wanted: list[Condition] = []
        self.unwanted: list[Condition] = []

    def plan(self, reading: ParsedQuery) -> QueryPlan:
        keep_all = _is_short(reading.nodes) or not _has_meaning(reading.nodes, self.languages)
        for node in reading.nodes:
            self._place(node, keep_all)
        must = tuple(clause[0] for clause in self.clauses if len(clause) == 1)
        choices = tuple(clause for clause in self.clauses if len(clause) > 1)
        filters = _filters(self.wanted) if self.wanted else _NO_FILTERS
        excluded = _filters(self.unwanted) if self.unwanted else _NO_FILTERS
        query = IndexQuery(tuple(self.should), must, tuple(self.must_not), choices, filters, excluded)
        links = [condition.value for condition in self.wanted if condition.operator == "link"]
        return QueryPlan(query, tuple(self.words.values()), links[0] if links else "", tuple(self.ignored))

    def _place(self, node: Node, keep_all: bool) -> None:
        """One clause of the top level: optional words, or something required, forbidden or filtering."""
        match node:
            case Condition():
                self.wanted.append(node)
            case Signed("-", inner):
                self._forbid(inner)
            case Sequence(nodes):
                for inner in nodes:
                    self._place(inner, keep_all)
            case TypedWord(text):
                self._optional_word(text, keep_all)
            case Phrase() | Signed() | AnyOf() | InField():
                self.clauses += self._required(node)
            case Prefix():
                self.should += [group for clause in self._required(node) for group in clause]

    # optional words

    def _optional_word(self, text: str, keep_all: bool) -> None:
        tokens = self._tokens(text)
        is_name = 1 < len(tokens) <= MAX_COMPOUND  # at of std::vector::at is no stop word
        kept = [token for token in tokens if keep_all or is_name or not self._is_stop(token)]
        self.ignored += [token.text for token in tokens if token not in kept]
        for token in kept:
            self._score(token)
        if is_name:
            self.should.append(Group(phrase=tuple(token.text for token in tokens), weight=COMPOUND_WEIGHT))

    def _score(self, token: Token) -> None:
        known = self.words.get(token.text)
        self._remember(token.text, token.forms)
        if known is None:
            self.should.append(Group(forms=token.forms))
        else:  # asked for twice: one group of double weight
            place = next((i for i, group in enumerate(self.should) if group.forms == token.forms), None)
            if place is not None:
                group = self.should[place]
                self.should[place] = structs.replace(group, weight=group.weight + 1.0)

    def _remember(self, text: str, forms: tuple[TermForm, ...], prefix: str = "") -> None:
        known = self.words.get(text)
        weight = known.weight + 1.0 if known else 1.0
        self.words[text] = QueryWord(text, forms, weight, prefix)

    def _is_stop(self, token: Token) -> bool:
        language = self.languages[0] if len(self.languages) == 1 else ""
        return stops(token.text, language) and self.frequent(token.text)

    # required, forbidden

    def _required(self, node: Node) -> list[Clause]:
        """What ``node`` demands, as a conjunction of choices."""
        match node:
            case TypedWord(text):
                return self._demand(text)
            case Phrase(text):
                return self._demand(text, phrase=True)
            case Prefix(text):
                return self._demand_prefix(text)
            case InField(operator, inner):
                return self._demand_in_field(FIELD_OPERATORS[operator], inner)
            case Signed("-", inner):
                self._forbid(inner)
            case Signed(_, inner):
                return self._required(inner)
            case Condition():
                self.wanted.append(node)
            case AnyOf(nodes):
                return _joined([self._required(inner) for inner in nodes])
            case Sequence(nodes):
                return self._demand_sequence(nodes)
        return []

    def _demand(self, text: str, phrase: bool = False, field: str = "") -> list[Clause]:
        tokens = self._tokens(text)
        for token in tokens:
            self._remember(token.text, token.forms[:1] if phrase else token.forms)
        if len(tokens) > 1:
            return [(Group(phrase=tuple(token.text for token in tokens), field=field),)]
        least = EXACT_SHARE if phrase else STRONG_SHARE
        return [(Group(forms=_from(token.forms, least), field=field),) for token in tokens]

    def _demand_prefix(self, text: str, field: str = "") -> list[Clause]:
        tokens = self._tokens(text)
        if not tokens:
            return []
        clauses = [(Group(forms=token.forms, field=field),) for token in tokens[:-1]]
        for token in tokens[:-1]:
            self._remember(token.text, token.forms)
        last = tokens[-1].text
        self._remember(f"{last}*", (), prefix=last)
        return [*clauses, (Group(prefix=last, field=field),)]

    def _demand_in_field(self, field: str, node: TypedWord | Phrase | Prefix) -> list[Clause]:
        if isinstance(node, Prefix):
            return self._demand_prefix(node.text, field)
        return self._demand(node.text, isinstance(node, Phrase), field)

    def _demand_sequence(self, nodes: tuple[Node, ...]) -> list[Clause]:
        """Brackets under a sign or an OR: their required clauses; if none is, one of their words."""
        plain = [inner for inner in nodes if isinstance(inner, TypedWord | Prefix)]
        firm = [clause for inner in nodes if inner not in plain for clause in self._required(inner)]
        choice = tuple(group for inner in plain for clause in self._required(inner) for group in clause)
        if firm:
            self.should += choice
            return firm
        return [choice] if choice else []

    def _forbid(self, node: Node) -> None:
        match node:
            case Condition():
                self.unwanted.append(node)
            case Sequence(nodes) | AnyOf(nodes):
                for inner in nodes:
                    self._forbid(inner)
            case Signed(_, inner):
                self._forbid(inner)
            case TypedWord() | Phrase() | Prefix() | InField():
                before = dict(self.words)
                groups = [group for clause in self._required(node) for group in clause]
                self.must_not += [structs.replace(group, forms=_from(group.forms, FOLDED_SHARE)) for group in groups]
                self.words = before

    def _tokens(self, text: str) -> list[Token]:
        tokens = _tokens(text, self.languages)
        return tokens if is_one_word(text) else [one for token in tokens for one in self._found(token, text)]

    def _found(self, token: Token, text: str) -> list[Token]:
        """A token as it is looked for: without its signs where no document has them."""
        inner = signless(text[token.start : token.end])
        return [token] if not inner or self.occurs(token.text) else self._tokens(inner)


@lru_cache(maxsize=WORDS_KEPT)
def _tokens(text: str, languages: tuple[str, ...]) -> list[Token]:
    """The tokens of ``text`` with the stems of every language in question."""
    if len(languages) == 1:
        return _without_tail(analyze(text, languages[0]))
    first, *others = [analyze(text, language) for language in languages]
    merged = [
        structs.replace(token, forms=_merged(token.forms, [other[i].forms for other in others]))
        for i, token in enumerate(first)
    ]
    return _without_tail(merged)


@lru_cache(maxsize=WORDS_KEPT)
def typed(text: str) -> list[str]:
    """The words of ``text`` as they are written, in lower case."""
    return [text.lower()] if is_one_word(text) else [token.text for token in analyze(text)]


def _from(forms: tuple[TermForm, ...], least: float) -> tuple[TermForm, ...]:
    """The forms near enough to the word as typed."""
    return tuple(form for form in forms if form.share >= least)


def _merged(forms: tuple[TermForm, ...], others: Iterable[tuple[TermForm, ...]]) -> tuple[TermForm, ...]:
    known = {form.term: form for form in forms}
    for more in others:
        for form in more:
            known.setdefault(form.term, structs.replace(form, share=min(form.share, FOREIGN_SHARE)))
    return tuple(known.values())


def _without_tail(tokens: list[Token]) -> list[Token]:
    """Scripts without spaces are read as overlapping pairs; the single letter that ends a run adds nothing."""
    return [
        token
        for i, token in enumerate(tokens)
        if not (i and token.start < tokens[i - 1].end and token.end <= tokens[i - 1].end)
    ]


def _joined(operands: list[list[Clause]]) -> list[Clause]:
    """The conjunction of choices that ``a OR b OR …`` is, by distribution."""
    asked = [clauses for clauses in operands if clauses]
    if not asked:
        return []
    result = asked[0]
    for clauses in asked[1:]:
        result = [(*one, *other) for one in result for other in clauses]
        if len(result) > MAX_CHOICES:
            return [tuple(group for operand in asked for clause in operand for group in clause)]
    return result


def _is_short(nodes: tuple[Node, ...]) -> bool:
    """Whether a query is so few words that none of them is said for nothing: ``C++ keywords: for``."""
    if len(nodes) > FEW_WORDS:
        return False
    return sum(len(typed(node.text)) for node in nodes if isinstance(node, TypedWord)) <= FEW_WORDS


def _has_meaning(nodes: tuple[Node, ...], languages: tuple[str, ...]) -> bool:
    """Is there anything but stop words to look for?"""
    return any(_means(node, languages) for node in nodes)


def _means(node: Node, languages: tuple[str, ...]) -> bool:
    match node:
        case TypedWord(text):
            language = languages[0] if len(languages) == 1 else ""
            return any(not stops(word, language) for word in typed(text))
        case Signed("-", _) | Condition():
            return False
        case Sequence(inner):
            return any(_means(part, languages) for part in inner)
    return True


def _filters(found: list[Condition]) -> Filters:
    def values(operator: str) -> list[str]:
        return list(dict.fromkeys(condition.value for condition in found if condition.operator == operator))

    types = [kind for name in values("filetype") for kind in conditions.content_types(name)]
    before = [conditions.timestamp(date) for date in values("before")]
    after = [conditions.timestamp(date) for date in values("after")]
    return Filters(
        tuple(values("site")), tuple(values("lang")), tuple(types), min(before, default=0.0), max(after, default=0.0)
    )
