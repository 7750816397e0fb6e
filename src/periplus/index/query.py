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
from msgspec.structs import force_setattr

# ``margin`` holds what stands beside the main text (navigation, footers, the page's own description): hardly weighted.
FIELDS = ("title", "headings", "body", "anchors", "address", "margin")

STRONG_SHARE = 0.5
MAX_GROUPS = 256
EVERY = 64  # of the first byte of a text: all terms are required; kernels know it, too


class TermForm(Struct, frozen=True):
    """One indexed form of a word, with its share of the group's weight (1.0 for the exact form)."""

    term: str
    share: float = 1.0


class Group(Struct, frozen=True):
    """One word (``forms``), one phrase (``phrase``: exact terms in order) or one prefix of a query.

    With ``slop``, up to so many other words may stand between the first and the last word of a phrase; without
    ``ordered``, its words may stand in any order. Each place where such a stretch begins counts as one occurrence.
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


_NO_FILTERS = Filters()


class IndexQuery(Struct, frozen=True):
    """Documents with all of ``must``, at least one of each ``any_of``, none of ``must_not``; ``should`` adds score.

    With neither ``must`` nor ``any_of``, at least one of ``should`` has to match; without any of the three, every
    document that the filters admit matches (with one point, so that the prior decides).
    """

    should: tuple[Group, ...] = ()
    must: tuple[Group, ...] = ()
    must_not: tuple[Group, ...] = ()
    any_of: tuple[tuple[Group, ...], ...] = ()
    filters: Filters = _NO_FILTERS
    terms: tuple[str, ...] = ()  # found by itself: see ``_only_terms``
    text: bytes = b""  # the same: terms as a kernel takes them, where nothing else is asked

    def __post_init__(self) -> None:
        terms = _only_terms(self)
        force_setattr(self, "terms", terms)
        has_text = terms and self.filters == _NO_FILTERS
        force_setattr(self, "text", _text_of(terms, every=not self.should) if has_text else b"")


def terms_of(query: IndexQuery) -> list[str]:
    """All terms that are to be looked up."""
    choices = [group for groups in query.any_of for group in groups]
    groups = (*query.should, *query.must, *query.must_not, *choices)
    return [term for group in groups for term in (*group.phrase, *[form.term for form in group.forms])]


def _text_of(terms: tuple[str, ...], *, every: bool) -> bytes:
    """How many terms, and whether all are required; then the terms, with a zero behind each (``kernels.asking``)."""
    count = len(terms)
    text = "\0".join((chr(count | EVERY if every else count) + terms[0], *terms[1:], ""))
    return text.encode("utf-8", "surrogatepass") if count < EVERY and text.count("\0") == count else b""


def _only_terms(query: IndexQuery) -> tuple[str, ...]:
    """The terms of the most frequent kind of query: any of some words, or all of them, one unweighted form each.

    They are gathered when a query is made, so that asking it need not look at its parts.
    """
    groups = query.should or query.must
    if query.must_not or query.any_of or (query.should and query.must) or len(groups) > MAX_GROUPS:
        return ()
    terms = []
    for group in groups:
        forms = group.forms
        if len(forms) != 1 or group.phrase or group.prefix or group.field or group.weight * forms[0].share != 1.0:
            return ()
        terms.append(forms[0].term)
    return tuple(terms)
