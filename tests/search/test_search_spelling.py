"""Spelling: distances against a slow version, corrections, and others' misspellings."""

from __future__ import annotations

import ast
import contextlib
import json
import math
import random
import re
import time
from collections import Counter

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from search_samples import PATIENT, build, page

from periplus.core.words import near_words as kernel
from periplus.index import IndexStore
from periplus.index.retrieval.query import Group, IndexQuery
from periplus.records import SearchRequest
from periplus.search import Engine
from periplus.search.query.lexicon import lexicon_of
from periplus.search.suggesting.dictionary import (
    ALIKE,
    DOUBLE,
    EDIT_WORTH,
    FIRST_LETTER,
    LETTER_BITS,
    MARGIN,
    MAX_LETTERS,
    NEIGHBOUR,
    SWAP,
    UNHEARD,
    VOWEL,
    Candidate,
    SpellingDictionary,
    _alike,
    _neighbours,
    frequency_worth,
)  # fmt: skip
from periplus.search.suggesting.spelling import CLOSE, MOST_CLOSE, Speller, _forms

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


VOWELS, BESIDE, SOUNDING = "aeiouy", _neighbours(), _alike()


def slow_gap(letter: str, before: str) -> float:
    return DOUBLE if letter == before else UNHEARD if letter in VOWELS + "h" else 1.0


def slow_change(typed: str, meant: str) -> float:
    prices = [1.0]
    prices += [NEIGHBOUR] if meant in BESIDE.get(typed, ()) else []
    prices += [VOWEL] if typed in VOWELS and meant in VOWELS else []
    prices += [ALIKE] if meant in SOUNDING.get(typed, ()) else []
    return 0.0 if typed == meant else min(prices)


def slow_cost(typed: str, meant: str) -> float:
    """The same distance with the prices of likely mistakes, and of another first letter."""
    table = {(0, 0): 0.0}
    for i in range(1, len(typed) + 1):
        table[i, 0] = table[i - 1, 0] + slow_gap(typed[i - 1], typed[i - 2 : i - 1])
    for j in range(1, len(meant) + 1):
        table[0, j] = table[0, j - 1] + slow_gap(meant[j - 1], meant[j - 2 : j - 1])
        for i in range(1, len(typed) + 1):
            gone = table[i - 1, j] + slow_gap(typed[i - 1], typed[i - 2 : i - 1])
            more = table[i, j - 1] + slow_gap(meant[j - 1], meant[j - 2 : j - 1])
            table[i, j] = min(gone, more, table[i - 1, j - 1] + slow_change(typed[i - 1], meant[j - 1]))
            if i > 1 and j > 1 and typed[i - 1] == meant[j - 2] and typed[i - 2] == meant[j - 1]:
                table[i, j] = min(table[i, j], table[i - 2, j - 2] + SWAP)
    return table[len(typed), len(meant)] + (FIRST_LETTER if typed[0] != meant[0] else 0.0)


@settings(deadline=None)
@given(letters, st.lists(letters, min_size=1, max_size=12, unique=True))
def test_no_near_word_is_overlooked(word, others):
    dictionary = SpellingDictionary([(other, 1) for other in others])
    reach = 1 if len(word) <= 4 else 2
    expected = {other for other in others if 0 < slow_distance(word, other) <= reach}
    found = dictionary.near(word, limit=100)
    assert {candidate.word for candidate in found} <= expected
    assert bool(found) == bool(expected)
    worth = {other: frequency_worth(1) - EDIT_WORTH * slow_cost(word, other) for other in expected}
    within = {other for other in worth if worth[other] >= max(worth.values()) - MARGIN + 1e-9}
    assert within <= {candidate.word for candidate in found}
    assert [c.worth for c in found] == sorted((c.worth for c in found), reverse=True)


def slow_near(dictionary, word, limit, most_cost, least_count):
    """What ``near`` gives, by looking at every word."""
    found = []
    for other, count in zip(dictionary.words, dictionary.counts.tolist(), strict=True):
        reach = 1 if min(len(word), len(other)) <= 4 else 2
        if abs(len(other) - len(word)) > reach or not 0 < slow_distance(word, other) <= reach:
            continue
        cost = slow_cost(word, other)
        worth = frequency_worth(count) - EDIT_WORTH * cost
        if cost <= most_cost and count >= least_count and worth >= dictionary.floor:
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
    dictionary = SpellingDictionary(sorted(others.items(), key=lambda one: -one[1]), documents)
    found = dictionary.near(word, limit, most_cost=most_cost, least_count=least_count)
    assert [one.word for one in found] == slow_near(dictionary, word, limit, most_cost, least_count)
    assert [(one.word, one.frequency) for one in found] == [(one.word, others[one.word]) for one in found]


def test_near_words_among_very_many_of_one_length():
    """More than the kernel compares in one go, the best of them anywhere."""
    chance = random.Random(7)
    words = ["".join(chance.choices("aeinrst", k=5)) for _ in range(2_000)]
    known = {word: int(chance.paretovariate(0.7)) for word in words}
    dictionary = SpellingDictionary(sorted(known.items(), key=lambda one: -one[1]), 1_000)
    assert len(known) > 1_200
    for word in ("tears", "xtrain", "sinte"):
        assert [one.word for one in dictionary.near(word)] == slow_near(dictionary, word, 8, 99.0, 0.0)


@settings(deadline=None, max_examples=6)
@given(st.integers(0, 1 << 30), st.sampled_from(["aest", "abcdefghij", "etaoinshrdlu'é"]))
def test_near_words_of_many(seed, alphabet):
    """Words of all lengths."""
    chance = random.Random(seed)

    def made():
        return "".join(chance.choices(alphabet, k=chance.choice([3, 4, 5, 5, 5, 5, 6, 6, 7, 8, 16, 23, 24])))

    known = {made(): int(chance.paretovariate(0.7)) for _ in range(400)}
    known = {word: count for word, count in known.items() if word.replace("'", "").isalpha()}
    dictionary = SpellingDictionary(sorted(known.items(), key=lambda one: -one[1]), 1_000)
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


def speller_of(snapshot, dictionary):
    return Speller(dictionary, lexicon_of(snapshot), lambda query: snapshot.top(query, 1).total.value)


CLOSE_WORDS = st.sampled_from(["tide", "tides", "tables", "moon", "harbour", "nowhere", "light", "the", "lantern"])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    st.lists(CLOSE_WORDS, min_size=2, max_size=4, unique=True), st.lists(CLOSE_WORDS, min_size=1, max_size=4), st.data()
)
def test_the_candidate_beside_the_other_words_is_that_of_counting_all(collection, words, context, data):
    with IndexStore(collection / "index").open() as snapshot:
        speller = speller_of(snapshot, SpellingDictionary([("tide", 1)]))
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
    assert (kernel.MAX_LETTERS, kernel.LETTER_BITS) == (MAX_LETTERS, LETTER_BITS)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(CLOSE_WORDS, min_size=2, max_size=2))
def test_a_word_is_parted_where_its_parts_stand_side_by_side(collection, parts):
    word = "".join(parts)
    with IndexStore(collection / "index").open() as snapshot:
        splits = [(word[:i], word[i:]) for i in range(2, len(word) - 1)]
        ranked = sorted(splits, key=lambda split: -min(map(snapshot.frequency, split)))
        phrases = (split for split in ranked if all(map(snapshot.frequency, split)))
        beside = (split for split in phrases if snapshot.top(IndexQuery(must=(Group(phrase=split),)), 1).total.value)
        assert speller_of(snapshot, SpellingDictionary([("tide", 1)]))._parted(word) == " ".join(next(beside, ()))


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
    dictionary = SpellingDictionary([("harbour", 20), ("compass", 5), ("lighthouse", 9), ("kueste", 3), ("labour", 20)])
    assert dictionary.near(typed)[0].word == meant


def test_frequent_words_win_among_equals():
    assert SpellingDictionary([("tide", 50), ("tine", 2)]).near("tipe")[0].word == "tide"


@pytest.mark.parametrize("word", ["", "ab", "a1b2", "x" * 30, "日本"])
def test_words_that_are_left_alone(word):
    assert SpellingDictionary([("tide", 1), ("abc", 1)]).near(word) == []
    assert SpellingDictionary([]).near("tide") == []


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
    dictionary = SpellingDictionary(list(frequencies.items()))
    pairs = [(right.lower(), wrong.lower()) for right, wrong in misspellings(shared_data)]
    fair = [(right, wrong) for right, wrong in pairs if right in frequencies and wrong not in frequencies]
    started = time.process_time()
    first = [wrong for right, wrong in fair if (near := dictionary.near(wrong)) and near[0].word == right]
    assert len(fair) > 400
    assert len(first) / len(fair) >= 0.75
    assert (time.process_time() - started) / len(fair) < 0.05


# Whole queries over a collection in two languages.


@pytest.fixture(scope="module")
def bilingual(tmp_path_factory):
    """English pages by far, some German ones; a misspelling stands in one of them."""
    said = "absolutely coming definite define comm absolut image cakes gaussian blur"
    pages = [page(f"https://a.example/{i}", said, f"filler {said}") for i in range(90)]
    pages += [
        page(f"https://d.example/{i}", "Die Kette", "Die Kette am Zahnrad reißt", language="de") for i in range(3)
    ]
    pages.append(page("https://a.example/typo", "A note", "the guassian filter"))
    folder = tmp_path_factory.mktemp("bilingual")
    build(folder, pages)
    engine = Engine(folder, PATIENT)
    yield engine
    engine.close()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("gausian blur", "gaussian blur"),  # one word is nowhere, the other one has results enough
        ("definate", "definite"),  # its stem is that of "define"
        ("absolutly", "absolutely"),
        ("comming", "coming"),
    ],
)
def test_what_is_written_nowhere_is_corrected_at_once(bilingual, typed, meant):
    assert bilingual.search(SearchRequest(typed)).query.corrected == meant
    assert bilingual.search(SearchRequest(typed, correct=False)).query.corrected is None


@pytest.mark.parametrize("typed", ["images", "blurs", "defined", "coming", "cakes"])
def test_inflections_are_left_alone(bilingual, typed):
    answer = bilingual.search(SearchRequest(typed))
    assert (answer.query.corrected, answer.corrections) == (None, ())


@pytest.mark.parametrize("typed", ["cheap cakes", "near blur", "News define", "weather comm"])
def test_words_that_queries_are_full_of_are_left_alone(tmp_path, typed):
    """Pages have ``cheat``, ``neap``, ``new`` and ``feather``, but none of the words that were typed."""
    pages = [page(f"https://a.example/{i}", "cheat neap new feather", "cakes blur define comm") for i in range(60)]
    build(tmp_path, pages)
    with contextlib.closing(Engine(tmp_path, PATIENT)) as engine:
        answer = engine.search(SearchRequest(typed))
    assert (answer.query.corrected, answer.corrections) == (None, ())


def test_a_rare_word_that_is_written_is_only_offered_another(bilingual):
    answer = bilingual.search(SearchRequest("guassian image"))
    assert (answer.query.corrected, answer.corrections) == (None, ("gaussian image",))


def test_no_word_is_changed_for_one_of_another_language(bilingual):
    assert bilingual.search(SearchRequest("kettle")).corrections == ()
    offered = bilingual.search(SearchRequest("kettle", reader="de"))  # may be a right word that nobody wrote
    assert (offered.query.corrected, offered.corrections) == (None, ("kette",))
    assert bilingual.search(SearchRequest("kettte", language="de")).query.corrected == "kette"
    assert bilingual.search(SearchRequest("kettte lang:en", reader="de")).corrections == ()
    assert bilingual.search(SearchRequest("cakess lang:de", reader="de")).corrections == ()


def test_a_word_that_many_languages_have_is_a_word_of_each(tmp_path):
    """English pages are a third of all: no word of all three languages has half of its documents in English."""
    pages = [
        page(f"https://a.example/{language}/{i}", said, f"{said} snapshot", language=language)
        for language, said in {"en": "the image", "de": "das Abbild", "fr": "une copie"}.items()
        for i in range(20)
    ]
    pages += [page(f"https://a.example/cs/{i}", "obraz", "obraz disku", language="cs") for i in range(20)]
    build(tmp_path, pages)
    with contextlib.closing(Engine(tmp_path, PATIENT)) as engine:
        assert engine.search(SearchRequest("snpashot", language="en")).query.corrected == "snapshot"
        assert engine.search(SearchRequest("snpashot", language="cs")).corrections == ()


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("diekette", "die kette"),  # parted
        ("zahn rad", "zahnrad"),  # joined
    ],
)
def test_words_are_parted_and_joined_only_in_the_language_of_the_query(bilingual, typed, meant):
    assert bilingual.search(SearchRequest(f"{typed} lang:en")).corrections == ()
    assert bilingual.search(SearchRequest(typed, language="en")).corrections == ()
    assert bilingual.search(SearchRequest(typed, language="de")).query.corrected == meant


@pytest.mark.parametrize("typed", ["elbow", "beastly", "elbow image"])
def test_a_right_word_that_nobody_wrote_is_left_alone(tmp_path, typed):
    """``elbow`` is two mistakes from ``allow``, as short words are from many others."""
    pages = [page(f"https://a.example/{i}", "image", "allow the image its beauty") for i in range(60)]
    pages += [page(f"https://a.example/more/{i}", "text", "what else there is") for i in range(200)]
    build(tmp_path, pages)
    with contextlib.closing(Engine(tmp_path, PATIENT)) as engine:
        answer = engine.search(SearchRequest(typed))
        assert (answer.query.corrected, answer.corrections) == (None, ())
        assert engine.search(SearchRequest("imgae")).query.corrected == "image"
    assert bool(answer.results) == ("image" in typed)


def test_nothing_is_two_edits_from_a_word_that_is_short():
    dictionary = SpellingDictionary([("main", 900), ("mariner", 900), ("key", 900), ("martini", 900)], 2_000)
    assert [one.word for one in dictionary.near("marine")] == ["mariner"]
    assert dictionary.near("kenya") == []


@pytest.mark.parametrize(("typed", "language"), [("importiere", "de"), ("coupez", "fr"), ("вашими", "ru")])
def test_an_inflection_of_the_query_s_language_is_left_alone(tmp_path, typed, language):
    """Only another ending of the word is written anywhere; English stems do not know the endings of other languages."""
    said = {"de": "Dateien importieren, importiert", "fr": "coupes le texte", "ru": "ваших файлов"}
    pages = [
        page(f"https://a.example/{own}/{i}", words, words, language=own)
        for own, words in said.items()
        for i in range(20)
    ]
    build(tmp_path, pages)
    with contextlib.closing(Engine(tmp_path, PATIENT)) as engine:
        answer = engine.search(SearchRequest(typed, reader=language))
    assert (answer.query.corrected, answer.corrections) == (None, ())
    assert answer.results
