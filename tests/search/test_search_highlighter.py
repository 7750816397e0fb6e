"""Where words of a query stand in texts, beside the obvious way."""

from __future__ import annotations

import threading

import pytest
from highlighter_oracle import oracle
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.index.retrieval.query import TermForm
from periplus.search import plan, read
from periplus.search.shards.highlighter import MAX_PLACES, MAX_TEXT, Highlights, ShownTexts, lowered, sought_word
from periplus.text import analyze

LANGUAGES = st.sampled_from(["en", "de", "pt-BR", "en-GB", "tr", "xx", ""])
WORDS = [
    "tide",
    "Tides",
    "TIDAL",
    "tideTable",
    "tide_table",
    "the",
    "The",
    "Café",
    "cafe\u0301",
    "日本語",
    "日本",
    "t\u0301ide\u0308s",
    "ｔｉｄｅ",
]
ODD = ["tide's", "tide\u2019s", "a.b", "tide@b-c.de", "ßtide", "İ", "\ud800", "\U0001f30a", "\x00", "ab", "1,000", "ﬁ"]
SIGNS = [" ", " ", " ", ". ", "\n", "-", "_", "\u2028", "»", "…", "x" * 70]
PIECES = st.sampled_from([*WORDS, *ODD, *SIGNS, "潮", "no"])
QUERIES = st.sampled_from(
    [
        "tide",
        "tide tables",
        "the tide",
        "cafe",
        "日本",
        "a.b",
        "1000",
        "x" * 70,
        "tide ebb cafe the ab",
        "tides tide",
        "潮",
    ]
)


def words_of(query):
    return [sought_word(word.forms, word.prefix) for word in plan(read(query)).words]


def matches(texts, words, languages):
    return ShownTexts(texts, languages).matches(Highlights.of(words, [1.0] * len(words)))


@settings(max_examples=300)
@given(st.lists(st.tuples(st.lists(PIECES, max_size=40), LANGUAGES), min_size=1, max_size=4), QUERIES)
def test_matches_are_those_of_the_obvious_way(texts, query):
    words = words_of(query)
    several, languages = ["".join(pieces) for pieces, _ in texts], [language for _, language in texts]
    expected = [oracle(text, words, language) for text, language in zip(several, languages, strict=True)]
    assert matches(several, words, languages) == expected


@settings(max_examples=150)
@given(st.lists(st.text(alphabet=st.characters(), max_size=80), min_size=1, max_size=4), LANGUAGES)
def test_matches_of_any_text_lie_inside(texts, language):
    for text, found in zip(texts, matches(texts, words_of("a b e \U0001f30a"), [language] * len(texts)), strict=True):
        assert all(0 <= match.start < match.end <= len(text) for match in found)


PARTED = st.lists(
    st.sampled_from(["tide", "Tides", "x", "C", "10", "000", "a.b", "é", "u_s", ",", "+", "#", "@", ".", "-", "++"]),
    min_size=1,
    max_size=9,
).map("".join)
LATIN = st.text("aeonstAÉéàçÇöÖñıİßœşğłøžščřŠ\u0301”'\u2019&_.12", min_size=1, max_size=24)


@settings(max_examples=500)
@given(LATIN | PARTED, st.integers(0, 12), LANGUAGES, st.sampled_from(["", "", ",tides", "@b.example", " tide"]))
def test_any_term_of_a_stretch_is_found_as_its_analysis_says(stretch, which, language, more):
    """Whichever of the terms the query asks for, with another word that may be there, too."""
    stretch += more
    terms = [form.term for token in analyze(stretch, language) for form in token.forms]
    if not terms:
        return
    first = lowered(stretch[0])
    words = [
        sought_word((TermForm(terms[which % len(terms)]),), first),
        sought_word((TermForm("tide"), TermForm("~tide")), first),
    ]
    texts = [stretch, f"{stretch} {stretch}"]
    assert matches(texts, words, [language] * 2) == [oracle(text, words, language) for text in texts]


NEAR = st.text("aAbB1\x11_\x7f.\x0e@`é[{", min_size=1, max_size=18)  # signs that only the bit of case tells apart


@settings(max_examples=300)
@given(st.lists(NEAR, min_size=1, max_size=3), st.lists(NEAR | st.just(" "), max_size=60))
def test_beginnings_of_any_signs_are_those_of_the_obvious_way(beginnings, pieces):
    words = [sought_word((TermForm(lowered(one)),), lowered(one)) for one in beginnings]
    text = "".join([*pieces, " ", *beginnings])
    texts = [text, text.swapcase()]
    assert matches(texts, words, ["en", "en"]) == [oracle(one, words, "en") for one in texts]


@pytest.mark.parametrize(
    ("spelling", "language", "query"),
    [
        ("définissant", "fr", "definir"),
        ("Współtwórcy", "pl", "wspoltworcy"),
        ("UNIVERSITÄT", "en", "universität"),
        ("news@lists.debian.org", "en", "debian"),
        ("fruit,vegetables", "en", "vegetable"),
        ("contract.html#guidelines", "ca", "guidelines"),
        ("writeInt32Array#", "en", "array"),
    ],
)
def test_other_spellings_of_a_word_are_found(spelling, language, query):
    words = [sought_word(analyze(query, language)[0].forms, lowered(spelling[0]))]
    found = matches([spelling], words, [language])
    assert found == [oracle(spelling, words, language)]
    assert found[0]


@pytest.mark.parametrize(
    ("spelling", "language", "query"),
    [
        ("Nu\u0308mber", "en", "number"),
        ("re\u0301sume\u0301", "en", "resume"),
        ("Mu\u0308ller", "de", "müller"),
        ("ＴＩＤＥＳ", "en", "tides"),
        ("ｔｉｄｅ１２", "ja", "tide12"),
    ],
)
def test_accents_and_widths_may_be_written_in_two_ways(spelling, language, query):
    text = f"\U0001f30a of {spelling}, 潮"
    (found,) = matches([text], words_of(query), [language])
    assert [text[match.start : match.end] for match in found] == [spelling]


def test_spellings_of_languages_are_told_apart():
    words, languages = words_of("nation"), ["de", "en", "de"]
    found = matches(["nationen"] * 3, words, languages)
    assert found == [oracle("nationen", words, language) for language in languages]
    assert found[0] != found[1]


def test_the_work_in_a_text_is_bounded():
    (many, far) = matches(["tide " * 100, "x" * MAX_TEXT + " tide"], words_of("tide"), ["en", "en"])
    assert len(many) == MAX_PLACES
    assert not far


def test_threads_find_the_same():
    words = words_of("ab cd")
    texts = [f"ab{chr(97 + i % 26)}s cd{chr(97 + i // 26)} AB cd'{chr(97 + i % 7)}" for i in range(300)]
    expected = [oracle(text, words, "en") for text in texts]
    found = [None] * 4

    def ask(place):
        found[place] = matches(texts, words, ["en"] * len(texts))

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
