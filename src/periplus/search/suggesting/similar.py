"""Pages like a page: its most telling words, asked for again.

The words are those of title and text with the highest tf·idf (Salton's vector of the page, cut to its largest
components); the page itself is left out, and so are pages in another language, where that is known.
"""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

from periplus.index import STRONG_SHARE, Filters, Group, IndexQuery
from periplus.search.query.plan import QueryPlan, QueryWord
from periplus.search.query.vocabulary import is_stop_word
from periplus.text import analyze

if TYPE_CHECKING:
    from periplus.index import StoredDocument
    from periplus.search.query.lexicon import Lexicon
    from periplus.text import Token

TELLING = 12  # words
MAX_TEXT = 20_000  # code points that are read
TITLE_COUNTS = 3  # times a word of the title counts


def likeness(lexicon: Lexicon, document: StoredDocument) -> QueryPlan:
    """A plan that finds pages with the telling words of ``document``; empty when it has none."""
    tokens: dict[str, Token] = {}
    counts: Counter[str] = Counter()
    for text, times in ((document.title, TITLE_COUNTS), (document.text[:MAX_TEXT], 1)):
        for token in analyze(text, document.language):
            if not is_stop_word(token.text, document.language):
                tokens.setdefault(token.text, token)
                counts[token.text] += times
    worth = {text: _worth(lexicon, tokens[text], count) for text, count in counts.items()}
    best = sorted((text for text in worth if worth[text] > 0), key=lambda text: (-worth[text], text))[:TELLING]
    top = max((worth[text] for text in best), default=1.0)
    groups = tuple(Group(forms=tokens[text].forms, weight=worth[text] / top) for text in best)
    words = tuple(QueryWord(text, tokens[text].forms, worth[text] / top) for text in best)
    language = Filters(languages=(document.language,)) if groups and document.language else Filters()
    return QueryPlan(IndexQuery(should=groups, filters=language), words)


def _worth(lexicon: Lexicon, token: Token, count: int) -> float:
    """tf·idf; nothing for words that only this page has."""
    frequency = max(lexicon.frequencies([form.term for form in token.forms if form.share >= STRONG_SHARE]))
    return (1.0 + math.log(count)) * math.log(lexicon.documents / frequency) if frequency > 1 else 0.0
