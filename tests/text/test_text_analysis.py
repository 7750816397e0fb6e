"""Analysis: words, forms and offsets; the same for documents and queries."""

import gzip
import itertools
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.text import (
    CALL_SHARE,
    MAX_TERM_BYTES,
    PART_SHARE,
    SIGNLESS_SHARE,
    STEM_MARK,
    STEM_SHARE,
    analysis_steps,
    analyze,
    stem,
)


def spelled(text, language="en"):
    return [text[token.start : token.end] for token in analyze(text, language)]


def forms(text, language="en"):
    (token,) = analyze(text, language)
    return {form.term: form.share for form in token.forms}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Tide tables, 2024!", ["Tide", "tables", "2024"]),
        ("C++ and C# or F#", ["C++", "and", "C#", "or", "F#"]),
        ("the .NET and node.js", ["the", ".NET", "and", "node.js"]),
        ("Python 3.11 costs 1,000,000", ["Python", "3.11", "costs", "1,000,000"]),
        ("AT&T, R&D", ["AT&T", "R&D"]),
        ("&str vs String, a &b&c", ["&str", "vs", "String", "a", "&b&c"]),
        ("fn main() of argv[] f(x)", ["fn", "main()", "of", "argv[]", "f", "x"]),
        ("const T& value, char** p; T && a", ["const", "T&", "value", "char**", "p", "T", "a"]),
        ("operator<< operator[] operator->* x", ["operator<<", "operator[]", "operator->*", "x"]),
        ("operator-like operator<int>", ["operator", "like", "operator", "int"]),
        ("2+2 is A+ in notepad++ or C++17", ["2+", "2", "is", "A+", "in", "notepad++", "or", "C++17"]),
        ("#include <vector> <stdio.h> map<int>", ["#include", "<vector>", "<stdio.h>", "map", "int"]),
        ("<a@b.org> a<b> <b", ["a@b.org", "a", "b", "b"]),
        ("mail jo.doe@example.org now", ["mail", "jo.doe@example.org", "now"]),
        ("#sailing @captain", ["#sailing", "@captain"]),
        ("don’t l'eau", ["don’t", "l'eau"]),
        ("e-mail well-known", ["e", "mail", "well", "known"]),
        ("...and so on. Next", ["and", "so", "on", "Next"]),
        ("東京都", ["東京", "京都", "都"]),
        ("ｶﾞｲﾄﾞ", ["ｶﾞｲ", "ｲﾄﾞ", "ﾄﾞ"]),
        ("日本語 text", ["日本", "本語", "語", "text"]),
        ("ไทย", ["ไท", "ทย", "ย"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("🌊 wave", ["wave"]),
        ("", []),
    ],
)
def test_words(text, expected):
    assert spelled(text) == expected


@pytest.mark.parametrize(
    ("word", "terms"),
    [
        ("C++", {"c++"}),
        ("C#", {"c#"}),
        (".NET", {".net", "net"}),
        ("C++17", {"c++17", "c++"}),
        ("main()", {"main()", "main", "~main"}),
        ("readFile()", {"readfile()", "readfile", "~readfil", "read", "file"}),
        ("&str", {"&str", "str", "~str"}),
        ("Café*", {"café*", "cafe*", "café", "cafe", "~cafe"}),
        ("operator<<", {"operator<<", "operator", "~oper"}),
        ("<vector>", {"<vector>", "vector", "~vector"}),
        ("node.js", {"node.js", "node", "js"}),
        ("snake_case", {"snake_case", "snake", "case"}),
        ("readFileNow", {"readfilenow", "~readfilenow", "read", "file", "now"}),
        ("HTMLParser", {"htmlparser", "~htmlparser", "html", "parser"}),
        ("1,000,000", {"1000000"}),
        ("Cafés", {"cafés", "cafes", "~cafe"}),
        ("STRASSE", {"strasse", "~strass"}),
        ("Straße", {"strasse", "~strass"}),
        ("ﬁne", {"fine", "~fine"}),
        ("Ｃ＋＋", {"c++"}),
        ("smørrebrød", {"smørrebrød", "smorrebrod", "~smorrebrod"}),
    ],
)
def test_forms(word, terms):
    assert set(forms(word)) == terms


def test_the_exact_form_comes_first_and_weighs_most():
    token = analyze("Running", "en")[0]
    assert token.text == token.forms[0].term == "running"
    assert [form.share for form in token.forms] == [1.0, STEM_SHARE]
    assert token.forms[1].term == STEM_MARK + "run"
    assert forms("readFile")["file"] == PART_SHARE


def test_signs_around_a_word_count_more_than_the_word_without_them():
    assert forms("main[]") == {"main[]": 1.0, "main": SIGNLESS_SHARE, "~main": STEM_SHARE * SIGNLESS_SHARE}
    assert forms("main()") == {"main()": 1.0, "main": CALL_SHARE, "~main": STEM_SHARE * CALL_SHARE}
    assert forms("operator()")["operator"] == SIGNLESS_SHARE


def test_stems_follow_the_language():
    assert "~haus" in forms("Häuser", "de")
    assert "~haus" in forms("Häuser", "de-AT")
    assert "~chanson" in forms("chansons", "fr")
    assert set(forms("日")) == {"日"}
    assert forms("word", "xx") == {"word": 1.0, "~word": STEM_SHARE}


def test_stemming_agrees_with_snowball(shared_data):
    with gzip.open(shared_data / "stemming" / "english.tsv.gz", "rt", encoding="utf-8") as lines:
        pairs = [line.rstrip("\n").split("\t") for line in lines]
    assert [stem(word, "en") for word, _ in pairs] == [expected for _, expected in pairs]


def test_terms_are_at_most_64_bytes():
    for word in ("a" * 500, "é" * 500, "x_" * 200, "字" * 3):
        for token in analyze(word, "en"):
            assert all(0 < len(form.term.encode()) <= MAX_TERM_BYTES for form in token.forms)


def test_offsets_are_those_of_the_given_text():
    text = "e\u0301te\u0301 … ﬁne ①"
    assert spelled(text) == ["e\u0301te\u0301", "ﬁne", "①"]


def test_steps_show_everything():
    steps = {step["step"]: step for step in analysis_steps("Running C++", "en")}
    assert list(steps) == ["text", "normalize", "words", "terms"]
    assert steps["words"]["words"][1] == {"word": "C++", "start": 8, "end": 11}
    assert steps["terms"]["terms"][0]["forms"][1] == {"term": "~run", "share": STEM_SHARE}


interesting = st.text(
    st.one_of(
        st.characters(codec="utf-8"),
        st.sampled_from("aAzZ09_-.,'’&@#+ \n…ﬁée\u0301東京のไทยहि한국ß①½"),
    ),
    max_size=60,
)


@given(interesting, st.sampled_from(["en", "de", "", "ja"]))
def test_tokens_lie_in_order_within_the_text(text, language):
    tokens = analyze(text, language)
    assert [token.position for token in tokens] == list(range(len(tokens)))
    for token in tokens:
        assert 0 <= token.start < token.end <= len(text)
        assert token.forms[0].term == token.text
        assert token.forms[0].share == 1.0
        assert len({form.term for form in token.forms}) == len(token.forms)
        assert all(form.term and form.share <= 1.0 for form in token.forms)
        assert not token.text.startswith(STEM_MARK)
    assert all(first.start < second.start or first.end <= second.end for first, second in itertools.pairwise(tokens))


@given(interesting)
def test_spelling_in_other_normal_forms_finds_the_same(text):
    composed = unicodedata.normalize("NFC", text)
    apart = unicodedata.normalize("NFD", text)
    assert [t.forms for t in analyze(composed)] == [t.forms for t in analyze(apart)]
