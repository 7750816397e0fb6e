"""The words of a query as one generation knows them: which forms occur, in how many documents, where their lists are.

What is known of a word is kept for the next query (``Lexicon``): to find it out takes longer than many a search.
"""

from __future__ import annotations

import threading
from array import array
from functools import cache, cached_property
from itertools import accumulate, compress
from struct import Struct as Layout
from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct, structs

from periplus.index.analysis import MAX_TERM_BYTES
from periplus.index.plan import weights_of
from periplus.index.query import STRONG_SHARE, TermForm
from periplus.index.weights import idf
from periplus.search.highlighter import Highlights, SoughtWord, sought_word
from periplus.search.keys import term_key

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.index.snapshot import Snapshot
    from periplus.search.plan import QueryWord

MAX_FORMS = 24  # of one word; prefixes have many
WORDS_KEPT = 20_000  # of queries
CHUNK, CHUNKS_KEPT = 1 << 17, 64  # numbers of memory for their lists that are taken at once, and how often: 64 MB
MAX_TOGETHER = 64  # words that are passed to the kernel at once
DESK = 1 << 16  # numbers: more than so many words take, with all their forms
SLOTS, TERMS_KEPT = 1 << 17, 60_000  # places of terms, 5 MB in all, and how many of them are taken at most
ENTRY, FACTS, LISTED, FORMED = 5, 2, 3, 4  # numbers of a term, of a word, of a form in two ways, as the kernel has them
LONGEST = MAX_TERM_BYTES + 1  # bytes of a term that are looked at: nothing of this length occurs
_HEADS = [Layout("q" + "qd" * words).pack for words in range(16)]

IntArray = np.ndarray[Any, np.dtype[np.int64]]
Forms = tuple[TermForm, ...]


class Known(Struct, frozen=True):
    """A word that occurs, with the forms that do."""

    forms: Forms
    weight: float  # the idf of its most frequent strong form
    sought: SoughtWord  # as texts are searched for it
    packed: bytes  # its lists as a first pass takes them: weight, address, documents
    forms_packed: bytes  # as the re-ranking takes them: address, whether it is strong, share, documents
    lists: list[IntArray]  # what the addresses point into

    @property
    def terms(self) -> list[str]:
        return [form.term for form in self.forms]

    def weighing(self, weight: float, live: int) -> Known:
        """The same of a word that is asked for so often, among ``live`` documents."""
        if weight == 1.0:
            return self
        lists = array("q", self.packed)
        worth = [idf(live, documents) for documents in lists[2::LISTED]]
        lists[::LISTED] = array("q", weights_of(self.forms, worth, weight))
        return structs.replace(self, packed=lists.tobytes())

    @property
    def frequencies(self) -> list[int]:
        """Documents with each form."""
        return array("q", self.packed).tolist()[2::3]


class Lists(Struct, frozen=True):
    """Where a word's forms that occur are listed."""

    count: int
    documents: int  # with any of them, at most
    packed: bytes  # as a first pass takes them: weight, address, documents
    memory: list[IntArray]  # what the addresses point into


class Kept:
    """What was asked for, all forgotten together: words, terms, and the memory that their addresses point into.

    Addresses of one query come from one such memory, since by them words know what terms they share.
    """

    def __init__(self) -> None:
        self.typed: dict[tuple[str, ...], dict[str, Any]] = {}  # by languages, then as typed (``typed.py``)
        self.words: dict[Forms, Known | None] = {}
        self.frequencies: dict[str, int] = {}  # of terms that were asked for by themselves
        self.chunks: list[IntArray] = [np.zeros(ENTRY * SLOTS, np.int64)]  # the table of terms, then texts and lists
        self.entries: int = self.chunks[0].ctypes.data
        self.count = 0  # of words in both tables
        self.terms = 0
        self.begin, self.room = 0, 0  # of what is left of the last chunk: an address, and how many numbers

    def has_room(self, words: int) -> bool:
        fits = self.count + words <= WORDS_KEPT and self.terms + MAX_FORMS * words <= TERMS_KEPT
        return fits and len(self.chunks) <= CHUNKS_KEPT + 1

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


class _Places:
    """Where in what the kernel wrote the next word's pieces begin, in bytes."""

    def __init__(self, forms: int) -> None:
        self.form = self.listed = 0
        self.formed = 8 * LISTED * forms

    def pieces(self, data: bytes, forms: Forms) -> tuple[bytes, bytes]:
        """The lists of a word of these forms, as a first pass and as the re-ranking take them."""
        listed, formed = self.listed, self.formed
        self.listed = listed + 8 * LISTED * len(forms)
        self.formed = formed + 8 * FORMED * len(forms)
        return data[listed : self.listed], data[formed : self.formed]


class Lexicon:
    """What one generation knows of words, found once; forgotten all at once when there are too many."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot = snapshot
        self.kept = Kept()
        self._desk = _Desk()
        self.learning = threading.Lock()

    def room_for(self, words: int) -> Kept:
        """Where so many words more may be kept."""
        kept = self.kept
        if not kept.has_room(words):
            kept = self.kept = Kept()  # others may still read the old one
        return kept

    def frequency(self, term: str) -> int:
        """Live documents with a term."""
        return self.frequencies([term])[0]

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        """The same of some terms; what is new is looked up together."""
        kept = self.kept
        try:
            return [kept.frequencies[term] for term in terms]
        except KeyError:
            pass
        kept = self.room_for(len(terms) // MAX_FORMS + 1)
        known = kept.frequencies
        new = [term for term in dict.fromkeys(terms) if term not in known]
        for first in range(0, len(new), MAX_FORMS * MAX_TOGETHER):
            some = new[first : first + MAX_FORMS * MAX_TOGETHER]
            with self.learning:
                at = self._learn(kept, some)
                known.update(zip(some, self._desk.numbers[at : at + len(some)], strict=True))
        return [known[term] for term in terms]

    def known(self, word: QueryWord) -> Known | None:
        """Nothing when no form of the word occurs."""
        if word.prefix:
            beginning = tuple([TermForm(term) for term, _ in self.snapshot.prefix(word.prefix, MAX_FORMS)])
            (known,) = self.learnt(self.room_for(1), [beginning])
            return structs.replace(known, sought=sought_word(known.forms, word.prefix)) if known is not None else None
        return self.known_all([word])[0]

    def known_all(self, words: Sequence[QueryWord]) -> list[Known | None]:
        """The same of some words without prefixes; what is new is looked up together."""
        known = self.kept.words
        try:
            return [known[word.forms] for word in words]
        except KeyError:
            pass
        kept = self.room_for(len(words))
        new = list(dict.fromkeys([word.forms for word in words if word.forms not in kept.words]))
        kept.words.update(zip(new, self.learnt(kept, new), strict=True))
        kept.count += len(new)
        return [kept.words[word.forms] for word in words]

    def learnt(self, kept: Kept, words: Sequence[Forms]) -> list[Known | None]:
        """What there is to know of words, whose terms go to ``kept``."""
        known: list[Known | None] = []
        for first in range(0, len(words), MAX_TOGETHER):
            known += self._known(kept, [forms[:MAX_FORMS] for forms in words[first : first + MAX_TOGETHER]])
        return known

    def _known(self, kept: Kept, words: Sequence[Forms]) -> list[Known | None]:
        every = [form for forms in words for form in forms]
        count, numbers = len(every), self._desk.numbers
        with self.learning:
            sizes = [len(forms) for forms in words]
            documents = self._learn(kept, [form.term for form in every], [form.share for form in every], sizes)
            facts = documents + count
            listed = facts + FACTS * len(words)
            frequencies, said = numbers[documents:facts].tolist(), numbers[facts:listed].tolist()
            weights = self._desk.reals[facts + 1 : listed : FACTS].tolist()
            size = (LISTED + FORMED) * count
            data = self._desk.bytes[8 * listed : 8 * (listed + size)].tobytes()
        at, known = _Places(count), list[Known | None]()
        for place, forms in enumerate(words):
            occurring = said[FACTS * place]
            there = frequencies[at.form : at.form + len(forms)]
            at.form += len(forms)
            if not occurring:
                known.append(None)
                continue
            own = forms if occurring == len(forms) else tuple(compress(forms, there))
            known.append(Known(own, weights[place], sought_word(own), *at.pieces(data, own), kept.chunks))
        return known

    def lists(self, words: Sequence[Forms]) -> list[Lists]:
        """Where some words are listed, which are not kept themselves; at most ``MAX_TOGETHER``, of each so many forms
        as of any word."""
        some = [forms[:MAX_FORMS] for forms in words]
        every = [form for forms in some for form in forms]
        return self._lists([form.term for form in every], [form.share for form in every], [len(one) for one in some])

    def lists_of_terms(self, terms: Sequence[str]) -> tuple[list[int], bytes, list[IntArray]]:
        """Documents of terms; the lists of those that occur, as a first pass takes them; what their addresses point
        into."""
        kept, count = self.room_for(len(terms) // MAX_FORMS + 1), len(terms)
        with self.learning:
            at = self._learn(kept, terms, [1.0] * count, [1] * count)
            documents = self._desk.numbers[at : at + count].tolist()
            listed = at + (1 + FACTS) * count
            size = LISTED * (count - documents.count(0))
            return documents, self._desk.bytes[8 * listed : 8 * (listed + size)].tobytes(), kept.chunks

    def _lists(self, terms: Sequence[str], shares: Sequence[float], sizes: Sequence[int]) -> list[Lists]:
        kept, numbers = self.room_for(len(sizes)), self._desk.numbers
        with self.learning:
            facts = self._learn(kept, terms, shares, sizes) + len(terms)
            listed = facts + FACTS * len(sizes)
            counts = numbers[facts:listed:FACTS].tolist()
            size = LISTED * sum(counts)
            data, documents = (
                self._desk.bytes[8 * listed : 8 * (listed + size)].tobytes(),
                numbers[listed + 2 : listed + size : LISTED].tolist(),
            )
        found, begin = list[Lists](), 0
        for count in counts:
            end = begin + count
            packed = data[8 * LISTED * begin : 8 * LISTED * end]
            found.append(Lists(count, sum(documents[begin:end]), packed, kept.chunks))
            begin = end
        return found

    def _learn(self, kept: Kept, terms: Sequence[str], shares: Sequence[float] = (), sizes: Sequence[int] = ()) -> int:
        """Terms to those that are kept. At the desk, from the number on that is given back, are then the documents of
        each, and what there is to know of words, of which they are so many forms each."""
        desk, table = self._desk, self.snapshot.table
        texts = [term.encode("utf-8", "surrogatepass")[:LONGEST] for term in terms]
        ends = accumulate(sizes)
        numbers = array("q", [*map(term_key, terms), *accumulate(map(len, texts)), *ends])
        request = b"".join([numbers, array("d", shares or bytes(8 * len(terms))), *texts])
        desk.bytes[: len(request)] = request
        behind = (len(request) + 7) // 8
        asked = (table.address, table.segments, self.snapshot.live, len(terms), len(sizes))
        while True:
            used = _kernel()(*asked, desk.address, 8 * behind, kept.entries, SLOTS, kept.begin, kept.room)
            if used >= 0:
                break
            kept.make_room(-used)
        kept.take(used)
        kept.terms += desk.numbers[behind]
        return behind + 1


@cache
def _kernel() -> Callable[..., int]:
    from periplus.search.kernels.learning import learn

    return learn.entry


class Terms:
    """The words of a query that the collection knows, with all their forms in one list."""

    def __init__(self, lexicon: Lexicon, words: Sequence[QueryWord]) -> None:
        plain = iter(lexicon.known_all([word for word in words if not word.prefix]))  # at once: a term has one address
        found = [lexicon.known(word) if word.prefix else next(plain) for word in words]
        pairs = [(word, known) for word, known in zip(words, found, strict=True) if known is not None]
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
    def highlights(self) -> Highlights:
        """As texts are searched for them."""
        return Highlights.of([known.sought for known in self.known], [known.weight for known in self.known])

    @property
    def lists(self) -> tuple[bytes, list[int]]:
        """All lists as a first pass takes them, and how many each word has."""
        return b"".join([one.packed for one in self.known]), [len(one.forms) for one in self.known]
