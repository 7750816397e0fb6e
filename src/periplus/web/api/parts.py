"""Long texts in parts: cut where a paragraph ends, or a word; put together again they are the text."""

from __future__ import annotations

EARLIEST = 0.5  # of a part, before which no end is looked for


def cuts(text: str, size: int) -> list[int]:
    """Where the parts of ``text`` end, none of them longer than ``size``; the last is the end of the text."""
    ends: list[int] = []
    start = 0
    while len(text) - start > size:
        start = _end(text, start, size)
        ends.append(start)
    return [*ends, len(text)]


def _end(text: str, start: int, size: int) -> int:
    """Behind the last paragraph that fits, else behind the last word, else after ``size`` characters."""
    last, earliest = start + size, start + int(size * EARLIEST)
    for mark in ("\n", ". ", " "):
        found = text.rfind(mark, earliest, last)
        if found >= 0:
            return found + len(mark)
    return last
