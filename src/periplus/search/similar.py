"""Pages like a page: its most telling words, asked for again.

The words are those of title and text with the highest tf·idf (Salton's vector of the page, cut to its largest
components); the page itself is left out.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from periplus.index.analysis import analyze
from periplus.index.query import STRONG_SHARE, Group, IndexQuery
from periplus.search.plan import Plan, QueryWord
from periplus.search.vocabulary import is_stop_word

if TYPE_CHECKING:
    from periplus.index import StoredDocument, Token
    from periplus.index.snapshot import Snapshot

TELLING = 12  # words
MAX_TEXT = 20_000  # code points that are read
TITLE_COUNTS = 3  # times a word of the title counts


def likeness(snapshot: Snapshot, document: StoredDocument) -> Plan:
    """A plan that finds pages with the telling words of ``document``; empty when it has none."""
    tokens: dict[str, Token] = {}
    counts: Counter[str] = Counter()
    for text, times in ((document.title, TITLE_COUNTS), (document.text[:MAX_TEXT], 1)):
        for token in analyze(text, document.language):
            if not is_stop_word(token.text, document.language):
                tokens.setdefault(token.text, token)
                counts[token.text] += times
    worth = {text: _worth(snapshot, tokens[text], count) for text, count in counts.items()}
    best = sorted((text for text in worth if worth[text] > 0), key=lambda text: (-worth[text], text))[:TELLING]
    top = max((worth[text] for text in best), default=1.0)
    groups = tuple(Group(forms=tokens[text].forms, weight=worth[text] / top) for text in best)
    words = tuple(QueryWord(text, tokens[text].forms, worth[text] / top) for text in best)
    return Plan(IndexQuery(should=groups), words)


def _worth(snapshot: Snapshot, token: Token, count: int) -> float:
    """tf·idf; nothing for words that only this page has."""
    frequency = max(snapshot.frequency(form.term) for form in token.forms if form.share >= STRONG_SHARE)
    return (1.0 + math.log(count)) * math.log(snapshot.live / frequency) if frequency > 1 else 0.0
