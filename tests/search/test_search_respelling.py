"""Corrections by one kernel call are those of the speller, which asks step by step."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_samples import build, page

from periplus.records import SearchRequest
from periplus.search import Engine, dictionary, respelling, spelling, terms, usual
from periplus.search.kernels import lookups, together, wording
from periplus.search.kernels import respelling as kernel
from periplus.search.kernels import words as near_kernel
from periplus.settings import SearchSettings, Settings

SEED = 47
# Words near each other, words that are two, and two that are one; some beyond ASCII, or with a sign.
KNOWN = [
    *("tide", "tides", "tidal", "time", "timer", "tame", "table", "tables", "cable", "able", "moon", "moan", "mean"),
    *("lantern", "lanterns", "light", "lights", "lighthouse", "house", "houses", "ice", "cream", "keyboard", "board"),
    *("harbour", "harbours", "harbor", "keeper", "keepers", "storm", "stormy", "café", "cafés", "don't", "2026"),
]
STEMS_ONLY = ["lightings", "moaning", "stormier", "tabled", "harbouring"]
COMMON = ["sea", "water"]  # in every page
OTHERS = ["icecream", "key board", "light house", "tidetable", "moonlight", "the", "zzz", "x9"]
TYPED = [*KNOWN, *STEMS_ONLY, *COMMON, *OTHERS]


def pages_of(count: int, generator: random.Random) -> list:
    """Pages of a few words each, in some of which two stand side by side that may be typed as one."""
    pages = []
    for number in range(count):
        words = generator.choices(KNOWN, k=generator.choice((3, 6, 20)))
        together = generator.choice(["ice cream", "tide table", "moon light", "", "", ""])
        pages.append(page(f"https://{number}.example/", "", " ".join([*COMMON, *words, together])))
    return pages


def respeller_of(engine: Engine) -> respelling.Respeller:
    with engine._generations.use() as generation:
        return engine._generations.speller(generation).respeller


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    folder, generator = tmp_path_factory.mktemp("respelling"), random.Random(SEED)
    for batch in (1, 2):
        build(folder, pages_of(60, generator), batch)
    engine = Engine(folder, Settings(search=SearchSettings(budget_ms=120_000)))  # kernels may have to be compiled
    engine.warm()
    yield engine
    engine.close()


@pytest.fixture(autouse=True)
def nothing_is_kept(monkeypatch):
    """Both ways are asked the same, so no answer may come from the cache."""
    monkeypatch.setattr("periplus.search.cache.Repeated.again", lambda *_: False)


def both(engine: Engine, query: str):
    """Corrections with and without the kernel, and whether it was asked and gave any."""
    said = []
    corrections = respelling.Respeller.corrections

    def noted(self, *given, **more):
        said.append(corrections(self, *given, **more))
        return said[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(respelling.Respeller, "corrections", noted)
        one = engine.search(SearchRequest(query))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(respelling.Respeller, "corrections", lambda *_, **__: None)
        other = engine.search(SearchRequest(query))
    return one.corrections, other.corrections, bool(said) and said[0] is not None


def mistaken(word: str, generator: random.Random) -> str:
    """A word with a mistake or two, or none."""
    for _ in range(generator.choice((0, 1, 1, 2))):
        at, letter = generator.randrange(len(word)), generator.choice("aeioutrdlmsb")
        swapped = word[:at] + word[at : at + 2][::-1] + word[at + 2 :]
        others = (word[:at] + letter + word[at:], word[:at] + word[at + 1 :], word[:at] + letter + word[at + 1 :])
        word = generator.choice((swapped, *others)) or word
    return word


typed_words = st.builds(mistaken, st.sampled_from(TYPED), st.randoms(use_true_random=False))


@given(st.lists(typed_words, min_size=1, max_size=12), st.sampled_from([[], ["sea"], ["sea", "water"]]))
def test_the_kernel_says_what_the_speller_says(opened, words, more):
    by_kernel, by_steps, _ = both(opened, " ".join([*words, *more]))
    assert by_kernel == by_steps


def test_most_queries_are_left_to_the_kernel(opened):
    generator = random.Random(SEED)
    asked, corrected, left = 0, 0, 0
    for _ in range(400):
        plain = [word for word in TYPED if word.isascii() and word.isalnum()]
        words = dict.fromkeys(mistaken(word, generator) for word in generator.sample(plain, generator.randint(1, 4)))
        by_kernel, by_steps, said = both(opened, " ".join([*words, *generator.choice(([], COMMON))]))
        assert by_kernel == by_steps
        asked += said
        corrected += said and bool(by_kernel)
        left += not said and bool(by_steps)
    assert asked > 250
    assert corrected > 150
    assert left < 40


@pytest.mark.parametrize(
    ("query", "meant"),
    [
        ("lantrens sea", "lanterns sea"),
        ("icecream sea", "ice cream sea"),
        ("key board sea", "keyboard sea"),
        ("sea moonlight keepr", "sea moon light keeper"),
        ("sea Harbuor", "sea harbour"),
        ("sea water lightings", None),
        ("sea x9 zz", None),
        ("sea sea lantrens water lantrens", "sea sea lanterns water lanterns"),
        ("sea water moon tide time sea house ice cream lantrens", None),  # beyond the first eight
        ("sea water moon tide time sea ice cream lantrens", "sea water moon tide time sea ice cream lanterns"),
    ],
)
def test_corrections_of_a_kernel(opened, query, meant):
    by_kernel, by_steps, said = both(opened, query)
    assert by_kernel == by_steps
    assert by_kernel == ((meant,) if meant else ())
    assert said == (query != "sea water lightings")  # of which every word occurs, so that nobody is asked


@pytest.mark.parametrize(
    "query",
    [
        "lantrens. sea",
        "Sea sea lantrens",
        "cafés lantrens sea",
        f"sea {'lantrens' * 4}",
    ],
)
def test_other_queries_are_left_to_the_speller(opened, query):
    by_kernel, by_steps, said = both(opened, query)
    assert by_kernel == by_steps
    assert not said


def test_a_query_that_needs_more_memory_is_left_to_the_speller(opened, monkeypatch):
    respeller = respeller_of(opened)
    much = respeller._known.copy()
    much[lookups.PHRASE_ROOM] = 1 << 40
    monkeypatch.setattr(respeller, "_known_at", much.ctypes.data)
    by_kernel, by_steps, said = both(opened, "lantrens sea")
    assert not said
    assert by_kernel == by_steps == ("lanterns sea",)


def test_a_query_that_is_not_on_the_desk_is_left_to_the_speller(opened, monkeypatch):
    opened.search(SearchRequest("lantrens sea"))
    respeller, desk = respeller_of(opened), usual.desk_of_thread()
    assert respeller.corrections(["lantrens", "sea"], every=False) == ("lanterns sea",)
    assert respeller.corrections(["lantrens", "sea", "water"], every=False) is None
    monkeypatch.setattr(desk, "laid_out", None)
    assert respeller.corrections(["lantrens", "sea"], every=False) is None


def test_a_kernel_that_fails_is_told(opened, monkeypatch):
    monkeypatch.setattr(respeller_of(opened), "_respell", lambda *_: usual.BROKEN)
    with pytest.raises(IndexError, match="failed"):
        opened.search(SearchRequest("lantrens sea"))


def test_a_dictionary_without_words(opened):
    """Words are parted and joined nevertheless."""
    with opened._generations.use() as generation:
        empty = spelling.Speller(generation.snapshot, dictionary.Dictionary([]), generation.lexicon)
        cases = {"icecream sea": "ice cream sea", "keyb oard sea": "keyboard sea", "lantrens sea": ""}
        for query, meant in cases.items():
            opened.search(SearchRequest(query))
            assert empty.respeller.corrections(query.split(), every=False) == ((meant,) if meant else ())


def test_both_sides_know_the_same():
    for name in ("MEANT", "WHICH", "ONE_WITH_NEXT", "AS_TYPED", "ANOTHER", "WORK"):
        assert getattr(respelling, name) == getattr(lookups, name)
    for name in ("CLOSE", "MOST_CLOSE", "MOST_BESIDE", "EVERY_MATCH", "ENOUGH"):
        assert getattr(together, name) == getattr(spelling, name)
    for name in ("CLOSE_ENOUGH", "PARTED_COST", "OCCURS", "FORM_OCCURS", "MOST_COST"):
        assert getattr(kernel, name) == getattr(spelling, name)
    assert (kernel.MOST_CORRECTED, kernel.SHORT_WORD) == (spelling.MAX_CORRECTED, spelling.SHORT)
    for name in ("LEAST_LETTERS", "NEAR_REACH", "FAR_REACH", "SHORT_REACH", "MARGIN", "FAR", "EDIT_WORTH"):
        assert getattr(kernel, name) == getattr(dictionary, name)
    assert (lookups.ASKED, lookups.LONGEST_TERM) == (dictionary.DESK, terms.LONGEST)


def test_memory_of_the_kernel_suffices():
    assert 2 * (near_kernel.MAX_LETTERS - 3) <= lookups.MOST_TERMS  # halves of a word
    assert 2 * together.MOST_CLOSE <= lookups.MOST_TERMS
    assert usual.MOST_WORDS <= lookups.MOST_TERMS
    assert together.MOST_CLOSE <= lookups.MOST_CANDIDATES
    assert together.MOST_BESIDE * 2 <= lookups.MOST_LISTS  # two forms of each word
    assert lookups.WHOLE - lookups.PAIRS >= usual.MOST_WORDS - 1
    assert 8 * (lookups.TEXT - lookups.WHOLE) >= 2 * wording.LONGEST
    assert lookups.OPENED < lookups.WORK // 2


def test_what_is_laid_out_is_what_the_kernel_reads(opened):
    respeller = respeller_of(opened)
    assert len(respeller._known) == lookups.KNOWN
    assert respeller._known.dtype == np.int64
