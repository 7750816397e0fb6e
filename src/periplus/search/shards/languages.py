"""How well a page's language fits who asks: by its text, and by whom its address says that it is meant for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from periplus.index import meant_for, text_language

if TYPE_CHECKING:
    from periplus.index import Snapshot
    from periplus.search.shards.exchange import Scores

SAME = 1.0  # the text is in the language of the query
UNKNOWN = 0.5  # the language of either is not known
UNTRANSLATED = 0.5  # the text is, but the page is meant for readers of another language
MEANT = 0.25  # the text is in another language, and the page is meant for readers of this one
ODD = 0.25  # of a query whose language is not known: text and address of the page disagree
NEITHER = np.full(1, UNKNOWN)


class Languages:
    """Of one snapshot."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._names = snapshot.language_names()
        self._known: dict[str, Scores] = {"": self._made("")}

    def by_number(self, language: str) -> Scores:
        """What a page in each of the collection's languages gets for a query in ``language``; or one for all."""
        known = self._known.get(language)
        if known is None:
            known = self._made(language)
            if any(language == text_language(name) for name in self._names):
                self._known[language] = known
        return known

    def worth(self, language: str, numbers: Any) -> Scores:
        """The same for pages by the numbers of their languages."""
        worth = self.by_number(language)
        return np.full(len(numbers), worth[0]) if len(worth) == 1 else worth[np.asarray(numbers, np.int64)]

    def _made(self, language: str) -> Scores:
        if not language and not any(map(meant_for, self._names)):
            return NEITHER
        return np.array([_worth(name, language) for name in self._names], np.float64)


def _worth(name: str, language: str) -> float:
    own, others = text_language(name), meant_for(name)
    if not language:
        return ODD if own and others else UNKNOWN
    if own == language:
        return UNTRANSLATED if others else SAME
    if others == language:
        return MEANT if own else SAME
    return 0.0 if own or others else UNKNOWN
