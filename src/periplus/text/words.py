"""Words: where they begin and end in a text.

Rules, in the order they are tried at each place (all examples are one word):

* ``user@example.org``: mail addresses
* ``C++`` ``g++`` ``C#`` ``C++17``: a short name with its signs
* ``operator<<`` ``operator[]``: the name of an operator
* ``<vector>`` ``<stdio.h>``: a name in angle brackets, not behind a word
* ``#tag`` ``@name`` ``.NET`` ``&str``: a sign before a word, at the start of a word
* ``1,000,000``: digits in groups of three
* ``AT&T`` ``R&D`` ``node.js`` ``3.11`` ``example.org`` ``don't`` ``snake_case``: words joined by one sign
* runs of letters, digits and marks of any script
* ``main()`` ``argv[]`` ``T&`` ``char*`` ``notepad++`` ``2+`` of ``2+2``: signs behind a word that belong to it

A run of a script without spaces (Chinese, Japanese, Korean, Thai …) is cut by ``analysis.forms`` into pairs.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from periplus.text.characters import marks, spaced, unspaced

if TYPE_CHECKING:
    from collections.abc import Iterator

# Python tests a set that has members beyond the first plane one range after the other: these are kept apart.
RARE_HAN = "[\U00020000-\U0003ffff]"
THAI_MARKS = "[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e]"  # of the Thai letters, those that stand above or below another


class Word(NamedTuple):
    text: str  # as written, in the normalised text
    start: int
    end: int
    unspaced: bool


@cache
def word_pattern() -> re.Pattern[str]:
    """Words of any script; runs of scripts without spaces are not yet parted from what they touch."""
    return _pattern(f"[\\w{marks()}]")


@cache
def ascii_pattern() -> re.Pattern[str]:
    """Words by the rules of ``word_pattern``, for texts of ASCII alone."""
    return _pattern("[A-Za-z0-9_]")


@cache
def mixed_pattern() -> re.Pattern[str]:
    """Words with runs of scripts without spaces parted from others; slow, so only for words that hold some."""
    run = f"(?P<unspaced>{_unspaced_letter()}(?:[{unspaced()}{marks()}]|{RARE_HAN})*)"
    return re.compile(f"{run}|{_pattern(f'[{spaced()}]').pattern}")


@cache
def letter_pattern() -> re.Pattern[str]:
    """One letter of a script without spaces, with its marks."""
    return re.compile(f"{_unspaced_letter()}(?:(?![{unspaced()}])[{marks()}]|{THAI_MARKS})*")


@cache
def unspaced_pattern() -> re.Pattern[str]:
    return re.compile(_unspaced_letter())


def words(text: str) -> Iterator[Word]:
    """The words of a normalised text, in order."""
    if text.isascii():
        for match in ascii_pattern().finditer(text):
            yield Word(match.group(), match.start(), match.end(), unspaced=False)
        return
    is_unspaced = unspaced_pattern().search
    for match in word_pattern().finditer(text):
        word = match.group()
        if word.isascii() or not is_unspaced(word):
            yield Word(word, match.start(), match.end(), unspaced=False)
            continue
        for part in mixed_pattern().finditer(text, match.start(), match.end()):
            yield Word(part.group(), part.start(), part.end(), part.lastgroup is not None)


def has_unspaced(text: str) -> bool:
    """Whether a text holds letters of a script without spaces."""
    return not text.isascii() and unspaced_pattern().search(text) is not None


# Signs behind a word that belong to it: of a call, an array, a pointer or reference, and those of 2+2 and notepad++.
_SIGNS_BEHIND = r"\(\)|\[\]|\*{1,2}(?![\w*])|&{1,2}(?![\w&])|\+{1,2}(?![\w+])|(?<=[0-9])\+(?=[0-9])"
_OPERATOR = r"operator(?:\(\)|\[\]|[-+*/%^&|~!=<>]{1,3}(?![-\w+*/%^&|~!=<>]))"


def _pattern(plain: str) -> re.Pattern[str]:
    return re.compile(
        r"[A-Za-z]{1,2}(?:\+\+|\#)(?:\d{1,2})?(?!\w)"
        r"|\d{1,3}(?:,\d{3})+(?![\d,])"
        f"|{_OPERATOR}"
        f"|(?<![\\w.&])<{plain}+(?:\\.{plain}+)*>"
        f"|(?:(?<![\\w.&])[#@.&])?{plain}+(?:[.&'\u2019]{plain}+)*"
        f"(?:@{plain}+(?:[.-]{plain}+)+|{_SIGNS_BEHIND})?"
    )


def _unspaced_letter() -> str:
    return f"(?:[{unspaced()}]|{RARE_HAN})"
