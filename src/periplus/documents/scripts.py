"""Languages known by what they are written in: a script of their own, or letters that their neighbours lack."""

from __future__ import annotations

import re
from collections import Counter
from typing import Final

_HEAD: Final = 400  # characters that are looked at
_MOST: Final = 0.6  # share of the letters that must be of the script: names and brands are written in Latin
_FEWEST: Final = 4  # letters
# First and last character of a block of Unicode. Left out is what several languages write: Devanagari, Bengali …
_BLOCKS: Final = (
    ("hy", 0x0530, 0x058F), ("pa", 0x0A00, 0x0A7F), ("gu", 0x0A80, 0x0AFF), ("or", 0x0B00, 0x0B7F),
    ("ta", 0x0B80, 0x0BFF), ("te", 0x0C00, 0x0C7F), ("kn", 0x0C80, 0x0CFF), ("ml", 0x0D00, 0x0D7F),
    ("si", 0x0D80, 0x0DFF), ("th", 0x0E00, 0x0E7F), ("lo", 0x0E80, 0x0EFF), ("ka", 0x10A0, 0x10FF),
    ("ko", 0x1100, 0x11FF), ("km", 0x1780, 0x17FF), ("ko", 0xAC00, 0xD7A3),
)  # fmt: skip
_FIRST_HAN: Final = "\u3400"
_CHARACTER: Final = re.compile("[\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_CHARACTERS: Final = 6  # from which Chinese and Japanese are told; a name of few characters may be either
_KANA: Final = 0.1
_CYRILLIC: Final = re.compile("[\u0400-\u052f]")
_CYRILLIC_FEWEST: Final = 12  # letters
_SLAVIC: Final = frozenset("абвгдежзийклмнопрстуфхцчшщъыьэюяёіїєґўђћѓќѕјљњџ")
# Letters that a language has and some that it has not.
_OWN_LETTERS: Final = tuple(
    (frozenset(own), frozenset(without), language)
    for own, without, language in (
        ("ђћ", "ѓќѕщыэю", "sr"), ("ѓќѕ", "ђћщыэю", "mk"), ("ў", "щъїєґ", "be"), ("їєґ", "ўыэёъ", "uk"),
        ("і", "ўыэёъј", "uk"), ("і", "щъїєґј", "be"), ("ыэё", "іїєґўј", "ru"),
    )
)  # fmt: skip
_IN_BLOCK: Final = re.compile("[" + "".join(f"{chr(first)}-{chr(last)}" for _, first, last in _BLOCKS) + "]")


def language_of(text: str) -> str:
    """The language whose script most of a text is in; empty where scripts do not tell."""
    head = text[:_HEAD]
    if len(characters := _CHARACTER.findall(head)) >= _CHARACTERS:
        return _of_characters(head, characters)
    found = _IN_BLOCK.findall(head)
    if len(found) < _FEWEST:
        return ""
    counts = Counter(map(_language, found))
    language, times = counts.most_common(1)[0]
    others = sum(map(str.isalpha, _IN_BLOCK.sub("", head)))
    return language if times >= _MOST * (len(found) + others) else ""


def by_cyrillic_letters(text: str) -> str:
    """The Slavic language whose own Cyrillic letters a text has, and none that it does not write; else empty.

    Languages of Asia that write *ы* have letters of their own beside it, but a short text may lack them.
    """
    letters = _CYRILLIC.findall(text[:_HEAD].lower())
    found = set(letters)
    if len(letters) < _CYRILLIC_FEWEST or found - _SLAVIC:
        return ""
    return next((language for own, without, language in _OWN_LETTERS if found & own and not found & without), "")


def _of_characters(head: str, found: list[str]) -> str:
    """Chinese is written in characters alone, Japanese with kana among them; empty for something between."""
    if len(found) < _MOST * sum(map(str.isalpha, head)):
        return ""
    kana = sum(char < _FIRST_HAN for char in found)
    if not kana:
        return "zh"
    return "ja" if kana >= _KANA * len(found) else ""


def _language(char: str) -> str:
    return next(language for language, first, last in _BLOCKS if first <= ord(char) <= last)
