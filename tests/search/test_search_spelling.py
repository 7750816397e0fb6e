"""Spelling: distances against a slow version, corrections, and others' misspellings."""

from __future__ import annotations

import ast
import json
import re
import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.search.spelling import EDIT_WORTH, FIRST_LETTER, MARGIN, Dictionary

letters = st.text(alphabet="abcde", min_size=3, max_size=8)


def slow_distance(one: str, other: str) -> int:
    """Restricted Damerau-Levenshtein as the textbooks write it."""
    table = {(i, 0): i for i in range(len(one) + 1)} | {(0, j): j for j in range(len(other) + 1)}
    for i in range(1, len(one) + 1):
        for j in range(1, len(other) + 1):
            cost = int(one[i - 1] != other[j - 1])
            table[i, j] = min(table[i - 1, j] + 1, table[i, j - 1] + 1, table[i - 1, j - 1] + cost)
            if i > 1 and j > 1 and one[i - 1] == other[j - 2] and one[i - 2] == other[j - 1]:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + 1)
    return table[len(one), len(other)]


@settings(deadline=None)
@given(letters, st.lists(letters, min_size=1, max_size=8))
def test_distances_equal_the_slow_version(word, others):
    dictionary = Dictionary([(other, 1) for other in others])
    edits, costs = dictionary.measured(word, 2)
    for edit, other in zip(edits.tolist(), dictionary.words, strict=True):
        slow = slow_distance(word, other)
        assert edit == slow if slow <= 2 else edit > 2
        assert slow > 2 or costs[dictionary.words.index(other)] <= slow + 1e-9


@settings(deadline=None)
@given(letters, st.lists(letters, min_size=1, max_size=12, unique=True))
def test_no_near_word_is_overlooked(word, others):
    dictionary = Dictionary([(other, 1) for other in others])
    reach = 1 if len(word) <= 4 else 2
    expected = {other for other in others if 0 < slow_distance(word, other) <= reach}
    found = dictionary.near(word, limit=100)
    assert {candidate.word for candidate in found} <= expected
    assert bool(found) == bool(expected)
    _, costs = dictionary.measured(word, reach)
    worth = {
        other: -EDIT_WORTH * (cost + FIRST_LETTER * (other[0] != word[0]))
        for other, cost in zip(dictionary.words, costs.tolist(), strict=True)
        if other in expected
    }
    within = {other for other in worth if worth[other] >= max(worth.values()) - MARGIN + 1e-9}
    assert within <= {candidate.word for candidate in found}
    assert [c.worth for c in found] == sorted((c.worth for c in found), reverse=True)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("harbuor", "harbour"),
        ("harbourr", "harbour"),
        ("hatbour", "harbour"),
        ("lighthose", "lighthouse"),
        ("compas", "compass"),
        ("küste", "kueste"),
    ],
)
def test_common_mistakes(typed, meant):
    dictionary = Dictionary([("harbour", 20), ("compass", 5), ("lighthouse", 9), ("kueste", 3), ("labour", 20)])
    assert dictionary.near(typed)[0].word == meant


def test_frequent_words_win_among_equals():
    assert Dictionary([("tide", 50), ("tine", 2)]).near("tipe")[0].word == "tide"


@pytest.mark.parametrize("word", ["", "ab", "a1b2", "x" * 30, "日本"])
def test_words_that_are_left_alone(word):
    assert Dictionary([("tide", 1), ("abc", 1)]).near(word) == []
    assert Dictionary([]).near("tide") == []


def misspellings(folder):
    """(right, wrong) of both of Norvig's test sets."""
    pairs = []
    for name in ("spell-testset1.txt", "spell-testset2.txt"):
        source = (folder / "spelling" / name).read_text(encoding="utf-8")
        table = ast.literal_eval(source[source.index("{") : source.rindex("}") + 1])
        pairs += [(right, wrong) for right, wrongs in table.items() for wrong in wrongs.split()]
    return pairs


@pytest.mark.shared_data
def test_others_misspellings_with_the_words_of_real_documents(shared_data):
    """Right forms that occur in the documents, wrong ones that do not: at least three in four are mended."""
    frequencies: Counter[str] = Counter()
    for path in sorted(shared_data.glob("relevance/*/docs.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            frequencies.update(set(re.findall(r"[a-z]+", f"{row['title']} {row['text']}".lower())))
    dictionary = Dictionary(list(frequencies.items()))
    pairs = [(right.lower(), wrong.lower()) for right, wrong in misspellings(shared_data)]
    fair = [(right, wrong) for right, wrong in pairs if right in frequencies and wrong not in frequencies]
    started = time.process_time()
    first = [wrong for right, wrong in fair if (near := dictionary.near(wrong)) and near[0].word == right]
    assert len(fair) > 400
    assert len(first) / len(fair) >= 0.75
    assert (time.process_time() - started) / len(fair) < 0.05
