"""Foreign drawings: shapes and colours come out, everything that could run or load does not."""

from __future__ import annotations

from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.web.pages.drawings import MAX_CHARACTERS, MAX_ELEMENTS, redrawn

HEAD = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" viewBox="0 0 32 32">'
SHAPE = '<rect width="32" height="32" rx="6" fill="#0b5d7a"/>'


def drawn(inside: str, shape: str = SHAPE) -> str:
    return redrawn(f"{HEAD}{inside}{shape}</svg>".encode()).decode()


def test_an_honest_drawing_keeps_its_shapes_colours_and_letters():
    gradient = '<defs><linearGradient id="g"><stop offset="0" stop-color="red"/></linearGradient></defs>'
    letter = '<text x="16" y="23" style="fill: url(#g); font-size:20px" text-anchor="middle">Ω &amp; co</text>'
    made = ElementTree.fromstring(drawn(gradient + letter))
    space = "{http://www.w3.org/2000/svg}"
    assert made.get("viewBox") == "0 0 32 32"
    assert made.find(f"{space}rect").attrib == {"width": "32", "height": "32", "rx": "6", "fill": "#0b5d7a"}
    found = made.find(f"{space}text")
    assert (found.text, found.get("fill"), found.get("font-size")) == ("Ω & co", "url(#g)", "20px")
    assert made.find(f"{space}defs/{space}linearGradient/{space}stop").get("stop-color") == "red"
    with_declaration = b'<?xml version="1.0" encoding="UTF-8"?><!-- made by hand -->' + HEAD.encode() + SHAPE.encode()
    assert redrawn(with_declaration + b"</svg>")


@pytest.mark.parametrize(
    "hostile",
    [
        "<script>alert(1)</script>",
        '<g onclick="alert(1)" onload="alert(1)"/>',
        '<a xlink:href="javascript:alert(1)"><rect/></a>',
        '<use xlink:href="http://evil.test/x.svg#a"/>',
        '<image href="http://evil.test/pixel"/>',
        "<foreignObject><body xmlns='http://www.w3.org/1999/xhtml'><script>alert(1)</script></body></foreignObject>",
        '<rect fill="url(http://evil.test/p)"/>',
        '<rect style="background: url(//evil.test/p); fill: url(&quot;http://evil.test&quot;)"/>',
        "<style>@import 'http://evil.test/a.css'; rect { background: url(http://evil.test/b) }</style>",
        '<animate attributeName="href" to="javascript:alert(1)"/>',
        '<set attributeName="onload" to="alert(1)"/>',
        "<iframe xmlns='http://www.w3.org/1999/xhtml' src='http://evil.test/'/>",
    ],
)
def test_what_could_run_or_load_is_left_out(hostile):
    made = drawn(hostile)
    assert made.count("<rect") >= 1
    for word in ("alert", "evil", "script", "href", "onload", "onclick", "style", "import", "http://www.w3.org/1999"):
        assert word not in made


@pytest.mark.parametrize(
    "none",
    [
        "",
        "<svg",
        "<html><svg/></html>",
        "<svg><rect/></svg>",
        f"{HEAD}</svg>",
        f'<!DOCTYPE svg [<!ENTITY a "aaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>{HEAD}<text>&b;</text></svg>',
        f"{HEAD}{'<g/>' * (MAX_ELEMENTS + 1)}{SHAPE}</svg>",
        f"{HEAD}{SHAPE}{' ' * MAX_CHARACTERS}</svg>",
    ],
)
def test_what_is_no_drawing_or_says_too_much(none):
    assert redrawn(none.encode()) == b""
    assert redrawn(none.encode("utf-16")) == b""


def test_depth_is_bounded():
    assert drawn("<g>" * 500 + "<path d='M0 0'/>" + "</g>" * 500).count("<g") < 100


@given(st.binary(max_size=400) | st.text(max_size=400).map(lambda text: f"{HEAD}{text}{SHAPE}</svg>".encode()))
def test_nothing_raises_and_nothing_unknown_comes_out(content):
    made = redrawn(content)
    if made:
        tags = {element.tag.rpartition("}")[2] for element in ElementTree.fromstring(made).iter()}
        assert "script" not in tags
