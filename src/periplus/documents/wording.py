"""The words of a text, weighed by a kernel: its fingerprint, and how common and how repeated its first words are."""

from __future__ import annotations

import threading
from functools import cache
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from periplus.documents.quick import Installed
from periplus.documents.stopwords import ADULT_WORDS, STOP_WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from numpy.typing import NDArray

_MARGIN: Final = 8  # bytes behind the text that may be read
_LONGEST: Final = 64 * 1024  # bytes


class Weighed(NamedTuple):
    fingerprint: int | None  # none where the text has to be taken by characters
    words: int  # looked at
    common: int  # of these without weight in the language
    most: int  # how often the most frequent long one of the others occurs; 0 where none is frequent
    is_suspect: bool  # whether there is a word of pages for adults


class _Room(threading.local):
    def __init__(self) -> None:
        from periplus.documents.kernels import wording

        self.text = np.zeros(_LONGEST + _MARGIN, dtype=np.uint8)
        self.arrays = [np.zeros(size, dtype=np.int64) for size in (wording.COUNT, 8, wording.ANSWER)]
        self.calls: dict[str, Callable[[int], int]] = {}  # by language
        self.entry: Any = None  # that they belong to

    def call(self, language: str, entry: Callable[..., Callable[[int], int]]) -> Callable[[int], int]:
        if self.entry != entry:
            self.calls, self.entry = {}, entry
        known = self.calls.get(language)
        if known is None:
            known = entry(self.text, *_common(language), *_listed(ADULT_WORDS), *self.arrays)
            self.calls[language] = known
        return known


@cache
def _room() -> _Room:
    return _Room()


def weigh(folded: bytes, language: str) -> Weighed | None:
    """Weigh at most 64 KiB of text in lower case; None where there is no kernel."""
    entries = Installed.entries
    if entries is None:
        return None
    from periplus.documents.kernels import wording

    room = _room()
    room.text[: len(folded)] = np.frombuffer(folded, dtype=np.uint8)
    room.call(language if language in STOP_WORDS else "", entries.weigh_words)(len(folded))
    fingerprint, is_unspaced, *rest = room.arrays[2][: wording.BITS].tolist()
    words, common, most, is_suspect = rest[:4]
    return Weighed(None if is_unspaced else fingerprint, words, common, most, bool(is_suspect))


@cache
def _common(language: str) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    return _listed(STOP_WORDS.get(language, frozenset()))


@cache
def _listed(words: frozenset[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Words one after the other, and where they begin and end, by their hashes."""
    most = 2 * len(words) + 1
    slots = np.zeros(2 * most, dtype=np.int64)
    blob = b" "  # so that no word ends at 0, which stands for none
    for word in sorted(words):
        data = word.encode()
        slot = (_hash(data) >> 32) % most
        while slots[2 * slot + 1]:
            slot = (slot + 1) % most
        slots[2 * slot : 2 * slot + 2] = (len(blob), len(blob) + len(data))
        blob += data
    slots.setflags(write=False)
    return np.frombuffer(blob, dtype=np.uint8), slots


def _hash(data: Iterable[int]) -> int:
    """That of the kernel."""
    from periplus.documents.kernels import wording

    factor: Any = int(wording.HASH)
    data = bytes(data)
    word = len(data)
    for byte in data:
        word = (word ^ byte) * factor % 2**64
        word ^= word >> 29
    return int(word * factor % 2**64)
