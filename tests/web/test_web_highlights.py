"""Marks: properties over any text and any spans."""

from __future__ import annotations

import html
import re

from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.web.rendering.highlights import mark_words, marked

TEXTS = st.text(max_size=30) | st.text("a<&\x02\x03'", max_size=30)
SPANS = st.lists(st.tuples(st.integers(-5, 40), st.integers(-5, 40)), max_size=8)


@given(TEXTS, SPANS)
@settings(deadline=None)
def test_only_marks_are_added(text, spans):
    made = str(marked(text, spans))

    assert html.unescape(re.sub(r"</?mark>", "", made)) == html.unescape(html.escape(text))
    assert made.count("<mark>") == made.count("</mark>")
    assert not re.search(r"<(?!/?mark>)", made)


@given(TEXTS, SPANS)
@settings(deadline=None)
def test_exactly_the_spanned_characters_are_marked(text, spans):
    wanted = {place for start, end in spans for place in range(max(start, 0), min(end, len(text)))}
    pieces = re.split(r"<mark>(.*?)</mark>", str(marked(text, spans)), flags=re.DOTALL)
    found, place = set(), 0
    for number, piece in enumerate(pieces):
        length = len(piece if "&" not in piece else _unescaped(piece))
        found |= set(range(place, place + length)) if number % 2 else set()
        place += length

    assert found == wanted
    assert place == len(text)


def _unescaped(piece):
    # Exactly what escaping does, turned round; html.unescape also knows entities that a text may contain by chance.
    for entity, letter in (("&lt;", "<"), ("&gt;", ">"), ("&#34;", '"'), ("&#39;", "'"), ("&amp;", "&")):
        piece = piece.replace(entity, letter)
    return piece


def test_words_are_marked_whatever_their_case():
    assert mark_words("Tide & TIDES, tide", "tide") == "<mark>Tide</mark> &amp; TIDES, <mark>tide</mark>"
