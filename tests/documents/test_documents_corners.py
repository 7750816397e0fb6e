"""Corners of HTML: what is text, what stands apart, and which links there are."""

from __future__ import annotations

import pytest

from periplus.documents import bounds, parse
from periplus.records import Page

PROSE = ("The keeper lit the lamp at dusk and wrote the state of the sea into the book. " * 4).strip()
HOST = "http://harbour.example"


def document(markup):
    return parse(Page(f"{HOST}/a/b", markup.encode(), "text/html; charset=utf-8", fetched=1.7e9))


TEXTS = {
    "text alone": ("<p>a", "a", ""),
    "nothing": ("", "", ""),
    "signs": (
        "<h2>A # b <a href=#x>#</a></h2><h2><a href=#y> ¶</a>c</h2><h3>d<a href=#z>🔗\ufe0e</a></h3><a>#</a>",
        "A # b\nc\nd",
        "",
    ),
    "hidden": (
        (
            '<p hidden>a</p><p style="display : NONE">b</p><span style="left:-9999px"> c d </span>'
            '<i hidden=until-found>e</i><p style="left:-٣٣٣px">f'
        ),
        "e",
        "",
    ),
    "nearly hidden": (
        '<p style="font-family:&quot;left:-999&quot;">a</p><p style="top:-99">b</p><p style="visibility:hiddem">c',
        "a\nb\nc",
        "",
    ),
    "hidden templates": ("<div><span hidden>a<template>b</template><script>c</script></span>d</div>", "d", ""),
    "a hidden body": ('<body style="visibility:hidden"><p>a<div class="main-nav">b</div>', "a\nb", ""),
    "zones": (
        f"<nav>a</nav><div class=sidebar>b</div><div class=content><p>{PROSE}</p></div><div id=footer>c</div>",
        PROSE,
        "a\nb\nc",
    ),
    "names": (
        (
            '<div class="mainNav">a</div><div class="HTMLContent XMenu">b</div><div class="ＮＡＶ nav　ad">c</div>'
            '<section id=nav>d</section><div id=a-nav>e</div><div id=a-b-nav>f</div><div class="a&amp;nav">g</div>'
        ),
        "a\nd\nf",
        "b\nc\ne\ng",
    ),
    "long names": (
        f'<div class="{"x" * 398} nav">a</div><div class="{"x" * 394} nav" id=ad>b</div>',
        "a",
        "b",
    ),
    "chapters": (
        (
            "<div class=chapter><div class=sidebar>a</div><ul class=toc><li>b</ul></div>"
            "<section><div class=toc>c</div></section>"
        ),
        "a\nb\nc",
        "",
    ),
    "roles": (
        f"<div role=main>{PROSE}</div><div role=navigation>a</div><header>b</header><main><header>c</header></main>",
        f"{PROSE}\nc",
        "a\nb",
    ),
    "articles": (
        f"<p>{PROSE}</p><article><p>{PROSE}</p><p>x</article><main>short</main>",
        f"{PROSE}\nx\nshort",
        PROSE,
    ),
    "tables": ("<table><tr><td>a<td>b<tr><td><tr hidden><td>c<tr><td>d<td><p>e</table>", "a b\nd e", ""),
    "code": (
        (
            "<pre>\ta\tb  \r\n\n  c\x85d\u2028e\u200b \x1ff\n \n<br>g<b>\th</b></pre>"
            "<p>i<br>j<xmp>a<b>&amp;</xmp><listing>\n\nk</listing>"
        ),
        "    a   b\n  c\nd\ne f\ng   h\ni j\na<b>&amp;\nk",
        "",
    ),
    "what is no markup": (
        "<style>a<b{}</style><iframe><p>x</iframe><noframes><p></noframes><textarea><b>&amp;</textarea>z",
        "z",
        "",
    ),
    "scripts": (
        "<script><!-- <script> </script> --></script>a<script>document.write('<script><\\/script>')</script>b",
        "a b",
        "",
    ),
    "pictures": (
        "<p>a<svg><title>b</title><a href=/c>d</a><style>x<y</style></svg>e<math><mi>f</mi></math>g",
        "a e g",
        "",
    ),
    "references": (
        "<p>a&nbsp;&nbsp;b &lt;c&gt; &amp;amp; &quot;d&#39; &copy; &ampx &notit; x&shy;y",
        "a b <c> &amp; \"d' © &x ¬it; xy",
        "",
    ),
    "controls": ("<p>a\x01b\x7fc\u200bd\u202ee \u2003 f\ufeff</p><p>\u200b</p>", "abcde f", ""),
    "comments": ("<!-- a --><p>b<!---->c<!--d-- >e--><?php f ?>g<![CDATA[h]]></p>", "bcg", ""),
    "attributes": ('<p a"b=c =d=e f>x<a href=/y title=">">z</a><div class=\'a"nav\'>q</div>', "xz", "q"),
    "plain text": ("<p>a<plaintext>b<c>&amp;</plaintext>", "a\nb<c>&amp;</plaintext>", ""),
    "own tags": ("<my-nav>a<my-element hidden>b</my-element></my-nav><blockquotes>c", "ac", ""),
    "depth": ("<div>" * 3000 + "a", "a", ""),
    "options": (
        "<label>a<select><optgroup label=b><option>c<option>d</select></label><button>e</button>",
        "",
        "a\nc\nd\ne",
    ),
    "letters of many kinds": (
        "<p>Ünïcödé ﬁ 日本語のテキスト 𝒳𝓎 😀👍🏽 e\u0301 ﷽</p><p>\u3000全角\u3000</p>",
        "Ünïcödé ﬁ 日本語のテキスト 𝒳𝓎 😀👍🏽 e\u0301 ﷽\n全角",
        "",
    ),
}


@pytest.mark.parametrize("name", TEXTS)
def test_the_text_of_a_corner(name):
    markup, text, boilerplate = TEXTS[name]
    found = document(markup)
    assert (found.text, found.boilerplate) == (text, boilerplate)


LINKS = {
    "a sign around blocks": (
        "<div><a href=/x><p>#</p></a><a href=/y><br>¶</a></div>",
        "#",
        [("/x", "#", ""), ("/y", "¶", "")],
    ),
    "links around blocks": (
        "<a href=/a>b<p>c <b>d</b></p>e<div>f<a href=/g>h</a></div></a>i",
        "b\nc d\ne\nfh\ni",
        [("/a", "b c d e", ""), ("/a", "f", ""), ("/g", "h", "")],
    ),
    "links in links": (
        "<a href=/1>x<marquee>y<a href=/2>z</a></marquee></a><a>q<object><a href=/3>r</a></object></a>",
        "xyzq",
        [("/1", "xyz", "")],
    ),
    "blocks in links in lines": (
        "<b><a href=/a>x<i>y<div>z</div>w</i>v</a>u</b><span><a href=/b><div></div> </a></span>",
        "xy\nz\nwvu",
        [("/a", "xy z wv", ""), ("/b", "", "")],
    ),
    "links without words": (
        (
            '<a href=/a><img alt=" B  c" src=x></a><a href=/b aria-label="Close"> </a><a href=/c></a>'
            '<a href=/d aria-label=d><img alt="" src=x><img alt=e></a><a href=/f>\u200b</a>'
        ),
        "",
        [("/a", "B c", ""), ("/b", "Close", ""), ("/c", "", ""), ("/d", "d", ""), ("/f", "", "")],
    ),
    "titles": (
        '<p><a href=/a title=" T  u">x</a> <a href="/b?a=1&amp;b=2" title="">y</a>',
        "x y",
        [("/a", "x", "T u"), ("/b?a=1&b=2", "y", "")],
    ),
    "areas": (
        '<map><area href=/a alt="One  two"><area href="" src=/b title=t></map>',
        "",
        [("/a", "One two", ""), ("/b", "t", "")],
    ),
    "frames": ("<frameset><frame src=/a><frame src=/b></frameset>", "", [("/a", "", ""), ("/b", "", "")]),
    "quotes in an address": ("<a href='\"/y\"' title='>'>z</a>", "z", [("/a/%22/y%22", "z", ">")]),
}


@pytest.mark.parametrize("name", LINKS)
def test_the_links_of_a_corner(name):
    markup, text, links = LINKS[name]
    found = document(markup)
    assert found.text == text
    assert [(link.url.removeprefix(HOST), link.text, link.title) for link in found.links] == links


def test_headings_are_capped():
    found = document("<main><h1>A <a href=/b>b</a></h1><h2><br></h2><h6>c</h6>" + "<h2>x</h2>" * 600)
    assert [(heading.level, heading.text) for heading in found.headings[:3]] == [(1, "A b"), (6, "c"), (2, "x")]
    assert len(found.headings) == bounds.HEADINGS
    assert found.text.count("\nx") == 600
