"""Spelling: "did you mean", from the collection's own words and how often they occur.

Words near a misspelt one come from the ``Dictionary`` of a generation; among close ones those decide that it stands
among. A word that occurs, or of which another form does, is changed only for one that is far more frequent, the more so
the shorter it is and the more has to be changed. A word that is none may be two, and two may be one.
"""

from __future__ import annotations

import math
from functools import lru_cache
from operator import itemgetter
from struct import Struct as Layout
from typing import TYPE_CHECKING

from periplus.index.analysis import analyze
from periplus.index.analysis.forms import forms_of
from periplus.index.analysis.stemming import DEFAULT_LANGUAGE
from periplus.index.plain import ALL_ADMITTED, ALL_REQUIRED, search_lists
from periplus.search.dictionary import FAR, LEAST_LETTERS, WORDS_KEPT, Candidate, Dictionary, dictionary_of
from periplus.search.plan import is_one_word
from periplus.search.syntax import AnyOf, Phrase, Reading, Sequence, Signed, Word
from periplus.search.terms import Lexicon
from periplus.search.typed import NO_WORD, NOT_SO, SIGNS, SPELT_IN

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from periplus.index.query import TermForm
    from periplus.index.snapshot import Snapshot
    from periplus.search.syntax import Node
    from periplus.search.terms import Forms, Lists
    from periplus.search.typed import Typed

MAX_CORRECTED = 8  # words of a query that are looked at
FEW_RESULTS = 10
# How much more frequent (as a logarithm) another word must be than one that occurs, or than nothing where only another
# form of it occurs: at no cost, for every unit of cost, for every letter that the word is shorter than SHORT.
SHORT = 7
OCCURS, FORM_OCCURS = (2.0, 3.0, 0.5), (0.0, 4.5, 1.5)
MOST_COST = 1.2  # of changing a word that occurs
CLOSE, MOST_CLOSE = 2.0, 4  # of worth, between candidates of which other words decide; and how many these are
CLOSE_ENOUGH = 1e-6  # for what computers make of fractions
MOST_BESIDE = 3  # other words that decide
PARTED_COST = 1.0  # of the best candidate, up to which a word is not parted
EVERY_MATCH = 1 << 40  # postings up to which matches are counted
ENOUGH = 1_000  # documents in which words stand together: more say nothing
LIST, LIST_HEAD = 24, 16  # bytes of a list, and those by which phrases know it: weight and address
NOT_PLAIN = NO_WORD | SIGNS

_starts = Layout("3q").pack  # of two groups of lists, and their end


def suspects(lexicon: Lexicon, reading: Reading, found: int) -> list[str]:
    """Words of a query that may be misspelt: unknown here, or rare in a query that found little."""
    words = _words_of(reading)
    if found <= FEW_RESULTS:
        return words
    typed = [as_typed(lexicon, word) for word in words]
    if None not in typed:
        return [word for word, one in zip(words, typed, strict=True) if one is not None and one.known is None]
    plain = [word.lower() if word.isascii() and word.isalnum() else "" for word in words]
    as_written = lexicon.frequencies(plain)  # nearly always a word occurs so
    return [word for word, there in zip(words, as_written, strict=True) if not (there or known_as(lexicon, word))]


def as_typed(lexicon: Lexicon, text: str) -> Typed | None:
    """What is known of a plain word since it was typed, if that was in the language that spelling takes words for."""
    tables = lexicon.kept.typed
    for languages in SPELT_IN:
        table = tables.get(languages)
        word: Typed | None = table.get(text) if table is not None else None
        if word is not None and not word.says & NOT_PLAIN:
            return word
    return None


def known_as(lexicon: Lexicon, text: str) -> int:
    """Documents with the word in any form: an inflection of a known word is no mistake."""
    return max(lexicon.frequencies([form.term for form in _forms(text)]), default=0)


@lru_cache(maxsize=WORDS_KEPT)
def _forms(text: str) -> tuple[TermForm, ...]:
    """The forms of the first word of a text, if there is one."""
    if is_one_word(text):
        return forms_of(text, DEFAULT_LANGUAGE)
    tokens = analyze(text)
    return tokens[0].forms if tokens else ()


class Speller:
    """Corrections of whole queries over one generation."""

    def __init__(
        self, snapshot: Snapshot, dictionary: Dictionary | None = None, lexicon: Lexicon | None = None
    ) -> None:
        """``lexicon`` is what searches of the same generation know of words already."""
        self._snapshot = snapshot
        self._lexicon = lexicon or Lexicon(snapshot)
        self._dictionary = dictionary or dictionary_of(snapshot)

    def over(self, lexicon: Lexicon) -> Speller:
        """The same words, weighed by another generation."""
        return Speller(lexicon.snapshot, self._dictionary, lexicon)

    def corrections(self, reading: Reading, found: int, doubtful: list[str] | None = None) -> tuple[str, ...]:
        """The query as it was probably meant; empty when it needs no correction. ``found`` is its number of results,
        ``doubtful`` are its ``suspects``."""
        plain = [node.text for node in reading.nodes if type(node) is Word]
        looked_at = suspects(self._lexicon, reading, found) if doubtful is None else doubtful
        if len(plain) == len(reading.nodes) and found > FEW_RESULTS:
            return self.corrections_of_words(plain, looked_at)
        changes = self._changes(looked_at, plain, self.word if found <= FEW_RESULTS else self._unknown)
        if not changes:
            joined = self._joined(plain)
            return (joined,) if joined else ()
        nodes = tuple(_changed(node, changes) for node in reading.nodes)
        return (str(Reading(nodes)),)

    def corrections_of_words(self, words: list[str], doubtful: list[str]) -> tuple[str, ...]:
        """The same for a query of words alone that found enough; ``doubtful`` are those that occur in no form."""
        changes = self._changes(doubtful, words, self._unknown)
        if changes:
            return (" ".join([changes.get(word, word) for word in words]),)
        joined = self._joined(words)
        return (joined,) if joined else ()

    def _changes(
        self, doubtful: list[str], context: list[str], other: Callable[[str, list[str]], str]
    ) -> dict[str, str]:
        changes: dict[str, str] = {}
        for text in doubtful:
            better = other(text, context)
            if better and better != text.casefold():
                changes[text] = better
        return changes

    def word(self, text: str, context: list[str]) -> str:
        """The likeliest other spelling of one word, or empty; ``context`` are the words it stands among."""
        word = _comparable_word(text)
        own, known = self._documents(word) if word else (0, 0)
        if not known:
            return self._unknown(text, context)
        best = self._in_context(self._more_frequent(word, own), [other for other in context if other != text])
        return best.word if best else ""

    def _unknown(self, text: str, context: list[str]) -> str:
        """The same for a word that does not occur in any form."""
        word = _comparable_word(text)
        if not word:
            return ""
        best = self._in_context(self._closest(word), [other for other in context if other != text])
        parted = self._parted(word) if best is None or best.cost > PARTED_COST else ""
        return parted or (best.word if best else "")

    def _documents(self, word: str) -> tuple[int, int]:
        """Documents with a word as it is written, and, if there are none, with it in any form."""
        typed = as_typed(self._lexicon, word)
        if typed is None:
            own, *others = self._lexicon.frequencies([word, *[form.term for form in _forms(word)]])
            return own, own or max(others, default=0)
        if typed.known is None:
            return 0, 0
        frequencies = typed.known.frequencies
        own = frequencies[0] if typed.known.forms[0].term == word else 0
        return own, own or max(frequencies)

    def _closest(self, word: str) -> list[Candidate]:
        """Candidates for a word that does not occur: not more than are compared with each other."""
        return self._dictionary.near(word, MOST_CLOSE, margin=CLOSE + CLOSE_ENOUGH)

    def _more_frequent(self, word: str, own: int) -> list[Candidate]:
        """Candidates for a word that occurs, or (``own`` 0) of which another form does."""
        base, by_cost, by_letter = OCCURS if own else FORM_OCCURS
        least = math.log(own + 1) + base + by_letter * max(0, SHORT - len(word))
        most_cost = MOST_COST if own else FAR
        near = self._dictionary.near(word, most_cost=most_cost, least_count=math.exp(least) - 1.0)
        return [one for one in near if math.log(one.frequency + 1) >= least + by_cost * one.cost]

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
        others, *own = self._lexicon.lists([every, *[_forms(c.word) for c in close]])
        worths = [c.worth for c in close]
        most = [
            worth + math.log1p(min(others.documents, one.documents, ENOUGH))
            for worth, one in zip(worths, own, strict=True)
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
        typed = as_typed(self._lexicon, text)
        if typed is not None:
            forms, known = typed.word.forms, typed.known
            return forms if known is not None and known.forms[0] == forms[0] else ()
        forms = _forms(text)
        return forms if forms and self._lexicon.frequency(forms[0].term) else ()

    def _together(self, own: Lists, others: Lists) -> int:
        """Documents with both, up to so many that more say nothing; how the index is parted makes no difference."""
        if not (own.count and others.count):
            return 0
        count, lists = own.count + others.count, own.packed + others.packed
        lists += _starts(0, own.count, count) if count != 2 else b""
        hits = search_lists(self._snapshot.table, lists, count, 2, ALL_ADMITTED | ALL_REQUIRED, 0, 1, EVERY_MATCH)
        return min(hits.total.value, ENOUGH) if hits is not None else 0

    def _parted(self, word: str) -> str:
        """``icecream`` as ``ice cream``, when both are words that occur side by side; the most frequent such parts."""
        places = range(2, len(word) - 1)
        parts = [*[word[:i] for i in places], *[word[i:] for i in places]]
        documents, lists, _memory = self._lexicon.lists_of_terms(parts)
        half = len(places)
        known = [
            (min(documents[i], documents[half + i]), i) for i in range(half) if documents[i] and documents[half + i]
        ]
        for _, i in sorted(known, key=itemgetter(0), reverse=True):
            heads = [_list_head(documents, lists, i), _list_head(documents, lists, half + i)]
            if self._snapshot.side_by_side(heads):
                return f"{parts[i]} {parts[half + i]}"
        return ""

    def _joined(self, words: list[str]) -> str:
        """``key board`` as ``keyboard``, when one of its halves is no word and the whole is."""
        folded = [word.casefold() for word in words]
        occurs = self._occur(folded)
        pairs = [i for i in range(len(words) - 1) if not (occurs[i] and occurs[i + 1])]
        there = self._lexicon.frequencies([folded[i] + folded[i + 1] for i in pairs])
        for i, documents in zip(pairs, there, strict=True):
            if documents:
                return " ".join([*words[:i], folded[i] + folded[i + 1], *words[i + 2 :]])
        return ""

    def _occur(self, words: list[str]) -> list[bool]:
        """Whether words occur as they are written."""
        typed = [as_typed(self._lexicon, word) for word in words]
        if None in typed:
            return [documents > 0 for documents in self._lexicon.frequencies(words)]
        return [not one.says & NOT_SO for one in typed if one is not None]


def _list_head(documents: list[int], lists: bytes, term: int) -> bytes:
    """By what phrases know the list of a term; there are those of all terms that occur."""
    begin = LIST * (term - documents[:term].count(0))
    return lists[begin : begin + LIST_HEAD]


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


def _words_of(reading: Reading) -> list[str]:
    """The first words of a query, each once."""
    nodes = reading.nodes
    texts = [node.text for node in nodes if type(node) is Word]
    return list(dict.fromkeys(texts if len(texts) == len(nodes) else _texts(nodes)))[:MAX_CORRECTED]


def _texts(nodes: tuple[Node, ...]) -> Iterator[str]:
    """The words of a query that may be misspelt: not prefixes, filters, addresses or what must not occur."""
    for node in nodes:
        match node:
            case Word(text):
                yield text
            case Phrase(text):
                yield from text.split()
            case Signed("+", inner):
                yield from _texts((inner,))
            case AnyOf(inner_nodes) | Sequence(inner_nodes):
                yield from _texts(inner_nodes)


def _changed(node: Node, changes: dict[str, str]) -> Node:
    match node:
        case Word(text) if text in changes:
            return Word(changes[text])
        case Phrase(text):
            return Phrase(" ".join(changes.get(word, word) for word in text.split()))
        case Signed("+", inner):
            return Signed("+", _changed(inner, changes))
        case AnyOf(nodes):
            return AnyOf(tuple(_changed(inner, changes) for inner in nodes))
        case Sequence(nodes):
            return Sequence(tuple(_changed(inner, changes) for inner in nodes))
    return node
