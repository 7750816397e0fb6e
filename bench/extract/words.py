"""Words and how two texts are compared by them.

A word is a run of letters, digits and underscores of the lower-cased text in Unicode form NFKC. Scripts written without
spaces have no such runs: every character of Han, Hiragana, Katakana, Thai, Lao, Khmer and Burmese is a word of its own.
Texts are multisets of words: order does not count, how often a word comes does.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections import Counter
from typing import NamedTuple

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W{_UNSPACED}]+")
HASH_CHARS = 12


class Score(NamedTuple):
    precision: float
    recall: float
    f1: float


def words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).lower())


def digest(found: list[str]) -> str:
    """A short hash of the words in their order; it tells whether a label still fits its page."""
    return hashlib.sha256(" ".join(found).encode()).hexdigest()[:HASH_CHARS]


def compare(text: str, main: Counter[str], neutral: Counter[str]) -> Score:
    """How well ``text`` gives ``main``; words of ``neutral`` are neither asked for nor held against it."""
    given = Counter(words(text))
    right = (given & main).total()
    wrong = (given - main - neutral).total()
    precision = right / (right + wrong) if right + wrong else 0.0
    recall = right / main.total() if main else 0.0
    return Score(precision, recall, 2 * precision * recall / (precision + recall) if precision + recall else 0.0)
