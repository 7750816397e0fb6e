"""Snippets: the one or two places of a page that show best why it was found.

Sentences that hold words of the query are found by the beginnings of those words (``hits``) and weighed by how many
different words they hold and how close together, for all results of a page in one call (``kernels/texts.py``). Only the
page of results that is shown gets snippets. Work a page is bounded by ``MAX_TEXT`` and the bounds of the kernels.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import numpy as np
from msgspec import Struct

from periplus.search.hits import Hit, Texts, Wanted, hits, wanted
from periplus.search.text import ELLIPSIS, clean, shortened
from periplus.search.vocabulary import is_stop_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.index.stored import StoredDocument

__all__ = ["MAX_SNIPPET", "MAX_TITLE", "Snippet", "Wanted", "highlighted", "snippet", "snippets", "title", "wanted"]

MAX_SNIPPET = 260  # code points
SHORT_SENTENCE = 90  # a sentence below this is shown with the next one
MAX_TITLE = 90
MAX_TEXT = 50_000  # code points of a page that are looked at
REACH = 300  # code points that a sentence may reach to either side of a word
JOINT = f" {ELLIPSIS} "
LINE_JOINT = " · "

# What may end a sentence, with all that belongs to the end; ``_ends`` says whether it does.
_STOP = re.compile(r"[.!?…。！？\n][.!?…。！？\"”’»)\]\s]*")
_FULL_STOPS = frozenset('.!?…。！？:;"”’»)]')
_LINE_END = re.compile(r"(?<![.!?…。！？:;,\s])[ \t]*\n\s*")


class Snippet(Struct, frozen=True):
    text: str
    highlights: tuple[tuple[int, int], ...] = ()


class _Fragment(Struct, frozen=True):
    """A stretch of a text as it is shown; ``shift`` takes places of the text to places here, where nothing changed."""

    text: str
    start: int
    end: int
    shift: int | None


def snippet(document: StoredDocument, query: Wanted) -> Snippet:
    """What to show of ``document`` for ``query``."""
    return snippets([document], query)[0]


def snippets(documents: Sequence[StoredDocument], query: Wanted) -> list[Snippet]:
    """What to show of each document; its description or its beginning when no word stands in the text."""
    if not documents:
        return []
    texts = Texts([document.text[:MAX_TEXT] for document in documents], [d.language for d in documents], query)
    chosen = _chosen(texts, query)
    return [
        _assembled(document, texts.texts[i], texts.hits[i], chosen[i], query)
        if chosen[i]
        else _fallback(document, query)
        for i, (document, spans) in enumerate(zip(documents, chosen, strict=True))
    ]


def _chosen(texts: Texts, query: Wanted) -> list[list[tuple[int, int]]]:
    """Of each text the best sentence, and the best one that adds a word it lacks; in the order of the text."""
    from periplus.search.kernels.texts import sentences

    flat = [
        value
        for start, found in zip(texts.starts, texts.hits, strict=True)
        for hit in found
        for value in (start + hit[0], start + hit[1], hit[2])
    ]
    if not flat:
        return [[] for _ in texts.texts]
    hit_ends = np.cumsum([len(found) for found in texts.hits], dtype=np.int64)
    out = np.empty(4 * len(texts.texts), np.int64)
    sentences(texts.points, texts.ends, np.array(flat, np.int64), hit_ends, np.array(query.weights), out)
    rows = out.reshape(-1, 4).tolist()
    return [
        sorted((row[i] - start, row[i + 1] - start) for i in (0, 2) if row[i] >= 0)
        for start, row in zip(texts.starts, rows, strict=True)
    ]


def _assembled(
    document: StoredDocument, text: str, found: list[Hit], spans: list[tuple[int, int]], query: Wanted
) -> Snippet:
    parts = [_fragment(text, start, end, found, query, len(spans)) for start, end in spans]
    whole = JOINT.join(part.text for part in parts)
    if len(whole) > MAX_SNIPPET or any(part.shift is None for part in parts):
        return highlighted(shortened(whole, MAX_SNIPPET), query, document.language)
    moved: list[Hit] = []
    before = 0
    for part in parts:
        shift = before + (part.shift or 0)
        moved += [
            (start + shift, end + shift, word) for start, end, word in found if part.start <= start and end <= part.end
        ]
        before += len(part.text) + len(JOINT)
    return _marked(whole, moved, document.language)


def _fallback(document: StoredDocument, query: Wanted) -> Snippet:
    described = clean(document.description)
    only_begins = clean(document.text[: 2 * MAX_SNIPPET]).startswith(described[:SHORT_SENTENCE].rstrip("…. "))
    fallback = _opening(document) if not described or only_begins else described
    return highlighted(shortened(fallback, MAX_SNIPPET), query, document.language)


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
    return _marked(text, hits(text, query, language), language)


def _marked(text: str, found: list[Hit], language: str) -> Snippet:
    if len(found) > 1:
        plain = [not is_stop_word(text[start:end].lower(), language) for start, end, _ in found]
        if any(plain) and not all(plain):
            found = [hit for place, hit in enumerate(found) if plain[place] or _beside_plain(text, found, plain, place)]
    return Snippet(text, _without_overlap([(start, end) for start, end, _ in found]))


def _beside_plain(text: str, found: list[Hit], plain: list[bool], place: int) -> bool:
    """Is the hit before or behind a word of its own, with nothing said in between?"""
    return any(
        plain[other] and not any(sign.isalnum() for sign in text[found[left][1] : found[right][0]])
        for other, left, right in ((place - 1, place - 1, place), (place + 1, place, place + 1))
        if 0 <= other < len(found)
    )


def _without_overlap(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Pairs of letters of scripts without spaces overlap; joined they are one stretch."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def _ends(text: str, match: re.Match[str]) -> bool:
    """Is this the end of a sentence: a line's, or signs and a space that no small letter follows?"""
    signs = match.group()
    if "\n" in signs or signs[0] in "。！？":
        return True
    return signs[-1].isspace() and not text[match.end() : match.end() + 1].islower()


def _next_end(text: str, at: int) -> tuple[int, int]:
    """Where the sentence at ``at`` stops, and where the next one begins."""
    for match in _STOP.finditer(text, at):
        if _ends(text, match):
            return match.start() + len(match.group().rstrip()), match.end()
        if match.start() > at + 4 * REACH:
            break
    stop = min(len(text), at + 5 * REACH)
    return (len(text.rstrip()), len(text)) if stop == len(text) else (stop, stop)


def _fragment(text: str, start: int, end: int, found: list[Hit], query: Wanted, count: int) -> _Fragment:
    limit = MAX_SNIPPET if count == 1 else (MAX_SNIPPET - len(JOINT)) // 2
    if end - start > limit:
        return _cropped(text, start, end, found, query, limit)
    if count == 1:
        end = _with_next(text, start, end, limit)
    return _shown(text, start, end, "", "")


def _shown(text: str, start: int, end: int, before: str, behind: str) -> _Fragment:
    """A stretch with what stands around it; lines and odd spaces are made into one line, and places are lost then."""
    inside = text[start:end]
    if not inside.isprintable() or "  " in inside:
        return _Fragment(before + _flowing(inside) + behind, start, end, None)
    bare = inside.strip()
    left = len(inside) - len(inside.lstrip())
    return _Fragment(before + bare + behind, start, end, len(before) - start - left)


def _with_next(text: str, start: int, end: int, limit: int) -> int:
    """Whole sentences more of the same paragraph, or what follows a heading, while they fit."""
    while end - start < SHORT_SENTENCE * 2:
        following = re.match(r"\s*", text[end : end + 16])
        begin = end + (following.end() if following else 0)
        if begin >= len(text) or ("\n" in text[end:begin] and text[end - 1] in _FULL_STOPS):
            return end
        stop, _ = _next_end(text, begin)
        if stop - start > limit or stop <= end:
            return end
        end = stop
    return end


def _cropped(text: str, start: int, end: int, found: list[Hit], query: Wanted, limit: int) -> _Fragment:
    """The stretch of a long sentence, cut between words, that holds most of the query's words."""
    inside = [hit for hit in found if start <= hit[0] and hit[1] <= end]
    room = limit - 2
    best, best_worth = start, -1.0
    for i, (first, _, _) in enumerate(inside):
        near = [other for other in inside[i:] if other[1] - first <= room]
        worth = sum(query.weights[word] for word in {word for _, _, word in near})
        if worth > best_worth:
            slack = (room - (near[-1][1] - first if near else 0)) // 2
            best, best_worth = max(start, min(first - slack, end - room)), worth
    return _at_words(text, start, end, best, min(end, best + room))


def _at_words(text: str, first: int, last: int, start: int, end: int) -> _Fragment:
    if start > first:
        space = text.find(" ", start, start + 30)
        start = space + 1 if space >= 0 else start
    if end < last:
        space = text.rfind(" ", max(start, end - 30), end)
        end = space if space > start else end
    return _shown(text, start, end, ELLIPSIS if start > first else "", ELLIPSIS if end < last else "")


def title(document: StoredDocument, display: str) -> str:
    """The title as shown: its own, a heading, the first words or the address; shortened at a word."""
    candidates = (document.title, *(heading.text for heading in document.headings[:1]), document.text[:200], display)
    chosen = next((text for text in map(clean, candidates) if text), display)
    return shortened(chosen, MAX_TITLE)
