"""Fields: which texts of a document are indexed, and the quick ways to them against slow ones."""

import re
from urllib.parse import unquote, urlsplit

from hypothesis import example, given
from hypothesis import strategies as st
from index_world import PROPERTY
from plain_fields import field_pieces

from periplus.index.format.fields import address_pieces
from periplus.records import Anchor, Document, Heading

addresses = st.builds(
    "{}://{}{}".format,
    st.sampled_from(["http", "https"]),
    st.sampled_from(["a.test", "a.test:8080", "user@a.test", "bücher.test", "", "[::1]"]),
    st.one_of(st.just(""), st.text("/ab_.-~%41#?=&+é \\\t\0,;'", max_size=20).map("/".__add__)),
)


def slow_pieces(url):
    parts = urlsplit(url)
    return [parts.netloc, re.sub(r"[^\w.]+|_", " ", unquote(f"{parts.path} {parts.query}")).strip()]


@PROPERTY
@given(addresses)
@example("https://a.test/one_two/three.html?page=4")
@example("http:///path")
def test_words_of_addresses_are_those_of_the_slow_way(url):
    assert [piece.split() for piece in address_pieces(url)] == [piece.split() for piece in slow_pieces(url)]


def test_pieces_follow_the_order_of_fields():
    document = Document(
        "https://a.test/tide_tables",
        7,
        0.0,
        title="Tides",
        headings=(Heading(1, "Today"), Heading(2, "")),
        text="high water",
        description="about tides",
        boilerplate="menu",
    )
    anchors = (Anchor("tide times", 2), Anchor("tides", 1))
    assert field_pieces(document, anchors) == [
        ["Tides"],
        ["Today"],
        ["high water"],
        ["tide times", "tide times", "tides"],
        ["a.test", "tide tables"],
        ["about tides", "menu"],
    ]
