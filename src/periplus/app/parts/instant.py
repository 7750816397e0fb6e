"""Instant answers of a collection, as its settings want them: computed, or defined by one of its pages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from periplus.errors import PeriplusError
from periplus.records import Explanation, InstantAnswer, SearchRequest

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from periplus.answers import Answerer
    from periplus.search import Engine
    from periplus.settings import SearchSettings

DEFINITIONS = "definitions"  # the tab
LOOKED_AT = 10  # pages that may define a term
LONGEST = 100  # characters of a question
# How people ask what a word means; a question about anything else has more words than these.
_ASKED = re.compile(
    r"(?:(?:define|definition of|definition|meaning of|what(?: is|['’]s) (?:an?|the)|what(?: is|['’]s)|what are|"
    r"was ist (?:eine?|der|die|das)?|qu'est-ce que|définition de|qué es (?:una?)?|definición de)\s*:?\s+|define:)"
    r"(?P<term>\S.*?)\s*\??|(?P<last>\S.*?)\s+(?:definition|meaning)|what does (?P<meant>\S.*?) mean\s*\??",
    re.IGNORECASE,
)


class InstantAnswers:
    """Nothing is loaded before the first query."""

    def __init__(self, folder: Path, chosen: Callable[[], SearchSettings], engine: Callable[[], Engine]) -> None:
        self._folder, self._chosen = folder, chosen
        self._answerer: Answerer | None = None
        self._engine = engine

    def answers(self, query: str, *, explain: bool = False) -> tuple[InstantAnswer, ...]:
        if not self._chosen().answers:
            return ()
        if self._answerer is None:
            from periplus.answers import Answerer

            rates = self._chosen().rates
            self._answerer = Answerer(self._folder / rates if rates else None)
        return self._answerer.answers(query, explain=explain) or self._defined(query, explain=explain)

    def _defined(self, query: str, *, explain: bool) -> tuple[InstantAnswer, ...]:
        """What a page of the collection says that a term means, where it marks it so."""
        found = _ASKED.fullmatch(query.strip()) if len(query) <= LONGEST else None
        if found is None:
            return ()
        term = found["term"] or found["last"] or found["meant"]
        try:
            engine = self._engine()
            if DEFINITIONS not in engine.tabs:
                return ()
            answer, facts = engine.search_tab(SearchRequest(term, size=LOOKED_AT, correct=False), DEFINITIONS)
        except PeriplusError:  # the results say what is wrong
            return ()
        for result in answer.results:
            for line in facts.get(result.id, {}).get("definitions", "").split("\n"):
                name, _, text = line.partition("\t")
                if name.casefold() == term.casefold() and text:
                    why = Explanation("instant answer: definition", 1.0, "a page marks this term as defined")
                    return (
                        InstantAnswer(
                            "definition", name, text, result.site, explain=why if explain else None, url=result.url
                        ),
                    )
        return ()
