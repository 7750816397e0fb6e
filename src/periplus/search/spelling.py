"""Spelling: "did you mean", from the collection's own words and how often they occur.

The dictionary of a generation is laid out as arrays by length, by which of ten telling letters a word has, and by
frequency: letters, and in one number each word's other letters, its first one and how frequent it is. One kernel
compares a word with those whose length and letters allow the distance (restricted Damerau-Levenshtein), and leaves out
those that are not frequent enough to win with as many letters, or another first letter, as they have. Likely mistakes
cost less than a whole edit: neighbouring keys, swapped and doubled letters, letters that sound alike or are hardly
heard. A word that occurs, or of which another form does, is changed only for one that is far more frequent, the more so
the shorter it is and the more has to be changed.
Bound: the ``MAX_WORDS`` most frequent words.
"""

from __future__ import annotations

import math
from array import array
from functools import cache, cached_property, lru_cache
from itertools import accumulate
from operator import itemgetter
from struct import Struct as Layout
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from periplus.index.analysis import analyze
from periplus.index.analysis.forms import forms_of
from periplus.index.analysis.stemming import DEFAULT_LANGUAGE
from periplus.index.pages import pages
from periplus.index.plain import ALL_ADMITTED, ALL_REQUIRED, search_lists
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

MAX_WORDS = 300_000
MAX_TERMS = 1_000_000  # of the index, looked at for words: numbers and names with digits are none
MAX_LETTERS = 24
LETTER_BITS, SIGNATURE_BITS = 27, 10  # letters that are told apart, and those by which words are parted
# What kernels know, too: bytes of a word, a letter beyond ASCII, numbers that are read at once; kinds of first letters
# and where they stand in a number, and the same of documents, as levels of an e-fold.
SHORT_ROW, FOREIGN, READ_AT_ONCE = 32, 255, 16
DESK = (4 * MAX_LETTERS + 2 * SHORT_ROW) // 8  # numbers of a word that is asked for, before what is found
FIRSTS, FIRST_SHIFT, LEVELS, LEVEL_SHIFT = 32, LETTER_BITS - SIGNATURE_BITS, 32, 22
LEAST_LETTERS = 3  # shorter words are left alone: everything is near them
MAX_CORRECTED = 8  # words of a query that are looked at
WORDS_KEPT = 10_000  # whose candidates, forms or parts are remembered

# Costs of one edit, in units of a plain one: two letters swapped, a doubled letter, a key beside the right one, a vowel
# for a vowel, a vowel or an h too much or too few, a letter that sounds alike.
SWAP, DOUBLE, NEIGHBOUR, VOWEL, UNHEARD, ALIKE = 0.5, 0.3, 0.75, 0.7, 0.7, 0.5
FIRST_LETTER = 0.8  # added for another first letter: people get that right

# What a candidate is worth: ln(documents + 1) - EDIT_WORTH * cost.
EDIT_WORTH = 6.5
FEW_RESULTS = 10
# How much more frequent (as a logarithm) another word must be than one that occurs, or than nothing where only another
# form of it occurs: at no cost, for every unit of cost, for every letter that the word is shorter than SHORT.
SHORT = 7
OCCURS, FORM_OCCURS = (2.0, 3.0, 0.5), (0.0, 4.5, 1.5)
MOST_COST = 1.2  # of changing a word that occurs
# What a candidate must be worth, in a small collection and more for every e-fold of it: a word of few documents among
# very many is hardly what two mistakes were made in.
LEAST_WORTH, WORTH_GROWTH, SMALL_COLLECTION = -18.0, 1.1, 1_000
MARGIN = 3.0  # of worth, below the best candidate: what is further down is of no use
CLOSE, MOST_CLOSE = 2.0, 4  # the same for candidates between which other words decide, and how many these are
NOT_PLAIN = NO_WORD | SIGNS
EVERY_MATCH, ENOUGH = (
    1 << 40,
    1_000,
)  # postings up to which matches are counted; documents in which words stand together
LIST, LIST_HEAD = 24, 16  # bytes of a list, and those by which phrases know it: weight and address

_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_SOUNDS = ("ckqs", "sz", "gj", "fv", "mn", "dt", "bp", "iy")

FAR = 99.0
_starts = Layout("3q").pack  # of two groups of lists, and their end

IntArray = np.ndarray[Any, np.dtype[np.int64]]
LetterArray = np.ndarray[Any, np.dtype[np.uint32]]
FloatArray = np.ndarray[Any, np.dtype[np.float64]]


def _neighbours() -> dict[str, frozenset[str]]:
    """Keys that touch on a keyboard with staggered rows."""
    places = {key: (row, column + row * 0.5) for row, keys in enumerate(_ROWS) for column, key in enumerate(keys)}
    return {
        key: frozenset(
            other for other, (r, c) in places.items() if other != key and abs(r - row) <= 1 and abs(c - column) <= 1.0
        )
        for key, (row, column) in places.items()
    }


def _alike() -> dict[str, frozenset[str]]:
    """Letters that sound alike."""
    return {key: frozenset("".join(group for group in _SOUNDS if key in group)) - {key} for key in "".join(_SOUNDS)}


def _as_bits(others: dict[str, frozenset[str]]) -> list[int]:
    return [sum(1 << (ord(other) - 97) for other in others.get(chr(97 + i), ())) for i in range(26)]


_RELATED = np.array([*_as_bits(_neighbours()), *_as_bits(_alike())], dtype=np.int64)
_PRICES = np.array([SWAP, DOUBLE, NEIGHBOUR, VOWEL, FIRST_LETTER, UNHEARD, ALIKE])


# Arrays of a dictionary that kernels read, in the order that they know.
_READ = ("letters", "_short", "_heads", "_logarithms", "_ranks", "_starts", "_tops", "_buckets", "_bits")

_OF_ONE_PROCESS = frozenset({"_memory", "_table", "_rows", "_numbers"})


class Candidate(Struct, frozen=True):
    word: str
    frequency: int
    cost: float

    @property
    def worth(self) -> float:
        return math.log(self.frequency + 1) - EDIT_WORTH * self.cost


class Dictionary:
    """Words and frequencies, laid out by length and frequency for comparing one word with those near it."""

    def __init__(self, words: list[tuple[str, int]], documents: int = 0) -> None:
        self.floor = LEAST_WORTH + WORTH_GROWTH * math.log(max(1.0, documents / SMALL_COLLECTION))
        kept = [(word, count) for word, count in words if _comparable(word)][:MAX_WORDS]
        kept.sort(key=lambda entry: (len(entry[0]), -entry[1], entry[0]))
        letters, lengths = _laid_out([word for word, _ in kept]), np.array([len(word) for word, _ in kept], np.int64)
        masks = _masks(letters)
        self._bits = _by_telling(masks)
        signatures = _chosen(masks, self._bits[:SIGNATURE_BITS])
        keys = lengths << SIGNATURE_BITS | signatures
        order = np.argsort(keys, kind="stable")
        self.counts = np.array([count for _, count in kept], dtype=np.int64)[order]
        self.lengths, self.letters = lengths[order], letters[order]
        self._logarithms, self._ranks = np.log(self.counts + 1.0), order.astype(np.uint32)
        firsts, levels = letters[order, 0] % FIRSTS, _levels(self._logarithms)
        others = _chosen(masks[order], self._bits[SIGNATURE_BITS:])
        self._heads = _lengthened(levels | firsts << FIRST_SHIFT | others)
        buckets, starts = np.unique(keys[order], return_index=True)
        self._starts = np.append(starts, len(kept)).astype(np.int64)
        self._tops = _lengthened(levels[starts] | buckets & (1 << SIGNATURE_BITS) - 1)
        self._buckets = np.searchsorted(buckets, np.arange(MAX_LETTERS + 2) << SIGNATURE_BITS).astype(np.int64)
        self._short = _shortened(self.letters)
        self._settle()
        self._known: dict[tuple[str, int, float, float, float], list[Candidate]] = {}

    @property
    def words(self) -> list[str]:
        """All of them, in the order of the arrays: hundreds of thousands of objects, so not for every query."""
        return [self._word(row) for row in range(len(self.counts))]

    def _word(self, row: int) -> str:
        short = self._rows[SHORT_ROW * row : SHORT_ROW * (row + 1)].tobytes()
        if FOREIGN not in short:
            return short.rstrip(b"\0").decode("ascii")
        return self.letters[row, : self.lengths[row]].tobytes().decode("utf-32-le")

    def near(
        self, word: str, limit: int = 8, *, most_cost: float = FAR, least_count: float = 0.0, margin: float = MARGIN
    ) -> list[Candidate]:
        """The likeliest words at one edit (two for long words), best first; without ``word`` itself.

        Candidates far below the best are left out, as are those that cost more or occur in fewer documents than said.
        """
        if not len(self.counts) or not _comparable(word):
            return []
        asked = (word, limit, most_cost, least_count, margin)
        known = self._known.get(asked)
        if known is None:
            if len(self._known) >= WORDS_KEPT:
                self._known.clear()
            known = self._known[asked] = self._near(*asked)
        return known

    def _near(self, word: str, limit: int, most_cost: float, least_count: float, margin: float) -> list[Candidate]:
        reach = 1 if len(word) <= 4 else 2
        desk = array("q", word.encode("utf-32-le", "replace").ljust(8 * DESK + 24 * limit, b"\0"))
        table, asked = self._table.buffer_info()[0], desk.buffer_info()[0]
        found = _kernel()(table, asked, len(word), reach, limit, most_cost, math.log(least_count + 1.0), margin)
        costs = memoryview(desk).cast("B").cast("d")[DESK + limit :]
        rows = desk[DESK : DESK + found]
        return [Candidate(self._word(row), self._numbers[row], costs[place]) for place, row in enumerate(rows)]

    @cached_property
    def _rows(self) -> memoryview:
        """The words as bytes, to be cut out quickly."""
        return self._short.data

    @cached_property
    def _numbers(self) -> memoryview:
        """The counts, in the same way."""
        return self.counts.data

    def _settle(self) -> None:
        """Put what kernels read side by side into large pages: it is looked up here and there."""
        arrays = [getattr(self, name) for name in _READ]
        sizes = [-(-one.nbytes // 64) * 8 for one in arrays]
        self._memory = pages(sum(sizes))
        for name, one, begin in zip(_READ, arrays, accumulate(sizes, initial=0), strict=False):
            place = self._memory[begin : begin + -(-one.nbytes // 8)].view(one.dtype)[: one.size].reshape(one.shape)
            place[:] = one
            setattr(self, name, place)

    @cached_property
    def _table(self) -> array[int]:
        """What ``near`` is given of the dictionary: addresses and lengths of arrays, and numbers."""
        arrays = [*[getattr(self, name) for name in _READ], _RELATED, _PRICES]
        table = array("q", [number for one in arrays for number in (one.ctypes.data, one.size)])
        table.append(SIGNATURE_BITS)
        table.frombytes(array("d", [EDIT_WORTH, self.floor]).tobytes())
        return table

    def __getstate__(self) -> dict[str, object]:
        """Addresses mean nothing to another process."""
        return {name: value for name, value in vars(self).items() if name not in _OF_ONE_PROCESS}

    def __setstate__(self, state: dict[str, object]) -> None:
        vars(self).update(state)
        self._settle()

    def measured(self, word: str, reach: int) -> tuple[IntArray, FloatArray]:
        """Plain edits (at most ``reach`` + 1) and costs from ``word`` to every word."""
        from periplus.search.kernels.words import measured

        edits, costs = np.empty(len(self.counts), np.int64), np.empty(len(self.counts))
        packed = np.concatenate([_points(word).astype(np.int64), _RELATED])
        measured(self.letters.reshape(-1), self.lengths, reach, packed, _PRICES, edits, costs)
        return edits, costs


@cache
def _kernel() -> Callable[..., int]:
    from periplus.search.kernels.words import near

    return near.entry


def _comparable(word: str) -> bool:
    return LEAST_LETTERS <= len(word) <= MAX_LETTERS and word.replace("'", "").isalpha()


def _points(word: str) -> LetterArray:
    return np.frombuffer(word.encode("utf-32-le", "replace"), dtype=np.uint32)


def _laid_out(words: list[str]) -> LetterArray:
    """A row a word; zero behind a word's end."""
    padded = "".join(word.ljust(MAX_LETTERS, "\0") for word in words)
    return _points(padded).reshape(len(words), MAX_LETTERS)


def _shortened(letters: LetterArray) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """A row of bytes a word, in which all letters beyond ASCII are one."""
    short = np.zeros((len(letters), SHORT_ROW), np.uint8)
    short[:, :MAX_LETTERS] = np.where(letters < 128, letters, FOREIGN)
    return short.reshape(-1)


def _lengthened(numbers: IntArray) -> LetterArray:
    """In 32 bits, with room behind them: many are read at once."""
    return np.append(numbers, np.zeros(READ_AT_ONCE, np.int64)).astype(np.uint32)


def _masks(letters: LetterArray) -> LetterArray:
    """The letters of each word as bits; different letters may be taken for the same, which only lets more words
    through."""
    masks = np.zeros(len(letters), dtype=np.uint32)
    for column in letters.T:
        bits = np.left_shift(np.uint32(1), column % np.uint32(LETTER_BITS))
        masks |= np.where(column > 0, bits, np.uint32(0))
    return masks


def _by_telling(masks: LetterArray) -> IntArray:
    """The letters that part words best first, in the order of the alphabet: about half of the words have each of these;
    then all others."""
    shares = np.array([np.count_nonzero(masks >> np.uint32(bit) & np.uint32(1)) for bit in range(LETTER_BITS)])
    ranked = np.argsort(np.abs(2 * shares - len(masks)), kind="stable")
    return np.append(np.sort(ranked[:SIGNATURE_BITS]), np.sort(ranked[SIGNATURE_BITS:])).astype(np.int64)


def _chosen(masks: LetterArray, bits: IntArray) -> IntArray:
    """Some bits of masks, side by side."""
    found = np.zeros(len(masks), np.int64)
    for place, bit in enumerate(bits.tolist()):
        found |= (masks >> np.uint32(bit) & np.uint32(1)).astype(np.int64) << place
    return found


def _levels(logarithms: FloatArray) -> IntArray:
    """Documents in a few bits, rounded up, above all others: what is more frequent is a larger number."""
    return np.ceil(logarithms * LEVELS).astype(np.int64) << LEVEL_SHIFT


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


def unknown_among(lexicon: Lexicon, words: list[str], missing: int, *, is_certain: bool) -> list[str]:
    """The same for a query of which ``missing`` says which words may be unknown, as bits; of plain words that may be
    certain."""
    marked = [word for place, word in enumerate(words) if missing >> place & 1]
    if len(words) > MAX_CORRECTED:
        looked_at = list(dict.fromkeys(words))[:MAX_CORRECTED]
        marked = [word for word in marked if word in looked_at]
    return [word for word in dict.fromkeys(marked) if (is_certain and is_one_word(word)) or not known_as(lexicon, word)]


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


def dictionary_of(snapshot: Snapshot) -> Dictionary:
    """The words of a generation."""
    return Dictionary(snapshot.words(MAX_TERMS), snapshot.live)


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
        parted = self._parted(word) if best is None or best.cost > 1.0 else ""
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
        return self._dictionary.near(word, MOST_CLOSE, margin=CLOSE + 1e-6)

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
        among = [forms for text in context[:3] if (forms := self._occurring(text))]
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
