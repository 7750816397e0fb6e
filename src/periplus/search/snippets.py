"""Snippets: the one or two places of a page that show best why it was found.

Sentences that hold words of the query are found by the beginnings of those words (``hits``) and weighed by how many
different words they hold and how close together. Only the page of results that is shown gets snippets. Work a page is
bounded by ``MAX_TEXT``, ``MAX_SENTENCES`` and the bounds of ``hits``.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from periplus.search.hits import Hit, Wanted, hits, lowered, wanted
from periplus.search.text import ELLIPSIS, clean, shortened
from periplus.search.vocabulary import is_stop_word

if TYPE_CHECKING:
    from collections.abc import Iterator

    from periplus.index.stored import StoredDocument

__all__ = ["MAX_SNIPPET", "MAX_TITLE", "Snippet", "Wanted", "highlighted", "snippet", "title", "wanted"]

MAX_SNIPPET = 260  # code points
MAX_FRAGMENT = 180  # of one of two fragments
SHORT_SENTENCE = 90  # a sentence below this is shown with the next one
MAX_TITLE = 90
MAX_TEXT = 50_000  # code points of a page that are looked at
MAX_SENTENCES = 8  # that are weighed
REACH = 300  # code points that a sentence may reach to either side of a word
JOINT = f" {ELLIPSIS} "
LINE_JOINT = " · "
HEADING_WORTH = 0.5  # of a sentence

# What may end a sentence, with all that belongs to the end; ``_ends`` says whether it does.
_STOP = re.compile(r"[.!?…。！？\n][.!?…。！？\"”’»)\]\s]*")
_FULL_STOPS = frozenset('.!?…。！？:;"”’»)]')
_LINE_END = re.compile(r"(?<![.!?…。！？:;,\s])[ \t]*\n\s*")


class Snippet(Struct, frozen=True):
    text: str
    highlights: tuple[tuple[int, int], ...] = ()


class _Sentence(Struct, frozen=True):
    start: int
    end: int
    words: frozenset[int]
    score: float


def snippet(document: StoredDocument, query: Wanted) -> Snippet:
    """What to show of ``document`` for ``query``; its description or its beginning when no word stands in the text."""
    text = document.text[:MAX_TEXT]
    sentences = _weighed(text, query, document)
    if sentences:
        chosen = _chosen(sentences)
        parts = [_fragment(text, sentence, query, document.language, len(chosen)) for sentence in chosen]
        return highlighted(shortened(JOINT.join(parts), MAX_SNIPPET), query, document.language)
    described = clean(document.description)
    only_begins = clean(text[: 2 * MAX_SNIPPET]).startswith(described[:SHORT_SENTENCE].rstrip("…. "))
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
    found = hits(text, query, language) if query.terms else []
    plain = [not is_stop_word(text[hit.start : hit.end].lower(), language) for hit in found]
    if any(plain) and not all(plain):
        found = [hit for place, hit in enumerate(found) if plain[place] or _beside_plain(text, found, plain, place)]
    return Snippet(text, _without_overlap([(hit.start, hit.end) for hit in found]))


def _beside_plain(text: str, found: list[Hit], plain: list[bool], place: int) -> bool:
    """Is the hit before or behind a word of its own, with nothing said in between?"""
    return any(
        plain[other] and not any(sign.isalnum() for sign in text[found[left].end : found[right].start])
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


def _weighed(text: str, query: Wanted, document: StoredDocument) -> list[_Sentence]:
    """Sentences with words of the query, best first."""
    named: set[str] = set()
    found = []
    for start, end in _spans(text, query, document.language):
        named = named or {clean(name).casefold() for name in _names(document)}
        fits = HEADING_WORTH if _is_heading(text[start:end], named) else 1.0
        found.append(_weigh(text, start, end, query, document.language, fits))
    return sorted((s for s in found if s.words), key=lambda s: (-s.score, s.start))


def _names(document: StoredDocument) -> Iterator[str]:
    yield document.title
    for heading in document.headings:
        yield heading.text


def _is_heading(line: str, named: set[str]) -> bool:
    """Headings are shown elsewhere, or say little without what follows them."""
    plain = clean(line)
    return (len(plain) < SHORT_SENTENCE and plain[-1:] not in _FULL_STOPS) or plain.casefold() in named


def _spans(text: str, query: Wanted, language: str) -> list[tuple[int, int]]:
    """The sentences worth weighing: those with many and with rare words of the query, the earlier first."""
    spans: dict[int, set[tuple[int, int]]] = {}
    last = (0, 0)
    for hit in hits(text, query, language, lowered(text)):
        if not last[0] <= hit.start < last[1]:
            last = _bounds(text, hit.start)
        spans.setdefault(hit.word, set()).add(last)
    worth: dict[tuple[int, int], float] = {}
    for found in spans.values():
        for span in found:
            worth[span] = worth.get(span, 0.0) + 1.0 / len(found)
    return sorted(worth, key=lambda span: (-worth[span], span[0]))[:MAX_SENTENCES]


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


def _bounds(text: str, at: int) -> tuple[int, int]:
    """The sentence around ``at``, or ``REACH`` to either side where it is longer."""
    low = max(0, at - REACH)
    start = low
    for match in _STOP.finditer(text, low, at):
        if _ends(text, match):
            start = match.end()
    if start == low and low:
        space = text.find(" ", low, at)
        start = space + 1 if space >= 0 else low
    stop, _ = _next_end(text, at)
    return start, min(stop, at + REACH) if stop > at else min(len(text), at + REACH)


def _weigh(text: str, start: int, end: int, query: Wanted, language: str, fits: float) -> _Sentence:
    sentence = text[start:end]
    found = hits(sentence, query, language)
    words = frozenset(hit.word for hit in found)
    worth = sum(query.weights[word] for word in words)
    close = sum(
        min(query.weights[one.word], query.weights[other.word]) / max(1, sentence.count(" ", one.end, other.start))
        for one, other in pairwise(found)
        if one.word != other.word
    )
    early = 0.1 / (1.0 + start / 500)
    return _Sentence(start, end, words, fits * (worth + 0.5 * close) + early)


def _chosen(sentences: list[_Sentence]) -> list[_Sentence]:
    """The best sentence, and the best one that adds a word it lacks; in the order of the text."""
    best = sentences[0]
    adding = next((other for other in sentences[1:] if other.words - best.words), None)
    return sorted([best] if adding is None else [best, adding], key=lambda sentence: sentence.start)


def _fragment(text: str, sentence: _Sentence, query: Wanted, language: str, count: int) -> str:
    start, end = sentence.start, sentence.end
    limit = MAX_SNIPPET if count == 1 else (MAX_SNIPPET - len(JOINT)) // 2
    if end - start > limit:
        return _cropped(text[start:end], query, language, limit)
    if count == 1:
        end = _with_next(text, start, end, limit)
    return _flowing(text[start:end])


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


def _cropped(sentence: str, query: Wanted, language: str, limit: int) -> str:
    """The stretch of a long sentence, cut between words, that holds most of the query's words."""
    found = hits(sentence, query, language)
    room = limit - 2
    best, best_worth = (0, min(len(sentence), room)), -1.0
    for i, (start, _, _) in enumerate(found):
        inside = [hit for hit in found[i:] if hit.end - start <= room]
        worth = sum(query.weights[word] for word in {hit.word for hit in inside})
        if worth > best_worth:
            slack = (room - (inside[-1].end - start if inside else 0)) // 2
            begin = max(0, min(start - slack, len(sentence) - room))
            best, best_worth = (begin, min(len(sentence), begin + room)), worth
    return _at_words(sentence, *best)


def _at_words(text: str, start: int, end: int) -> str:
    if start > 0:
        space = text.find(" ", start, start + 30)
        start = space + 1 if space >= 0 else start
    if end < len(text):
        space = text.rfind(" ", max(start, end - 30), end)
        end = space if space > start else end
    inside = clean(text[start:end])
    return (ELLIPSIS if start > 0 else "") + inside + (ELLIPSIS if end < len(text) else "")


def title(document: StoredDocument, display: str) -> str:
    """The title as shown: its own, a heading, the first words or the address; shortened at a word."""
    candidates = (document.title, *(heading.text for heading in document.headings[:1]), document.text[:200], display)
    chosen = next((text for text in map(clean, candidates) if text), display)
    return shortened(chosen, MAX_TITLE)
