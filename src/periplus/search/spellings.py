"""Spellings met in texts, with the terms that the analysis makes of each: found out once, for the texts of any query.

A kernel looks a spelling up by its code points and its text's language; what it does not know comes back to be judged
here. The table is part of no generation. When it is full it is forgotten, all at once.
"""

from __future__ import annotations

import re
import threading
from array import array
from functools import cache, lru_cache
from struct import pack, unpack
from typing import TYPE_CHECKING

import numpy as np

from periplus.index.analysis import STEM_MARK, analyze
from periplus.index.analysis.forms import MAX_PARTS, MAX_TERM_BYTES, exact_term, parts, stem_term
from periplus.index.analysis.stemming import base_language, stem
from periplus.index.analysis.words import ascii_pattern
from periplus.search.keys import term_key
from periplus.search.plan import stops

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

NUMBERS = 1 << 20  # of all that is kept: 8 MB, some 18 numbers a spelling, never less than 5
SLOTS = 1 << 18  # more than there can be spellings
LANGUAGES_KEPT = 1_000
MAX_LANGUAGE = 15  # bytes of a language's name; what is behind them says nothing about its words
MAX_BYTE = 255
_PIECES = re.compile("[A-Z]+(?=[A-Z][a-z])|[A-Z]*[a-z0-9]+|[A-Z]+")  # of names such as HTMLParser
UNKNOWN = (
    5  # numbers of a spelling that is to be judged: text, start, end, whether case says nothing about it, its hash
)


class Spellings:
    """What is known of spellings, as kernels read it while others add to it.

    An entry is written before ``used`` says so, and whoever reads takes ``used`` first and nothing from there on.
    """

    def __init__(self, numbers: int = NUMBERS) -> None:
        self._slots, self._entries = np.zeros(SLOTS, np.int64), np.zeros(numbers, np.int64)
        self.slots_at, self.slots_size = self._slots.ctypes.data, SLOTS
        self.entries_at, self.entries_size = self._entries.ctypes.data, numbers
        self.used = 1  # numbers; an empty slot points at the first
        self._lock = threading.Lock()

    def keep(self, memory: int, judged: array[int]) -> None:
        """Add what was found out of the unknown spellings of the texts in some memory."""
        with self._lock:
            used = _kernel()(
                memory, *judged.buffer_info(), self.used, self.entries_at, self.entries_size, self.slots_at, SLOTS
            )
            self.used = abs(used)
        if used < 0:
            renew(self)


@cache
def _kernel() -> Callable[..., int]:
    from periplus.search.kernels.spellings import keep

    return keep.entry


_shared = [Spellings()]


def shared() -> Spellings:
    """The spellings that all threads share."""
    return _shared[0]


@lru_cache(maxsize=LANGUAGES_KEPT)
def language_numbers(name: str) -> tuple[int, int]:
    """The name of a language as kernels have it: its bytes, and their number in the last one."""
    data = name.encode("utf-8", "surrogatepass")
    one, other = unpack("<2q", data[:MAX_LANGUAGE].ljust(MAX_LANGUAGE, b"\0") + bytes([min(len(data), MAX_BYTE)]))
    return one, other


@lru_cache(maxsize=LANGUAGES_KEPT)
def language_name(one: int, other: int) -> str:
    """The name, or how it begins."""
    *data, size = pack("<2q", one, other)
    return bytes(data[:size]).decode("utf-8", "replace")


def renew(full: Spellings) -> None:
    """Begin anew; searches that still use the old ones may go on."""
    if _shared[0] is full:
        _shared[0] = Spellings()


def judged(stretches: Sequence[tuple[str, int, str]]) -> array[int]:
    """Of each stretch, whether case says nothing about it, and language: where it begins, then all of them.

    Each is the number of its words; of each word its start and end, whether it is a stop word, how many terms it has,
    and the terms' hashes, those that count first first.
    """
    numbers = array("q", bytes(8 * len(stretches)))
    for place, (stretch, simple, language) in enumerate(stretches):
        numbers[place] = len(numbers)
        numbers.extend(_one_word(stretch.lower(), language) if simple else _words(stretch, language))
    return numbers


def _one_word(word: str, language: str) -> tuple[int, ...]:
    """ASCII letters are one word: the same as ``_words``, at once."""
    stemmed = stem(word, language)
    short = stemmed.isascii() and len(stemmed) < MAX_TERM_BYTES
    term = STEM_MARK + stemmed if short else stem_term(word, base_language(language))
    return 1, 0, len(word), stops(word, language), 2, term_key(word), term_key(term)


def _words(stretch: str, language: str) -> list[int]:
    found = [0]
    for start, end, terms in tokens(stretch, language):
        found[0] += 1
        found += (start, end, stops(stretch[start:end].lower(), language), len(terms), *map(term_key, terms))
    return found


def tokens(stretch: str, language: str) -> list[tuple[int, int, list[str]]]:
    """The words of a stretch: start, end and terms."""
    plain = stretch.replace("\u2019", "'")  # which the analysis does, too
    if not plain.isascii():
        return [(token.start, token.end, [form.term for form in token.forms]) for token in analyze(stretch, language)]
    if len(plain) <= MAX_TERM_BYTES and plain.replace("_", "a").isalnum():
        return [(0, len(plain), _terms(plain, language, _parts_of_name(plain)))]
    return [(*match.span(), _terms(match[0], language, parts(match[0]))) for match in ascii_pattern().finditer(plain)]


def _terms(word: str, language: str, others: list[str]) -> list[str]:
    """The terms of an ASCII word, as the analysis makes them, with those of its parts."""
    exact = exact_term(word)
    stemmed = stem_term(exact, base_language(language))
    return [exact, stemmed, *others] if stemmed else [exact, *others]


def _parts_of_name(name: str) -> list[str]:
    """``parts`` of ASCII letters, digits and underscores, which are a word as they stand: found in one run."""
    if name.isalpha() and (name.islower() or name.istitle() or name.isupper()):
        return []
    found: list[str] = []
    for piece in name.split("_"):
        if piece != name or piece.islower():
            found.append(piece)
        if not piece.islower():
            found += _PIECES.findall(piece)
    terms = [piece.lower() for piece in found if len(piece) > 1 and not piece.isdigit()]
    return list(dict.fromkeys(terms))[:MAX_PARTS]
