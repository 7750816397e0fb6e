"""Cleaning of text: what leaves this room has no control characters, no lone surrogates and no invisible joints.

A clean text holds letters, marks, digits, punctuation, symbols and single spaces; paragraphs are parted by ``\\n``.
"""

from __future__ import annotations

import re
from typing import Final

# C0 and C1 controls, soft hyphen, zero-width space, bidirectional overrides and isolates, byte-order mark, lone
# surrogates and the two non-characters. Joiners (200C, 200D) stay: several scripts and emoji are spelled with them.
_UNWANTED: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u202a-\u202e\u2060-\u2069\ud800-\udfff\ufeff\ufffe\uffff]"
)
_WIDE_SPACE: Final = re.compile(r"[^\S ]")


def clean(text: str) -> str:
    """One line: runs of white space become one space, unwanted characters vanish."""
    text = text.strip()
    if text.isprintable() and "  " not in text:  # so single spaces are its only white space
        return text
    line = " ".join(text.split())
    return line if line.isprintable() else " ".join(_UNWANTED.sub("", line).split())


def clean_lines(text: str) -> str:
    """Several lines, for code and plain text: inner spacing kept, tabs widened, empty lines dropped."""
    lines = [line.rstrip() for line in text.expandtabs(4).splitlines()]
    return "\n".join(filter(None, [line if line.isprintable() else _printable(line) for line in lines]))


def _printable(line: str) -> str:
    """The line without unwanted characters; spaces of other widths become plain ones."""
    return _WIDE_SPACE.sub(" ", _UNWANTED.sub("", line)).rstrip()


def shorten(text: str, limit: int) -> str:
    """At most ``limit`` characters, cut at a space where there is one in the last fifth."""
    if len(text) <= limit:
        return text
    cut = text.rfind(" ", limit * 4 // 5, limit)
    return text[: cut if cut > 0 else limit].rstrip()
