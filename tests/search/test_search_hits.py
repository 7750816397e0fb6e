"""Where words of a query stand in texts, beside the obvious way; the table of spellings that they are told by."""

from __future__ import annotations

import threading

import pytest
from hits_oracle import oracle
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.index.analysis import analyze, base_language, exact_term
from periplus.index.analysis.characters import fold
from periplus.index.analysis.stemming import ALGORITHMS
from periplus.index.query import TermForm
from periplus.search import keys, plan, read, spellings, stemmers
from periplus.search.hits import begins, hits_of_all, lowered, sought
from periplus.search.kernels import hashing, stemming
from periplus.search.keys import term_key
from periplus.search.spellings import Spellings, judged, language_name, language_numbers, shared, tokens
from periplus.search.vocabulary import stop_words

STRETCHES = st.text(alphabet="abAB1_.,'\u2019&@-é”… iI", min_size=1, max_size=12)
LANGUAGES = st.sampled_from(["en", "de", "pt-BR", ""])
TOLD = "en-GB"  # a language whose spellings no kernel judges
WORDS = ["tide", "Tides", "TIDAL", "tideTable", "tide_table", "the", "The", "Café", "cafe\u0301", "日本語", "日本"]
ALIKE = ["潮", "no"]  # to the interpreter's hash
ODD = ["tide's", "tide\u2019s", "a.b", "tide@b-c.de", "ßtide", "İ", "\ud800", "\U0001f30a", "\x00", "ab", "1,000", "ﬁ"]
SIGNS = [" ", " ", " ", ". ", "\n", "-", "_", "\u2028", "»", "…", "x" * 70]
PIECES = st.sampled_from(WORDS + ODD + SIGNS + ALIKE)
ASKED = [
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
]
QUERIES = st.sampled_from([*ASKED, *ALIKE])


@pytest.fixture
def own(monkeypatch):
    """A table of spellings that nothing was put into yet."""
    monkeypatch.setattr(spellings, "_shared", [Spellings()])
    return shared()


def words_of(query):
    return [begins(word.forms, word.prefix) for word in plan(read(query)).words]


@settings(max_examples=300)
@given(st.lists(st.tuples(st.lists(PIECES, max_size=40), LANGUAGES), min_size=1, max_size=4), QUERIES)
def test_hits_are_those_of_the_obvious_way(texts, query):
    """Also of texts whose spellings are known already, when asked again."""
    words = words_of(query)
    several, languages = ["".join(pieces) for pieces, _ in texts], [language for _, language in texts]
    expected = [oracle(text, words, language) for text, language in zip(several, languages, strict=True)]
    asked = sought(words, [1.0] * len(words))
    assert hits_of_all(several, asked, languages) == expected
    assert hits_of_all(several, asked, languages) == expected


@settings(max_examples=150)
@given(st.lists(st.text(alphabet=st.characters(), max_size=80), min_size=1, max_size=4), LANGUAGES)
def test_hits_of_any_text_lie_inside(texts, language):
    words = words_of("a b e \U0001f30a")
    asked = sought(words, [1.0] * len(words))
    for text, found in zip(texts, hits_of_all(texts, asked, [language] * len(texts)), strict=True):
        assert all(0 <= hit.start < hit.end <= len(text) for hit in found)


@given(STRETCHES, LANGUAGES)
def test_the_terms_of_a_stretch_are_those_of_its_analysis(stretch, language):
    expected = [(token.start, token.end, [form.term for form in token.forms]) for token in analyze(stretch, language)]
    assert [(start, end, list(dict.fromkeys(terms))) for start, end, terms in tokens(stretch, language)] == expected


@settings(max_examples=300)
@given(st.text("abcABCD12_", min_size=1, max_size=70), LANGUAGES)
def test_the_terms_of_a_name_are_those_of_its_analysis(name, language):
    expected = [(token.start, token.end, [form.term for form in token.forms]) for token in analyze(name, language)]
    assert [(start, end, list(dict.fromkeys(terms))) for start, end, terms in tokens(name, language)] == expected


@given(st.text("abcdeings", min_size=1, max_size=63), st.booleans(), LANGUAGES)
def test_a_word_of_letters_is_judged_as_any_stretch(word, capital, language):
    word = word.title() if capital else word
    assert judged([(word, 1, language)]) == judged([(word, 0, language)])


SIGNED = st.text("abcdeingsABT12_.&'\u2019,", min_size=1, max_size=30)
NAMED = st.lists(st.sampled_from(["tide", "Tides", "TABLE", "x", "1", "_", ".", "'", "s", "Ing"]), min_size=1).map(
    "".join
)


@settings(max_examples=500)
@given(SIGNED | NAMED, st.integers(0, 12), st.sampled_from(["en", "", "de", "fr", "tr", "pt-BR", "xx"]))
def test_a_kernel_judges_a_spelling_as_its_analysis_does(stretch, which, language):
    """Whichever of its terms the query asks for, and with other words before it."""
    terms = [form.term for token in analyze(stretch, language) for form in token.forms]
    if not terms:
        return
    sought_term = terms[which % len(terms)]
    first = stretch[0].lower()
    words = [begins((TermForm(sought_term),), first), begins((TermForm(stretch.lower() + "x"), TermForm(first)), first)]
    asked = sought(words, [1.0, 1.0])
    assert hits_of_all([stretch], asked, [language]) == [oracle(stretch, words, language)]


LATIN = st.text("aeonstAÉéàçÇöÖñıİßœşğłøžščřŠ\u0301”", min_size=1, max_size=24)
PARTED = st.lists(
    st.sampled_from(
        ["tide", "Tides", "x", "C", "10", "000", "a.b", "é", "u_s", ",", ",", "+", "#", "@", ".", "-", "++"]
    ),
    min_size=1,
    max_size=9,
).map("".join)
SOME_LANGUAGES = ["en", "", "de", "fr", "tr", "es", "pt", "ca", "pl", "cs", "ro", "vi", "zh", "pt-BR", "xx"]


@settings(max_examples=1_000)
@given(
    LATIN | PARTED,
    st.integers(0, 12),
    st.sampled_from(SOME_LANGUAGES),
    st.sampled_from(["", "", ",tides", "@b.example", " tide"]),
)
def test_a_kernel_judges_accents_and_several_words_as_their_analysis_does(stretch, which, language, more):
    """Whichever of the terms the query asks for, with another word that may be there, too."""
    stretch += more
    terms = [form.term for token in analyze(stretch, language) for form in token.forms]
    if not terms:
        return
    first = lowered(stretch[0])
    words = [
        begins((TermForm(terms[which % len(terms)]),), first),
        begins((TermForm("tide"), TermForm("~tide")), first),
    ]
    asked = sought(words, [1.0, 1.0])
    assert hits_of_all([stretch, f"{stretch} {stretch}"], asked, [language] * 2) == [
        oracle(stretch, words, language),
        oracle(f"{stretch} {stretch}", words, language),
    ]


@pytest.mark.parametrize(
    ("spelling", "language", "query"),
    [
        ("définissant", "fr", "definir"),
        ("Współtwórcy", "pl", "wspoltworcy"),
        ("UNIVERSITÄT", "en", "universität"),
        ("news@lists.debian.org", "en", "debian"),
        ("fruit,vegetables", "en", "vegetable"),
        ("Maxwell+Tegra", "en", "tegra"),
        ("contract.html#guidelines", "ca", "guidelines"),
        ("writeInt32Array#", "en", "array"),
        ("users", "vi", "users"),
    ],
)
def test_what_no_longer_has_to_be_told_to_python(own, spelling, language, query):
    forms = analyze(query, language)[0].forms
    words = [begins(forms, lowered(spelling[0]))]
    found = hits_of_all([spelling], sought(words, [1.0]), [language])
    assert found == [oracle(spelling, words, language)]
    assert found[0]
    assert shared().used == 1


def test_letters_are_what_the_analysis_makes_of_them():
    for code, told in enumerate(stemmers._letters().tolist()):
        if told:
            letter, low = chr(code), chr(told & stemming.LOW)
            assert low == exact_term(letter) == letter.lower()
            assert fold(low) == chr((told >> stemming.BARE_SHIFT) & 0xFF)
            assert (told >> stemming.CAPITAL_SHIFT == 1) == letter.isupper()
    assert sum(told > 0 for told in stemmers._letters().tolist()) > 250
    assert stemmers.LETTERS_END == stemming.LETTERS_END
    assert (stemmers.BARE_SHIFT, stemmers.CAPITAL_SHIFT) == (stemming.BARE_SHIFT, stemming.CAPITAL_SHIFT)


def test_languages_without_a_stemmer_have_none():
    assert not [name for name in stemmers.UNSTEMMED if base_language(name) in ALGORITHMS]


NEAR = st.text("aAbB1\x11_\x7f.\x0e@`é[{", min_size=1, max_size=18)  # signs that only the bit of case tells apart


@settings(max_examples=300)
@given(st.lists(NEAR, min_size=1, max_size=3), st.lists(NEAR | st.just(" "), max_size=60), st.integers(0, 70))
def test_beginnings_of_any_signs_are_those_of_the_obvious_way(beginnings, pieces, before):
    """Wherever they stand among 64 places, and whether they have one letter or more than eight."""
    words = [begins((TermForm(lowered(one)),), lowered(one)) for one in beginnings]
    asked = sought(words, [1.0] * len(words))
    text = " " * before + "".join([*pieces, " ", *beginnings])
    assert hits_of_all([text, text.swapcase()], asked, ["en", TOLD]) == [
        oracle(text, words, "en"),
        oracle(text.swapcase(), words, TOLD),
    ]


SPELLED = st.lists(st.sampled_from("aeinrst"), max_size=17).map(lambda letters: "s" + "".join(letters))


@settings(max_examples=100)
@given(st.lists(st.tuples(SPELLED, st.sampled_from(["en", "de", "fr", TOLD])), min_size=1, max_size=150))
def test_a_spelling_that_comes_again_is_what_it_is_in_its_language(spelled):
    """More of them than are kept, of all sizes about that up to which they are; each twice and in three languages."""
    words = [begins((TermForm(spelled[0][0]),), "s"), *words_of("stain senses")]
    asked = sought(words, [1.0] * len(words))
    texts = [" ".join([word, word.title(), word]) for word, _ in spelled]
    languages = [language for _, language in spelled]
    expected = [oracle(text, words, language) for text, language in zip(texts, languages, strict=True)]
    assert hits_of_all(texts, asked, languages) == expected


def test_without_addresses_spellings_are_judged_one_by_one(own, monkeypatch):
    words, text = words_of("tide tables"), "The tide's table, tideTable and tidal tables of TIDES"
    asked = sought(words, [1.0, 1.0])
    found = hits_of_all([text], asked, ["en"])
    assert shared().used == 1  # nothing had to be told to Python
    for missing in ("_library", "_keys"):
        monkeypatch.setattr(stemmers, missing, lambda: None)
        monkeypatch.setattr(stemmers, "_own", stemmers._Own())
        assert hits_of_all([text], asked, ["en"]) == found
        assert shared().used > 1
        monkeypatch.undo()
    assert [text[hit.start : hit.end] for hit in found[0]] == ["tide's", "table", "tideTable", "tables", "TIDES"]


@pytest.mark.parametrize(("query", "text"), [("潮", "潮no"), ("no", "no潮")])
def test_terms_of_the_same_bytes_are_told_apart(own, query, text):
    assert hash("潮") == hash("no")  # or there is nothing to tell apart
    assert term_key("潮") != term_key("no") == hash("no")
    assert hashing.WIDE == keys.WIDE
    (hits,) = hits_of_all([text], sought(words_of(query), [1.0]), [""])
    assert [text[hit.start : hit.end] for hit in hits] == [query]


def test_no_stop_word_has_a_curly_quote():
    """A kernel reads it as a plain one, of which stop words may have some."""
    assert not [word for language in stemmers.LANGUAGES for word in stop_words(language) if "\u2019" in word]


def test_a_spelling_is_judged_once(own, monkeypatch):
    asked = sought(words_of("tide"), [1.0])
    text = "Tide and tides, TIDE and tide."
    first = hits_of_all([text], asked, [TOLD])
    monkeypatch.setattr("periplus.search.hits.judged", None)
    assert hits_of_all([text], asked, [TOLD]) == first
    assert [text[hit.start : hit.end] for hit in first[0]] == ["Tide", "tides", "TIDE", "tide"]


@pytest.mark.parametrize("languages", [["de", "en", "de"], ["de-AT", TOLD, "de-AT"]])
def test_spellings_of_languages_are_told_apart(own, languages):
    words = words_of("nation")
    found = hits_of_all(["nationen"] * 3, sought(words, [1.0]), languages)
    assert found == [oracle("nationen", words, language) for language in languages]
    assert found[0] != found[1]


def test_a_full_table_is_forgotten(monkeypatch):
    own = Spellings(64)
    monkeypatch.setattr(spellings, "_shared", [own])
    asked = sought(words_of("tide"), [1.0])
    text = " ".join(f"tide{chr(97 + i)}ing tides" for i in range(16))
    first = hits_of_all([text], asked, [TOLD])
    assert shared() is not own
    assert own.used <= 64
    assert hits_of_all([text], asked, [TOLD]) == first


@pytest.mark.parametrize("name", ["", "en", "pt-BR", "en\0", "x" * 15, "Ünglisch"])
def test_a_language_keeps_its_name(name):
    assert language_name(*language_numbers(name)) == name


@pytest.mark.parametrize("name", ["en-" + "x" * 40, "日本語日本語日本語", "x" * 300])
def test_a_long_name_of_a_language_keeps_how_it_begins(name):
    assert name.startswith(language_name(*language_numbers(name)).rstrip("\ufffd"))
    assert len(language_name(*language_numbers(name)).rstrip("\ufffd")) > 4


@pytest.mark.parametrize("language", ["en", TOLD])
def test_threads_share_the_table(own, language):
    asked = sought(words_of("ab cd"), [1.0, 1.0])
    texts = [f"ab{chr(97 + i % 26)}s cd{chr(97 + i // 26)} AB cd'{chr(97 + i % 7)}" for i in range(300)]
    expected = [hits_of_all([text], asked, [language]) for text in texts]
    spellings.renew(shared())
    found = [None] * 4

    def ask(place):
        found[place] = [hits_of_all([text], asked, [language]) for text in texts]

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
