"""Spelling: "did you mean", from the collection's own words and how often they occur.

Words near a misspelt one come from a generation's ``SpellingDictionary``. Among close candidates the query's other
words decide. A word that occurs is changed only for one that is far more frequent, the more so the shorter it is and
the more has to be changed. One that is written nowhere, but of which another form occurs, may be an inflection: it is
changed for one that is frequent enough. Neither is changed for another ending of itself. A word that is written nowhere
in any form may be a right one that nobody wrote about: another is offered only where little of a long word has to be
changed, and taken for what was meant where that is less still. A word that is none may be two, and two may be one. No
word is changed for one of another language than the query may be in, and none that queries are full of (``weather``,
``near``), whether pages have it or not.
"""

from __future__ import annotations

import math
from functools import lru_cache
from operator import itemgetter
from typing import TYPE_CHECKING

from periplus.index import Filters, Group, IndexQuery
from periplus.search.query.lexicon import MAX_FORMS, Lexicon
from periplus.search.query.plan import is_one_word
from periplus.search.query.syntax import AnyOf, ParsedQuery, Phrase, Sequence, Signed, TypedWord
from periplus.search.query.vocabulary import is_usual_in_queries
from periplus.search.suggesting.dictionary import (
    EDIT_WORTH,
    FAR,
    LEAST_LETTERS,
    WORDS_KEPT,
    Candidate,
    SpellingDictionary,
)
from periplus.text import STEM_MARK, TermForm, analyze, forms_of
from periplus.text.stemming import DEFAULT_LANGUAGE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from periplus.search.query.lexicon import Forms
    from periplus.search.query.syntax import Node

MAX_CORRECTED = 8  # words of a query that are looked at
FEW_RESULTS = 10  # of a query: then all its words are looked at. A word of no more documents always is
# How frequent (as a logarithm) another word must be: more than one that occurs, or at all where only another form of
# it does. At no cost, for every unit of cost, for every letter that the word has less than SHORT (or more, up to LONG).
SHORT, LONG = 7, 9
OCCURS, FORM_OCCURS = (2.0, 3.0, 0.5), (-2.0, 7.0, 2.0)
MOST_COST = 1.2  # of changing a word that occurs
LETTER_WORTH = 2.0  # of a word that occurs in no form: of each letter, against a change
CHANGE_DOUBT, OFFER_DOUBT = 4.0, 0.0  # beside the cost: of a word that is searched in its place, and of an offer
ENDING = 3  # letters that inflections may differ in
FITTING = 0.5  # of its share of all documents: so often a word of a language stands in documents of it
CLOSE, MOST_CLOSE = 2.0, 4  # of worth, between candidates of which other words decide; and how many these are
LANGUAGE_TRIES = 4  # candidates that are looked at for one of the right language
MOST_BESIDE = 3  # other words that decide
PARTED_COST = 1.0  # of the best candidate, up to which a word is not parted
ENOUGH = 1_000  # documents in which words stand together: more say nothing


def suspects(lexicon: Lexicon, reading: ParsedQuery, found: int) -> list[str]:
    """Words of a query that may be misspelt: in hardly any document, or any word of a query that found little."""
    words = [word for word in _words_of(reading) if not is_usual_in_queries(word.lower())]
    return words if found <= FEW_RESULTS else [word for word in words if _written(lexicon, word) <= FEW_RESULTS]


def unwritten(lexicon: Lexicon, reading: ParsedQuery) -> list[str]:
    """Words of a query, neither quoted nor signed, that no document has as they are written."""
    typed = list(dict.fromkeys([node.text for node in reading.nodes if type(node) is TypedWord]))[:MAX_CORRECTED]
    return [text for text in typed if not _written(lexicon, text) and not is_usual_in_queries(text.lower())]


def _written(lexicon: Lexicon, text: str) -> int:
    """Documents with a word as it is written, or without its accents, or with a part of a name."""
    if is_one_word(text) and (documents := lexicon.frequency(text.lower())):
        return documents
    terms = [form.term for form in _forms(text) if not form.term.startswith(STEM_MARK)]
    return max(lexicon.frequencies(terms), default=0)


@lru_cache(maxsize=WORDS_KEPT)
def _forms(text: str, language: str = DEFAULT_LANGUAGE) -> Forms:
    """The forms of the first word of a text, if there is one."""
    if is_one_word(text):
        return forms_of(text, language)
    tokens = analyze(text, language)
    return tokens[0].forms if tokens else ()


def _stemming_languages(languages: tuple[str, ...]) -> tuple[str, ...]:
    """Languages by which a word is stemmed: English, and the likeliest of the query.

    By more of them, many a mistyped word would have an ending by chance.
    """
    return tuple(dict.fromkeys([DEFAULT_LANGUAGE, *filter(None, languages[:1])]))


class Speller:
    """Corrections of whole queries, for one search in one generation."""

    def __init__(
        self,
        dictionary: SpellingDictionary,
        lexicon: Lexicon,
        count: Callable[[IndexQuery], int],
        by_language: Mapping[str, int] | None = None,
    ) -> None:
        """``lexicon`` is what searches of the same generation know of words already, ``count`` says how many
        documents a query finds; ``by_language`` are all documents."""
        self._dictionary = dictionary
        self._lexicon = lexicon
        self._count = count
        self._by_language = by_language or {}

    def corrections(
        self, reading: ParsedQuery, doubtful: list[str], languages: tuple[str, ...] = (), *, sure: bool = False
    ) -> tuple[str, ...]:
        """The query as it was perhaps meant; empty when it needs no correction.

        ``doubtful`` are the words to look at, ``languages`` those that the query may be in; none: any. ``sure``: only
        as it was probably meant, which may be searched in its place.
        """
        plain = [node.text for node in reading.nodes if type(node) is TypedWord]
        changes: dict[str, str] = {}
        for text in doubtful:
            better = self.word(text, plain, languages, sure=sure)
            if better and better != text.casefold():
                changes[text] = better
        if not changes:
            joined = self._joined(plain, languages)
            return (joined,) if joined else ()
        nodes = tuple(_changed(node, changes) for node in reading.nodes)
        return (str(ParsedQuery(nodes)),)

    def word(self, text: str, context: list[str], languages: tuple[str, ...] = (), *, sure: bool = False) -> str:
        """The likeliest other spelling of one word, or empty; ``context`` are the words it stands among."""
        word = _comparable_word(text)
        if not word:
            return ""
        stemmed_by = _stemming_languages(languages)
        own, known = self._documents(word, stemmed_by)
        near = self._more_frequent(word, own, stemmed_by) if known else self._closest(word)
        others = [other for other in context if other != text]
        best = self._of_language(near, others, languages)
        parted = "" if known or (best is not None and best.cost <= PARTED_COST) else self._parted(word, languages)
        if parted or best is None:
            return parted
        return best.word if known or self._was_meant(word, best, CHANGE_DOUBT if sure else OFFER_DOUBT) else ""

    def _was_meant(self, word: str, best: Candidate, doubt: float) -> bool:
        """Whether a word that occurs in no form was rather mistyped than meant as it is, beyond some doubt.

        A long word that nobody wrote is seldom one or two edits from another; of short ones everything is near. Of the
        words that are typed, a collection lacks fewer the larger it is, about by the root of its documents.
        """
        usual = math.log(max(best.frequency, 1)) - 0.5 * math.log(max(self._lexicon.documents, 1))
        return LETTER_WORTH * len(word) + usual >= EDIT_WORTH * best.cost + doubt

    def _of_language(
        self, candidates: list[Candidate], context: list[str], languages: tuple[str, ...]
    ) -> Candidate | None:
        """The best candidate that is a word of one of some languages."""
        left = candidates
        for _ in range(LANGUAGE_TRIES):
            best = self._in_context(left, context)
            if best is None or self._is_of(best.word, best.frequency, languages):
                return best
            left = [one for one in left if one is not best]
        return None

    def _is_of(self, word: str, documents: int, languages: tuple[str, ...]) -> bool:
        """Whether a word of so many documents is one of some languages."""
        languages = self._narrowing(languages)
        if not languages:
            return True
        asked = IndexQuery(must=(Group((TermForm(word),)),), filters=Filters(languages=languages))
        return self._count(asked) >= FITTING * documents * self._share(languages)

    def _narrowing(self, languages: tuple[str, ...]) -> tuple[str, ...]:
        """Languages as they narrow the documents; none where they are those of all."""
        return () if set(languages) >= self._by_language.keys() else languages

    def _share(self, languages: tuple[str, ...]) -> float:
        """Of all documents, those in some languages."""
        inside = sum(self._by_language.get(language, 0) for language in languages)
        return inside / sum(self._by_language.values()) if inside else 1.0

    def _documents(self, word: str, stemmed_by: tuple[str, ...]) -> tuple[int, int]:
        """Documents with a word as it is written, and, if there are none, with it in any form."""
        terms = dict.fromkeys([form.term for language in stemmed_by for form in _forms(word, language)])
        own, *others = self._lexicon.frequencies([word, *terms])
        return own, own or max(others, default=0)

    def _closest(self, word: str) -> list[Candidate]:
        """Candidates for a word that does not occur."""
        return self._dictionary.near(word)

    def _more_frequent(self, word: str, own: int, stemmed_by: tuple[str, ...]) -> list[Candidate]:
        """Candidates for a word that occurs, or (``own`` 0) of which another form does.

        Where that form is as near, the word is an ending that nobody wrote, and no other word was meant.
        """
        base, by_cost, by_letter = OCCURS if own else FORM_OCCURS
        missing = SHORT - min(len(word), SHORT if own else LONG)
        least = math.log(own + 1) + base + by_letter * missing
        most_cost = MOST_COST if own else FAR
        near = self._dictionary.near(word, most_cost=most_cost, least_count=max(0.0, math.exp(least) - 1.0))
        enough = [one for one in near if math.log(one.frequency + 1) >= least + by_cost * one.cost]
        variants = {one.word: one.cost for one in enough if _is_variant(word, one.word, stemmed_by)}
        least_cost = FAR if own else min(variants.values(), default=FAR)
        return [one for one in enough if one.word not in variants and one.cost < least_cost]

    def _in_context(self, candidates: list[Candidate], context: list[str]) -> Candidate | None:
        """The best candidate; among close ones, that which occurs together with the query's other words."""
        if not candidates:
            return None
        if len(candidates) == 1 or not context:
            return candidates[0]
        least = candidates[0].worth - CLOSE
        close = [c for c in candidates if c.worth >= least][:MOST_CLOSE]
        return self._most_together(close, context) if len(close) > 1 else candidates[0]

    def _most_together(self, close: list[Candidate], context: list[str]) -> Candidate:
        """The first of those that are worth most with what they gain by the words they stand among.

        No candidate occurs beside them in more documents than either does at all, so most are never counted; the first,
        which is mostly the most frequent, only when another one might be better.
        """
        among = [forms for text in context[:MOST_BESIDE] if (forms := self._occurring(text))]
        every = tuple(dict.fromkeys([form for several in among for form in several]))
        others, own = every[:MAX_FORMS], [_forms(c.word)[:MAX_FORMS] for c in close]
        worths = [c.worth for c in close]
        beside = self._documents_of(others)
        most = [
            worth + math.log1p(min(beside, self._documents_of(forms), ENOUGH))
            for worth, forms in zip(worths, own, strict=True)
        ]
        best, value = 0, worths[0]
        for place in range(1, len(close)):
            if most[place] > value:
                together = self._together(own[place], others)
                if worths[place] + math.log1p(together) > value:
                    best, value = place, worths[place] + math.log1p(together)
        if best and most[0] >= value:
            together = self._together(own[0], others)
            best = 0 if worths[0] + math.log1p(together) >= value else best
        return close[best]

    def _occurring(self, text: str) -> Forms:
        """The forms of a word that occurs as it is written; of any other none."""
        forms = _forms(text)
        return forms if forms and self._lexicon.frequency(forms[0].term) else ()

    def _documents_of(self, forms: Forms) -> int:
        """Documents with any of some forms, at most."""
        return sum(self._lexicon.frequencies([form.term for form in forms]))

    def _together(self, own: Forms, others: Forms) -> int:
        """Documents with both, up to so many that more say nothing; how the index is parted makes no difference."""
        if not (own and others):
            return 0
        return min(self._count(IndexQuery(must=(Group(own), Group(others)))), ENOUGH)

    def _parted(self, word: str, languages: tuple[str, ...] = ()) -> str:
        """``icecream`` as ``ice cream``, when both are words that a page in one of some languages has side by side.

        The most frequent such parts.
        """
        filters = Filters(languages=self._narrowing(languages))
        places = range(2, len(word) - 1)
        parts = [*[word[:i] for i in places], *[word[i:] for i in places]]
        documents, half = self._lexicon.frequencies(parts), len(places)
        known = [
            (min(documents[i], documents[half + i]), i) for i in range(half) if documents[i] and documents[half + i]
        ]
        for _, i in sorted(known, key=itemgetter(0), reverse=True):
            if self._count(IndexQuery(must=(Group(phrase=(parts[i], parts[half + i])),), filters=filters)):
                return f"{parts[i]} {parts[half + i]}"
        return ""

    def _joined(self, words: list[str], languages: tuple[str, ...]) -> str:
        """``key board`` as ``keyboard``, when one of its halves is no word, and the whole is one of some languages."""
        folded = [word.casefold() for word in words]
        occurs = self._occur(folded)
        pairs = [i for i in range(len(words) - 1) if not (occurs[i] and occurs[i + 1])]
        there = self._lexicon.frequencies([folded[i] + folded[i + 1] for i in pairs])
        for i, documents in zip(pairs, there, strict=True):
            whole = folded[i] + folded[i + 1]
            if documents and self._is_of(whole, documents, languages):
                return " ".join([*words[:i], whole, *words[i + 2 :]])
        return ""

    def _occur(self, words: list[str]) -> list[bool]:
        """Whether words occur as they are written."""
        return [documents > 0 for documents in self._lexicon.frequencies(words)]


def _is_variant(word: str, other: str, stemmed_by: tuple[str, ...]) -> bool:
    """Whether two words are one: with another ending, or as others spell it (``initialise``, ``initialize``)."""
    if word.replace("s", "z") == other.replace("s", "z"):
        return True
    shorter = min(len(word), len(other))
    same = next((i for i in range(shorter) if word[i] != other[i]), shorter)
    if same < max(len(word) - ENDING, shorter - 1):
        return False
    return any(_forms(word, language)[-1] == _forms(other, language)[-1] for language in stemmed_by)


def _comparable_word(text: str) -> str:
    """The word that a text is; empty when it is too short for corrections, or not of letters."""
    word = _only_word(text)
    return word if len(word) >= LEAST_LETTERS and word.isalpha() else ""


def _only_word(text: str) -> str:
    """The word that a text is, as it is written; empty when it is none or several."""
    if is_one_word(text):
        return text.lower()
    tokens = analyze(text)
    return tokens[0].text if len(tokens) == 1 else ""


def _words_of(reading: ParsedQuery) -> list[str]:
    """The first words of a query, each once."""
    nodes = reading.nodes
    texts = [node.text for node in nodes if type(node) is TypedWord]
    return list(dict.fromkeys(texts if len(texts) == len(nodes) else _texts(nodes)))[:MAX_CORRECTED]


def _texts(nodes: tuple[Node, ...]) -> Iterator[str]:
    """The words of a query that may be misspelt: not prefixes, filters, addresses or what must not occur."""
    for node in nodes:
        match node:
            case TypedWord(text):
                yield text
            case Phrase(text):
                yield from text.split()
            case Signed("+", inner):
                yield from _texts((inner,))
            case AnyOf(inner_nodes) | Sequence(inner_nodes):
                yield from _texts(inner_nodes)


def _changed(node: Node, changes: dict[str, str]) -> Node:
    match node:
        case TypedWord(text) if text in changes:
            return TypedWord(changes[text])
        case Phrase(text):
            return Phrase(" ".join(changes.get(word, word) for word in text.split()))
        case Signed("+", inner):
            return Signed("+", _changed(inner, changes))
        case AnyOf(nodes):
            return AnyOf(tuple(_changed(inner, changes) for inner in nodes))
        case Sequence(nodes):
            return Sequence(tuple(_changed(inner, changes) for inner in nodes))
    return node
