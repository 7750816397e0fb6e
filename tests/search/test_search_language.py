"""The query language: how texts are read, and that reading never fails."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from periplus.search import read
from periplus.search.query import language
from periplus.search.query.language import MAX_CHARACTERS, MAX_DEPTH, MAX_WORDS, prose
from periplus.search.query.syntax import AnyOf, Condition, InField, Phrase, Prefix, Sequence, Signed, TypedWord
from periplus.search.query.vocabulary import are_silent, asks_for_new, guessed_language


def words(*texts: str) -> tuple[TypedWord, ...]:
    return tuple(TypedWord(text) for text in texts)


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("", ()),
        ("   ", ()),
        ("tide tables", words("tide", "tables")),
        ('"tide tables"', (Phrase("tide tables"),)),
        ("“tide tables”", (Phrase("tide tables"),)),
        ("„Ebbe und Flut“", (Phrase("Ebbe und Flut"),)),
        ("«marée basse»", (Phrase("marée basse"),)),
        ("+tide -moon", (Signed("+", TypedWord("tide")), Signed("-", TypedWord("moon")))),
        ('-"full moon"', (Signed("-", Phrase("full moon")),)),
        ("tide OR flood", (AnyOf(words("tide", "flood")),)),
        ("tide | flood || ebb", (AnyOf(words("tide", "flood", "ebb")),)),
        ("(tide flood) OR ebb", (AnyOf((Sequence(words("tide", "flood")), TypedWord("ebb"))),)),
        ("+(tide flood)", (Signed("+", Sequence(words("tide", "flood"))),)),
        ("(tide)", words("tide")),
        ("((tide", words("tide")),
        ("()", ()),
        ("tide)", words("tide)")),
        ("intitle:tide", (InField("intitle", TypedWord("tide")),)),
        ('INTITLE:"tide tables"', (InField("intitle", Phrase("tide tables")),)),
        ("inurl:log", (InField("inurl", TypedWord("log")),)),
        ("-intitle:tide", (Signed("-", InField("intitle", TypedWord("tide"))),)),
        ("port*", (Prefix("port"),)),
        ("p*", words("p")),
        ("*", ()),
        ("site:Harbour.Example", (Condition("site", "harbour.example"),)),
        ("site:https://harbour.example/tides", (Condition("site", "harbour.example"),)),
        ("-site:harbour.example", (Signed("-", Condition("site", "harbour.example")),)),
        ("site:bücher.example", (Condition("site", "xn--bcher-kva.example"),)),
        ("filetype:PDF", (Condition("filetype", "pdf"),)),
        ("filetype:.pdf", (Condition("filetype", "pdf"),)),
        ("filetype:application/pdf", (Condition("filetype", "application/pdf"),)),
        ("lang:de-AT", (Condition("lang", "de"),)),
        ("before:2025", (Condition("before", "2025-01-01"),)),
        ("after:2025-3", (Condition("after", "2025-03-01"),)),
        ("link:harbour.example", (Condition("link", "http://harbour.example/"),)),
    ],
)
def test_reading(text, nodes):
    assert read(text).nodes == nodes


@pytest.mark.parametrize(
    ("text", "searched"),
    [
        ("C++", ["C++"]),
        ("--flag", ["--flag"]),
        ("python -m venv", ["python", "-m", "venv"]),
        ("git commit -m", ["git", "commit", "-m"]),
        ("ls -1", ["ls", "-1"]),
        ("git commit -m, or -é?", ["git", "commit", "-m,", "or", "-é?"]),
        ("-(m) -m*", ["-m", "-m"]),
        ("a - b", ["a", "b"]),
        ("f(x) g(y)", ["f(x)", "g(y)"]),
        ("std::sort", ["std::sort"]),
        ("https://harbour.example/tides?x=1", ["https://harbour.example/tides?x=1"]),
        ("note: read", ["note:", "read"]),
        ("before:soon", ["before:soon"]),
        ("after:2025-13-01", ["after:2025-13-01"]),
        ("lang:klingonisch", ["lang:klingonisch"]),
        ("filetype:xyz", ["filetype:xyz"]),
        ("site:", ["site:"]),
        ('"unclosed phrase', ["unclosed", "phrase"]),
        ('5"disk', ["5", "disk"]),
        ("OR tide", ["or", "tide"]),
        ("tide OR", ["tide", "or"]),
        ("tide |", ["tide"]),
        ("f(x(", ["f", "x"]),
        ("tide * | flood", ["tide", "flood"]),
        ("tide or flood", ["tide", "or", "flood"]),
        ("tide\x00\x07\ud800\u202etables", ["tide", "tables"]),
    ],
)
def test_what_is_not_understood_is_searched_as_words(text, searched):
    assert read(text).nodes == words(*searched)


def test_an_operator_with_a_bad_quoted_value_is_a_word_and_a_phrase():
    assert read('before:"next week"').nodes == (TypedWord("before:"), Phrase("next week"))


def test_long_queries_are_cut_and_say_so():
    reading = read(" ".join(f"w{i}" for i in range(MAX_WORDS + 5)))
    assert len(reading.nodes) == MAX_WORDS
    assert reading.cut
    assert read("x" * (MAX_CHARACTERS + 1)).cut
    assert not read("tide").cut


def test_prose_has_no_operators():
    assert prose('a "sea chart" (of 1901) -- not site:x +y').nodes == words(
        "a", '"sea', 'chart"', "(of", "1901)", "--", "not", "site:x", "+y"
    )
    assert not prose("tide").cut
    assert prose("w " * (MAX_WORDS + 1)).cut
    assert prose("x" * (MAX_CHARACTERS + 1)).cut


def test_deep_brackets_are_bounded():
    reading = read("(" * 500 + "tide" + ")" * 500)
    depth, node = 0, reading.nodes[0]
    while isinstance(node, Sequence | Signed):
        depth, node = depth + 1, node.nodes[0]
    assert depth <= MAX_DEPTH


PIECES = [
    *("tide", "OR", "|", "(", ")", chr(34), "“", "”", "«", "+", "-", "*", ":", "site:", "intitle:", "before:2024"),
    *("lang:de", "filetype:pdf", "link:a.example", "a.example", "é", "日本", "C++", "-site:b.example", "inurl:"),
]
pieces = st.sampled_from([*PIECES, " ", "\n", "\x00"])


several_pieces = st.lists(pieces, max_size=40).map("".join)
deep_pieces = st.tuples(st.sampled_from(["(" * depth for depth in range(MAX_DEPTH - 1, MAX_DEPTH + 3)]), several_pieces)


@given(st.one_of(st.text(max_size=200), several_pieces, deep_pieces.map("".join)))
@example("(" * (MAX_DEPTH + 2) + ",)")
@example("(" * (MAX_DEPTH + 2) + "-(a)b")
def test_reading_never_fails_and_its_spelling_reads_the_same(text):
    reading = read(text)
    again = read(str(reading))
    assert again.nodes == reading.nodes
    assert str(again) == str(reading)


@given(st.binary(max_size=300))
def test_any_bytes_can_be_read(data):
    read(data.decode("utf-8", "surrogateescape"))
    read(data.decode("latin-1"))


@given(st.text(alphabet="ab+-|OR \t.,'_é", max_size=30))
def test_queries_without_signs_are_read_as_by_the_reader_of_all(text):
    quick = language._plain(language.clean(text))
    if quick is not None:
        assert quick.nodes == language._QueryReader(language.clean(text)).sequence(depth=0)


@given(st.text(alphabet="abOR12 \t\n\u2003\x1f", max_size=30))
def test_words_alone_are_read_as_by_the_reader_of_all(text):
    words = language.words_alone(text)
    if words is not None:
        assert words == [str(node) for node in language._QueryReader(language.clean(text)).sequence(depth=0)]
        assert read(text).nodes == tuple(map(TypedWord, words))


@pytest.mark.parametrize(
    "text", ["", " ", "a OR b", "C++", "é", "a-b", "a " * (MAX_WORDS + 1), "a" * MAX_CHARACTERS, "tide*"]
)
def test_not_everything_is_words_alone(text):
    assert language.words_alone(text) is None


@given(st.lists(st.sampled_from(["tide", "the", "der", "und", "of", "2025", "1999", "20", "latest", "x2025"])))
def test_silent_words_tell_neither_a_language_nor_a_wish_for_the_new(words):
    if are_silent(words):
        assert guessed_language(words) == ""
        assert not any(asks_for_new(words, year) for year in range(1990, 2110))
    assert are_silent(words) == (not {"the", "der", "und", "of", "2025", "latest"}.intersection(words))


@given(st.text(alphabet='-+m1é _()"*|,.', max_size=12))
def test_what_was_read_among_signs_is_read_the_same_again(text):
    reading = read(text)
    assert read(str(reading)).nodes == reading.nodes
