"""Text with marked stretches, as safe HTML.

Offsets count Unicode code points, as in the API. Offsets that are out of range, reversed or overlapping are cut or
dropped, never trusted: all text is escaped, and only then the tags are put in.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_WORD = re.compile(r"\w+")
_BEGIN, _END = "\x02", "\x03"  # stand for the tags while all of the text is escaped in one go
_TAGS = ("", "<mark>", "", "</mark>")


def escaped(text: str) -> str:
    """What ``markupsafe.escape`` makes of a text, without the object around it that it costs as much to make."""
    return (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&#34;").replace("'", "&#39;")
    )


def marked(text: str, spans: Iterable[Sequence[int]]) -> Markup:
    """``text`` escaped, with ``<mark>`` around each span."""
    pieces = _pieces(text, spans)
    if _BEGIN in text or _END in text:  # one after the other then: every second piece is a tag
        pieces[::2] = map(escaped, pieces[::2])
        whole = "".join(_TAGS[number % 4] or piece for number, piece in enumerate(pieces))
    else:
        whole = escaped("".join(pieces)).replace(_BEGIN, "<mark>").replace(_END, "</mark>")
    return Markup(whole)  # noqa: S704 - the text is escaped


def mark_words(text: str, query: str) -> Markup:
    """``text`` escaped, with the words of ``query`` marked wherever they stand, whatever their case."""
    wanted = {word.casefold() for word in _WORD.findall(query)}
    return marked(text, [found.span() for found in _WORD.finditer(text) if found.group().casefold() in wanted])


def _pieces(text: str, spans: Iterable[Sequence[int]]) -> list[str]:
    done = 0
    pieces: list[str] = []
    for first, last in sorted([(span[0], span[1]) for span in spans]):
        start, end = max(first, done), min(last, len(text))
        if start < end:
            pieces += (text[done:start], _BEGIN, text[start:end], _END)
            done = end
    pieces.append(text[done:])
    return pieces
