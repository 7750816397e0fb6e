"""Snippets: the one or two places of a page that show best why it was found.

Sentences that hold words of the query are found by a cheap search for the beginnings of the words, read with the same
analysis as everything else, and weighed by how many different words they hold and how close together. Only the page
of results that is shown gets snippets. Work a page is bounded by ``MAX_TEXT``, ``MAX_PLACES`` and ``MAX_SENTENCES``.
"""

from __future__ import annotations

import re
from itertools import islice, pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

from periplus.index.analysis import STEM_MARK, analyze
from periplus.index.query import STRONG_SHARE
from periplus.search.text import ELLIPSIS, clean, shortened
from periplus.search.vocabulary import is_stop_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.index.query import TermForm
    from periplus.index.stored import StoredDocument
    from periplus.search.plan import QueryWord

MAX_SNIPPET = 260  # code points
MAX_FRAGMENT = 180  # of one of two fragments
SHORT_SENTENCE = 90  # a sentence below this is shown with the next one
MAX_TITLE = 90
MAX_TEXT = 200_000  # code points of a page that are looked at
MAX_PLACES = 60  # where one word of the query may stand
MAX_SENTENCES = 8  # that are weighed
REACH = 300  # code points that a sentence may reach to either side of a word
JOINT = f" {ELLIPSIS} "
LINE_JOINT = " · "
HEADING_WORTH = 0.5  # of a sentence

_END = re.compile(r"[.!?…]+[\"”’»)\]]*\s+(?![a-zà-öø-ÿ])|[。！？]|\s*\n\s*")
_FULL_STOPS = frozenset('.!?…。！？:;"”’»)]')
_LINE_END = re.compile(r"(?<![.!?…。！？:;,\s])[ \t]*\n\s*")


class Snippet(Struct, frozen=True):
    text: str
    highlights: tuple[tuple[int, int], ...] = ()


class Wanted(Struct, frozen=True):
    """The words of a query as a snippet looks for them: each word's terms, its weight, and how it begins."""

    terms: dict[str, int]  # term -> word
    weights: tuple[float, ...]
    beginnings: tuple[re.Pattern[str], ...]


def wanted(words: Sequence[QueryWord], weights: Sequence[float]) -> Wanted:
    terms: dict[str, int] = {}
    beginnings: list[str] = []
    for place, word in enumerate(words):
        strong = [form.term for form in word.forms if form.share >= STRONG_SHARE]
        for term in strong:
            terms.setdefault(term, place)
        beginnings += _beginnings(word, strong)
    return Wanted(terms, tuple(weights), tuple(re.compile(text, re.IGNORECASE) for text in dict.fromkeys(beginnings)))


def _beginnings(word: QueryWord, terms: list[str]) -> list[str]:
    """The letters that all forms of a word begin with: its plain ASCII ones where there are enough of them."""
    shared = _common_beginning([word.prefix] if word.prefix else [term.lstrip(STEM_MARK) for term in terms])
    plain = re.match(r"[\x00-\x7f]*", shared)
    ascii_part = plain.group() if plain else ""
    if ascii_part and (len(ascii_part) > 1 or ascii_part == shared):
        return [rf"(?<!\w){re.escape(ascii_part)}"]
    return [re.escape(shared)] if shared else []


def _common_beginning(texts: list[str]) -> str:
    if not texts:
        return ""
    least, most = min(texts), max(texts)
    differing = (i for i, letter in enumerate(least) if i >= len(most) or letter != most[i])
    return least[: next(differing, len(least))]


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
    if not query.terms:
        return Snippet(text)
    found = [token for token in analyze(text, language) if _word_of(token.forms, query) >= 0]
    plain = {token.position for token in found if not is_stop_word(token.text, language)}
    shown = [token for token in found if not plain or plain & {token.position + step for step in (-1, 0, 1)}]
    return Snippet(text, _without_overlap([(token.start, token.end) for token in shown]))


def _without_overlap(spans: list[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """Pairs of letters of scripts without spaces overlap; joined they are one stretch."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return tuple(joined)


def _word_of(forms: Sequence[TermForm], query: Wanted) -> int:
    for form in forms:
        word = query.terms.get(form.term)
        if word is not None:
            return word
    return -1


def _weighed(text: str, query: Wanted, document: StoredDocument) -> list[_Sentence]:
    """Sentences with words of the query, best first."""
    named = {clean(document.title).casefold(), *(clean(heading.text).casefold() for heading in document.headings)}
    found = [
        _weigh(
            text, start, end, query, document.language, HEADING_WORTH if _is_heading(text[start:end], named) else 1.0
        )
        for start, end in _spans(text, query)
    ]
    return sorted((s for s in found if s.words), key=lambda s: (-s.score, s.start))


def _is_heading(line: str, named: set[str]) -> bool:
    """Headings are shown elsewhere, or say little without what follows them."""
    plain = clean(line)
    return plain.casefold() in named or (len(plain) < SHORT_SENTENCE and plain[-1:] not in _FULL_STOPS)


def _spans(text: str, query: Wanted) -> list[tuple[int, int]]:
    """The sentences worth weighing: those with many and with rare beginnings of words, the earlier first."""
    worth: dict[tuple[int, int], float] = {}
    for pattern in query.beginnings:
        spans = _spans_of(text, pattern)
        for span in spans:
            worth[span] = worth.get(span, 0.0) + 1.0 / len(spans)
    return sorted(worth, key=lambda span: (-worth[span], span[0]))[:MAX_SENTENCES]


def _spans_of(text: str, pattern: re.Pattern[str]) -> set[tuple[int, int]]:
    found: set[tuple[int, int]] = set()
    last = (0, 0)
    for match in islice(pattern.finditer(text), MAX_PLACES):
        if not last[0] <= match.start() < last[1]:
            last = _bounds(text, match.start())
        found.add(last)
    return found


def _bounds(text: str, at: int) -> tuple[int, int]:
    """The sentence around ``at``, or ``REACH`` to either side where it is longer."""
    low = max(0, at - REACH)
    start = low
    for match in _END.finditer(text, low, at + 1):  # one more, so that the letter behind an end is seen
        start = match.end() if match.end() <= at else start
    if start == low and low:
        space = text.find(" ", low, at)
        start = space + 1 if space >= 0 else low
    end = _END.search(text, at)
    stop = len(text.rstrip()) if end is None else end.start() + len(end.group().rstrip())
    return start, min(stop, at + REACH) if stop > at else min(len(text), at + REACH)


def _weigh(text: str, start: int, end: int, query: Wanted, language: str, fits: float) -> _Sentence:
    places = [
        (token.position, word)
        for token in analyze(text[start:end], language)
        if (word := _word_of(token.forms, query)) >= 0
    ]
    words = frozenset(word for _, word in places)
    worth = sum(query.weights[word] for word in words)
    close = sum(
        min(query.weights[a], query.weights[b]) / (next_at - at)
        for (at, a), (next_at, b) in pairwise(places)
        if a != b and next_at > at
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
        match = _END.search(text, begin)
        stop = len(text.rstrip()) if match is None else match.start() + len(match.group().rstrip())
        if stop - start > limit or stop <= end:
            return end
        end = stop
    return end


def _cropped(sentence: str, query: Wanted, language: str, limit: int) -> str:
    """The stretch of a long sentence, cut between words, that holds most of the query's words."""
    tokens = analyze(sentence, language)
    hits = [(token.start, token.end, word) for token in tokens if (word := _word_of(token.forms, query)) >= 0]
    room = limit - 2
    best, best_worth = (0, min(len(sentence), room)), -1.0
    for i, (start, _, _) in enumerate(hits):
        inside = [hit for hit in hits[i:] if hit[1] - start <= room]
        worth = sum(query.weights[word] for word in {word for _, _, word in inside})
        if worth > best_worth:
            slack = (room - (inside[-1][1] - start if inside else 0)) // 2
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
