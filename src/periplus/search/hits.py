"""Where words of a query stand in a text, without analysing all of it.

The letters that all forms of a word begin with are looked for by a kernel, in all texts of a page of results at once;
only what follows such a beginning is analysed, and every spelling only once (``spellings.py``).
"""

from __future__ import annotations

import re
import unicodedata
from array import array
from functools import cache
from struct import Struct as Layout
from struct import pack
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from msgspec import Struct

from periplus.index.analysis import STEM_MARK
from periplus.index.analysis.words import has_unspaced
from periplus.index.frames import context, unpacker
from periplus.index.query import STRONG_SHARE
from periplus.search.keys import term_key
from periplus.search.memory import larger, memory_of
from periplus.search.spellings import UNKNOWN, judged, language_name, language_numbers, shared
from periplus.search.stemmers import judge

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from _typeshed import ReadableBuffer

    from periplus.index.frames import Frames
    from periplus.index.query import TermForm
    from periplus.search.memory import Memory
    from periplus.search.plan import QueryWord
    from periplus.search.spellings import Spellings

MAX_PLACES = 16  # where one beginning may stand in one text
MAX_TEXT = 50_000  # code points of a text that are looked at
MOST_WORDS = 1 << 26  # of memory, to unpack into; documents that take more are unpacked one by one
_SPAN, _HIT, _COUNTS = 4, 5, 3  # numbers of a text, of a hit, and those that come with a document
PAGE, MAX_SNIPPET = 10, 260  # of what is shown of a text; code points of it
FRAMES, PACKED, ALONE = 0, 1, 2  # what kernels are given: numbers of documents, these, texts alone
IMPOSSIBLE = -1
# Places of parts of the memory, counted in numbers of 64 bits; and how much there is of some.
TEXTS, QUERY_SIZE, RAW, SPANS, STARTS, UNKNOWN_AT, TOLD, NAMES, NAMES_SIZE, FREE, PAGES, OUT, OUT_SIZE = (
    0, 1, 2, 5, 6, 11, 12, 13, 14, 15, 16, 17, 18,
)  # fmt: skip
HEAD = 24
BARE_CODES = 0x2000  # code points of the scripts that have capitals and accents
_ACCENTED = re.compile("[\u00c0-\u024f\u0370-\u03ff\u0400-\u045f\u1e00-\u1fff]")  # letters that have a bare form
_PLAIN = re.compile(r"[\x00-\x7f]*")

_two = Layout("2q").pack

LetterArray = np.ndarray[Any, np.dtype[np.uint32]]
IntArray = np.ndarray[Any, np.dtype[np.int64]]

_NOTHING = array("q")


class Hit(NamedTuple):
    start: int
    end: int
    word: int  # of the query
    is_stop: bool  # a stop word of the text's language


class Begins(NamedTuple):
    """The strong terms of a word, and the letters that these begin with."""

    terms: list[str]
    hashes: bytes  # how many terms, and the hash of each: as kernels take them
    beginnings: list[bytes]  # of each how many letters, whether it stands only at the start of a word, the letters


class Wanted(Struct, frozen=True):
    """The words of a query as texts are searched for them."""

    beginnings: int
    packed: bytes  # how many beginnings and words; the terms of each word; the beginnings; the weights of words


def wanted(words: Sequence[QueryWord], weights: Sequence[float]) -> Wanted:
    return sought([begins(word.forms, word.prefix) for word in words], weights)


def sought(words: Sequence[Begins], weights: Sequence[float]) -> Wanted:
    """The same from what each word begins with."""
    beginnings: dict[bytes, None] = {}
    parts: list[ReadableBuffer] = [b""]
    for _, hashes, own in words:
        parts.append(hashes)
        for beginning in own:
            beginnings[beginning] = None
    parts[0] = _two(len(beginnings), len(words))
    parts += beginnings
    parts.append(array("d", weights))
    return Wanted(len(beginnings), b"".join(parts))


def begins(forms: tuple[TermForm, ...], prefix: str) -> Begins:
    """The strong terms of a word, and the letters they begin with; those of each when few are common (synonyms)."""
    terms = [form.term for form in forms if form.share >= STRONG_SHARE]
    spelled = [prefix] if prefix else list(dict.fromkeys([term.lstrip(STEM_MARK) for term in terms]))
    shared = _common_beginning(spelled)
    several = [shared] if len(shared) > 1 or len(spelled) == 1 else spelled
    plain = [lowered(letters) for letters in map(_plain_part, several) if letters]
    keys = pack(f"{1 + len(terms)}q", len(terms), *map(term_key, terms))
    return Begins(terms, keys, [_beginning(one) for one in plain])


def _beginning(letters: str) -> bytes:
    """Scripts without spaces have no starts of words."""
    opens_word = letters.isascii() or not has_unspaced(letters)
    return pack(f"{2 + len(letters)}q", len(letters), opens_word, *map(ord, letters))


def _plain_part(letters: str) -> str:
    """The ASCII letters it begins with, where there are enough of them: accents may be written in two ways."""
    if letters.isascii():
        return letters
    plain = _PLAIN.match(letters)
    ascii_part = plain.group() if plain else ""
    return ascii_part if len(ascii_part) > 1 else letters


def _common_beginning(texts: list[str]) -> str:
    if not texts:
        return ""
    least, most = min(texts), max(texts)
    for i, letter in enumerate(least):
        if letter != most[i : i + 1]:
            return least[:i]
    return least


class _Bare(dict[int, str]):
    """A letter's code to that letter without its accent and in lower case, always one letter; filled as they come."""

    def __missing__(self, code: int) -> str:
        letter = chr(code)
        bare = unicodedata.normalize("NFD", letter.lower())[:1]
        self[code] = bare if len(bare.lower()) == 1 else letter
        return self[code]


_BARE = _Bare()


def lowered(text: str) -> str:
    """``text`` in lower case and without accents, every letter at its place."""
    if text.isascii():
        return text.lower()
    low = text.lower()
    return low if len(low) == len(text) and not _ACCENTED.search(text) else text.translate(_BARE)


@cache
def bare_table() -> LetterArray:
    """Code point to the same without accent and in lower case, for the scripts that have such letters."""
    return np.array([ord(_BARE[code]) for code in range(BARE_CODES)], np.uint32)


class Texts:
    """Some texts in the memory of this thread, with the places where words of a query may stand.

    They are good until the thread looks through others.
    """

    __slots__ = ("_judged", "_judged_at", "_memory", "_spellings")

    def __init__(self, memory: Memory, told: int, spellings: Spellings) -> None:
        """What ``_looked`` gives; spellings that nothing is known of are judged here."""
        self._memory = memory
        self._spellings = spellings
        self._judged, self._judged_at = _NOTHING, (0, 0)
        if told:
            self._judged = judged(self._stretches())
            self._judged_at = self._judged.buffer_info()
            spellings.keep(memory.address, self._judged)

    @classmethod
    def of(cls, texts: Sequence[str], languages: Sequence[str], query: Wanted) -> Texts:
        encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
        spans = array("q")
        end = 0
        for text, language in zip(encoded, languages, strict=True):
            spans.extend((end, end + len(text), *language_numbers(language)))
            end += len(text)
        spans.extend([0] * len(encoded))  # a row of a text has room for more
        made = _looked(query, (spans.tobytes(),), len(encoded), encoded, ALONE)
        assert made is not None
        return cls(*made)

    @classmethod
    def packed(cls, documents: Sequence[bytes | memoryview], rows: Sequence[bytes], query: Wanted) -> Texts | None:
        """Those of packed documents, of which ``rows`` tell (``kernels/layout.py``); ``None``: of another version."""
        made = _looked(query, rows, len(documents), documents, PACKED)
        return cls(*made) if made is not None else None

    @classmethod
    def stored(cls, frames: Frames, count: int, rows: Sequence[bytes], query: Wanted) -> Texts | None:
        """Those of stored documents, whose numbers are the first of ``rows``; ``None``: kernels cannot unpack them."""
        made = _looked(query, rows, count, (), FRAMES, frames) if unpacker() else None
        return cls(*made) if made is not None else None

    def _stretches(self) -> list[tuple[str, int, str]]:
        """Text, whether case says nothing about it, and language of the spellings that are to be judged."""
        memory, head = self._memory, self._memory.head
        names = 8 * head[NAMES]
        lines = str(memory.view[names : names + head[NAMES_SIZE] - 1], "utf-8", "surrogatepass").split("\n")
        first, spans = head[UNKNOWN_AT], head[SPANS]
        rows = memory.numbers[first : first + UNKNOWN * head[TOLD]].tolist()
        places = rows[::UNKNOWN]
        languages = {
            place: language_name(head[spans + _SPAN * place + 2], head[spans + _SPAN * place + 3])
            for place in set(places)
        }
        every = zip(lines, rows[3::UNKNOWN], places, strict=True)
        return [(line, simple, languages[place]) for line, simple, place in every]

    def hits(self) -> list[tuple[int, int, int, int, int]]:
        """Of each hit its start, end and word, whether it is a stop word, and its text; by place."""
        count = self._run(_kernels().gather)
        first = self._memory.head[FREE]
        numbers = iter(self._memory.numbers[first : first + _HIT * count].tolist())
        return list(zip(numbers, numbers, numbers, numbers, numbers, strict=True))

    def show(self, rank: int = 0) -> int:
        """Choose what is shown; with the rank of the first result also write results, and say how many cannot be."""
        return self._run(_kernels().show, rank, rank > 0)

    def _run(self, kernel: Callable[..., int], *more: int) -> int:
        table = self._spellings
        while True:
            memory = self._memory
            made = kernel(memory.address, memory.words, table.entries_at, table.entries_size, *self._judged_at, *more)
            if made >= 0:
                return made
            self._memory = larger(memory, -made)

    @property
    def results(self) -> memoryview:
        """As ``show`` wrote them, packed."""
        memory = self._memory
        first = 8 * memory.head[OUT]
        return memory.view[first : first + memory.head[OUT_SIZE]]

    @property
    def pages(self) -> IntArray:
        """What ``show`` chose of each text, and behind that the marks of all of them; a copy."""
        head = self._memory.head
        first = head[PAGES]
        return self._memory.numbers[first : first + (PAGE + 2 * MAX_SNIPPET) * head[TEXTS]].copy()

    @property
    def query(self) -> Wanted:
        """That which they were searched for."""
        head, end = self._memory.head, HEAD + self._memory.head[QUERY_SIZE]
        return Wanted(head[HEAD], bytes(self._memory.view[8 * HEAD : 8 * end]))

    @property
    def numbers(self) -> list[int]:
        """Those of stored documents, as they were given."""
        first = HEAD + self._memory.head[QUERY_SIZE]
        numbers: list[int] = self._memory.numbers[first : first + self._memory.head[TEXTS]].tolist()
        return numbers

    @property
    def scores(self) -> list[float]:
        """The same of their scores."""
        first = HEAD + self._memory.head[QUERY_SIZE] + self._memory.head[TEXTS]
        scores: list[float] = self._memory.numbers[first : first + self._memory.head[TEXTS]].view(np.float64).tolist()
        return scores

    @property
    def counts(self) -> list[list[int]]:
        """The other numbers of stored documents."""
        texts = self._memory.head[TEXTS]
        first = HEAD + self._memory.head[QUERY_SIZE] + 2 * texts
        counts: list[list[int]] = self._memory.numbers[first : first + _COUNTS * texts].reshape(-1, _COUNTS).tolist()
        return counts

    def document(self, place: int) -> memoryview:
        """As it is packed."""
        head = self._memory.head
        raw, starts = 8 * head[RAW], head[STARTS] + place
        return self._memory.view[raw + head[starts] : raw + head[starts + 1]]


def _looked(
    query: Wanted,
    rows: Sequence[bytes],
    count: int,
    several: Sequence[bytes | memoryview],
    stage: int,
    frames: Frames | None = None,
) -> tuple[Memory, int, Spellings] | None:
    """Memory in which texts were looked through, how many spellings are unknown, and the others; ``None``: in vain."""
    given = b"".join((query.packed, *rows, *several))
    raw = sum(map(len, several)) if several else 0
    needed = HEAD + len(given) // 8 + 1
    look, bare, bare_size = _kernels().look
    segments, unpack, own = (frames.address, unpacker(), context()) if frames is not None else (0, 0, 0)
    spellings, own_judge = shared(), judge()
    while stage != FRAMES or needed <= MOST_WORDS:
        memory = memory_of(needed)
        memory.view[8 * HEAD : 8 * HEAD + len(given)] = given
        told = look(
            memory.address, memory.words, stage, count, len(query.packed) // 8, raw, MAX_TEXT, MAX_PLACES,
            bare, bare_size, spellings.used, spellings.entries_at, spellings.entries_size, spellings.slots_at,
            spellings.slots_size, segments, frames.segments if frames is not None else 0, unpack, own,
            own_judge.address, own_judge.size,
        )  # fmt: skip
        if told >= 0:
            return memory, told, spellings
        if told == IMPOSSIBLE:
            break
        needed = -told
    return None


class _Kernels(NamedTuple):
    look: tuple[Callable[..., int], int, int]  # with the table of bare letters, and its size
    gather: Callable[..., int]
    show: Callable[..., int]


@cache
def _kernels() -> _Kernels:
    from periplus.search.kernels.hits import gather
    from periplus.search.kernels.showing import show
    from periplus.search.kernels.texts import look

    return _Kernels((look.entry, bare_table().ctypes.data, BARE_CODES), gather.entry, show.entry)


def hits(text: str, query: Wanted, language: str) -> list[Hit]:
    """Words of the query in ``text``, in any form, by place."""
    return hits_of_all([text], query, [language])[0]


def hits_of_all(several: Sequence[str], query: Wanted, languages: Sequence[str]) -> list[list[Hit]]:
    """The same in each of some texts, at the cost of one."""
    found: list[list[Hit]] = [[] for _ in several]
    if query.beginnings and several:
        for start, end, word, stop, place in Texts.of(several, languages, query).hits():
            found[place].append(Hit(start, end, word, bool(stop)))
    return found
