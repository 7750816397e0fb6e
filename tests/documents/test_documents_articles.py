"""The text of articles: each rule on a page of our own, and what falls out of the text stays searchable."""

from __future__ import annotations

import pytest

from periplus.documents import parse
from periplus.records import Heading, Page

DECLARED = '<meta property="og:type" content="article">'
TOLD = [
    "The ferry left the quay at noon, an hour after the fog had lifted from the northern arm of the harbour.",
    "Nobody on board had seen the bar so calm, the mate said, and he had crossed it for thirty years.",
    "It reached the islands before dusk.",
    "The return is planned for Friday, when the spring tide covers the sands long enough for both crossings.",
]
TEXT = "".join(f"<p>{line}</p>" for line in TOLD)


def read(body, head=DECLARED):
    return parse(
        Page(
            "https://gazette.example/ferry",
            f"<html><head>{head}</head><body>{body}</body></html>".encode(),
            "text/html",
        )
    )


def assert_only_text(found, *left_out):
    assert found.text.split("\n") == TOLD
    for words in left_out:
        assert words in found.boilerplate


@pytest.mark.parametrize(
    "head",
    [
        DECLARED,
        '<meta property="article:published_time" content="2024-05-01">',
        '<script type="application/ld+json">{"@type": ["NewsArticle"], "headline": "x"}</script>',
        '<script type="application/ld+json">{"@graph": [{"@type": "BlogPosting"}]}</script>',
    ],
)
def test_a_page_says_that_it_is_an_article(head):
    body = f"<div><p>By A. Pilot</p></div><div>{TEXT}<p><a href=/b>Read more: the bar at low water</a></p></div>"
    assert_only_text(read(body, head), "By A. Pilot", "Read more: the bar at low water")


@pytest.mark.parametrize("mark", ["class=hentry", "itemscope itemtype=http://schema.org/NewsArticle"])
def test_an_element_says_that_it_holds_an_article(mark):
    body = f"<div {mark}><div>{TEXT}<p><a href=/b>Read more: the bar</a></p></div></div>"
    assert_only_text(read(body, ""), "Read more: the bar")


def test_a_page_that_says_nothing_keeps_its_links():
    body = f"<section>{TEXT}<p><a href=/b>See also: the bar at low water</a></p></section>"
    assert "See also: the bar at low water" in read(body, "").text


def test_other_stories_lie_outside_the_element_that_holds_the_prose():
    cards = "".join(f"<div><h3>Story {n}</h3><p>In short, what happened there.</p></div>" for n in range(4))
    found = read(f"<div><div>{TEXT}</div><div>{cards}</div></div>")
    assert_only_text(found, "Story 3", "In short, what happened there.")


def test_prose_right_beside_the_core_belongs_to_it():
    body = f"<div><p>{TOLD[0]}</p><div>{''.join(f'<p>{line}</p>' for line in TOLD[1:])}</div></div>"
    assert read(body).text.split("\n") == TOLD


@pytest.mark.parametrize(
    "name",
    [
        "class=comments", "id=respond", "class='post-comments'", "class=relatedStories", "class='latest-news-box'",
        "class=article__author", "class='entry-meta'", "class='wp-caption-text'", "class='newsletter-form'",
        "class='tags-share-box'", "class='sr-only'", "class='most-popular'",
    ],
)  # fmt: skip
def test_margins_are_known_by_their_names(name):
    beside = "What a fine trip this was, and the weather held until we were home again!"
    found = read(f"<div>{TEXT}<div {name}><p>{beside}</p></div><p>{TOLD[3]}</p></div>")
    assert beside not in found.text
    assert beside in found.boilerplate


@pytest.mark.parametrize(
    "name",
    [
        "class='no-comments'",
        "class='modal-enabled'",
        "class='tag-newsletter post'",
        "class='author-article'",
        "class=story",
    ],
)
def test_names_that_only_speak_of_margins_hold_text(name):
    beside = "The pilot station was closed that day, and the keeper had gone ashore for stores."
    assert beside in read(f"<div>{TEXT}<div {name}><p>{beside}</p><p>{TOLD[1]}</p></div></div>").text


def test_captions_are_no_text_of_an_article_but_of_a_manual():
    figure = (
        "<figure><img src=a.png alt=a><figcaption>The quay at noon, seen from the pilot station.</figcaption></figure>"
    )
    body = f"<div><p>{TOLD[0]}</p>{figure}{''.join(f'<p>{line}</p>' for line in TOLD[1:])}</div>"
    assert_only_text(read(body), "The quay at noon, seen from the pilot station.")
    manual = f"<div><p>{TOLD[0]}</p>{figure}<ul><li>one<li>two<li>three</ul></div>"
    assert "The quay at noon" in read(manual, "").text


@pytest.mark.parametrize("around", ["div class=latest-news", "div class=sidebar", "aside", "header"])
def test_what_holds_most_of_the_prose_is_no_margin(around):
    author = "<div class=author><p>A. Pilot writes about ships, and has done so for long.</p></div>"
    body = f"<{around}><div>{TEXT}{author}</div>"
    assert_only_text(read(body), "A. Pilot writes about ships")


def test_many_comments_do_not_become_the_text():
    said = "".join(
        f"<p>Reader {n}: I was on that ferry, and the mate was right about the bar, it was calm.</p>" for n in range(60)
    )
    assert_only_text(read(f"<div>{TEXT}</div><section id=comments>{said}</section>"), "Reader 59")


def test_a_page_of_comments_only_keeps_them():
    said = "".join(f"<p>Reader {n}: I was on that ferry, and the mate was right about the bar.</p>" for n in range(9))
    assert "Reader 8" in read(f"<h1>Letters</h1><section id=comments>{said}</section>").text


def test_a_main_part_is_believed_where_it_holds_most_of_the_prose():
    cards = "".join(f"<article><p>Story {n}, and in short what happened in that place.</p></article>" for n in range(5))
    assert read(f"<div><div>{TEXT * 4}</div></div><div>{cards}</div>").text.split("\n") == TOLD * 4
    said = "".join(f"<p>Reader {n}: I was on that ferry too.</p>" for n in range(6))
    assert_only_text(read(f"<main><div>{TEXT}</div></main><div>{said}</div>"), "Reader 5")


def test_headline_and_byline_are_no_text_but_the_headline_is_a_heading():
    before = "<h1>A calm crossing</h1><div>By A. Pilot</div><div>1 May 2024</div>"
    found = read(f"<div>{before}<div>{TEXT}<h2>Tides</h2>{TEXT}</div></div>")
    assert found.text.split("\n") == [*TOLD, "Tides", *TOLD]
    assert found.headings == (Heading(1, "A calm crossing"), Heading(2, "Tides"))
    assert "By A. Pilot" in found.boilerplate


def test_a_list_at_the_end_of_the_text_belongs_to_it():
    found = read(f"<div>{TEXT}<ul><li>Monday: no ferry<li>Friday: two ferries</ul></div><div><div>Print</div></div>")
    assert found.text.split("\n") == [*TOLD, "Monday: no ferry", "Friday: two ferries"]


def test_lines_that_are_links_and_their_heading_are_left_out():
    links = "".join(f"<li><a href=/{n}>What happened on island {n}</a>" for n in range(3))
    found = read(f"<div>{TEXT}<h3>You may also like</h3><ul>{links}</ul><p>{TOLD[3]}</p></div>")
    assert "What happened" not in found.text
    assert "You may also like" in found.text  # text follows
    found = read(f"<div>{TEXT}<h3>You may also like</h3><ul>{links}</ul></div>")
    assert_only_text(found, "You may also like", "What happened on island 2")


def test_an_article_that_does_not_say_so_is_known_by_its_prose():
    beside = "".join(f"<li><a href=/{n}>What happened on island {n}</a>" for n in range(9))
    body = f"<div><h3>Popular</h3><ul>{beside}</ul></div><div><div>{TEXT * 4}</div></div>"
    assert read(body, "").text.split("\n") == TOLD * 4


def test_links_without_words_count_for_no_block():
    icons = "<ul>" + "<li><a href=/share>        <span> </span>       </a>" * 40 + "</ul>"
    assert read(f"<div>{icons}{TEXT}</div>").text.split("\n") == TOLD
