"""The kernel that cuts texts into words finds what the patterns find, in all scripts."""

import re
import unicodedata

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from index_world import PROPERTY

from periplus.core.layout.word_tables import Spans
from periplus.index.building.gathering import Gatherer
from periplus.index.building.spelling_table import Spellings
from periplus.index.building.vocabulary import Vocabulary
from periplus.text import analyze, class_table, classes, composed, exact_term, letter_table
from periplus.text.characters import fold, marks, normalized, spaced, unspaced
from periplus.text.words import RARE_HAN, THAI_MARKS

EVERY = "".join(map(chr, range(0x110000)))
SIGNS = (
    "aAzZbC09_-.,'’&@#+<>()[]*= \n…ﬁée\u0301東京のไทยก็หิहि한국ß①½12,.\u1100\u1161\u11a8ﾞｶㅏㄱ𠀀𪜀𝐀𐐀ａ１٣٤\ud800\u00a0İıẞ"
)
texts = st.lists(
    st.one_of(
        st.text(st.sampled_from(SIGNS), max_size=40),
        st.text(st.characters(), max_size=40),
        st.lists(
            st.sampled_from(["a", "B", "1", "9", *".,'&@#+_ -<>*=!", "()", "[]", "é", "東", "XYz", "operator"])
        ).map("".join),
    ),
    max_size=8,
)
languages = st.sampled_from(["en", "de", "", "fr", "xx", "ru", "pt-BR"])


def numbered(vocabulary, some, language):
    """What the vocabulary makes of some texts: a set of terms for each word of each text."""
    owners = np.full(len(some), vocabulary.language(language), np.uint32)
    data, bounds = Gatherer()._with_texts(0, some)
    stream, counts = vocabulary.numbers(Spans(data, bounds[:-1], bounds[1:] - 1), owners)
    sorted_terms, (_, start, forms) = vocabulary.sorted()
    terms = sorted_terms.spellings.some(sorted_terms.order)
    words = [{terms[form] for form in forms[start[word] : start[word + 1]]} for word in stream.tolist()]
    ends = np.cumsum(counts, dtype=np.int64).tolist()
    return [words[begin:end] for begin, end in zip([0, *ends], ends, strict=False)]


def analyzed(text, language):
    return [{form.term.encode() for form in token.forms} for token in analyze(text, language)]


@PROPERTY
@given(texts, languages)
def test_the_kernel_finds_what_the_patterns_find(some, language):
    assert numbered(Vocabulary(), some, language) == [analyzed(text, language) for text in some]


def test_tables_grow_within_a_text():
    text = " ".join(
        f"word{number} Türe{number} snake_{number}_case 東{chr(0x4E00 + number)}" for number in range(9_000)
    )
    vocabulary = Vocabulary()
    assert numbered(vocabulary, [text, text], "de") == [analyzed(text, "de")] * 2
    assert vocabulary.memory > 0


def test_words_of_all_lengths():
    """Where a word ends is told 57 bytes at once; longer ones, and terms that are too long, go other ways."""
    words = [
        letters * size + end for letters in ("a", "Bc", "é") for size in range(1, 80) for end in ("", ".", "'s", "#")
    ]
    some = [" ".join(words), *words]
    assert numbered(Vocabulary(), some, "en") == [analyzed(text, "en") for text in some]


def test_words_of_marks_alone_keep_their_term():
    text = "\u0301\u0302 \u064b été \u0670"
    assert numbered(Vocabulary(), [text], "fr") == [analyzed(text, "fr")]


def test_letters_are_folded_one_by_one_as_in_words():
    """What the table says of each letter; words of several are compared with the patterns above."""
    exact, folded, case = letter_table().reshape(-1, 3).T.tolist()
    for point in np.flatnonzero(case).tolist():
        forms = [number.to_bytes(4, "little").rstrip(b"\0").decode() for number in (exact[point], folded[point])]
        assert forms == [exact_term(chr(point)), fold(exact_term(chr(point)))]
    assert all(case[ord(letter)] for letter in "azAZéßŁЖωشẅ")
    assert not any(case[ord(letter)] for letter in "09_'ǅ\u0301ֹ")


@PROPERTY
@given(st.lists(st.text(st.sampled_from("aéÉßŁłωΩЖжشאǅı'’s"), min_size=1, max_size=6), max_size=20), languages)
def test_words_of_letters_of_many_scripts(some, language):
    assert numbered(Vocabulary(), some, language) == [analyzed(text, language) for text in some]


def test_a_word_is_kept_once_a_language():
    vocabulary = Vocabulary()
    assert numbered(vocabulary, ["Wanderungen"], "de") == [[{b"wanderungen", b"~wander"}]]
    assert numbered(vocabulary, ["Wanderungen"], "xx") == [[{b"wanderungen", b"~wanderungen"}]]


def members(pattern):
    found = np.zeros(len(EVERY), bool)
    for match in re.finditer(f"(?:{pattern})+", EVERY):
        found[match.start() : match.end()] = True
    return found


def test_classes_are_those_of_the_patterns():
    table = class_table()
    for bit, pattern in (
        (classes.WORD, r"\w"),
        (classes.DIGIT, r"\d"),
        (classes.PLAIN, rf"[\w{marks()}]"),
        (classes.UNSPACED, f"[{unspaced()}]|{RARE_HAN}"),
        (classes.SPACED, f"[{spaced()}]"),
        (classes.IN_RUN, f"[{unspaced()}{marks()}]|{RARE_HAN}"),
        (classes.WITH_LETTER, f"(?![{unspaced()}])[{marks()}]|{THAI_MARKS}"),
    ):
        assert np.array_equal(table & bit > 0, members(pattern)), pattern


@PROPERTY
@given(texts)
def test_normalising_in_parts_gives_the_whole(some):
    for text in some:
        assert normalized(text)[0] == composed(text) == unicodedata.normalize("NFKC", text)


@PROPERTY
@given(st.lists(st.binary(max_size=20), max_size=300))
def test_spellings_keep_their_numbers_and_sort_by_bytes(some):
    table = Spellings()
    first = table.numbers(some).tolist()
    assert table.numbers(some).tolist() == first
    assert table.some(np.array(first, np.int64)) == some
    assert table.some(table.in_order()) == sorted(set(some))


def test_letters_of_unspaced_scripts_have_no_case():
    """The kernel takes their pairs as terms as they are."""
    for point in np.flatnonzero(class_table() & classes.UNSPACED):
        assert exact_term(chr(point)) == chr(point)
