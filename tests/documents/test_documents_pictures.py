"""Pictures that are worth finding, and the words that they are found by."""

from __future__ import annotations

import time

import pytest

from periplus.documents import parse, telling_pictures, with_picture_texts
from periplus.documents.pictures import file_words
from periplus.records import Document, Page

PAGE = "<html lang=en><title>t</title><main><p>Some words of a page about the quay and its boats.</p>{}</main>"


def images(markup: str) -> tuple[tuple[str, str], ...]:
    body = PAGE.format(markup).encode()
    return parse(Page("http://a.test/", body, "text/html; charset=utf-8", (), 200, 1.0)).images


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        ('<img src="a.jpg" alt="The mole">', "The mole"),
        ('<figure><img src="a.jpg" alt="The mole"><figcaption>A caption</figcaption></figure>', "The mole"),
        ('<figure><img src="a.jpg"><figcaption>The <b>mole</b> at dawn</figcaption></figure>', "The mole at dawn"),
        ('<figure><a href="/"><img src="a.jpg" alt=""></a> <figcaption>The mole</figcaption></figure>', "The mole"),
        ('<figure><figcaption>The mole</figcaption><img src="a.jpg"></figure>', "The mole"),
        ('<figure><picture><source srcset="a"><img src="a.jpg"></picture><figcaption>A mole</figcaption></figure>',
         "A mole"),
    ],
)  # fmt: skip
def test_a_picture_has_its_own_text_or_its_caption(markup, text):
    assert [told for _, told in images(markup)] == [text]


@pytest.mark.parametrize(
    "markup",
    [
        '<img src="a.jpg">', '<img src="a.jpg" alt=" ">', '<img alt="The mole">', '<figure><img src="a.jpg"></figure>',
        '<div><img src="a.jpg"><p>The mole</p></div>', "<figure><figcaption>The mole</figcaption></figure>",
    ],
)  # fmt: skip
def test_what_says_nothing_is_no_picture(markup):
    assert images(markup) == ()


def test_many_pictures_without_text_cost_no_more_than_their_number():
    markup = "<figure>" + '<a><img src="a.jpg"></a>' * 20_000 + f"<figcaption>{' ' * 20_000}</figcaption></figure>"
    started = time.process_time()
    assert images(markup) == ()
    assert time.process_time() - started < 5  # some 20,000 times this were it to look at all of them for each


@pytest.mark.parametrize(
    ("address", "text", "words"),
    [
        ("http://a.test/x/storm-over-the-mole.jpg", "The mole", "storm over"),
        ("http://a.test/IMG_2031.jpg", "The mole", ""), ("http://a.test/7fae1b2c.jpg", "The mole", ""),
        ("http://a.test/f%C3%A4hre_im_hafen.jpg", "", "fähre hafen"), ("http://a.test/", "", ""),
    ],
)  # fmt: skip
def test_words_of_the_name_of_a_file(address, text, words):
    assert file_words(address, text) == words


def test_a_page_is_found_by_the_text_and_the_file_of_its_picture():
    document = Document("http://a.test/", 1, 1.0, images=(("http://a.test/storm-tide.jpg", "The mole at dawn"),))
    assert with_picture_texts(document).boilerplate == "The mole at dawn\nstorm tide"
    assert telling_pictures((("http://a.test/logo.png", "The logo of us"), ("http://a.test/b.jpg", "Mole"))) == []
