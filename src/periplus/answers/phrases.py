"""What people write around a calculation and in it: ``what is 12 divided by 4`` asks for ``12 / 4``."""

from __future__ import annotations

import re

_LEAD = re.compile(r"(?:=|(?:what(?:['’]s| is)(?: the)?|how much is|calculate|compute|convert)\b)\s*", re.IGNORECASE)
_END = re.compile(r"[\s=?]+$")
_NUMBER = r"\d+(?:\.\d+)?"
_SIGNS = tuple(
    (re.compile(pattern, re.IGNORECASE), sign)
    for pattern, sign in (
        (rf"\b(?:the )?(?:square root of|sqrt) ({_NUMBER})\b(?!\.)", r"sqrt(\1)"),
        (rf"\b(?:the )?(?:cube root of|cbrt) ({_NUMBER})\b(?!\.)", r"cbrt(\1)"),
        (r"\bdivided by\b", "/"),
        (r"\b(?:multiplied by|times)\b", "*"),
        (r"(?<=[\d)]) x (?=[\d(])", " * "),
        (r"\s*\b(?:to the power of|raised to)\b\s*", "^"),
        (r"\s+squared\b", "^2"),
        (r"\s+cubed\b", "^3"),
        (r"(?<=\d)\s*(?:percent|per cent)\b", "%"),
        (r"(?<=[\d)])\s*%\s*(?=[\d(])(?![\d.]+\s*%)", " mod "),
    )
)


def without_end(text: str) -> str:
    """Without the signs that ask for an answer: ``2+2=?``."""
    return _END.sub("", text)


def without_lead(text: str) -> str:
    """Without the words that ask for an answer: ``what is 2+2``."""
    return _LEAD.sub("", text, count=1) if _LEAD.match(text) else text


def in_signs(text: str) -> str:
    """Operators that are words as signs."""
    for pattern, sign in _SIGNS:
        text = pattern.sub(sign, text)
    return text
