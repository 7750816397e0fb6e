"""Text as people may see it: without control characters, on one line, shortened at words."""

from __future__ import annotations

import re
import unicodedata

ELLIPSIS = "…"

# Control characters, line and paragraph separators, byte-order marks, bidirectional overrides and isolates, lone
# surrogates and non-characters. Joiners (U+200C, U+200D) stay: several scripts need them.
_UNSEEN = re.compile(
    "[\u0000-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffc\ufffe\uffff\ud800-\udfff]+"
)
_OBJECT = "\ufffc"  # the one of them that counts as printable
_SPACES = re.compile(r"\s+")


def clean(text: str) -> str:
    """``text`` on one line, without anything that is not to be seen."""
    if text.isprintable() and "  " not in text and _OBJECT not in text:  # the usual case, at once
        return text.strip()
    return _SPACES.sub(" ", _UNSEEN.sub(" ", text)).strip()


def shortened(text: str, limit: int) -> str:
    """At most ``limit`` code points, cut after a word and marked with an ellipsis."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    space = head.rfind(" ")
    head = head[:space] if space >= limit // 2 else _without_half_character(head, text)
    return head.rstrip(" ,;:–—-·|") + ELLIPSIS


def _without_half_character(head: str, text: str) -> str:
    """Do not part a letter from its combining marks."""
    end = len(head)
    while end > 0 and end < len(text) and unicodedata.combining(text[end]):
        end -= 1
    return head[:end]


def folded(text: str) -> str:
    """For comparing what people type: compatibility form, case and accents removed, single spaces."""
    plain = clean(text).casefold()
    if plain.isascii():
        return plain
    decomposed = unicodedata.normalize("NFKD", plain)
    return _SPACES.sub(" ", "".join(c for c in decomposed if not unicodedata.combining(c))).strip()
