"""Stemmers by address: kernels call the library's own function, and know a term by the interpreter's own hash.

The library has its C functions in the open. Where these are missing, or the interpreter hashes strings in another way,
there is no address, and spellings are judged one by one (``spellings.py``).
"""

from __future__ import annotations

import ctypes
import sys
import threading
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import Stemmer

from periplus.index.analysis import composed
from periplus.index.analysis.characters import fold
from periplus.index.analysis.stemming import ALGORITHMS, DEFAULT_LANGUAGE
from periplus.search.keys import table_of, term_key
from periplus.search.spellings import language_numbers
from periplus.search.vocabulary import stop_languages, stop_words

if TYPE_CHECKING:
    from numpy.typing import NDArray

HASH = ("siphash13", 0)  # of strings, of any size
_FIRST, _LANGUAGE = 6, 5  # numbers before those of languages, and of each of these
LETTERS_END, BARE_SHIFT, CAPITAL_SHIFT = 0x250, 16, 24  # Latin letters, and what is told of each (``kernels/stemming``)
# Usual ones without a stemmer, in which a word is its own stem.
UNSTEMMED = (
    "vi", "zh", "ja", "ko", "uk", "bg", "hr", "sk", "sl", "lv", "he", "th", "ms", "la", "gl", "sq", "mk",
    "bs", "is", "bn", "ur", "ml", "te", "kn", "mr", "gu", "ka", "kk", "az", "be", "af", "sw", "cy",
)  # fmt: skip
LANGUAGES = (DEFAULT_LANGUAGE, "", *[name for name in ALGORITHMS if name != DEFAULT_LANGUAGE], *UNSTEMMED)


class Judge:
    """Stemmers of all languages and what else a kernel has to know; of one thread, since a stemmer has a state."""

    def __init__(self) -> None:
        self.address = self.size = 0
        self._stemmers: list[int] = []
        library, keys = _library(), _keys()
        if library is None or keys is None:
            return
        functions = _address(library.sb_stemmer_stem), _address(library.sb_stemmer_length)
        numbers = [*keys, *functions, len(LANGUAGES), _letters().ctypes.data]
        for name in LANGUAGES:
            stemmer = 0
            if name not in UNSTEMMED:
                stemmer = library.sb_stemmer_new(ALGORITHMS[name or DEFAULT_LANGUAGE].encode(), None)
                if not stemmer:
                    continue
                self._stemmers.append(stemmer)
            stops = _stop_table(name if name in stop_languages() else "")
            numbers += [*language_numbers(name), stemmer, stops.ctypes.data, len(stops)]
        self._numbers = np.array(numbers, np.int64)
        self.address, self.size = self._numbers.ctypes.data, len(numbers)

    def __del__(self) -> None:
        for stemmer in self._stemmers:
            _library().sb_stemmer_delete(stemmer)


class _Own(threading.local):
    judge: Judge | None = None


_own = _Own()


def judge() -> Judge:
    """That of this thread."""
    if _own.judge is None:
        _own.judge = Judge()
    return _own.judge


@cache
def _library() -> Any:
    try:
        library = ctypes.CDLL(Stemmer.__file__)
        library.sb_stemmer_new.argtypes, library.sb_stemmer_new.restype = [ctypes.c_char_p] * 2, ctypes.c_void_p
        library.sb_stemmer_delete.argtypes, library.sb_stemmer_delete.restype = [ctypes.c_void_p], None
        _address(library.sb_stemmer_stem)
        _address(library.sb_stemmer_length)
    except (OSError, AttributeError):
        return None
    return library


def _address(function: Any) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0


@cache
def _keys() -> tuple[int, int] | None:
    """Those of the interpreter's hash of strings, which it draws at its start."""
    if (sys.hash_info.algorithm, sys.hash_info.cutoff) != HASH:
        return None
    try:
        one, other = (ctypes.c_int64 * 2).in_dll(ctypes.pythonapi, "_Py_HashSecret")
    except ValueError:
        return None
    return one, other


@cache
def _stop_table(language: str) -> NDArray[np.int64]:
    """The hashes of a language's stop words, by their last bits; 0 where there is none."""
    return table_of([(term_key(word),) for word in stop_words(language)])


@cache
def _letters() -> NDArray[np.uint32]:
    """Of each Latin letter itself in lower case, that without its accent, and whether it is a capital, as bits; 0 for
    what is no letter, or does not stay one letter in all of that."""
    table = np.zeros(LETTERS_END, np.uint32)
    for code in range(LETTERS_END):
        letter = chr(code)
        low = letter.lower()
        bare = fold(low)
        is_one = len(low) == len(bare) == 1 and bare.isascii() and ord(low) < LETTERS_END
        is_cased = letter.isalpha() and letter.isupper() != letter.islower()
        if is_one and is_cased and low == letter.casefold() and composed(letter) == letter and composed(low) == low:
            table[code] = ord(low) | ord(bare) << BARE_SHIFT | letter.isupper() << CAPITAL_SHIFT
    return table
