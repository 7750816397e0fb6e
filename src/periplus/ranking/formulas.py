"""The formulas of ranking, each a pure function of numbers or arrays, each with its source.

Frequencies, lengths and ranks may be scalars or numpy arrays of one shape; nothing here knows of documents,
queries or files. A frequency of zero gives zero wherever a word that is absent must not count.
"""

from __future__ import annotations

from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[np.float64]]

# Robertson et al., "Okapi at TREC-3", 1994; the customary values.
BM25_K1 = 1.2
BM25_B = 0.75

# Salton and Buckley, "Term-weighting approaches in automatic text retrieval", 1988: augmented frequency.
AUGMENTED_FLOOR = 0.5


def bm25_idf(documents: float, frequency: Array | float) -> Array:
    """Inverse document frequency that never turns negative: ln(1 + (N - n + 0.5) / (n + 0.5)).

    Robertson and Spärck Jones's weight with the 1 inside the logarithm that Lucene adds.
    """
    n = np.asarray(frequency, dtype=np.float64)
    return np.asarray(np.log1p((np.maximum(documents, n) - n + 0.5) / (n + 0.5)))


def bm25_saturation(frequency: Array | float, k1: float = BM25_K1) -> Array:
    """How much a (length-normalised) frequency counts: f (k1 + 1) / (f + k1), from 0 up to k1 + 1."""
    f = np.asarray(frequency, dtype=np.float64)
    return f * (k1 + 1.0) / (f + k1)


def length_norm(length: Array | float, average: float, b: float = BM25_B) -> Array:
    """1 - b + b · length / average: above one for long documents, below one for short ones."""
    if average <= 0:
        return np.ones_like(np.asarray(length, dtype=np.float64))
    return 1.0 - b + b * np.asarray(length, dtype=np.float64) / average


def bm25_term(
    frequency: Array | float, length: Array | float, average: float, k1: float = BM25_K1, b: float = BM25_B
) -> Array:
    """BM25 of one word without its idf: f (k1 + 1) / (f + k1 · norm)."""
    return bm25_saturation(np.asarray(frequency, dtype=np.float64) / length_norm(length, average, b), k1)


def bm25f_frequency(frequencies: Array, lengths: Array, averages: Array, weights: Array, b: Array) -> Array:
    """BM25F's pseudo-frequency: the fields' normalised frequencies, weighted and added before saturation.

    Zaragoza et al., "Microsoft Cambridge at TREC 13", 2004. ``frequencies`` and ``lengths`` end in an axis of
    fields, along which the sum runs.
    """
    safe = np.where(averages > 0, averages, 1.0)
    norms = np.where(averages > 0, 1.0 - b + b * lengths / safe, 1.0)
    return np.asarray((weights * frequencies / np.maximum(norms, 1e-9)).sum(axis=-1))


def augmented_frequency(frequency: Array | float, largest: Array | float) -> Array:
    """tf = 0.5 + 0.5 · f / (largest f in the document); zero for a word that is absent."""
    f = np.asarray(frequency, dtype=np.float64)
    most = np.maximum(np.asarray(largest, dtype=np.float64), np.maximum(f, 1.0))
    return np.where(f > 0, AUGMENTED_FLOOR + (1 - AUGMENTED_FLOOR) * f / most, 0.0)


def plain_idf(documents: float, frequency: Array | float) -> Array:
    """idf = ln(N / n); zero for a word that no document has."""
    n = np.asarray(frequency, dtype=np.float64)
    return np.where(n > 0, np.log(np.maximum(documents, n) / np.maximum(n, 1.0)), 0.0)


def plus_one_idf(documents: float, frequency: Array | float) -> Array:
    """idf = ln(N / n + 1); zero for a word that no document has."""
    n = np.asarray(frequency, dtype=np.float64)
    return np.where(n > 0, np.log(np.maximum(documents, n) / np.maximum(n, 1.0) + 1.0), 0.0)


def cosine(vectors: Array, query: Array) -> Array:
    """Cosine of each row of ``vectors`` with ``query``; zero where either has no length (Salton, 1975)."""
    norms = np.linalg.norm(vectors, axis=-1) * np.linalg.norm(query)
    return np.where(norms > 0, (vectors @ query) / np.where(norms > 0, norms, 1.0), 0.0)


def normalised(values: Array) -> Array:
    """``values`` divided by the largest, so that they lie in 0..1; zeros stay zeros."""
    most = float(values.max()) if values.size else 0.0
    return values / most if most > 0 else np.zeros_like(values)


def freshness(age: Array, days: float) -> Array:
    """1 / (1 + age / days): half after so many days, and still something after years; 0 for an infinite age."""
    return np.asarray(1.0 / (1.0 + np.maximum(age, 0.0) / days))
