"""Kernels give what Python gives: whole documents of all kinds of pages, and the tables they work by."""

from __future__ import annotations

import sys

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from periplus.documents import parse, quick, simhash
from periplus.documents.html import blocks, tags, zones
from periplus.documents.html import quick as bodies
from periplus.documents.html.anchors import _LINKS, _SELF_LINK_SIGNS
from periplus.documents.html.reader import body_of
from periplus.documents.html.walk import gathered, parsed, walk_through
from periplus.documents.kernels import characters, choosing, names, nodes, page, places, walking, wording
from periplus.documents.quick import entries
from periplus.documents.signals import _SAMPLE, _shares_of, _weighed
from periplus.documents.text import _UNWANTED
from periplus.documents.wording import weigh
from periplus.errors import ParseError
from periplus.records import Page

PROSE = "The keeper lit the lamp at dusk and wrote the state of the sea into the book. " * 4


@pytest.fixture(autouse=True)
def kernels():
    quick.use(entries())
    yield
    quick.use(None)


def of_walk(markup):
    document = parsed(markup)
    found = gathered(document)
    walk_through(document, found)
    return body_of(found)


def of_kernel(markup):
    return bodies.read(parsed(markup).root)


def document_of(body, kernel):
    quick.use(kernel)
    try:
        return parse(Page("http://harbour.example/a/b", body, "text/html; charset=utf-8", fetched=1.7e9))
    except ParseError as error:
        return error.reason


def test_the_kernels_know_what_the_rest_of_the_room_says():
    assert (names.CONTENT, places.ASIDE, places.HIDDEN) == (zones.CONTENT, zones.ASIDE, zones.HIDDEN)
    assert {names.HINTED_NAVIGATION, names.HINTED_FOOTER, names.HINTED_ASIDE} == zones.HINTED
    assert (min(zones.HINTED), max(zones.HINTED)) == (places.FIRST_HINTED, places.LAST_HINTED)
    assert {page.FOOTER, page.HINTED_FOOTER} == zones.FOOTERS
    assert names.NAME_CHARS == zones.NAME_CHARS
    assert (places.CONTAINER, walking.APART_KIND, nodes.INLINE_KIND) == (tags.CONTAINER, tags.APART, tags.INLINE)
    assert walking.MOST_LINKS == _LINKS
    assert wording.SAMPLE == _SAMPLE
    ours = [getattr(choosing, name) for name in ("ENOUGH_MAIN", "MAIN_SHARE", "TOO_LITTLE", "LINKED", "SHORT", "HUB")]
    theirs = [
        getattr(blocks, f"_{name}") for name in ("ENOUGH_MAIN", "MAIN_SHARE", "TOO_LITTLE", "LINKED", "SHORT", "HUB")
    ]
    assert ours == theirs


def test_white_space_and_what_is_left_out_are_those_of_python():
    is_space, is_unwanted, is_line_end = (
        getattr(characters, name).py_func for name in ("is_space", "is_unwanted", "is_line_end")
    )
    odd = [code for code in range(sys.maxunicode + 1) if bool(is_space(code)) != chr(code).isspace()]
    assert odd == []
    assert [code for code in range(0x11000) if bool(is_unwanted(code)) != bool(_UNWANTED.match(chr(code)))] == []
    assert [
        code for code in range(0x11000) if bool(is_line_end(code)) != (len(f"a{chr(code)}b".splitlines()) > 1)
    ] == []


CORNERS = {
    "text alone": "<p>a",
    "nothing": "",
    "signs": "<h2>A # b <a href=#x>#</a></h2><h2><a href=#y> ¶</a>c ¶</h2><h3>d<a href=#z>🔗\ufe0e</a></h3><a>#</a>",
    "a sign in a mixed link": "<div><a href=/x><p>#</p></a><a href=/y><br>¶</a></div>",
    "links around blocks": "<a href=/a>b<p>c <b>d</b></p>e<div>f<a href=/g>h</a></div></a>i",
    "links in links": "<a href=/1>x<marquee>y<a href=/2>z</a></marquee></a><a>q<object><a href=/3>r</a></object></a>",
    "links without words": '<a href=/a><img alt=" B  c" src=x></a><a href=/b aria-label="Close"> </a><a href=/c></a>',
    "an empty image text": '<a href=/a aria-label=d><img alt="" src=x><img alt=e></a><a href=/f>\u200b</a>',
    "relations": '<p><a href=/a rel="NoFollow ugc" title=" T  u">x</a> <a href="/b?a=1&amp;b=2" title="">y</a>',
    "frames": '<map><area href=/a alt="One  two"><area href="" src=/b title=t></map>',
    "a frameset": "<frameset><frame src=/a><frame src=/b></frameset>",
    "hidden": '<p hidden>a</p><p style="display : NONE">b</p>'
    '<span style="left:-9999px"> c d </span><i hidden=until-found>e</i>',
    "nearly hidden": '<p style="font-family:&quot;left:-999&quot;">a</p><p style="top:-99">b</p>'
    '<p style="visibility:hiddem">c',
    "other digits": '<p style="left:-٣٣٣px">a</p>',
    "hidden templates": "<div><span hidden>a<template>b</template><script>c</script></span>d</div>",
    "a hidden body": '<body style="visibility:hidden"><p>a<div class="main-nav">b</div>',
    "zones": f"<nav>a</nav><div class=sidebar>b</div><div class=content><p>{PROSE}</p></div><div id=footer>c</div>",
    "names": '<div class="mainNav">a</div><div class="HTMLContent XMenu">b</div><div class="ＮＡＶ nav　ad">c</div>'
    '<section id=nav>d</section><div id=a-nav>e</div><div id=a-b-nav>f</div><div class="a&amp;nav">g</div>',
    "long names": f'<div class="{"x" * 398} nav">a</div><div class="{"x" * 394} nav" id=ad>b</div>',
    "chapters": "<div class=chapter><div class=sidebar>a</div><ul class=toc><li>b</ul></div>"
    "<section><div class=toc>c</div></section>",
    "roles": f"<div role=main>{PROSE}</div><div role=navigation>a</div>"
    "<header>b</header><main><header>c</header></main>",
    "articles": f"<p>{PROSE}</p><article><p>{PROSE}</p><p>x</article><main>short</main>",
    "lists of links": "".join(f"<li><a href=/{n}>word {n}</a>" for n in range(9))
    + f"<p>{PROSE}{PROSE}{PROSE}{PROSE}{PROSE}",
    "a hub": "".join(f"<li><a href=/{n}>word {n}</a>" for n in range(90)) + "<p>Some words",
    "tables": "<table><tr><td>a<td>b<tr><td><tr hidden><td>c<tr><td>d<td><p>e</table>",
    "code": "<pre>\ta\tb  \r\n\n  c\x85d\u2028e\u200b \x1ff\n \n<br>g<b>\th</b></pre>"
    "<p>i<br>j<xmp>a<b>&amp;</xmp><listing>\n\nk</listing>",
    "raw": "<style>a<b{}</style><iframe><p>x</iframe><noframes><p></noframes><textarea><b>&amp;</textarea>z",
    "scripts in the body": "a<script><!-- <script> </script> --></script>b",
    "scripts": "<script><!-- <script> </script> --></script>a<script>document.write('<script><\\/script>')</script>b",
    "pictures": "<p>a<svg><title>b</title><a href=/c>d</a><style>x<y</style></svg>e<math><mi>f</mi></math>g",
    "references": "<p>a&nbsp;&nbsp;b &lt;c&gt; &amp;amp; &quot;d&#39; &copy; &ampx &notit; x&shy;y",
    "controls": "<p>a\x01b\x7fc\u200bd\u202ee \u2003 f\ufeff</p><p>\u200b</p><p>\u200b<a href=/x>y</a>",
    "comments": "<!-- a --><p>b<!---->c<!--d-- >e--><?php f ?>g<![CDATA[h]]></p>",
    "attributes": '<p a"b=c =d=e f>x<a href=\'"/y"\' title=">">z</a><div class=\'a"nav\'>q</div>',
    "plain text": "<p>a<plaintext>b<c>&amp;</plaintext>",
    "own tags": "<my-nav>a<my-very-long-element-name hidden>b</my-very-long-element-name></my-nav><blockquotes>c",
    "headings": "<main><h1>A <a href=/b>b</a></h1><h2><br></h2><h6>c</h6>" + "<h2>x</h2>" * 600,
    "depth": "<div>" * 3000 + "a",
    "inline depth": "<b><i>" * 2000 + "<a href=/x>a</a>",
    "many nested links": "<a href=/x>a<marquee>" * 400,
    "blocks in links in lines": "<b><a href=/a>x<i>y<div>z</div>w</i>v</a>u</b>"
    "<span><a href=/b><div></div> </a></span>",
    "options": "<label>a<select><optgroup label=b><option>c<option>d</select></label><button>e</button>",
    "letters of many kinds": "<p>Ünïcödé ﬁ 日本語のテキスト 𝒳𝓎 😀👍🏽 e\u0301 ﷽</p><p>\u3000全角\u3000</p>",
}


@pytest.mark.parametrize("name", CORNERS, ids=list(CORNERS))
def test_corners(name):
    markup = CORNERS[name]
    assert document_of(markup.encode(), entries()) == document_of(markup.encode(), None)
    quick.use(entries())
    body = of_kernel(markup)
    assert body in (None, of_walk(markup))


@pytest.mark.parametrize("name", ["scripts in the body", "plain text", "other digits"])
def test_what_is_refused(name):
    assert of_kernel(CORNERS[name]) is None


def test_large_pages_are_walked_through():
    assert of_kernel(f"<p>{'x' * bodies.LARGEST}") is None


def test_signs_are_known():
    for sign in _SELF_LINK_SIGNS:
        assert of_kernel(f"<h2>a<a href=#b>{sign}</a></h2>").text == "a"


_TEXTS = st.one_of(
    st.sampled_from(
        [
            "a",
            "sea ",
            " ",
            "\n",
            "\t",
            "#",
            "¶",
            "&nbsp;",
            "&lt;",
            "&amp;",
            "\u200b",
            "\u3000",
            "é",
            "日本",
            "😀",
            PROSE,
            "  x  ",
            "\x85",
        ]
    ),
    st.text(max_size=8),
)
_NAMES = st.sampled_from(
    [
        "p",
        "div",
        "span",
        "b",
        "a",
        "a",
        "a",
        "li",
        "ul",
        "td",
        "tr",
        "table",
        "h1",
        "h2",
        "pre",
        "code",
        "br",
        "img",
        "nav",
        "main",
        "article",
        "section",
        "header",
        "footer",
        "aside",
        "form",
        "button",
        "svg",
        "template",
        "script",
        "style",
        "xmp",
        "textarea",
        "noscript",
        "object",
        "marquee",
        "area",
        "frame",
        "label",
        "option",
        "select",
        "blockquote",
    ]
)
_ATTRIBUTES = st.sampled_from(
    [
        "href=/x",
        "href=#y",
        'href="/z?a=1&amp;b=2"',
        "hidden",
        'style="display:none"',
        'style="left: -1000px"',
        "class=nav",
        'class="main content"',
        'class="sideBar Foot"',
        "id=menu",
        "id=a-b-c",
        "role=main",
        "role=navigation",
        "rel=nofollow",
        "title='t u'",
        "alt=picture",
        "alt",
        "src=/i",
        "aria-label=label",
        "class=chapter",
        "role=banner",
    ]
)


@st.composite
def markups(draw):
    pieces = []
    for _ in range(draw(st.integers(1, 25))):
        kind = draw(st.integers(0, 3))
        if kind == 0:
            pieces.append(f"</{draw(_NAMES)}>")
        elif kind == 1:
            pieces.append(draw(_TEXTS))
        else:
            pieces.append(f"<{draw(_NAMES)} {' '.join(draw(st.lists(_ATTRIBUTES, max_size=2)))}>{draw(_TEXTS)}")
    return "".join(pieces)


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(markup=markups())
def test_any_page_gives_the_same_document(markup):
    body = markup.encode("utf-8", "ignore")
    assert document_of(body, entries()) == document_of(body, None)


@settings(max_examples=200, deadline=None)
@given(
    words=st.lists(
        st.sampled_from(["the", "of", "tide", "tides", "xxx", "İstanbul", "日本語", "a", "ß", "1954", "über"]),
        max_size=1300,
    ),
    rest=st.text(max_size=60),
    language=st.sampled_from(["en", "de", "", "ja"]),
)
def test_words_weigh_the_same(words, rest, language):
    quick.use(entries())
    text = f"{' '.join(words)} {rest}".strip()
    lowered = text.lower()
    weighed = weigh(lowered.encode("utf-8", "ignore"), language)
    assert weighed is not None
    assert weighed.fingerprint in (None, simhash(text))
    if weighed.is_suspect:
        assert "xxx" in lowered
    else:
        assert _weighed(weighed, language) == _shares_of(lowered.encode("utf-8", "ignore").decode(), language)


def test_long_texts_weigh_the_same():
    text = PROSE * 400
    weighed = weigh(text.lower().encode()[: 64 * 1024], "en")
    assert weighed is not None
    assert weighed.fingerprint == simhash(text)
    assert weigh("".join(map(chr, range(0x4E00, 0x4E80))).encode(), "zh").fingerprint is None
