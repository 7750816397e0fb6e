"""Words as they are typed, and what one generation knows of each: most queries are nothing but such words.

Everything that a search asks of a word is found out when the word is first typed and kept: its forms, whether it may go
as a stop word, its lists in the index. A query of known words is then put together without looking into any of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec import Struct, structs

from periplus.index.analysis.stemming import DEFAULT_LANGUAGE
from periplus.index.query import Group
from periplus.search.plan import (
    MAX_SCORING,
    Plan,
    QueryWord,
    Single,
    each_once,
    is_one_word,
    is_silent,
    kept_of,
    of_singles,
    single,
    stops,
)
from periplus.search.terms import MAX_FORMS, Known

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.search.terms import Kept, Lexicon

STOP_SHARE = 0.1  # of the documents: a stop word of another language that is rarer than this means something here


# What there is to say of a word, as bits; of most words nothing.
MAY_GO = 1  # a stop word, frequent here
NOT_SO = 2  # does not occur as it is written
NOT_AT_ALL = 4  # no form of it occurs
NO_WORD = 8  # it is more than one token
NOTHING = 16  # it has no token
DOUBTFUL = 32  # it may be misspelt: does not occur so, nor in a form that spelling takes for the same word
SIGNS = 64  # it has others than letters and digits of ASCII
SPELT_IN = ((DEFAULT_LANGUAGE,), ("",))  # languages in which a word's forms are those


class Typed(Single, frozen=True):
    """A word as typed."""

    says: int
    known: Known | None  # nothing when no form of it occurs


_NO_WORD = Typed("", means=False, group=Group(), word=QueryWord("", ()), says=NO_WORD, known=None)
_NOTHING = structs.replace(_NO_WORD, says=NOTHING | NOT_SO | DOUBTFUL | SIGNS)


class WordsOnly(Struct, frozen=True):
    """A query that is words and nothing else."""

    plan: Plan
    words: tuple[QueryWord, ...]  # those that occur
    known: list[Known]
    occurs: bool  # every word typed occurs, so that none is misspelt


class TypedWords:
    """The words typed so far, by the languages they were read in; kept and forgotten with what the lexicon knows."""

    def __init__(self, lexicon: Lexicon) -> None:
        self._lexicon = lexicon

    def query(self, texts: Sequence[str], languages: tuple[str, ...]) -> WordsOnly | None:
        """Nothing for too many words, or when one is more than a token."""
        if len(texts) > MAX_SCORING:
            return None
        table: dict[str, Typed] | None = self._lexicon.kept.typed.get(languages)
        try:
            words = [table[text] for text in texts] if table is not None else self._learnt(texts, languages)
        except KeyError:
            words = self._learnt(texts, languages)
        says = 0
        for word in words:
            says |= word.says
        if says & NO_WORD:
            return None
        if says & NOTHING:
            words = [word for word in words if not word.says & NOTHING]
        kept, ignored = kept_of(words, [word.says & MAY_GO > 0 for word in words]) if says & MAY_GO else (words, ())
        plan = of_singles(kept, ignored)
        if plan is None:
            kept = self._each_once(kept)
            plan = of_singles(kept, ignored)
        if plan is None:
            return None
        known = [word.known for word in kept if word.known is not None]
        found = plan.words if len(known) == len(kept) else tuple([word.word for word in kept if word.known is not None])
        return WordsOnly(plan, found, known, not says & DOUBTFUL)

    def _each_once(self, words: list[Typed]) -> list[Typed]:
        """Words that are asked for more than once with as much more weight, in their lists, too."""
        live = self._lexicon.snapshot.live
        return [
            word if word.known is None else structs.replace(word, known=word.known.weighing(word.word.weight, live))
            for word in each_once(words) or words
        ]

    def _learnt(self, texts: Sequence[str], languages: tuple[str, ...]) -> list[Typed]:
        kept = self._lexicon.room_for(len(texts))
        table: dict[str, Typed] = kept.typed.setdefault(languages, {})
        new = [text for text in dict.fromkeys(texts) if text not in table]
        others = {text: _NOTHING if is_silent(text, languages) else _NO_WORD for text in new}
        table.update(others | self._typed(kept, new, languages))
        kept.count += len(new)
        return [table[text] for text in texts]

    def _typed(self, kept: Kept, texts: list[str], languages: tuple[str, ...]) -> dict[str, Typed]:
        every = [(text, single(text, languages)) for text in texts]
        singles = [(text, one) for text, one in every if one is not None and len(one.word.forms) <= MAX_FORMS]
        known = self._lexicon.learnt(kept, [one.word.forms for _, one in singles])
        return {
            text: Typed(one.token, one.means, one.group, one.word, self._said(text, one, what, languages), what)
            for (text, one), what in zip(singles, known, strict=True)
        }

    def _said(self, text: str, one: Single, known: Known | None, languages: tuple[str, ...]) -> int:
        if known is None:
            says = NOT_AT_ALL | NOT_SO | DOUBTFUL | (0 if is_one_word(text) else SIGNS)
        elif not is_one_word(text):
            says = NOT_SO | DOUBTFUL | SIGNS
        elif known.forms[0].term == one.token:
            says = 0
        else:
            says = NOT_SO if languages in SPELT_IN else NOT_SO | DOUBTFUL
        return says | MAY_GO if self._may_go(one, languages) else says

    def _may_go(self, one: Single, languages: tuple[str, ...]) -> bool:
        language = languages[0] if len(languages) == 1 else ""
        is_stop = not one.means or stops(one.token, language)
        return is_stop and (stops(one.token, languages[0] or "-") or is_frequent(self._lexicon, one.token))


def is_frequent(lexicon: Lexicon, term: str) -> bool:
    """Whether a stop word is one here, too."""
    return lexicon.frequency(term) >= STOP_SHARE * lexicon.snapshot.live
