"""Snippets: the one or two places of a page that show best why it was found.

Sentences that hold words of the query are weighed by how many different words they hold and how close together, cut to
size and highlighted, for all results of a page in one call (``core/snippets/sentences.py``). Only the page of results
that is shown gets snippets. Work a page is bounded by ``highlighter.MAX_TEXT`` and the bounds of the kernels.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from periplus.core.layout.shown_texts import FOREIGN, LOST, MAX_SNIPPET, NOTHING, PAGE, PLAIN
from periplus.search.query.text import ELLIPSIS, clean, shortened
from periplus.search.shards.highlighter import MAX_TEXT, Highlights, Match, ShownTexts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from periplus.index import StoredDocument

SAID_AGAIN = 90  # letters of a description that the opening of the text must not repeat
MAX_TITLE = 90
JOINT = f" {ELLIPSIS} "
LINE_JOINT = " · "

_LINE_END = re.compile(r"(?<![.!?…。！？:;,\s])[ \t]*\n\s*")


class Snippet(Struct, frozen=True):
    text: str
    highlights: tuple[tuple[int, int], ...] = ()


def snippet(document: StoredDocument, query: Highlights) -> Snippet:
    """What to show of ``document`` for ``query``."""
    return snippets([document], query)[0]


def snippets(documents: Sequence[StoredDocument], query: Highlights) -> list[Snippet]:
    """What to show of each document; its description or its beginning when no word stands in the text."""
    if not documents:
        return []
    bodies = [_body(document) for document in documents]
    texts = ShownTexts(bodies, [document.language for document in documents])
    pages, marks = _fragments(texts, query)
    made: list[Snippet] = []
    unmarked: list[int] = []  # those whose highlights have to be found anew
    marked = 0
    for place, (document, body, page) in enumerate(zip(documents, bodies, pages, strict=True)):
        text, readable = _pieces(document, body, page)
        if readable:
            made.append(Snippet(text, tuple(marks[marked : page[1]])))
        else:
            unmarked.append(place)
            made.append(Snippet(shortened(text, MAX_SNIPPET)))
        marked = page[1]
    if unmarked:
        found = _highlighted_all([made[i].text for i in unmarked], query, [texts.languages[i] for i in unmarked])
        for place, snippet in zip(unmarked, found, strict=True):
            made[place] = snippet
    return made


def _fragments(texts: ShownTexts, query: Highlights) -> tuple[list[list[int]], list[tuple[int, int]]]:
    """What is chosen of each text, as the kernel says it, and the highlights of all of them."""
    found, count = texts.telling(query), len(texts.texts)
    pages = np.empty(PAGE * count, np.int64)
    marks = np.empty(2 * MAX_SNIPPET * count, np.int64)
    weights = np.array(query.weights, np.float64)
    marked = _choose_fragments()(texts.points, texts.ends, found.numbers, found.sizes, weights, pages, marks)
    pairs = marks[: 2 * marked].tolist()
    return pages.reshape(-1, PAGE).tolist(), list(zip(pairs[::2], pairs[1::2], strict=True))


@cache
def _choose_fragments() -> Callable[..., int]:
    from periplus.core.snippets import choose_fragments

    return choose_fragments.entry


def _pieces(document: StoredDocument, body: str, page: list[int]) -> tuple[str, bool]:
    """What is to be shown of a document, and whether that is so as it stands in its body."""
    state, _, start, end, cut, cut_behind, second, second_end, second_cut, second_cut_behind = page
    if state in (NOTHING, LOST):
        return _fallback(document), False
    text, more = body[start:end], body[second:second_end] if second_end > second else ""
    readable = state == PLAIN or (state == FOREIGN and _is_readable(text) and _is_readable(more))
    if not readable:
        text, more = _flowing(text), _flowing(more)
    text = (ELLIPSIS if cut else "") + text + (ELLIPSIS if cut_behind else "")
    if second_end > second:
        text += JOINT + (ELLIPSIS if second_cut else "") + more + (ELLIPSIS if second_cut_behind else "")
    return text, readable


def _is_readable(text: str) -> bool:
    return text.isprintable() and "  " not in text


def _fallback(document: StoredDocument) -> str:
    described = clean(document.description)
    only_begins = clean(document.text[: 2 * MAX_SNIPPET]).startswith(described[:SAID_AGAIN].rstrip("…. "))
    if described and not only_begins and not _is_title(document, described):
        return shortened(described, MAX_SNIPPET)
    return shortened(_flowing(_body(document)[: 3 * MAX_SNIPPET]), MAX_SNIPPET)


def _body(document: StoredDocument) -> str:
    """The text without a first line that only says the title again, which stands above it."""
    text = document.text.lstrip()
    end = text.find("\n", 0, 3 * MAX_SNIPPET)
    if end < 0 or not _is_title(document, text[:end]):
        return document.text
    return text[end : end + MAX_TEXT].lstrip() or document.text


def _is_title(document: StoredDocument, text: str) -> bool:
    """Whether a text says nothing but the title, or a part of it."""
    return clean(text).casefold() in clean(document.title).casefold()


def _flowing(text: str) -> str:
    """Lines as one: a line that ends like a heading is set apart from what follows."""
    return clean(_LINE_END.sub(LINE_JOINT, text.strip()))


def highlighted(text: str, query: Highlights, language: str) -> Snippet:
    """``text`` with the places where words of the query stand, in any form; stop words only beside another word."""
    return _highlighted_all([text], query, [language])[0]


def _highlighted_all(texts: Sequence[str], query: Highlights, languages: Sequence[str]) -> list[Snippet]:
    found = ShownTexts(texts, languages).matches(query)
    several = zip(texts, found, languages, strict=True)
    return [_marked(text, one, alone=query.only_stops(language)) for text, one, language in several]


def _marked(text: str, found: list[Match], *, alone: bool) -> Snippet:
    """``alone``: the query has only stop words, which are marked wherever they stand."""
    if not (alone and all(match.is_stop for match in found)):
        found = [match for place, match in enumerate(found) if not match.is_stop or _beside_plain(text, found, place)]
    return Snippet(text, _without_overlap(found))


def _beside_plain(text: str, found: list[Match], place: int) -> bool:
    """Is the match before or behind a word of its own, with nothing said in between?"""
    return any(
        not found[other].is_stop and not any(sign.isalnum() for sign in text[found[left].end : found[right].start])
        for other, left, right in ((place - 1, place - 1, place), (place + 1, place, place + 1))
        if 0 <= other < len(found)
    )


def _without_overlap(found: list[Match]) -> tuple[tuple[int, int], ...]:
    """Pairs of letters of scripts without spaces overlap; joined they are one stretch."""
    joined: list[tuple[int, int]] = []
    for match in found:
        if joined and match.start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(match.end, joined[-1][1]))
        else:
            joined.append((match.start, match.end))
    return tuple(joined)


def title(document: StoredDocument, display: str) -> str:
    """The title as shown: its own, a heading, the first words or the address; shortened at a word."""
    own = clean(document.title)
    if own:
        return own if len(own) <= MAX_TITLE else shortened(own, MAX_TITLE)
    candidates = (*(heading.text for heading in document.headings[:1]), document.text[:200], display)
    chosen = next((text for text in map(clean, candidates) if text), display)
    return shortened(chosen, MAX_TITLE)
