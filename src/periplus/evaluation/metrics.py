"""Measures of one ranked list against graded judgements, each a pure function of the list and the grades.

``ranking`` is document ids, best first, without repeats; ``grades`` maps judged documents to grades. A document
without a judgement counts as not relevant, and so does one of grade 0 or less. Where nothing is relevant every
measure is 0; such queries are left out of averages (``evaluate``).
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

RELEVANT = 1  # least grade that counts as relevant for the measures that know only yes and no


def linear_gain(grade: int) -> float:
    """The grade itself: Järvelin and Kekäläinen 2002, and what trec_eval computes."""
    return float(max(grade, 0))


def exponential_gain(grade: int) -> float:
    """2^grade - 1: Burges et al., "Learning to rank using gradient descent", ICML 2005; stresses the best grades."""
    return float(2 ** max(grade, 0) - 1)


def ndcg(
    ranking: Sequence[str],
    grades: Mapping[str, int],
    k: int = 10,
    gain: Callable[[int], float] = linear_gain,
) -> float:
    """Normalised discounted cumulated gain at ``k``, discount log2(rank + 1).

    Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS 20(4), 2002.
    """
    ideal = _dcg(sorted((gain(grade) for grade in grades.values()), reverse=True)[:k])
    if ideal == 0.0:
        return 0.0
    return _dcg(gain(grades.get(document, 0)) for document in ranking[:k]) / ideal


def average_precision(ranking: Sequence[str], grades: Mapping[str, int]) -> float:
    """Mean of the precision at the rank of each relevant document, those not found counting 0; its mean is MAP.

    Buckley and Voorhees, "Evaluating evaluation measure stability", SIGIR 2000.
    """
    relevant = relevant_documents(grades)
    if not relevant:
        return 0.0
    found = 0
    total = 0.0
    for rank, document in enumerate(ranking, 1):
        if document in relevant:
            found += 1
            total += found / rank
    return total / len(relevant)


def reciprocal_rank(ranking: Sequence[str], grades: Mapping[str, int], k: int = 10) -> float:
    """1 / rank of the first relevant document, 0 when it is not among the first ``k``.

    Voorhees, "The TREC-8 question answering track report", TREC 1999.
    """
    relevant = relevant_documents(grades)
    ranks = (rank for rank, document in enumerate(ranking[:k], 1) if document in relevant)
    first = next(ranks, None)
    return 1.0 / first if first else 0.0


def precision(ranking: Sequence[str], grades: Mapping[str, int], k: int = 10) -> float:
    """Share of relevant documents among ``k`` places; places left empty count against it."""
    return _hits(ranking[:k], grades) / k


def recall(ranking: Sequence[str], grades: Mapping[str, int], k: int = 100) -> float:
    """Share of all relevant documents that are among the first ``k``."""
    relevant = relevant_documents(grades)
    return _hits(ranking[:k], grades) / len(relevant) if relevant else 0.0


def relevant_documents(grades: Mapping[str, int]) -> set[str]:
    return {document for document, grade in grades.items() if grade >= RELEVANT}


def _hits(documents: Iterable[str], grades: Mapping[str, int]) -> int:
    return sum(grades.get(document, 0) >= RELEVANT for document in documents)


def _dcg(gains: Iterable[float]) -> float:
    return sum(gain / math.log2(rank + 1) for rank, gain in enumerate(gains, 1))
