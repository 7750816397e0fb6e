"""What the index is asked: a tree-free boolean query over groups of terms, and filters over columns.

``search/`` makes these from what people type; the index knows nothing of query syntax. A *group* stands for one
word or phrase of the query: its alternatives are forms of that word (exact, stemmed, folded), of which the best
counts, never their sum. Every matching group of ``should``, ``must`` and ``any_of`` adds to a document's score.

The weight of a form is ``group.weight * form.share * idf``. The idf is that of the most frequent *strong* form of the
group (share of at least ``STRONG_SHARE``: exact, folded, stem) or of the form itself when it is more frequent still; so
a rare inflection is not worth more than its word. A phrase weighs the sum of its words' idf, a prefix the idf of the
number of documents that have any of its words. In one field, a group counts what occurs there and nothing else.
"""

from __future__ import annotations

from msgspec import Struct

from periplus.text import TermForm

STRONG_SHARE = 0.5
MAX_GROUPS = 256


class Group(Struct, frozen=True):
    """One word (``forms``), one phrase (``phrase``: exact terms in order) or one prefix of a query.

    With ``slop``, up to so many other words may stand between the first and the last word of a phrase; without
    ``ordered``, its words may stand in any order. Each place where such a stretch begins counts as one occurrence.

    A prefix may come with ``forms``: the words that it stands for, and no others. It has to where statistics are given.
    """

    forms: tuple[TermForm, ...] = ()
    phrase: tuple[str, ...] = ()
    prefix: str = ""
    field: str = ""  # restrict to one of FIELDS; empty is any
    weight: float = 1.0
    slop: int = 0
    ordered: bool = True


class Filters(Struct, frozen=True):
    """Conditions on columns; an empty value admits everything."""

    sites: tuple[str, ...] = ()  # host names or registered domains
    languages: tuple[str, ...] = ()
    types: tuple[str, ...] = ()  # content types
    before: float = 0.0  # published (else fetched) strictly before
    after: float = 0.0


NO_FILTERS = Filters()


class IndexQuery(Struct, frozen=True):
    """Documents with all of ``must``, at least one of each ``any_of``, none of ``must_not``; ``should`` adds score.

    ``filters`` admit documents by their columns; ``excluded`` leaves out those of which any of its conditions is true.

    With neither ``must`` nor ``any_of``, at least one of ``should`` has to match; without any of the three, every
    document that the filters admit matches (with one point, so that the prior decides).
    """

    should: tuple[Group, ...] = ()
    must: tuple[Group, ...] = ()
    must_not: tuple[Group, ...] = ()
    any_of: tuple[tuple[Group, ...], ...] = ()
    filters: Filters = NO_FILTERS
    excluded: Filters = NO_FILTERS
