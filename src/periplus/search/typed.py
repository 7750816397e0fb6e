"""Words as they are typed, and what one generation knows of each: most queries are nothing but such words.

Everything that a search asks of a word is found out when the word is first typed and kept: its forms, whether it may go
as a stop word, its lists in the index. A query of known words is then put together without looking into any of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct

from periplus.search.plan import MAX_SCORING, Plan, QueryWord, Single, is_one_word, of_singles, single, stops
from periplus.search.terms import MAX_FORMS, Known

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.search.terms import Lexicon

WORDS_KEPT = 20_000
STOP_SHARE = 0.1  # of the documents: a stop word of another language that is rarer than this means something here


class Typed(Single, frozen=True):
    """A word as typed, if it is one token."""

    may_go: bool  # a stop word, frequent here
    occurs: bool  # as it is written
    known: Known | None  # nothing when no form of it occurs


class WordsOnly(Struct, frozen=True):
    """A query that is words and nothing else, each another one."""

    plan: Plan
    words: tuple[QueryWord, ...]  # those that occur
    known: tuple[Known, ...]
    occurs: bool  # every word typed occurs as it is written


class TypedWords:
    """The words typed so far, by the languages they were read in; forgotten all at once when there are too many."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon
        self._tables: dict[tuple[str, ...], dict[str, Typed | None]] = {}
        self._kept = 0

    def query(self, texts: Sequence[str], languages: tuple[str, ...]) -> WordsOnly | None:
        """Nothing for too many words, or when one is more than a token or asked for twice."""
        if len(texts) > MAX_SCORING:
            return None
        table = self._tables.get(languages)
        try:
            known_as = [table[text] for text in texts] if table is not None else self._learnt(texts, languages)
        except KeyError:
            known_as = self._learnt(texts, languages)
        words = [word for word in known_as if word is not None]
        plan = of_singles(words, [word.may_go for word in words]) if len(words) == len(texts) else None
        if plan is None:
            return None
        if plan.ignored:
            ignored = set(plan.ignored)
            kept = [word for word in words if word.token not in ignored]
        else:
            kept = words
        known = [word.known for word in kept if word.known is not None]
        found = plan.words if len(known) == len(kept) else tuple([word.word for word in kept if word.known is not None])
        return WordsOnly(plan, found, tuple(known), False not in [word.occurs for word in words])

    def _learnt(self, texts: Sequence[str], languages: tuple[str, ...]) -> list[Typed | None]:
        if self._kept >= WORDS_KEPT:
            self._tables, self._kept = {}, 0  # others may still read the old ones
        table = self._tables.setdefault(languages, {})
        new = [text for text in dict.fromkeys(texts) if text not in table]
        table.update(self._typed(new, languages))
        self._kept += len(new)
        return [table[text] for text in texts]

    def _typed(self, texts: list[str], languages: tuple[str, ...]) -> dict[str, Typed | None]:
        found: dict[str, Typed | None] = dict.fromkeys(texts)
        every = [(text, single(text, languages)) for text in texts]
        singles = [(text, one) for text, one in every if one is not None and len(one.word.forms) <= MAX_FORMS]
        known = self._lexicon.known_all([one.word for _, one in singles])
        for (text, one), what in zip(singles, known, strict=True):
            found[text] = self._judged(text, one, what, languages)
        return found

    def _judged(self, text: str, one: Single, known: Known | None, languages: tuple[str, ...]) -> Typed:
        language = languages[0] if len(languages) == 1 else ""
        stop = stops(one.token, language)
        may_go = stop and (stops(one.token, languages[0] or "-") or is_frequent(self._lexicon, one.token))
        as_written = known is not None and is_one_word(text) and known.forms[0].term == text.lower()
        return Typed(one.token, one.means, one.group, one.word, may_go, as_written, known)


def is_frequent(lexicon: Lexicon, term: str) -> bool:
    """Whether a stop word is one here, too."""
    return lexicon.frequency(term) >= STOP_SHARE * lexicon.snapshot.live
