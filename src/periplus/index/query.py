"""What the index is asked: a tree-free boolean query over groups of terms, and filters over columns.

``search/`` makes these from what people type; the index knows nothing of query syntax. A *group* stands for one
word or phrase of the query: its alternatives are forms of that word (exact, stemmed, folded), of which the best
counts, never their sum.
"""

from __future__ import annotations

from msgspec import Struct

FIELDS = ("title", "headings", "body", "anchors", "address")


class TermForm(Struct, frozen=True):
    """One indexed form of a word, with its share of the group's weight (1.0 for the exact form)."""

    term: str
    share: float = 1.0


class Group(Struct, frozen=True):
    """One word (``forms``), one phrase (``phrase``: exact terms in order) or one prefix of a query."""

    forms: tuple[TermForm, ...] = ()
    phrase: tuple[str, ...] = ()
    prefix: str = ""
    field: str = ""  # restrict to one of FIELDS; empty is any
    weight: float = 1.0


class Filters(Struct, frozen=True):
    """Conditions on columns; an empty value admits everything."""

    sites: tuple[str, ...] = ()  # host names or registered domains
    languages: tuple[str, ...] = ()
    types: tuple[str, ...] = ()  # content types
    before: float = 0.0  # published (else fetched) strictly before
    after: float = 0.0


class IndexQuery(Struct, frozen=True):
    """Documents with all of ``must``, at least one of each ``any_of``, none of ``must_not``; ``should`` adds score.

    With neither ``must`` nor ``any_of``, at least one of ``should`` has to match.
    """

    should: tuple[Group, ...] = ()
    must: tuple[Group, ...] = ()
    must_not: tuple[Group, ...] = ()
    any_of: tuple[tuple[Group, ...], ...] = ()
    filters: Filters = Filters()
