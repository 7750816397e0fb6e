"""The usual search by two kernel calls: a query of plain words, the first pages of its list, no preferences.

One call reads the words and finds them in the index (``kernels/wording.py``), one makes the page of results
(``kernels/usual.py``). The other rooms' kernels are called by their addresses, in the memory that each thread keeps for
them. What is not usual in any way comes back as nothing, and is searched step by step (``execution.py``); tests hold
both to the same answers.
"""

from __future__ import annotations

import threading
import time
from calendar import timegm
from functools import cache
from itertools import accumulate, pairwise
from struct import Struct as Layout
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from msgspec import Struct, structs
from numpy.typing import NDArray

from periplus.index.analysis.stemming import DEFAULT_LANGUAGE
from periplus.index.frames import context, unpacker
from periplus.index.plain import MAX_LISTS
from periplus.index.rooms import Room, room_of, rooms
from periplus.index.snapshot import COUNT_LIMIT
from periplus.index.weights import fixed
from periplus.records import SearchResult, Total
from periplus.search.completion import FEW_RESULTS as LITTLE
from periplus.search.evidence import CHUNK
from periplus.search.execution import MAX_FETCHED
from periplus.search.finishing import decode, decoded, finished_from
from periplus.search.hits import BARE_CODES, HEAD, MAX_PLACES, MAX_TEXT, OUT, OUT_SIZE, Texts, bare_table
from periplus.search.keys import table_of, term_key
from periplus.search.memory import Memory, memory_of
from periplus.search.shortlist import Memory as ListMemory
from periplus.search.shortlist import memory_of as list_memory_of
from periplus.search.spellings import shared
from periplus.search.stemmers import Judge, judge
from periplus.search.terms import SLOTS, Kept
from periplus.search.typed import STOP_SHARE
from periplus.search.vocabulary import stop_languages, telling_words

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.ranking import Profile
    from periplus.search.generations import Generation
    from periplus.search.spellings import Spellings
    from periplus.search.terms import Terms

TYPED, MOST_TYPED = 100, 512  # where on a desk the text as typed is, in numbers, and how many bytes it may have
DESK, MEMORIES = 1 << 12, 9  # numbers
REQUEST = 962  # where the terms of the words are on a desk: hashes, ends, ends of words, shares, and the text
ROWS, WORD_ROW = 20, 5  # where words have their numbers on a desk, and how many
FIRST_FORM, SAYS, STOPS_HERE = 0, 3, 2  # two of these; and the bit of a stop word that may always go
MOST_LANGUAGES, MOST_TOLD = 3, 16  # that words are read in, and that they may tell of
MOST_WORDS = 16
WORDS, FORMS, LANGUAGE, FRESH, OUTPUT, NEEDED, TOTAL, EXACT, KEPT, UNKNOWN, MISSING = range(11)  # on a desk
LISTS, GROUPS, FORMS_SIZE, TEXT_SIZE, _SIGNED, IS_SPELT = range(11, 17)
UNUSUAL, BROKEN, TO_JUDGE, NOTHING, PACKED = -1, -2, -3, -4, -5


class Found(Struct, frozen=True, gc=False):
    """A page of results, and what there is to know of the list it is from."""

    results: list[SearchResult]
    total: Total
    listed: int  # results of the list, as far as it was made
    missing: int  # words that may be misspelt, as bits; 0 where that was known before
    is_certain: bool  # none of the plain ones among them occurs in any form
    kept: Kept | None = None  # what addresses on the desk point into
    words: tuple[str, ...] = ()  # those that were looked for, where so little was found that others are suggested


class Desk(Struct):
    """Numbers by which a query goes from kernel to kernel; of one thread, like the memory that they work in."""

    numbers: NDArray[np.int64]
    address: int
    head: memoryview
    typed: memoryview  # the place of the text, as bytes
    memories: NDArray[np.int64]
    memories_at: int
    judge: Judge  # whose address is used
    laid_out: tuple[Room, ListMemory, Memory] | None = None  # whose addresses are among these


class _Own(threading.local):
    desk: Desk | None = None


_own = _Own()


def desk_of_thread() -> Desk:
    return _own.desk or _desk()


def _desk() -> Desk:
    numbers, memories = np.zeros(DESK, np.int64), np.zeros(MEMORIES, np.int64)
    typed = numbers.data.cast("B")[8 * TYPED : 8 * TYPED + MOST_TYPED]
    _own.desk = Desk(numbers, numbers.ctypes.data, numbers.data, typed, memories, memories.ctypes.data, judge())
    return _own.desk


class _Kernels(NamedTuple):
    read: Callable[..., int]
    search: Callable[..., int]
    steps: list[int]  # addresses
    learn: int


@cache
def _kernels() -> _Kernels:
    from periplus.index.kernels.first_pass import first_pass
    from periplus.ranking.kernels import shortlist
    from periplus.search.kernels.learning import learn
    from periplus.search.kernels.showing import show
    from periplus.search.kernels.texts import look
    from periplus.search.kernels.usual import search_usual
    from periplus.search.kernels.wording import read_words

    steps = [kernel.address for kernel in (first_pass, shortlist, look, show)]
    return _Kernels(read_words.entry, search_usual.entry, steps, learn.address)


@cache
def _telling() -> NDArray[np.int64]:
    """Telling words by the last bits of their hash: of each that, the languages whose stop word it is, whether it asks
    for the new; a hash of 0 where there is none."""
    return table_of([(term_key(word), languages, fresh) for word, languages, fresh in telling_words()])


def usual_searches(generation: Generation, profile: Profile) -> Usual | None:
    """Those of a profile whose formula a kernel has, where the functions of C that kernels call are at hand."""
    possible = profile.fused is not None and profile.candidates <= CHUNK and judge().address and unpacker()
    return Usual(generation, profile) if possible else None


class Usual:
    """Usual searches over one generation, by one profile."""

    def __init__(self, generation: Generation, profile: Profile) -> None:
        snapshot = generation.snapshot
        self._lexicon = generation.lexicon
        self._lists = generation.shortlists.get(profile.name) or generation.shortlists_of(profile)
        kernels, own = _kernels(), judge()
        self._read, self._search = kernels.read, kernels.search
        table, frames, bare = snapshot.table, snapshot.frames, bare_table()
        prior = fixed(profile.prior_weight) if profile.prior_weight > 0 else 0
        self._means = np.array(
            [
                *kernels.steps, table.address, table.segments, prior, COUNT_LIMIT, self._lists.address,
                profile.candidates, profile.limit, bare.ctypes.data, BARE_CODES, frames.address, unpacker(), MAX_TEXT,
                MAX_PLACES, snapshot.live, MAX_FETCHED, generation.nameless,
            ],
            np.int64,
        )  # fmt: skip
        self._means_at: int = self._means.ctypes.data
        telling = _telling()
        languages = [own.place(name) for name in generation.languages or ("",)]
        told = [own.place(name) for name in stop_languages()]
        count = len(languages) if 0 not in languages else 0
        self._facts = np.array(
            [
                table.address, table.segments, snapshot.live, SLOTS, kernels.learn, telling.ctypes.data,
                len(telling) // 3, own.place(DEFAULT_LANGUAGE), count,
                *_filled(languages, MOST_LANGUAGES), *_filled(told, MOST_TOLD),
            ],
            np.int64,
        )  # fmt: skip
        self._facts_at: int = self._facts.ctypes.data
        self._kept = (table, frames, bare, telling)  # whose addresses are used
        self._told = ["", *stop_languages()]
        self._year, self._since, self._until = 0, 0.0, 0.0

    def found(
        self, generation: Generation, query: str, reader: str, first: int, last: int, per_host: int, fold: bool
    ) -> Found | None:
        """Results of a query from the first to before the last; nothing when it is not usual."""
        data, now = query.encode(), time.time()
        size = len(data)
        if size > MOST_TYPED:
            return None
        desk = _own.desk or _desk()
        head = desk.head
        desk.typed[:size] = data
        if not self._since <= now < self._until:
            self._note_year(now)
        # Not a function of its own, though it should be: whatever follows a search has to be brought back from memory.
        kept, own = self._lexicon.room_for(MOST_WORDS), desk.judge
        with self._lexicon.learning:
            while True:
                used = self._read(
                    self._facts_at, desk.address, size, own.address, own.size, self._year, kept.entries, kept.begin,
                    kept.room,
                )  # fmt: skip
                if used >= 0:
                    kept.take(used)
                    kept.terms += head[head[OUTPUT]]
                    break
                if not head[NEEDED]:
                    return None
                kept.make_room(head[NEEDED])
        language = self._told[head[LANGUAGE]] or reader
        age = now if head[FRESH] else 0.0
        found = self._page(generation, desk, language, age, first, last, per_host, fold, kept)
        if found is not None and found.total.value < LITTLE:
            return structs.replace(found, words=_sought(head, generation.snapshot.live))
        return found

    def found_of(
        self,
        generation: Generation,
        terms: Terms,
        language: str,
        now: float,  # 0: age does not matter
        first: int,
        last: int,
        per_host: int,
        fold: bool,
    ) -> Found | None:
        """The same for words that are known already."""
        lists, sizes = terms.lists
        groups, count = len(sizes), sum(sizes)
        if count > MAX_LISTS:
            return None
        if count != groups:
            lists += Layout(f"{groups + 1}q").pack(*accumulate(sizes, initial=0))
        desk = _own.desk or _desk()
        room, listed, page = desk.laid_out or _lay_out(desk)
        sought, texts = terms.sought, terms.wanted.packed
        room.view[: len(lists)] = lists
        listed.view[: len(sought)] = sought
        page.view[8 * HEAD : 8 * HEAD + len(texts)] = texts
        desk.head[MISSING] = 0
        desk.head[LISTS], desk.head[GROUPS] = count, groups
        desk.head[FORMS_SIZE], desk.head[TEXT_SIZE] = len(sought) // 8, len(texts) // 8
        return self._page(generation, desk, language, now, first, last, per_host, fold)

    def _page(
        self,
        generation: Generation,
        desk: Desk,
        language: str,
        now: float,
        first: int,
        last: int,
        per_host: int,
        fold: bool,
        kept: Kept | None = None,
    ) -> Found | None:
        """What the kernel makes of a query on the desk."""
        languages, count = self._lists.worth(language)
        spellings, head = shared(), desk.head
        _, _, page = desk.laid_out or _lay_out(desk)
        special = self._search(
            self._means_at, desk.memories_at, desk.address, last + 1, first, last, per_host,
            fold and self._lists.folds(generation), languages, count, spellings.used, spellings.entries_at,
            now, spellings.entries_size, spellings.slots_at, spellings.slots_size,
        )  # fmt: skip
        if special == UNUSUAL:
            desk.laid_out = None  # the steps may ask for more memory, and keep it
            return None
        if special == BROKEN:
            raise IndexError("a kernel of the usual search failed")
        if special:
            results = _other_results(generation, page, special, head[UNKNOWN], spellings, first + 1)
        else:
            begin = 8 * page.head[OUT]
            results = decode(page.view[begin : begin + page.head[OUT_SIZE]])
        value = head[TOTAL]
        total = Total(value) if head[EXACT] else Total(value, "gte")
        return Found(results, total, head[KEPT], head[MISSING], head[IS_SPELT] > 0, kept)

    def _note_year(self, now: float) -> None:
        """Which year it is, since when and until when."""
        self._year = time.gmtime(now).tm_year
        self._since, self._until = (float(timegm((year, 1, 1, 0, 0, 0))) for year in (self._year, self._year + 1))


def _lay_out(desk: Desk) -> tuple[Room, ListMemory, Memory]:
    """The memory of this thread, which grows now and then; the desk holds on to it and knows where it is."""
    room, listed, page = desk.laid_out = rooms.own or room_of(0), list_memory_of(), memory_of()
    own = (room.address, room.words, listed.address, listed.words, page.address, page.words)
    desk.memories[:] = (*own, context(), desk.judge.address, desk.judge.size)
    return room, listed, page


def _other_results(
    generation: Generation, page: Memory, special: int, unknown: int, spellings: Spellings, rank: int
) -> list[SearchResult]:
    """What is not written yet, or not all of it."""
    if special == NOTHING:
        return []
    texts = Texts(page, unknown if special == TO_JUDGE else 0, spellings)
    if special == PACKED:
        return finished_from(texts, generation.snapshot, rank)
    return decoded(texts, rank, texts.show(rank) if special == TO_JUDGE else special)


def documents_on_desk() -> list[tuple[str, int]]:
    """The terms of the query on this thread's desk, with the documents of each."""
    head = desk_of_thread().head
    forms, output = head[FORMS], head[OUTPUT]
    ends, text = head[REQUEST + forms : REQUEST + 2 * forms], REQUEST + 3 * forms + head[WORDS]
    letters = head[text:output].tobytes().decode("latin-1")  # all of ASCII, but for what is left behind them
    terms = [letters[begin:end] for begin, end in pairwise((0, *ends))]
    return list(zip(terms, head[output + 1 : output + 1 + forms], strict=True))


def _sought(head: memoryview, live: int) -> tuple[str, ...]:
    """The words on the desk, each once, but for those that go as stop words: ``plan.kept_of``."""
    rows, terms = head[ROWS : ROWS + WORD_ROW * head[WORDS]].tolist(), documents_on_desk()
    words, stops = [terms[form] for form in rows[FIRST_FORM::WORD_ROW]], rows[SAYS::WORD_ROW]
    frequent = STOP_SHARE * live
    goes = [
        stop & STOPS_HERE or (stop and documents >= frequent) for stop, (_, documents) in zip(stops, words, strict=True)
    ]
    everything_stops = 0 not in stops
    return tuple(
        dict.fromkeys([word for (word, _), one in zip(words, goes, strict=True) if everything_stops or not one])
    )


def _filled(numbers: list[int], size: int) -> list[int]:
    return [*numbers, *[0] * size][:size]
