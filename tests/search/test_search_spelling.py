"""Spelling: distances against a slow version, corrections, and others' misspellings."""

from __future__ import annotations

import ast
import itertools
import json
import math
import random
import re
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from periplus.index import IndexStore
from periplus.index.query import Group, IndexQuery
from periplus.search import dictionary as dictionaries
from periplus.search.dictionary import EDIT_WORTH, FIRST_LETTER, MARGIN, Candidate, Dictionary, dictionary_of
from periplus.search.kernels import alike, words
from periplus.search.language import read
from periplus.search.plan import QueryWord
from periplus.search.spelling import CLOSE, MOST_CLOSE, Speller, _forms, suspects
from periplus.search.syntax import Word
from periplus.search.terms import Lexicon
from periplus.search.typed import TypedWords

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


def slow_near(dictionary, word, limit, most_cost, least_count):
    """What ``near`` gives, by looking at every word."""
    reach = 1 if len(word) <= 4 else 2
    edits, costs = dictionary.measured(word, reach)
    found = []
    for place, (other, count) in enumerate(zip(dictionary.words, dictionary.counts.tolist(), strict=True)):
        cost = costs[place] + (FIRST_LETTER if other[0] != word[0] else 0.0)
        worth = np.log(count + 1.0) - EDIT_WORTH * cost
        if 0 < edits[place] <= reach and cost <= most_cost and count >= least_count and worth >= dictionary.floor:
            longer = len(other) - len(word)
            found.append((-worth, 2 * longer - 1 if longer > 0 else -2 * longer, -count, other))
    best = min(found, default=(0.0,))[0]
    return [other for worth, _, _, other in sorted(found)[:limit] if worth <= best + MARGIN]


WORDS = st.text(alphabet="aehtsé", min_size=3, max_size=8)


@settings(deadline=None)
@given(
    WORDS,
    st.dictionaries(WORDS, st.integers(1, 3_000), min_size=1, max_size=40),
    st.sampled_from([1, 3, 8]),
    st.sampled_from([0.5, 1.2, 99.0]),
    st.sampled_from([0.0, 20.0]),
    st.sampled_from([0, 1_000_000]),
)
def test_near_words_are_those_of_looking_at_every_word(word, others, limit, most_cost, least_count, documents):
    dictionary = Dictionary(sorted(others.items(), key=lambda one: -one[1]), documents)
    found = dictionary.near(word, limit, most_cost=most_cost, least_count=least_count)
    assert [one.word for one in found] == slow_near(dictionary, word, limit, most_cost, least_count)
    assert [(one.word, one.frequency) for one in found] == [(one.word, others[one.word]) for one in found]


@settings(deadline=None, max_examples=20)
@given(st.integers(0, 1 << 30), st.sampled_from(["aest", "abcdefghij", "etaoinshrdlu'é"]))
def test_near_words_of_many(seed, alphabet):
    """Buckets of more words than are compared at once, and words of all lengths."""
    chance = random.Random(seed)

    def made():
        return "".join(chance.choices(alphabet, k=chance.choice([3, 4, 5, 5, 5, 5, 6, 6, 7, 8, 16, 23, 24])))

    known = {made(): int(chance.paretovariate(0.7)) for _ in range(3_000)}
    known = {word: count for word, count in known.items() if word.replace("'", "").isalpha()}
    dictionary = Dictionary(sorted(known.items(), key=lambda one: -one[1]), 1_000)
    typed = [made() for _ in range(10)] + [mistaken(word, chance, alphabet) for word in chance.sample(list(known), 20)]
    for word in (word for word in typed if word.replace("'", "").isalpha() and 3 <= len(word) <= 24):
        found = dictionary.near(word)
        assert [one.word for one in found] == slow_near(dictionary, word, 8, 99.0, 0.0)
        close = [one for one in found if one.worth >= found[0].worth - CLOSE][:MOST_CLOSE]
        assert dictionary.near(word, MOST_CLOSE, margin=CLOSE + 1e-6)[: len(close)] == close


def mistaken(word, chance, alphabet):
    for _ in range(chance.randint(1, 2)):
        at, other = chance.randrange(len(word)), chance.choice(alphabet)
        swapped = word[:at] + word[at : at + 2][::-1] + word[at + 2 :]
        more, fewer = word[:at] + other + word[at:], word[:at] + word[at + 1 :]
        word = chance.choice([swapped, more, fewer, word[:at] + other + word[at + 1 :]])
    return word


CLOSE_WORDS = st.sampled_from(["tide", "tides", "tables", "moon", "harbour", "nowhere", "light", "the", "lantern"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(CLOSE_WORDS, min_size=2, max_size=4, unique=True), st.lists(CLOSE_WORDS, min_size=1, max_size=4), st.data()
)
def test_the_candidate_beside_the_other_words_is_that_of_counting_all(collection, words, context, data):
    with IndexStore(collection / "index").open() as snapshot:
        speller = Speller(snapshot, Dictionary([("tide", 1)]))
        costs = sorted(data.draw(st.floats(0.0, 0.5)) for _ in words)
        close = [Candidate(word, 5, cost) for word, cost in zip(words, costs, strict=True)]
        known = [_forms(text) for text in context[:3] if snapshot.frequency(text)]

        def together(word):
            choice = tuple(Group(forms=forms) for forms in known)
            query = IndexQuery(must=(Group(forms=_forms(word)),), any_of=(choice,))
            return snapshot.top(query, 1).total.value if known else 0

        expected = max(close, key=lambda one: one.worth + math.log1p(together(one.word)))
        assert speller._most_together(close, context) == expected


def test_the_kernel_reads_words_as_they_are_laid_out():
    assert (words.MAX_LETTERS, words.LETTER_BITS, words.FOREIGN) == (
        dictionaries.MAX_LETTERS,
        dictionaries.LETTER_BITS,
        dictionaries.FOREIGN,
    )
    assert (words.FIRSTS, words.FIRST_SHIFT, words.LEVELS, words.LEVEL_SHIFT) == (
        dictionaries.FIRSTS,
        dictionaries.FIRST_SHIFT,
        dictionaries.LEVELS,
        dictionaries.LEVEL_SHIFT,
    )
    assert (alike.ROW, alike.MASKS) == (dictionaries.SHORT_ROW, dictionaries.READ_AT_ONCE)


def test_words_that_were_typed_are_doubted_as_all_others(collection):
    """What is known of typed words spares looking them up, and says the same."""
    words = [
        "tide",
        "Tides",
        "tideTable",
        "tidez",
        "nowhere",
        "harbouring",
        "lan-tern",
        "u.s.",
        "&",
        "12",
        "12x",
        "tisch",
    ]
    queries = [" ".join(some) for some in itertools.permutations(words, 2)] + ["+tides tidez", '"tidez nowhere" moon']
    with IndexStore(collection / "index").open() as snapshot:
        dictionary = dictionary_of(snapshot)
        for languages in (("en",), ("",), ("de",), ("en", "de")):
            seen = Lexicon(snapshot)
            for query, found in itertools.product(queries, (0, 1_000)):
                reading, fresh = read(query), Lexicon(snapshot)
                alone = [node.text for node in reading.nodes if isinstance(node, Word)]
                typed = TypedWords(seen).query(alone, languages) if len(alone) == len(reading.nodes) else None
                doubtful = suspects(fresh, reading, found)
                assert suspects(seen, reading, found) == doubtful
                assert not (found and typed is not None and typed.occurs and doubtful)
                one, other = Speller(snapshot, dictionary, seen), Speller(snapshot, dictionary, fresh)
                assert one.corrections(reading, found) == other.corrections(reading, found)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(CLOSE_WORDS, min_size=2, max_size=2))
def test_a_word_is_parted_where_its_parts_stand_side_by_side(collection, parts):
    word = "".join(parts)
    with IndexStore(collection / "index").open() as snapshot:
        splits = [(word[:i], word[i:]) for i in range(2, len(word) - 1)]
        ranked = sorted(splits, key=lambda split: -min(map(snapshot.frequency, split)))
        phrases = (split for split in ranked if all(map(snapshot.frequency, split)))
        beside = (split for split in phrases if snapshot.top(IndexQuery(must=(Group(phrase=split),)), 1).total.value)
        assert Speller(snapshot, Dictionary([("tide", 1)]))._parted(word) == " ".join(next(beside, ()))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(st.lists(CLOSE_WORDS, max_size=3), max_size=5))
def test_lists_of_words_are_those_that_are_known_of_them(collection, words):
    with IndexStore(collection / "index").open() as snapshot:
        lexicon = Lexicon(snapshot)
        forms = [tuple(dict.fromkeys(form for text in several for form in _forms(text))) for several in words]
        known = lexicon.known_all([QueryWord("", several) for several in forms])
        for one, other in zip(lexicon.lists(forms), known, strict=True):
            assert one.packed == (other.packed if other else b"")
            assert one.count == (len(other.forms) if other else 0)
            assert one.documents == (sum(other.frequencies) if other else 0)


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
