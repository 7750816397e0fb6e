"""Text with marked stretches, as safe HTML.

Offsets count Unicode code points, as in the API. Offsets that are out of range, reversed or overlapping are cut or
dropped, never trusted: all text is escaped piece by piece.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from markupsafe import Markup

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

_WORD = re.compile(r"\w+")


def escaped(text: str) -> str:
    """What ``markupsafe.escape`` makes of a text, without the object around it that it costs as much to make."""
    return (
        text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&#34;").replace("'", "&#39;")
    )


def marked(text: str, spans: Iterable[Sequence[int]]) -> Markup:
    """``text`` escaped, with ``<mark>`` around each span."""
    return Markup("".join(_pieces(text, spans)))  # noqa: S704 - every piece is escaped


def mark_words(text: str, query: str) -> Markup:
    """``text`` escaped, with the words of ``query`` marked wherever they stand, whatever their case."""
    wanted = {word.casefold() for word in _WORD.findall(query)}
    return marked(text, [found.span() for found in _WORD.finditer(text) if found.group().casefold() in wanted])


def _pieces(text: str, spans: Iterable[Sequence[int]]) -> Iterator[str]:
    done = 0
    for span in sorted((span[0], span[1]) for span in spans):
        start, end = max(span[0], done), min(span[1], len(text))
        if start < end:
            yield escaped(text[done:start])
            yield f"<mark>{escaped(text[start:end])}</mark>"
            done = end
    yield escaped(text[done:])
