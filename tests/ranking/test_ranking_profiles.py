"""Every profile: scores by hand where the formula is published, explanations that add up, stated choices kept."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs

from periplus.errors import UsageError
from periplus.index.format.fields import FIELDS
from periplus.ranking import PROFILES, Evidence, FormEvidence, WordPlaces, ours, profile, references
from periplus.ranking.evidence import ADDRESS, ANCHORS, BODY, HEADINGS, TITLE
from support.explanations import check

N = 1000
SEEN = {
    TITLE: (((0, 0),), (), ()),
    HEADINGS: ((), (), ()),
    BODY: (((11, 0), (12, 1), (47, 0)), ((97, 0), (99, 0)), ()),
    ADDRESS: (((0, 0), (9, 1)), (), ()),
}


def evidence(**changes) -> Evidence:
    """Two words, three pages: both words in title and body; one in the body; none."""
    frequencies = np.zeros((3, 2, len(FIELDS)))
    frequencies[0, 0, TITLE], frequencies[0, 0, BODY], frequencies[0, 1, BODY] = 1, 2, 1
    frequencies[1, 0, BODY] = 4
    lengths = np.zeros((3, len(FIELDS)))
    lengths[:, TITLE], lengths[:, BODY], lengths[:, ADDRESS] = 4, (96, 196, 46), (1, 3, 6)
    averages = np.zeros(len(FIELDS))
    averages[TITLE], averages[BODY], averages[ADDRESS] = 4, 96, 3
    known = {
        "words": ("tide", "tables"),
        "weights": np.array([1.0, 2.0]),
        "forms": (FormEvidence(np.array([1.0, 1.0]), np.array([10.0, 100.0]), frequencies),),
        "documents": N,
        "lengths": lengths,
        "average_lengths": averages,
        "max_frequencies": np.array([4.0, 8.0, 3.0]),
        "prior": np.array([0.5, 0.1, 0.9]),
        "page_rank": np.array([2.0, 0.5, 0.15]),
        "host_rank": np.array([1.0, 0.01, 0.0]),
        "depth": np.array([0.0, 2.0, 5.0]),
        "host_words": np.full(3, 8.0),
        "age": np.array([0.0, 30.0, 300.0]),
        "language": np.array([1.0, 0.5, 0.0]),
        "places": WordPlaces.of(SEEN, 3),
    }
    return Evidence(**(known | changes))


def single(word: int, source: Evidence) -> float:
    return float(source.text_frequencies()[0, word])


def test_every_profile_of_the_surface_is_there():
    assert set(PROFILES) == {
        "periplus",
        "bm25",
        "bm25f",
        "grs2",
        "cosine-bonus",
        "tfidf-pagerank",
        "bm25-pagerank",
        "multiplicative",
    }


def test_unknown_profile_is_named():
    with pytest.raises(UsageError, match="unknown profile 'x'; choose one of periplus"):
        profile("x")


@pytest.mark.parametrize("name", PROFILES)
def test_explanations_add_up_and_equal_the_score(name):
    ranked = PROFILES[name].rank(evidence())
    for i in range(3):
        explanation = ranked.score.explain(i)
        assert check(explanation) == ""
        assert explanation.value == pytest.approx(ranked.score.values[i])
        assert explanation.name == name


@pytest.mark.parametrize("name", PROFILES)
def test_a_page_with_every_word_beats_one_with_none(name):
    source = evidence(page_rank=np.ones(3), host_rank=np.ones(3), prior=np.ones(3), depth=np.zeros(3))
    scores = PROFILES[name].rank(source).score.values
    assert scores[0] > scores[2]


def test_bm25_by_hand():
    scores = references.bm25(evidence()).score.values
    tide = math.log(1 + (N - 10 + 0.5) / 10.5) * (3 * 2.2) / (3 + 1.2 * 1.0)
    tables = 2 * math.log(1 + (N - 100 + 0.5) / 100.5) * (1 * 2.2) / (1 + 1.2 * 1.0)
    assert scores[0] == pytest.approx(tide + tables)
    assert scores[1] == pytest.approx(math.log(1 + 990.5 / 10.5) * (4 * 2.2) / (4 + 1.2 * 1.75))
    assert scores[2] == 0


def test_bm25_pagerank_by_hand_and_skips_the_least():
    ranked = references.bm25_pagerank(evidence())
    plain = references.bm25(evidence()).score.values
    assert ranked.score.values[:2] == pytest.approx(plain[:2] + 0.5 * np.log([2.0, 0.5]))
    assert ranked.admitted.tolist() == [True, True, False]


def test_tfidf_pagerank_by_hand():
    scores = references.tfidf_pagerank(evidence()).score.values
    tide, tables = (0.5 + 0.5 * 3 / 4) * math.log(100), (0.5 + 0.5 * 1 / 4) * math.log(10) * 2
    assert scores[0] == pytest.approx((tide + tables) * 2.0)
    assert scores[1] == pytest.approx((0.5 + 0.5 * 4 / 8) * math.log(100) * 0.5)


def test_grs2_by_hand():
    scores = references.grs2(evidence()).score.values
    tide, tables = (0.5 + 0.5 * 3 / 4) * math.log(100), (0.5 + 0.5 * 1 / 4) * math.log(10) * 2
    hits = 0.5 * ((12 + 48) / 2 / 96) + 0.5 * (13 / 96)
    assert scores[0] == pytest.approx((tide + tables + hits) * 2.0)


def test_cosine_bonus_by_hand():
    explanation = references.cosine_bonus(evidence()).score.explain(0)
    parts = {part.name: part.value for part in explanation.parts}
    idf = np.array([math.log(101), math.log(11)])
    page = np.array([0.5 + 0.5 * 3 / 4, 0.5 + 0.5 * 1 / 4]) * idf
    query = np.array([1, 2]) * idf
    assert parts["cosine"] == pytest.approx(float(page @ query / np.linalg.norm(page) / np.linalg.norm(query)))
    assert parts["host rank"] == pytest.approx(0.2)  # rank 1 is capped at 0.1, the top of the scale
    assert parts["title overlap"] == pytest.approx(0.5 * idf[0] / idf.sum())
    assert parts["query in title"] == 0
    assert parts["preview"] == pytest.approx(0.1)


def test_cosine_bonus_rewards_a_title_that_holds_the_query():
    source = evidence()
    seen = WordPlaces.of(SEEN | {TITLE: (((0, 0), (1, 1)), (), ())}, 3)
    parts = {
        part.name: part.value
        for part in references.cosine_bonus(structs.replace(source, places=seen)).score.explain(0).parts
    }
    assert parts["query in title"] == pytest.approx(0.2)
    assert parts["subsequence"] == pytest.approx(0.3)


def test_multiplicative_by_hand():
    parts = {part.name: part.value for part in references.multiplicative(evidence()).score.explain(0).parts}
    assert parts["TFIDF"] == pytest.approx(1.3)  # the best candidate
    assert parts["title"] == pytest.approx(1 + 0.5 * (0.5 * 0 + 0.3 * 0.5 + 0.2 * 1.0))
    assert parts["URL"] == pytest.approx(1 + 0.3 * (0.7 * 0.5 + 0.3 * 0.5))
    assert parts["PageRank"] == pytest.approx(1.2)
    assert parts["depth"] == 1.0


def test_multiplicative_depth_penalty_has_a_floor():
    ranked = references.multiplicative(evidence(depth=np.array([2.0, 4.0, 50.0])))
    values = [part.value for i in range(3) for part in ranked.score.explain(i).parts if part.name == "depth"]
    assert values == pytest.approx([1.0, 0.9, 0.7])


def test_ours_takes_the_best_form_not_the_sum():
    exact = evidence().forms[0]
    stem = FormEvidence(np.array([0.7, 0.7]), exact.document_frequencies, exact.frequencies)
    one, two = ours.periplus(evidence()).score, ours.periplus(evidence(forms=(exact, stem))).score
    assert one.values == pytest.approx(two.values)


def test_ours_counts_a_weak_form_but_not_as_the_word():
    exact = evidence().forms[0]
    nothing = structs.replace(exact, frequencies=np.zeros_like(exact.frequencies))
    part = FormEvidence(np.array([0.3, 0.3]), exact.document_frequencies, exact.frequencies)
    source = evidence(forms=(nothing, part))
    assert source.frequencies().sum() == 0
    words = ours.periplus(source).score.parts[0]
    assert 0 < words.values[0] < ours.periplus(evidence()).score.parts[0].values[0]


def features_of(source: Evidence, index: int) -> dict[str, float]:
    tree = ours.periplus(source).score.explain(index)
    return {part.name: part.parts[0].value for part in tree.parts[2].parts}


def test_our_features_by_hand():
    values = features_of(evidence(), 0)
    assert values["coverage"] == 1
    assert values["nearness"] == 1
    assert values["phrase"] == 1
    told = ours.word_weights(evidence())
    assert values["title_phrase"] == pytest.approx(told[0] / told.sum())
    assert values["title_same"] == 0
    assert values["title_exact"] == pytest.approx((1 / 4) ** 2)
    assert values["host"] == 0.5
    assert values["path"] == 0.5
    assert values["shallow"] == 1
    assert values["fresh"] == 0
    assert values["navigational"] == 0


def test_features_count_three_times_for_a_word_alone_and_no_more_than_four_for_many():
    table = ours.weights()
    scales = [ours.feature_scale(np.full(count, 2.0), table) for count in (0, 1, 2, 4, 8)]
    assert scales == [0.0, 6.0, 4.0, 8.0, 8.0]


def test_freshness_counts_only_when_asked_for():
    assert features_of(evidence(wants_fresh=True), 1)["fresh"] == pytest.approx(0.5)


def test_anchors_count():
    source = evidence()
    frequencies = source.forms[0].frequencies.copy()
    frequencies[2, :, ANCHORS] = 1
    forms = (structs.replace(source.forms[0], frequencies=frequencies),)
    assert features_of(structs.replace(source, forms=forms), 2)["anchors"] == 1


def test_weights_name_every_feature_and_field():
    table = ours.weights()
    assert set(table.features) == set(features_of(evidence(), 0))
    assert set(table.bm25f) == {*FIELDS, "k1"}
    assert set(table.bm25f_length) == set(FIELDS)


@pytest.mark.parametrize("name", PROFILES)
def test_no_candidates_and_no_words(name):
    empty = evidence(
        words=(),
        weights=np.zeros(0),
        forms=(),
        lengths=np.zeros((0, len(FIELDS))),
        max_frequencies=np.zeros(0),
        prior=np.zeros(0),
        page_rank=np.zeros(0),
        host_rank=np.zeros(0),
        depth=np.zeros(0),
        host_words=np.zeros(0),
        age=np.zeros(0),
        language=np.zeros(0),
        places=WordPlaces.none(0),
    )
    assert PROFILES[name].rank(empty).score.values.shape == (0,)


counts = st.integers(0, 50)


@settings(max_examples=40, deadline=None)
@given(st.lists(st.lists(counts, min_size=len(FIELDS), max_size=len(FIELDS)), min_size=6, max_size=6), st.data())
def test_every_profile_gives_finite_scores_that_add_up(rows, data):
    frequencies = np.array(rows, dtype=np.float64).reshape(3, 2, len(FIELDS))
    lengths = frequencies.sum(axis=1) + data.draw(counts)
    forms = (FormEvidence(np.ones(2), np.array([3.0, 0.0]), frequencies),)
    source = evidence(forms=forms, lengths=lengths, average_lengths=lengths.mean(axis=0))
    for known in PROFILES.values():
        ranked = known.rank(source)
        assert np.isfinite(ranked.score.values).all()
        assert all(check(ranked.score.explain(i)) == "" for i in range(3))


def test_the_text_part_alone_is_a_part_of_ours():
    whole = ours.periplus(evidence()).score.explain(0)
    part = next(part for part in whole.parts if part.name == "bm25f")
    assert ours.bm25f(evidence()).score.values[0] == pytest.approx(part.value)
