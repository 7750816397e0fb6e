"""The words of a query as one generation knows them: which forms occur, in how many documents, where their lists are.

What is known of a word is kept for the next query (``Lexicon``): to find it out takes longer than many a search.
"""

from __future__ import annotations

import threading
from array import array
from functools import cache, cached_property
from itertools import accumulate, count
from struct import Struct as Layout
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from periplus.index.analysis import MAX_TERM_BYTES
from periplus.index.query import STRONG_SHARE, TermForm
from periplus.search.hits import Begins, begins

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.index.snapshot import Snapshot
    from periplus.search.plan import QueryWord

MAX_FORMS = 24  # of one word; prefixes have many
WORDS_KEPT = 20_000  # of queries
CHUNK, CHUNKS_KEPT = 1 << 17, 64  # numbers of memory for their lists that are taken at once, and how often: 64 MB
MAX_TOGETHER = 64  # words that are passed to the kernel at once
DESK = 1 << 16  # numbers: more than so many words take, with all their forms
LONGEST = MAX_TERM_BYTES + 1  # bytes of a term that are looked at: nothing of this length occurs
_LISTED, _FORMED = 24, 32  # bytes of a form, as a first pass and as the re-ranking take it

_HEADS = [Layout("q" + "qd" * words).pack for words in range(16)]

IntArray = np.ndarray[Any, np.dtype[np.int64]]
Forms = tuple[TermForm, ...]


class Known(Struct, frozen=True):
    """A word that occurs, with the forms that do."""

    forms: Forms
    weight: float  # the idf of its most frequent strong form
    begins: Begins  # what its terms begin with, for snippets
    packed: bytes  # its lists as a first pass takes them: weight, address, documents
    forms_packed: bytes  # as the re-ranking takes them: address, whether it is strong, share, documents
    lists: list[IntArray]  # what the addresses point into

    @property
    def terms(self) -> list[str]:
        return [form.term for form in self.forms]

    @property
    def frequencies(self) -> list[int]:
        """Documents with each form."""
        return array("q", self.packed).tolist()[2::3]


class _Kept:
    """Words and terms that were asked for, and the memory that their addresses point into."""

    def __init__(self) -> None:
        self.words: dict[Forms, Known | None] = {}
        self.terms: dict[str, tuple[int, int]] = {}  # documents that have it, and where its lists are
        self.chunks: list[IntArray] = []
        self.begin, self.room = 0, 0  # of what is left of the last one: an address, and how many numbers

    @property
    def is_full(self) -> bool:
        return len(self.words) >= WORDS_KEPT or len(self.chunks) > CHUNKS_KEPT

    def take(self, numbers: int) -> None:
        self.begin += 8 * numbers
        self.room -= numbers

    def make_room(self, numbers: int) -> None:
        self.room = max(CHUNK, numbers)
        self.chunks.append(np.empty(self.room, np.int64))
        self.begin = self.chunks[-1].ctypes.data


class _Desk:
    """Memory by which words are passed to the kernel, and what is known of them comes back."""

    def __init__(self) -> None:
        self.memory = np.zeros(DESK, np.int64)
        self.address: int = self.memory.ctypes.data
        self.numbers, self.reals = self.memory.data, self.memory.view(np.float64).data
        self.bytes = self.numbers.cast("B")


class Lexicon:
    """What one generation knows of words, found once; forgotten all at once when there are too many."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self._kept = _Kept()
        self._desk = _Desk()
        self._at_desk = threading.Lock()

    def frequency(self, term: str) -> int:
        """Live documents with a term."""
        return self.frequencies([term])[0]

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        """The same of some terms; what is new is looked up together."""
        kept = self._kept
        known = kept.terms
        try:
            return [known[term][0] for term in terms]
        except KeyError:
            pass
        for first in range(0, len(terms), MAX_FORMS * MAX_TOGETHER):
            self._learn(kept, terms[first : first + MAX_FORMS * MAX_TOGETHER], (), ())
        return [known[term][0] for term in terms]

    def known(self, word: QueryWord) -> Known | None:
        """Nothing when no form of the word occurs."""
        if word.prefix:
            beginning = tuple([TermForm(term) for term, _ in self.snapshot.prefix(word.prefix, MAX_FORMS)])
            return self._known(self._kept, [beginning], word.prefix)[0]
        return self.known_all([word])[0]

    def known_all(self, words: Sequence[QueryWord]) -> list[Known | None]:
        """The same of some words without prefixes; what is new is looked up together."""
        known = self._kept.words
        try:
            return [known[word.forms] for word in words]
        except KeyError:
            pass
        if self._kept.is_full:
            self._kept = _Kept()  # others may still read the old ones
        kept = self._kept
        known = kept.words
        new = list(dict.fromkeys([word.forms for word in words if word.forms not in known]))
        for first in range(0, len(new), MAX_TOGETHER):
            together = new[first : first + MAX_TOGETHER]
            known.update(zip(together, self._known(kept, together), strict=True))
        return [known[word.forms] for word in words]

    def _known(self, kept: _Kept, words: Sequence[Forms], prefix: str = "") -> list[Known | None]:
        words = [forms[:MAX_FORMS] for forms in words]
        every = [form for forms in words for form in forms]
        ends = list(accumulate(map(len, words)))
        facts, data = self._learn(kept, [form.term for form in every], [form.share for form in every], ends)
        listed, formed = 0, _LISTED * len(every)
        known: list[Known | None] = []
        for asked, (occurring, weight) in zip(words, facts, strict=True):
            if not occurring:
                known.append(None)
                continue
            forms = asked
            if occurring < len(asked):
                forms = tuple([form for form in asked if kept.terms[form.term][0]])
            begin, listed = listed, listed + _LISTED * occurring
            start, formed = formed, formed + _FORMED * occurring
            known.append(
                Known(forms, weight, begins(forms, prefix), data[begin:listed], data[start:formed], kept.chunks)
            )
        return known

    def _learn(
        self, kept: _Kept, terms: Sequence[str], shares: Sequence[float], ends: Sequence[int]
    ) -> tuple[list[tuple[int, float]], bytes]:
        """Terms to those that are kept. Of words that end so among them how many forms occur, and a weight; and all of
        these forms as kernels take them."""
        with self._at_desk:  # a term has one address, however many words it is a form of
            known, desk, table = kept.terms, self._desk, self.snapshot.table
            new = [term for term in dict.fromkeys(terms) if term not in known]
            place = dict(zip(new, count(), strict=False))
            given: list[int] = []
            if len(new) < len(terms):
                for term in terms:
                    if term not in place:
                        place[term] = len(place)
                        given += known[term]
            texts = [term.encode("utf-8", "surrogatepass")[:LONGEST] for term in new]
            places = [place[term] for term in terms] if ends else ()
            numbers = array("q", [*accumulate(map(len, texts)), *given, *places, *ends])
            request = b"".join([numbers, array("d", shares), *texts])
            desk.bytes[: len(request)] = request
            behind = (len(request) + 7) // 8
            sizes = (len(new), len(place), len(places), len(ends))
            asked = (table.address, table.segments, self.snapshot.live, *sizes, desk.address, 8 * behind)
            used = _kernel()(*asked, kept.begin, kept.room)
            if used < 0:
                kept.make_room(-used)
                used = _kernel()(*asked, kept.begin, kept.room)
            kept.take(used)
            counts = behind + 2 * len(place)
            found = desk.numbers[behind:counts].tolist()
            known.update(zip(new, zip(found[::2], found[1::2], strict=True), strict=False))
            weights = counts + len(ends)
            packed = weights + len(ends)
            facts = zip(desk.numbers[counts:weights], desk.reals[weights:packed], strict=True)
            return list(facts), desk.bytes[8 * packed : 8 * packed + (_LISTED + _FORMED) * len(places)].tobytes()


@cache
def _kernel() -> Callable[..., int]:
    from periplus.search.kernels.learning import learn

    return learn.entry


class Terms:
    """The words of a query that the collection knows, with all their forms in one list."""

    def __init__(self, lexicon: Lexicon, words: Sequence[QueryWord]) -> None:
        pairs = [(word, known) for word in words if (known := lexicon.known(word)) is not None]
        self.words: Sequence[QueryWord] = [word for word, _ in pairs]
        self.known: Sequence[Known] = [known for _, known in pairs]

    @classmethod
    def of(cls, words: Sequence[QueryWord], known: Sequence[Known]) -> Terms:
        """Of words that are known already."""
        terms = cls.__new__(cls)
        terms.words, terms.known = words, known
        return terms

    @property
    def forms(self) -> list[tuple[TermForm, ...]]:
        return [known.forms for known in self.known]

    @cached_property
    def place(self) -> dict[str, int]:
        """Of each term among all of them."""
        places: dict[str, int] = {}
        for known in self.known:
            for term in known.terms:
                places.setdefault(term, len(places))
        return places

    @property
    def terms(self) -> list[str]:
        return list(self.place)

    @cached_property
    def frequencies(self) -> dict[str, int]:
        return {term: size for known in self.known for term, size in zip(known.terms, known.frequencies, strict=True)}

    @cached_property
    def labels(self) -> list[int]:
        """Of each term the first word that it is a strong form of; -1 when there is none."""
        found: dict[str, int] = {}
        for word, known in enumerate(self.known):
            for form in known.forms:
                if form.share >= STRONG_SHARE:
                    found.setdefault(form.term, word)
        return [found.get(term, -1) for term in self.place]

    @property
    def sought(self) -> bytes:
        """As the kernel takes it that reads the index itself: words; of each its forms and its weight; all forms."""
        known = self.known
        heads: list[float] = []
        for word, one in zip(self.words, known, strict=True):
            heads += (len(one.forms), word.weight)
        head = _HEADS[len(known)] if len(known) < len(_HEADS) else Layout("q" + "qd" * len(known)).pack
        return head(len(known), *heads) + b"".join([one.forms_packed for one in known])

    @property
    def lists(self) -> tuple[bytes, list[int]]:
        """All lists as a first pass takes them, and how many each word has."""
        return b"".join([one.packed for one in self.known]), [len(one.forms) for one in self.known]
