"""Words: where they begin and end in a text.

Rules, in the order they are tried at each place (all examples are one word):

* ``user@example.org``: mail addresses
* ``C++`` ``g++`` ``C#``: a short name with its signs
* ``#tag`` ``@name`` ``.NET``: a sign before a word, at the start of a word
* ``1,000,000``: digits in groups of three
* ``AT&T`` ``R&D`` ``node.js`` ``3.11`` ``example.org`` ``don't`` ``snake_case``: words joined by one sign
* runs of letters, digits and marks of any script

A run of a script without spaces (Chinese, Japanese, Korean, Thai …) is cut by ``analysis.forms`` into pairs.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from periplus.index.analysis.characters import marks, spaced, unspaced

if TYPE_CHECKING:
    from collections.abc import Iterator


class Word(NamedTuple):
    text: str  # as written, in the normalised text
    start: int
    end: int
    unspaced: bool


@cache
def word_pattern() -> re.Pattern[str]:
    plain = f"[{spaced()}]"
    return _pattern(plain, f"|(?P<unspaced>[{unspaced()}][{unspaced()}{marks()}]*)")


@cache
def ascii_pattern() -> re.Pattern[str]:
    """The same rules for texts of ASCII alone, three times as fast."""
    return _pattern("[A-Za-z0-9_]", "")


def _pattern(plain: str, unspaced_rule: str) -> re.Pattern[str]:
    return re.compile(
        r"[A-Za-z]{1,2}(?:\+\+|\#)(?:\d{1,2})?(?!\w)"
        r"|\d{1,3}(?:,\d{3})+(?![\d,])"
        f"|(?:(?<![\\w.&])[#@.])?{plain}+(?:[.&'\u2019]{plain}+)*(?:@{plain}+(?:[.-]{plain}+)+)?"
        f"{unspaced_rule}"
    )


@cache
def letter_pattern() -> re.Pattern[str]:
    """One letter of a script without spaces, with its marks."""
    return re.compile(f"[{unspaced()}](?:(?![{unspaced()}])[{marks()}]|[\u0e31\u0e34-\u0e3a\u0e47-\u0e4e])*")


def words(text: str) -> Iterator[Word]:
    """The words of a normalised text, in order."""
    pattern = ascii_pattern() if text.isascii() else word_pattern()
    for match in pattern.finditer(text):
        yield Word(match.group(), match.start(), match.end(), match.lastgroup is not None)


def ascii_words(text: str) -> list[Any]:
    """The words of a text of ASCII alone, without their places."""
    return ascii_pattern().findall(text)
