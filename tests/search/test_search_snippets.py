"""Snippets: where they are taken from, how long, what is marked."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from snippet_oracle import oracle

from periplus.index import StoredDocument
from periplus.records import Heading
from periplus.search import plan, read
from periplus.search.query.text import clean, folded, shortened
from periplus.search.shards.highlighter import Highlights, sought_word
from periplus.search.shards.snippets import MAX_SNIPPET, MAX_TITLE, snippet, title

FILLER = "Nothing of note happened on that day and nobody wrote anything down. "


def stored(text="", **more):
    known = {
        "url": "https://a.example/",
        "id": "1",
        "title": "",
        "description": "",
        "text": text,
        "headings": (),
        "language": "en",
        "content_type": "text/html",
        "published": 0.0,
        "fetched": 0.0,
        "host": "a.example",
        "site": "a.example",
        "author": "",
        "noarchive": False,
    }
    return StoredDocument(**(known | more))


def wanted(words, weights):
    return Highlights.of([sought_word(word.forms, word.prefix) for word in words], weights)


def made(query, text="", **more):
    words = plan(read(query)).words
    return snippet(stored(text, **more), wanted(words, [1.0] * len(words)))


def marked(result):
    return [result.text[start:end] for start, end in result.highlights]


def test_takes_the_sentence_with_most_words_close_together():
    text = FILLER * 5 + "The tide is out. " + FILLER * 5 + "Tide tables list high water. " + FILLER * 5
    result = made("tide tables", text)
    assert result.text.startswith("Tide tables list high water.")
    assert marked(result)[:2] == ["Tide", "tables"]


def test_two_fragments_when_no_sentence_has_all_words():
    text = "The lighthouse stands alone. " + FILLER * 10 + "A buoy marks the channel. " + FILLER * 3
    result = made("lighthouse buoy", text)
    assert " … " in result.text
    assert marked(result) == ["lighthouse", "buoy"]


def test_stems_are_marked():
    assert marked(made("tide", "Spring tides follow the full moon.")) == ["tides"]


def test_accents_do_not_matter():
    assert marked(made("cafe", "The Café by the harbour.")) == ["Café"]


def test_prefixes_are_marked():
    words = plan(read("port*")).words
    from periplus.index.retrieval.query import TermForm

    expanded = [type(words[0])("port*", (TermForm("portolan"),), 1.0, "port")]
    result = snippet(stored("Old maps. A portolan shows harbours."), wanted(expanded, [1.0]))
    assert marked(result) == ["portolan"]


def test_a_rare_word_far_behind_a_frequent_one_is_found():
    text = "The sea is wide. " * 400 + "A walrus sang at sea."
    result = made("sea walrus", text)
    assert "walrus" in marked(result)


def test_description_where_the_text_says_nothing():
    assert made("tide", "Unrelated words.", description="All about tides.").text == "All about tides."
    assert made("tide", "Unrelated words here.").text == "Unrelated words here."
    assert made("tide").text == ""


def test_long_sentences_are_cropped_at_words_around_the_match():
    text = "alpha " * 60 + "walrus " + "omega " * 60
    result = made("walrus", text)
    assert len(result.text) <= MAX_SNIPPET
    assert marked(result) == ["walrus"]
    assert set(result.text.replace("…", " ").split()) == {"alpha", "walrus", "omega"}


def test_between_two_cropped_fragments_stands_one_sign():
    text = "alpha " * 60 + "walrus " + "omega " * 60 + ". " + FILLER * 3 + "beta " * 60 + "puffin " + "gamma " * 60
    result = made("walrus puffin", text)
    assert result.text.count("…") == 3  # before, between, behind
    assert marked(result) == ["walrus", "puffin"]


def test_whole_sentences_are_shown_where_they_fit():
    result = made("moon", "First comes the sun. Then the moon rises slowly. Then it sets. " + FILLER)
    assert result.text.startswith("Then the moon rises slowly. Then it sets.")
    assert result.text.endswith(".")


def test_abbreviations_before_small_letters_do_not_end_a_sentence():
    assert made("fish", "We saw e.g. fish and whales.").text == "We saw e.g. fish and whales."


def test_headings_stand_back_behind_sentences():
    text = "Chart shows island\n\nThe office denies it. Every chart of the bay shows one island more.\n"
    assert made("chart island", text, title="Chart shows island").text.startswith("Every chart of the bay")


def test_a_heading_is_shown_with_what_follows():
    result = made("walrus", "Of the walrus\n\nIt sleeps on the ice.\nSecond paragraph.")
    assert result.text == "Of the walrus · It sleeps on the ice."


def test_the_opening_does_not_repeat_the_title():
    assert made("x", "My page\nIt begins here.", title="My page").text == "It begins here."


def test_a_heading_that_is_the_title_is_not_shown_again():
    """The title stands above the snippet; what the page says of it is worth more than the same words once more."""
    text = "operator<<(std::basic_ostream)\nInserts data into the stream of the object.\nReturn value: the stream."
    result = made("basic_ostream stream", text, title="operator<<(std::basic_ostream) - reference")
    assert result.text == "Inserts data into the stream of the object."
    assert marked(result) == ["stream"]


def test_a_description_that_is_only_the_title_says_nothing():
    result = made("tide", "Of the moon and the sea.", title="15 Parameters (zsh)", description="15 Parameters (zsh)")
    assert result.text == "Of the moon and the sea."


def test_a_description_that_is_only_the_opening_gives_way_to_it():
    text = "My page\nIt begins here. And goes on."
    shown = made("x", text, title="My page", description="My page It begins here. And…").text
    assert shown == "It begins here. And goes on."


def test_stop_words_are_marked_only_beside_others():
    assert marked(made('"the sea"', "The man saw the sea and the land.")) == ["the", "sea"]
    assert marked(made('"to be"', "What is to be done.")) == ["to", "be"]


def test_a_page_that_has_only_the_stop_words_of_a_query_shows_how_it_begins():
    text = "The harbour opens at six. " + FILLER * 3 + "What is to be done of it."
    result = made("signs of kettle", text, title="Kettle", description="All about boiling water.")
    assert (result.text, marked(result)) == ("All about boiling water.", [])
    assert made("signs of kettle", text).text.startswith("The harbour opens at six.")
    assert marked(made("signs of kettle", text + " A kettle of fish.")) == ["kettle", "of"]


def test_of_a_query_of_stop_words_these_are_marked():
    assert marked(made("to be", "What is to be done.")) == ["to", "be"]


def test_scripts_without_spaces():
    result = made("日本", "これは日本語の文章です。次の文。")
    assert marked(result) == ["日本"]


def test_control_characters_never_show():
    result = made("tide", "High\x00 tide\x1b[31m at\u202e noon.\u2028More tide.")
    assert not any(unicodedata.category(c) in ("Cc", "Zl", "Zp") for c in result.text)
    assert marked(result)[0] == "tide"


@given(st.text(max_size=600), st.sampled_from(["tide", "a b", "日本", "é", "x*", '"a b"']))
def test_any_text_gives_a_snippet_with_offsets_inside(text, query):
    words = plan(read(query)).words
    result = snippet(stored(text), wanted(words, [1.0] * len(words)))
    assert len(result.text) <= MAX_SNIPPET
    assert clean(result.text) == result.text
    last = 0
    for start, end in result.highlights:
        assert last <= start < end <= len(result.text)
        last = end


def test_titles_are_shortened_at_words():
    long = "A very long title about harbours and tides " * 5
    shown = title(stored(title=long), "a.example")
    assert len(shown) <= MAX_TITLE
    assert shown.endswith("…")
    assert long.startswith(shown[:-1])
    assert long[len(shown) - 1] == " "


@pytest.mark.parametrize(
    ("document", "shown"),
    [
        (stored(title="  A\n title "), "A title"),
        (stored(headings=(Heading(1, "A heading"),)), "A heading"),
        (stored("First words."), "First words."),
        (stored(), "a.example"),
    ],
)
def test_title_falls_back(document, shown):
    assert title(document, "a.example") == shown


def test_shortened_keeps_combining_marks_with_their_letter():
    text = "e\u0301" * 50
    assert shortened(text, 20).rstrip("…")[-1] == "\u0301"
    assert shortened("short", 20) == "short"


def test_folded():
    assert folded("  Café\tÉLAN ") == "cafe elan"


WORDS = ("tide", "Tides", "TABLE", "the", "of", "harbour", "co-tidal", "x", "lorem", "a.b", "wasser", "Moon", "tidal")
SIGNS = (" ", " ", " ", " ", ". ", ".\n", "\n", "! ", ", ", "; ", " (", ") ", "...", " … ", ". b", "/")


@settings(max_examples=300)
@given(
    pieces=st.lists(st.tuples(st.sampled_from(WORDS), st.just(" ") | st.sampled_from(SIGNS)), max_size=300),
    query=st.sampled_from(["tide", "tide tables", "the tide of moon", "harbour moon tables", "of the", "x a.b"]),
    weights=st.lists(st.sampled_from([0.5, 1.0, 2.25]), min_size=4, max_size=4),
)
def test_the_kernel_shows_what_the_obvious_way_shows(pieces, query, weights):
    text = "".join(part for piece in pieces for part in piece)
    words = plan(read(query)).words
    asked = wanted(words, weights[: len(words)])
    expected = oracle(text, asked, "en")
    if expected is not None:
        result = snippet(stored(text), asked)
        assert (result.text, result.highlights) == expected
