"""The ranking profiles by name: what each asks of the first pass, and the formula that orders its candidates."""

from __future__ import annotations

from collections.abc import Callable

from msgspec import Struct

from periplus.errors import UsageError
from periplus.ranking import ours, references
from periplus.ranking.evidence import ADDRESS, BODY, HEADINGS, TITLE, Evidence
from periplus.ranking.fused_formula import Formula
from periplus.ranking.references import Ranked

DEFAULT = "periplus"

# The references order every document that has a word of the query; we order the best of a first pass by BM25F.
REFERENCE_CANDIDATES = 2_000
# On the judged sets and the known items of docs/relevance.md a hundred order the first ten as well as two hundred.
OUR_CANDIDATES = 100


class Profile(Struct, frozen=True):
    name: str
    source: str
    rank: Callable[[Evidence], Ranked]
    candidates: int
    prior_weight: float  # of the link prior in the first pass
    fields: tuple[int, ...] = ()  # whose positions the formula reads
    limit: int = 1_000  # results shown at most
    keeps_apart: bool = True  # hosts, as search.per_host says; a reference profile shows what its formula finds
    most_of_host: int = 0  # results of a host that its source shows; 0: any number
    reads_ranks: bool = False  # classic PageRank, so that its absence degrades the answer
    reads_largest: bool = False  # the frequency of each document's most frequent word
    formula: type[Formula] | None = None  # the values of ``rank``, by a kernel that reads the index itself


_ALL = (
    Profile(
        "periplus",
        "BM25F and link prior, re-ranked by order, nearness and place of the words",
        ours.periplus,
        OUR_CANDIDATES,
        0.5,
        (TITLE, HEADINGS, BODY, ADDRESS),
        formula=Formula,
    ),
    Profile(
        "bm25f",
        "field-weighted BM25F, the text part of periplus: without links and features",
        ours.bm25f,
        REFERENCE_CANDIDATES,
        0.0,
    ),
    Profile("bm25", "Robertson et al., Okapi at TREC-3 (1994)", references.bm25, REFERENCE_CANDIDATES, 0.0),
    Profile(
        "grs2",
        "tf-idf and hit lists times PageRank",
        references.grs2,
        REFERENCE_CANDIDATES,
        0.0,
        (BODY,),
        100,
        keeps_apart=False,
        reads_ranks=True,
        reads_largest=True,
    ),
    Profile(
        "cosine-bonus",
        "cosine of tf-idf vectors, host rank and bonuses for titles and previews",
        references.cosine_bonus,
        REFERENCE_CANDIDATES,
        0.0,
        (TITLE, HEADINGS, BODY),
        keeps_apart=False,
        reads_ranks=True,
        reads_largest=True,
    ),
    Profile(
        "tfidf-pagerank",
        "tf-idf times PageRank",
        references.tfidf_pagerank,
        REFERENCE_CANDIDATES,
        0.0,
        keeps_apart=False,
        reads_ranks=True,
        reads_largest=True,
    ),
    Profile(
        "bm25-pagerank",
        "BM25 + 0.5 log PageRank",
        references.bm25_pagerank,
        REFERENCE_CANDIDATES,
        0.0,
        (),
        100,
        keeps_apart=False,
        reads_ranks=True,
    ),
    Profile(
        "multiplicative",
        "product of tf-idf, title, address and PageRank factors",
        references.multiplicative,
        REFERENCE_CANDIDATES,
        0.0,
        (TITLE, ADDRESS),
        keeps_apart=False,
        most_of_host=3,
        reads_ranks=True,
        reads_largest=True,
    ),
)

PROFILES: dict[str, Profile] = {profile.name: profile for profile in _ALL}


def profile(name: str) -> Profile:
    """The profile of that name; an unknown one is the caller's mistake."""
    known = PROFILES.get(name)
    if known is None:
        raise UsageError(f"unknown profile {name!r}; choose one of {', '.join(PROFILES)}")
    return known
