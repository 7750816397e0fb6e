"""The profile ``periplus``: BM25F and the link prior, then what the places of the words say.

The first pass of the index (BM25F on quantised impacts + prior) chooses the candidates; this formula orders them from
exact frequencies. Features lie in 0..1 and are scaled by the query's own sum of idf, so that their weights
(``weights.toml``) are comparable between queries.
"""

from __future__ import annotations

import tomllib
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

import msgspec
import numpy as np
from msgspec import Struct

from periplus.index import FIELDS, STRONG_SHARE
from periplus.ranking import features, formulas
from periplus.ranking.evidence import ANCHORS, TITLE
from periplus.ranking.parts import Part, Values, constant, leaf, product, total
from periplus.ranking.references import Ranked

if TYPE_CHECKING:
    from periplus.ranking.evidence import Evidence, FormEvidence

FRESH_DAYS = 30.0


class Weights(Struct, frozen=True, forbid_unknown_fields=True):
    """``weights.toml`` as data; unknown names there are an error, not a silent nothing."""

    bm25f: dict[str, float]
    bm25f_length: dict[str, float]
    bm25f_longest: dict[str, float]
    shape: dict[str, float]
    prior: dict[str, float]
    features: dict[str, float]

    def by_field(self, table: dict[str, float]) -> Values:
        return np.array([table[name] for name in FIELDS], dtype=np.float64)


@cache
def weights() -> Weights:
    text = resources.files("periplus.ranking").joinpath("weights.toml").read_text(encoding="utf-8")
    return msgspec.convert(tomllib.loads(text), Weights)


def periplus(evidence: Evidence, table: Weights | None = None) -> Ranked:
    """BM25F over all fields + link prior + features of order, nearness and place."""
    chosen = table or weights()
    count = evidence.count
    idf = word_weights(evidence)
    scale = feature_scale(idf, chosen)
    words = _words(evidence, idf, chosen)
    prior = product(
        "link prior",
        [
            leaf("prior", evidence.prior, "from the link graph, 0..1"),
            constant("weight", chosen.prior["links"], evidence.prior),
            constant("idf", scale, evidence.prior, _SCALE),
        ],
        count,
    )
    measured = measure(evidence)
    parts = [
        product(
            name,
            [
                leaf("feature", measured[name], _MEANING[name]),
                constant("weight", chosen.features[name], evidence.prior),
                constant("idf", scale, evidence.prior, _SCALE),
            ],
            count,
        )
        for name in chosen.features
    ]
    root = total("periplus", [words, prior, total("features", parts, count)], count)
    return Ranked(root, np.ones(count, dtype=np.bool_))


def bm25f(evidence: Evidence) -> Ranked:
    """The text part alone, field-weighted BM25F without links and features: what they add shows beside it."""
    return Ranked(_words(evidence, word_weights(evidence), weights()), np.ones(evidence.count, dtype=np.bool_))


_SCALE = "mean idf of the query's words · their number, at most the longest that counts; a word alone counts more"


def word_weights(evidence: Evidence) -> Values:
    """W: the idf of each word, times how often it was asked for."""
    return np.asarray(formulas.bm25_idf(evidence.documents, evidence.document_frequencies()) * evidence.weights)


def feature_scale(idf: Values, table: Weights) -> float:
    """What a feature of 1 with a weight of 1 is worth: as much as all the words, but of a long query only some.

    Of a word alone it is worth more: every candidate has the word, and how often says little of which page is meant.
    """
    count = len(idf)
    return float(idf.sum()) * (table.shape["alone"] if count == 1 else min(1.0, table.shape["longest"] / max(count, 1)))


def word_scores(evidence: Evidence, table: Weights) -> Values:
    """D x W: what each word of the query is worth in each candidate, without its idf."""
    best = np.zeros((evidence.count, len(evidence.words)))
    for form in evidence.forms:
        best = np.maximum(best, _worth(evidence, form, table) * _saturated(evidence, form, table))
    return best


def _words(evidence: Evidence, idf: Values, table: Weights) -> Part:
    best = word_scores(evidence, table)
    parts = [
        product(
            word,
            [
                constant("idf", float(idf[i]), evidence.prior, "ln(1 + (N - n + 0.5) / (n + 0.5)) · times asked"),
                leaf("frequency", best[:, i], "best form's share · f (k1 + 1) / (f + k1), f over weighted fields"),
            ],
            evidence.count,
        )
        for i, word in enumerate(evidence.words)
    ]
    return total("bm25f", parts, evidence.count)


def _worth(evidence: Evidence, form: FormEvidence, table: Weights) -> Values:
    """W: the form's share, less where it is a more frequent word than the one that was asked for."""
    strong = evidence.document_frequencies()
    own = np.maximum(strong, form.document_frequencies)
    idf = formulas.bm25_idf(evidence.documents, strong)
    shares = np.where(form.shares > 0, form.shares, 0.0) ** table.shape["share_power"]
    shares = np.where(form.shares >= STRONG_SHARE, shares, form.shares)
    return np.asarray(shares * formulas.bm25_idf(evidence.documents, own) / np.maximum(idf, 1e-9))


def _saturated(evidence: Evidence, form: FormEvidence, table: Weights) -> Values:
    pseudo = formulas.bm25f_frequency(
        form.frequencies,
        np.minimum(evidence.lengths, longest(evidence.average_lengths, table))[:, None, :],
        evidence.average_lengths,
        table.by_field(table.bm25f),
        table.by_field(table.bm25f_length),
    )
    return formulas.bm25_saturation(pseudo, table.bm25f["k1"])


def longest(averages: Values, table: Weights) -> Values:
    """F: what counts of the length of a field, at most."""
    most = table.bm25f_longest
    pairs = zip(FIELDS, averages.tolist(), strict=True)
    return np.array([most[name] * average if name in most else np.inf for name, average in pairs])


_MEANING = {
    "coverage": "(idf of the words found / idf of all words)²",
    "nearness": "1 / smallest distance of neighbouring words in the body",
    "phrase": "longest stretch of the query in the body, as a share of it",
    "passage": "(idf of the words of the title and of the best 30 words of the body / idf of all words)²",
    "heading_phrase": "longest stretch of the query in a heading, as a share of it",
    "title_overlap": "idf of the words in the title / idf of all words",
    "title_phrase": "idf of the weightiest common subsequence of query and title / idf of all words",
    "title_exact": "words of the query in the title / words of the title, squared",
    "title_same": "1 where the query is the title to the letter, 0.8 where one of both says more behind a dash",
    "anchors": "idf of the words in other pages' links to this one / idf of all words",
    "host": "share of the query's words in the host name",
    "path": "share of the query's words in the path",
    "shallow": "1 / (1 + segments of the path)",
    "fresh": "1 / (1 + age / 30 days) of a dated page, when the query asks for the new",
    "language": "1 in the query's language, 0.5 when either is unknown",
    "navigational": "1 when the query names this page or site by its address",
}


def measure(evidence: Evidence) -> dict[str, Values]:
    """Every feature of every candidate, each in 0..1."""
    idf = word_weights(evidence)
    found = evidence.frequencies() > 0  # D x W x F
    whole = max(float(idf.sum()), 1e-9)
    return {
        "coverage": np.square((found.any(axis=2) @ idf) / whole),
        "title_overlap": (found[:, :, TITLE] @ idf) / whole,
        "anchors": (found[:, :, ANCHORS] @ idf) / whole,
        "shallow": 1.0 / (1.0 + evidence.depth),
        "fresh": formulas.freshness(evidence.age, FRESH_DAYS) * float(evidence.wants_fresh),
        "language": evidence.language,
        "navigational": evidence.navigational if evidence.navigational.size else np.zeros(evidence.count),
        "title_same": evidence.title_same if evidence.title_same.size else np.zeros(evidence.count),
        **_places(evidence, idf),
    }


def _places(evidence: Evidence, idf: Values) -> dict[str, Values]:
    from periplus.core.score import COLUMNS, places

    table = np.zeros(evidence.count * len(COLUMNS))
    if len(evidence.words) and evidence.count:
        where = evidence.places
        places(
            where.ends.reshape(-1),
            where.positions,
            where.words,
            np.ascontiguousarray(idf),
            np.ascontiguousarray(evidence.lengths[:, TITLE]),
            evidence.host_words,
            features.NEAR_WINDOW,
            features.SWAPPED,
            table,
        )
    columns = table.reshape(evidence.count, len(COLUMNS))
    return {name: columns[:, i] for i, name in enumerate(COLUMNS)}
