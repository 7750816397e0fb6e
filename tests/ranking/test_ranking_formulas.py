"""The formulas against values computed by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from periplus.ranking import formulas


def test_bm25_idf_by_hand():
    # N = 1000, n = 10: ln(1 + 990.5 / 10.5)
    assert formulas.bm25_idf(1000, 10) == pytest.approx(math.log(1 + 990.5 / 10.5))


def test_bm25_idf_is_never_negative():
    assert (formulas.bm25_idf(10, np.array([0.0, 5.0, 10.0, 12.0])) > 0).all()


def test_bm25_term_by_hand():
    # f = 3, length 120, average 100, k1 = 1.2, b = 0.75: 3 * 2.2 / (3 + 1.2 * 1.15)
    assert formulas.bm25_term(3, 120, 100) == pytest.approx(6.6 / (3 + 1.2 * 1.15))


def test_bm25_term_of_an_absent_word_is_zero():
    assert formulas.bm25_term(0, 120, 100) == 0


def test_length_norm_without_an_average_is_one():
    assert formulas.length_norm(5, 0) == 1


def test_bm25f_adds_fields_before_saturation():
    frequencies = np.array([[1.0, 2.0]])
    lengths = np.array([[5.0, 200.0]])
    averages, weights, b = np.array([10.0, 100.0]), np.array([4.0, 1.0]), np.array([0.4, 0.75])
    # 4 * 1 / (0.6 + 0.4 * 0.5) + 1 * 2 / (0.25 + 0.75 * 2)
    expected = 4 / 0.8 + 2 / 1.75
    assert formulas.bm25f_frequency(frequencies, lengths, averages, weights, b)[0] == pytest.approx(expected)


def test_bm25f_of_one_field_is_bm25():
    one = np.array([1.0])
    pseudo = formulas.bm25f_frequency(
        np.array([[3.0]]), np.array([[120.0]]), np.array([100.0]), one, np.array([formulas.BM25_B])
    )
    assert formulas.bm25_saturation(pseudo)[0] == pytest.approx(float(formulas.bm25_term(3, 120, 100)))


def test_augmented_frequency_by_hand():
    assert formulas.augmented_frequency(2, 8) == pytest.approx(0.5 + 0.5 * 2 / 8)
    assert formulas.augmented_frequency(8, 8) == 1
    assert formulas.augmented_frequency(0, 8) == 0


def test_plain_and_plus_one_idf_by_hand():
    assert formulas.plain_idf(1000, 10) == pytest.approx(math.log(100))
    assert formulas.plus_one_idf(1000, 10) == pytest.approx(math.log(101))
    assert formulas.plain_idf(1000, 0) == 0
    assert formulas.plus_one_idf(1000, 0) == 0


def test_cosine_by_hand():
    vectors = np.array([[3.0, 4.0], [4.0, 3.0], [0.0, 0.0], [1.0, 0.0]])
    assert formulas.cosine(vectors, np.array([3.0, 4.0])) == pytest.approx([1.0, 24 / 25, 0.0, 0.6])
    assert formulas.cosine(vectors, np.zeros(2)) == pytest.approx([0, 0, 0, 0])


def test_normalised():
    assert formulas.normalised(np.array([1.0, 4.0])) == pytest.approx([0.25, 1.0])
    assert formulas.normalised(np.zeros(2)) == pytest.approx([0.0, 0.0])
    assert formulas.normalised(np.zeros(0)).size == 0


def test_freshness():
    ages = np.array([0.0, 30.0, 60.0, -5.0, np.inf])
    assert formulas.freshness(ages, 30.0) == pytest.approx([1, 0.5, 1 / 3, 1, 0])
