"""The five reference rankers, each as it was published, with our documented choice where the source is silent.

Every function turns ``Evidence`` into a ``Ranked``: a tree of parts whose root is the score, and which candidates are
shown at all. They match any word of the query (union), read one form of each word (the stemmed one) and read
PageRank on the classic scale, where the mean page has rank 1 and the least 0.15.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from msgspec import Struct

from periplus.ranking import features, formulas
from periplus.ranking.evidence import ADDRESS, BODY, HEADINGS, TITLE
from periplus.ranking.parts import Part, Values, constant, leaf, product, total

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.ranking.evidence import Evidence
    from periplus.ranking.word_places import Sightings

# GRS2
GRS2_HIT_WEIGHT = 0.5

# Cosine with bonuses. The source names the parts but no weights: the cosine leads, the host's rank breaks near ties,
# and a query that names a title outweighs both.
COSINE_WEIGHT = 1.0
COSINE_RANK_WEIGHT = 0.2
COSINE_RANK_CAP = 0.1
COSINE_RANK_FLOOR = 1e-4
COSINE_OVERLAP_WEIGHT = 0.5
COSINE_INSIDE_WEIGHT = 0.1  # a word of the query
COSINE_INSIDE_WORDS = 10
COSINE_SUBSEQUENCE_WEIGHT = 0.3
COSINE_SUBSEQUENCE_SHARE = 0.9
COSINE_PREVIEW_WEIGHT = 0.1
COSINE_PREVIEW_WORDS = 100  # the preview is the first paragraphs

# BM25 with PageRank
BM25_RANK_WEIGHT = 0.5
BM25_RANK_LEAST = 0.16  # documents at or below are not shown

# Multiplicative
TFIDF_FACTOR = 0.3
TITLE_FACTOR = 0.5
URL_FACTOR = 0.3
RANK_FACTOR = 0.2
# The shares of the title and address matches, and the depth penalty, are ours: the source names only what they hold.
TITLE_PHRASE, TITLE_OVERLAP, TITLE_EARLY = 0.5, 0.3, 0.2
URL_HOST, URL_PATH = 0.7, 0.3
DEPTH_FREE = 2  # segments without a penalty
DEPTH_STEP = 0.05
DEPTH_LEAST = 0.7


class Ranked(Struct, frozen=True):
    """The scores of all candidates as one tree, and which of them may be shown."""

    score: Part
    admitted: np.ndarray[Any, np.dtype[np.bool_]]


def _all(evidence: Evidence) -> np.ndarray[Any, np.dtype[np.bool_]]:
    return np.ones(evidence.count, dtype=np.bool_)


def _tfidf(evidence: Evidence, idf: Values) -> Values:
    """D x W: augmented frequency times idf."""
    tf = formulas.augmented_frequency(evidence.text_frequencies(), evidence.max_frequencies[:, None])
    return np.asarray(tf * idf)


def _any_field(evidence: Evidence) -> Values:
    """D x W of 0 and 1: does the word stand in the title or a heading?"""
    frequencies = evidence.frequencies()
    return np.asarray((frequencies[:, :, TITLE] + frequencies[:, :, HEADINGS] > 0).astype(np.float64))


def _measured(evidence: Evidence, field: int, measure: Callable[[Sightings], float]) -> Values:
    return np.array([measure(sightings) for sightings in evidence.seen(field)], dtype=np.float64)


def grs2(evidence: Evidence) -> Ranked:
    """Σ (tf·idf · times in the query + 0.5 · hit-list score), times PageRank.

    The hit-list score of a word is its normalised position i/W; several hits are combined by their mean (our choice).
    """
    count, words = evidence.count, len(evidence.words)
    weights = _tfidf(evidence, formulas.plain_idf(evidence.documents, evidence.document_frequencies()))
    hits = np.array(
        [
            features.mean_positions(sightings, words, length)
            for sightings, length in zip(evidence.seen(BODY), evidence.lengths[:, BODY], strict=True)
        ],
        dtype=np.float64,
    ).reshape(count, words)
    sums = [
        total(
            word,
            [
                leaf("tf-idf", weights[:, i] * evidence.weights[i], "(0.5 + 0.5 f / max f) · ln(N / n) · times asked"),
                leaf("hit list", GRS2_HIT_WEIGHT * hits[:, i], "0.5 · mean of i/W"),
            ],
            count,
        )
        for i, word in enumerate(evidence.words)
    ]
    rank = leaf("PageRank", evidence.page_rank, "classic scale, mean 1")
    return Ranked(product("grs2", [total("words", sums, count), rank], count), _all(evidence))


def tfidf_pagerank(evidence: Evidence) -> Ranked:
    """Σ tf·idf · times in the query, times PageRank."""
    count = evidence.count
    weights = _tfidf(evidence, formulas.plain_idf(evidence.documents, evidence.document_frequencies()))
    words = [
        leaf(word, weights[:, i] * evidence.weights[i], "(0.5 + 0.5 f / max f) · ln(N / n) · times asked")
        for i, word in enumerate(evidence.words)
    ]
    rank = leaf("PageRank", evidence.page_rank, "classic scale, mean 1")
    return Ranked(product("tfidf-pagerank", [total("words", words, count), rank], count), _all(evidence))


def bm25(evidence: Evidence) -> Ranked:
    """Plain BM25 (k1 = 1.2, b = 0.75) over title and body as one text."""
    return Ranked(_bm25_words(evidence), _all(evidence))


def _bm25_words(evidence: Evidence) -> Part:
    idf = formulas.bm25_idf(evidence.documents, evidence.document_frequencies())
    frequencies, lengths = evidence.text_frequencies(), evidence.text_lengths()
    average = evidence.average_text_length()
    parts = [
        product(
            word,
            [
                constant("idf", float(idf[i]), lengths, "ln(1 + (N - n + 0.5) / (n + 0.5))"),
                leaf(
                    "frequency",
                    formulas.bm25_term(frequencies[:, i], lengths, average),
                    "f (k1 + 1) / (f + k1 (1 - b + b · length / average))",
                ),
                constant("times asked", float(evidence.weights[i]), lengths),
            ],
            evidence.count,
        )
        for i, word in enumerate(evidence.words)
    ]
    return total("bm25", parts, evidence.count)


def bm25_pagerank(evidence: Evidence) -> Ranked:
    """BM25 + 0.5 · ln PageRank; documents with a PageRank of 0.16 or less are skipped."""
    rank = leaf(
        "PageRank", BM25_RANK_WEIGHT * np.log(np.maximum(evidence.page_rank, 1e-9)), "0.5 · ln of the classic PageRank"
    )
    score = total("bm25-pagerank", [_bm25_words(evidence), rank], evidence.count)
    return Ranked(score, np.asarray(evidence.page_rank > BM25_RANK_LEAST))


def cosine_bonus(evidence: Evidence) -> Ranked:
    """Cosine of tf-idf vectors over the query's words, the host's rank, and bonuses for titles, headings, preview."""
    count, words = evidence.count, len(evidence.words)
    idf = formulas.plus_one_idf(evidence.documents, evidence.document_frequencies())
    similarity = formulas.cosine(_tfidf(evidence, idf), np.asarray(evidence.weights * idf))
    overlap = (_any_field(evidence) @ idf) / max(float(idf.sum()), 1e-9)
    inside = _best(evidence, lambda seen: float(features.longest_run(seen, words) == words > 0))
    subsequence = _best(evidence, lambda seen: features.common_subsequence(seen, words))
    preview = _measured(
        evidence,
        BODY,
        lambda seen: float(
            features.longest_run(tuple(at for at in seen if at[0] < COSINE_PREVIEW_WORDS), words) == words > 0
        ),
    )
    long_enough = np.where(subsequence >= COSINE_SUBSEQUENCE_SHARE, subsequence, 0.0)
    parts = [
        leaf("cosine", COSINE_WEIGHT * similarity, "cosine of (tf · idf) over the words of the query"),
        leaf(
            "host rank",
            COSINE_RANK_WEIGHT * _log_rank(evidence),
            "0.2 · log of the host's rank, capped at 0.1, as 0..1",
        ),
        leaf("title overlap", COSINE_OVERLAP_WEIGHT * overlap, "0.5 · share of idf found in title or headings"),
        leaf(
            "query in title",
            COSINE_INSIDE_WEIGHT * min(words, COSINE_INSIDE_WORDS) * inside,
            "0.1 · words of the query, when all stand in a title or heading as a phrase",
        ),
        leaf("subsequence", COSINE_SUBSEQUENCE_WEIGHT * long_enough, "0.3 · longest common subsequence, from 0.9 up"),
        leaf("preview", COSINE_PREVIEW_WEIGHT * preview, "0.1 when the query stands in the first 100 words"),
    ]
    return Ranked(total("cosine-bonus", parts, count), _all(evidence))


def _best(evidence: Evidence, measure: Callable[[Sightings], float]) -> Values:
    return np.maximum(_measured(evidence, TITLE, measure), _measured(evidence, HEADINGS, measure))


def _log_rank(evidence: Evidence) -> Values:
    capped = np.clip(evidence.host_rank, COSINE_RANK_FLOOR, COSINE_RANK_CAP)
    floor, cap = np.log(COSINE_RANK_FLOOR), np.log(COSINE_RANK_CAP)
    return np.asarray((np.log(capped) - floor) / (cap - floor))


def multiplicative(evidence: Evidence) -> Ranked:
    """(1 + 0.3 TFIDF)(1 + 0.5 Title)(1 + 0.3 URL)(1 + 0.2 PageRank) · depth penalty, each in 0..1."""
    count = evidence.count
    idf = formulas.plain_idf(evidence.documents, evidence.document_frequencies())
    tfidf = formulas.normalised((_tfidf(evidence, idf) * evidence.weights).sum(axis=1))
    parts = [
        _factor("TFIDF", TFIDF_FACTOR, tfidf, "Σ tf·idf over the best candidate's"),
        _factor("title", TITLE_FACTOR, _title_match(evidence), "0.5 phrase + 0.3 overlap + 0.2 early"),
        _factor("URL", URL_FACTOR, _url_match(evidence), "0.7 share in the host name + 0.3 in the path"),
        _factor("PageRank", RANK_FACTOR, formulas.normalised(evidence.page_rank), "over the best candidate's"),
        leaf("depth", _depth_penalty(evidence), "1 - 0.05 for each path segment beyond 2, at least 0.7"),
    ]
    return Ranked(product("multiplicative", parts, count), _all(evidence))


def _factor(name: str, factor: float, values: Values, detail: str) -> Part:
    return leaf(name, 1.0 + factor * values, f"1 + {factor} · {name}: {detail}")


def _title_match(evidence: Evidence) -> Values:
    words = len(evidence.words)
    overlap = (evidence.frequencies()[:, :, TITLE] > 0).sum(axis=1) / max(words, 1)
    phrase = _measured(evidence, TITLE, lambda seen: features.phrase_share(seen, words))
    early = _measured(evidence, TITLE, lambda seen: 1.0 / (1.0 + features.first_position(seen)))
    return np.asarray(TITLE_PHRASE * phrase + TITLE_OVERLAP * overlap + TITLE_EARLY * early)


def _url_match(evidence: Evidence) -> Values:
    words = max(len(evidence.words), 1)
    host = np.zeros(evidence.count)
    path = np.zeros(evidence.count)
    for i, seen in enumerate(evidence.seen(ADDRESS)):
        border = evidence.host_words[i]
        host[i] = len({word for position, word in seen if position < border}) / words
        path[i] = len({word for position, word in seen if position >= border}) / words
    return URL_HOST * host + URL_PATH * path


def _depth_penalty(evidence: Evidence) -> Values:
    return np.maximum(DEPTH_LEAST, 1.0 - DEPTH_STEP * np.maximum(0.0, evidence.depth - DEPTH_FREE))
