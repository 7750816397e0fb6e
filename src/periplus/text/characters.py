"""Characters: which of them make words, how they are normalised and how their diacritics are folded.

``normalized`` gives NFKC text with a map back to the code points of the text it was made from, because all
offsets that leave this room are offsets in the text as it was given.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache

# Scripts written without spaces between words (first plane): indexed as overlapping pairs of letters.
UNSPACED_RANGES = (
    (0x0E00, 0x0E7F),  # Thai
    (0x0E80, 0x0EFF),  # Lao
    (0x1000, 0x109F),  # Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x1100, 0x11FF),  # Hangul letters
    (0x3005, 0x3007),
    (0x3040, 0x30FF),  # Hiragana, Katakana
    (0x31F0, 0x31FF),
    (0x3400, 0x4DBF),  # Han
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7A3),  # Hangul syllables
    (0xF900, 0xFAFF),
)
# Marks that only decorate a letter; the vowel signs of Indic scripts are not among them.
DECORATING_MARKS = re.compile("[\u0300-\u036f\u0591-\u05bd\u05bf-\u05c7\u064b-\u0652\u0670]+")
# Letters that no decomposition takes apart.
PLAIN_LETTERS = str.maketrans(
    {"ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "æ": "ae", "œ": "oe", "ı": "i", "ħ": "h", "ŧ": "t", "ŋ": "n"}
)
# What NFKC changes in most texts that it changes: wide blanks and dots, and the signs of Chinese texts.
COMMON_CHANGES = tuple(
    (sign, unicodedata.normalize("NFKC", sign)) for sign in "\xa0\u2026\uff0c\uff1a\uff08\uff09\uff1b\uff1f\uff01"
)
HIGHEST_POINT = 0xFFFF
HIGHEST_MARK = 0x1F000  # no later character is composed with one before it
HANGUL_FOLLOWERS = range(0x1160, 0x1200)  # vowels and finals


@cache
def mark_points() -> list[int]:
    """The combining marks of the first plane."""
    return [point for point in range(0x300, HIGHEST_POINT) if unicodedata.category(chr(point)) in ("Mn", "Mc")]


@cache
def marks() -> str:
    """The combining marks of the first plane, as the inside of a character class."""
    return _as_class(mark_points())


@cache
def spaced() -> str:
    """Letters, digits and marks of all other scripts, as the inside of a character class."""
    without = [range(low, high + 1) for low, high in UNSPACED_RANGES]
    points = [
        point
        for point in range(HIGHEST_POINT)
        if (chr(point).isalnum() or chr(point) == "_" or unicodedata.category(chr(point)) in ("Mn", "Mc"))
        and not any(point in span for span in without)
    ]
    return _as_class(points)


def unspaced() -> str:
    """Letters of scripts without spaces, as the inside of a character class."""
    return "".join(f"{chr(low)}-{chr(high)}" for low, high in UNSPACED_RANGES)


def fold(term: str) -> str:
    """The term without diacritics: ``é`` → ``e``, ``ø`` → ``o``."""
    if term.isascii():
        return term
    apart = unicodedata.normalize("NFD", term)
    return unicodedata.normalize("NFC", DECORATING_MARKS.sub("", apart)).translate(PLAIN_LETTERS)


@cache
def unsettled_points() -> list[int]:
    """Characters of the first plane that NFKC may change, or that may be composed with what stands before them.

    A text without any is NFKC. They are normalised all at once, parted by line ends, which nothing is composed with.
    """
    points = range(0x80, HIGHEST_POINT + 1)
    settled = unicodedata.normalize("NFKC", "\n".join(map(chr, points))).split("\n")
    pairs = zip(points, settled, strict=True)
    return [point for point, there in pairs if there != chr(point) or joins(point)]


def composed(text: str) -> str:
    """NFKC of ``text``."""
    if text.isascii() or unicodedata.is_normalized("NFKC", text):
        return text
    # All that is wrong with most texts; nothing is composed with what these become, so the order makes no difference.
    for wide, plain in COMMON_CHANGES:
        text = text.replace(wide, plain)
    if unicodedata.is_normalized("NFKC", text):
        return text
    # Line by line, because nothing is composed with a line end, and most lines are as they should be.
    return "\n".join([unicodedata.normalize("NFKC", line) for line in text.split("\n")])


def normalized(text: str) -> tuple[str, list[int] | None]:
    """NFKC of ``text``, and for each of its code points the place it came from (``None`` when nothing changed)."""
    if text.isascii() or unicodedata.is_normalized("NFKC", text):
        return text, None
    parts: list[str] = []
    places: list[int] = []
    for match in _cluster_pattern().finditer(text):
        part = match.group()
        if part.isascii():
            places.extend(range(match.start(), match.end()))
        else:
            part = unicodedata.normalize("NFKC", part)
            places.extend([match.start()] * len(part))
        parts.append(part)
    places.append(len(text))
    return "".join(parts), places


@cache
def _cluster_pattern() -> re.Pattern[str]:
    """A run of ASCII, or a character with all that may be composed with it; normalised apart they give the whole."""
    joining = f"[{_as_class([point for point in range(0x300, HIGHEST_MARK) if joins(point)])}]"
    return re.compile(f"[\x00-\x7f]+(?!{joining})|(?s:.){joining}*")


def joins(point: int) -> bool:
    """Whether a character may be composed with what stands before it: marks, vowels and finals of Hangul."""
    character = chr(point)
    if unicodedata.category(character)[0] == "M":
        return True
    if not unicodedata.decomposition(character):
        return point in HANGUL_FOLLOWERS
    first = unicodedata.normalize("NFKD", character)[0]
    return unicodedata.combining(first) > 0 or ord(first) in HANGUL_FOLLOWERS


def _as_class(points: list[int]) -> str:
    ranges: list[list[int]] = []
    for point in points:
        if ranges and ranges[-1][1] == point - 1:
            ranges[-1][1] = point
        else:
            ranges.append([point, point])
    return "".join(f"{chr(low)}-{chr(high)}" if high > low else chr(low) for low, high in ranges)
