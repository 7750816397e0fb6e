"""Snippets: the one or two places of a page that show best why it was found.

Sentences that hold words of the query are found by the beginnings of those words (``hits``), weighed by how many
different words they hold and how close together, cut to size and marked, for all results of a page in one call
(``kernels/sentences.py``). Only the page of results that is shown gets snippets. Work a page is bounded by ``MAX_TEXT``
and the bounds of the kernels.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from periplus.search.hits import Hit, Texts, Wanted, hits, hits_of_all, sought, wanted
from periplus.search.text import ELLIPSIS, clean, shortened

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.index.stored import StoredDocument

__all__ = [
    "MAX_SNIPPET",
    "MAX_TITLE",
    "Snippet",
    "Wanted",
    "highlighted",
    "snippet",
    "snippets",
    "sought",
    "title",
    "wanted",
]

MAX_SNIPPET = 260  # code points
SHORT_SENTENCE = 90  # letters of a description that the opening of the text must not repeat
MAX_TITLE = 90
MAX_TEXT = 50_000  # code points of a page that are looked at
JOINT = f" {ELLIPSIS} "
LINE_JOINT = " · "
_PLACE, _HIT, _PAGE = 4, 4, 10  # numbers of a place, of a hit and of a page, as kernels have them
NOTHING, FOREIGN, ODD = 0, 2, 3  # what the kernel says of a page; the rest is shown as it is

_LINE_END = re.compile(r"(?<![.!?…。！？:;,\s])[ \t]*\n\s*")


class Snippet(Struct, frozen=True):
    text: str
    highlights: tuple[tuple[int, int], ...] = ()


def snippet(document: StoredDocument, query: Wanted) -> Snippet:
    """What to show of ``document`` for ``query``."""
    return snippets([document], query)[0]


def snippets(documents: Sequence[StoredDocument], query: Wanted) -> list[Snippet]:
    """What to show of each document; its description or its beginning when no word stands in the text."""
    if not documents:
        return []
    texts = Texts([d.text[:MAX_TEXT] for d in documents], [d.language for d in documents], query)
    if not texts.found:
        return _highlighted_all([_fallback(document) for document in documents], query, documents)
    pages, marks = _shown(texts, query)
    made: list[Snippet] = []
    unmarked: list[int] = []  # those whose marks have to be found anew
    before = 0
    for place, (document, page) in enumerate(zip(documents, pages, strict=True)):
        state, behind = page[:2]
        text = _fallback(document) if state == NOTHING else _readable(texts.joined, page)
        if text is None:
            made.append(_assembled(texts.joined, page, marks[2 * before : 2 * behind]))
        else:
            made.append(Snippet(text))
            unmarked.append(place)
        before = behind
    if unmarked:
        found = _highlighted_all([made[i].text for i in unmarked], query, [documents[i] for i in unmarked])
        for place, snippet in zip(unmarked, found, strict=True):
            made[place] = snippet
    return made


def _shown(texts: Texts, query: Wanted) -> tuple[list[list[int]], list[int]]:
    """Of each text what the kernel says of it, and the marks of all of them."""
    most = texts.most * len(texts.places) // _PLACE
    out = np.empty(_PAGE * len(texts.ends), np.int64)
    marks = np.empty(4 * most, np.int64)  # two fragments may hold the same hit
    _kernel()(*texts.arrays, query.weights, np.empty((_HIT + 1) * most, np.int64), out, marks)
    pages: list[list[int]] = out.reshape(-1, _PAGE).tolist()
    found: list[int] = marks[: 2 * pages[-1][1]].tolist()
    return pages, found


@cache
def _kernel() -> Callable[..., None]:
    from periplus.search.kernels.sentences import shown

    return shown.entry


def _assembled(joined: str, page: list[int], marks: list[int]) -> Snippet:
    """What the kernel chose, with its marks."""
    _, _, start, end, cut, cut_behind, second, second_end, second_cut, second_cut_behind = page
    text = joined[start:end]
    if cut or cut_behind:
        text = (ELLIPSIS if cut else "") + text + (ELLIPSIS if cut_behind else "")
    if second_end > second:
        more = joined[second:second_end]
        text += JOINT + (ELLIPSIS if second_cut else "") + more + (ELLIPSIS if second_cut_behind else "")
    pairs = iter(marks)
    return Snippet(text, tuple(zip(pairs, pairs, strict=True)))


def _readable(joined: str, page: list[int]) -> str | None:
    """The same without marks, of a text that cannot be shown as it stands; nothing when it can."""
    state, _, start, end, cut, cut_behind, second, second_end, second_cut, second_cut_behind = page
    if state not in (FOREIGN, ODD):
        return None
    parts = [joined[start:end]]
    if second_end > second:
        parts.append(joined[second:second_end])
    if state == FOREIGN and _is_readable(parts):
        return None
    parts = [_flowing(part) for part in parts]
    text = (ELLIPSIS if cut else "") + parts[0] + (ELLIPSIS if cut_behind else "")
    if len(parts) > 1:
        text += JOINT + (ELLIPSIS if second_cut else "") + parts[1] + (ELLIPSIS if second_cut_behind else "")
    return shortened(text, MAX_SNIPPET)


def _is_readable(parts: list[str]) -> bool:
    return all(part.isprintable() and "  " not in part for part in parts)


def _fallback(document: StoredDocument) -> str:
    described = clean(document.description)
    only_begins = clean(document.text[: 2 * MAX_SNIPPET]).startswith(described[:SHORT_SENTENCE].rstrip("…. "))
    fallback = _opening(document) if not described or only_begins else described
    return shortened(fallback, MAX_SNIPPET)


def _opening(document: StoredDocument) -> str:
    """How the text begins, without a first line that only says the title again."""
    text = document.text[: 3 * MAX_SNIPPET].lstrip()
    first, _, rest = text.partition("\n")
    repeats = rest.strip() and clean(first).casefold() in clean(document.title).casefold()
    return _flowing(rest if repeats else text)


def _flowing(text: str) -> str:
    """Lines as one: a line that ends like a heading is set apart from what follows."""
    return clean(_LINE_END.sub(LINE_JOINT, text.strip()))


def highlighted(text: str, query: Wanted, language: str) -> Snippet:
    """``text`` with the places where words of the query stand, in any form; stop words only beside another word."""
    return _marked(text, hits(text, query, language))


def _highlighted_all(texts: Sequence[str], query: Wanted, documents: Sequence[StoredDocument]) -> list[Snippet]:
    found = hits_of_all(texts, query, [document.language for document in documents])
    return [_marked(text, one) for text, one in zip(texts, found, strict=True)]


def _marked(text: str, found: list[Hit]) -> Snippet:
    if not all(hit.is_stop for hit in found):
        found = [hit for place, hit in enumerate(found) if not hit.is_stop or _beside_plain(text, found, place)]
    return Snippet(text, _without_overlap(found))


def _beside_plain(text: str, found: list[Hit], place: int) -> bool:
    """Is the hit before or behind a word of its own, with nothing said in between?"""
    return any(
        not found[other].is_stop and not any(sign.isalnum() for sign in text[found[left].end : found[right].start])
        for other, left, right in ((place - 1, place - 1, place), (place + 1, place, place + 1))
        if 0 <= other < len(found)
    )


def _without_overlap(found: list[Hit]) -> tuple[tuple[int, int], ...]:
    """Pairs of letters of scripts without spaces overlap; joined they are one stretch."""
    joined: list[tuple[int, int]] = []
    for hit in found:
        if joined and hit.start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(hit.end, joined[-1][1]))
        else:
            joined.append((hit.start, hit.end))
    return tuple(joined)


def title(document: StoredDocument, display: str) -> str:
    """The title as shown: its own, a heading, the first words or the address; shortened at a word."""
    own = clean(document.title)
    if own:
        return own if len(own) <= MAX_TITLE else shortened(own, MAX_TITLE)
    candidates = (*(heading.text for heading in document.headings[:1]), document.text[:200], display)
    chosen = next((text for text in map(clean, candidates) if text), display)
    return shortened(chosen, MAX_TITLE)
