"""HTML to documents: fields, main text, links, verdicts."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from periplus.addresses import key
from periplus.documents import parse
from periplus.records import Heading, Link, Page

URL = "https://example.org/guide/tides.html"
FETCHED = datetime(2025, 6, 1, tzinfo=UTC).timestamp()
PROSE = "The harbour lies open to the west, and ships wait outside until the tide has covered the bar. " * 4


def document(markup, *, url=URL, headers=(), status=200, content_type="text/html; charset=utf-8"):
    body = markup.encode() if isinstance(markup, str) else markup
    return parse(Page(url, body, content_type, headers, status, FETCHED))


def moment(text):
    return datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp()


def test_a_whole_page_gives_all_its_fields():
    found = document(
        f"""<!doctype html><html lang="en-GB"><head>
        <title> Tides
          of the bar </title>
        <meta name="description" content="When to  enter the harbour.">
        <meta name="author" content="A. Pilot"><meta property="og:site_name" content="Harbour Guide">
        <link rel="icon" href="/icon.png"><link rel="canonical" href="tides.html">
        <link rel="alternate" type="application/rss+xml" href="/feed.xml">
        <link rel="alternate" hreflang="de" href="/de/tiden.html">
        <meta property="article:published_time" content="2024-03-01T10:00:00Z">
        </head><body><nav><a href="/">Home</a></nav>
        <main><h1>Tides</h1><p>{PROSE}</p><h2>Spring &amp; neap</h2><p>{PROSE}</p>
        <img src="bar.jpg" alt="The bar at low water"></main>
        <footer>Copyright 2024 <a href="/imprint">Imprint</a></footer></body></html>"""
    )
    assert found.url == URL
    assert found.key == key(URL)
    assert found.title == "Tides of the bar"
    assert found.description == "When to enter the harbour."
    assert found.author == "A. Pilot"
    assert found.site_name == "Harbour Guide"
    assert found.favicon == "https://example.org/icon.png"
    assert found.canonical == URL
    assert found.refusal == ""
    assert found.feeds == ("https://example.org/feed.xml",)
    assert found.hreflang == {"de": "https://example.org/de/tiden.html"}
    assert found.headings == (Heading(1, "Tides"), Heading(2, "Spring & neap"))
    assert found.images == (("https://example.org/guide/bar.jpg", "The bar at low water"),)
    assert found.published == moment("2024-03-01T10:00:00")
    assert found.date_source == "meta"
    assert found.language == "en"
    assert found.declared_language == "en-gb"
    assert found.text.split("\n")[1] == "Spring & neap"
    assert "Home" not in found.text
    assert "Copyright" not in found.text
    assert "Copyright 2024 Imprint" in found.boilerplate
    assert found.word_count == len(found.text.split())
    assert found.content_hash
    assert found.fingerprint


# Main text and boilerplate


@pytest.mark.parametrize(
    "noise",
    [
        "<nav>NOISE</nav>",
        "<footer>NOISE</footer>",
        "<header>NOISE</header>",
        "<aside>NOISE</aside>",
        '<div role="navigation">NOISE</div>',
        '<div role="contentinfo"><p>NOISE</p></div>',
        '<div class="cookie-banner">NOISE</div>',
        '<div id="cookieConsent">NOISE</div>',
        '<ul class="share social-links"><li>NOISE</ul>',
        '<div class="site-footer">NOISE</div>',
        '<div class="printfooter">NOISE</div>',
        "<button>NOISE</button>",
        "<select><option>NOISE</select>",
        "<noscript>NOISE</noscript>",
        "<dialog>NOISE</dialog>",
        '<ul><li><a href="/a">NOISE</a><li><a href="/b">NOISE b</a><li><a href="/c">NOISE c</a></ul>',
        '<div class=header><p>Next: <a href="/b" rel=next>NOISE</a>, Up: <a href="/" rel=up>Contents</a></p></div>',
        "<div>NOISE: " + " ".join(f'<a href="/{chapter}">ch. {chapter}</a>' for chapter in range(60)) + "</div>",
    ],
)
def test_noise_is_kept_apart_but_kept(noise):
    found = document(f"<body>{noise}<div><h1>Tides</h1><p>{PROSE}<p>{PROSE}</div></body>")
    assert "NOISE" not in found.text
    assert "NOISE" in found.boilerplate
    assert PROSE.strip() in found.text


@pytest.mark.parametrize(
    "frame",
    [
        "<div class='content-with-sidebar'>{}</div>",
        "<div class='no-sidebar page'>{}</div>",
        "<div class='menu'>{}</div>",  # a hint that would empty the page is not believed
        "<form>{}</form>",
        "<div id='the-login-required-sign'>{}</div><p>other words</p>",
        "<section id='menu'>{}</section><p>other words</p>",
        "<table><tr><td>{}</td></tr></table>",
        "<article><header>{}</header></article>",
    ],
)
def test_odd_frames_do_not_empty_a_page(frame):
    assert PROSE.strip() in document(frame.format(f"<p>{PROSE}</p>")).text


def test_a_heading_or_a_paragraph_that_leads_on_is_text():
    heading = "<h2><a href='/b' rel=next>The next tide</a></h2>"
    found = document(f"{heading}<p>{PROSE * 3}<a href='/c' rel=prev>before that</a></p><p>{PROSE}</p>")
    assert "The next tide" in found.text
    assert "before that" in found.text


def test_what_lies_outside_a_marked_main_part_is_boilerplate():
    found = document(f"<div><p>Outside words.</p></div><main><p>{PROSE}</p></main><div><p>Last words.</p></div>")
    assert found.text == PROSE.strip()
    assert found.boilerplate == "Outside words.\nLast words."


def test_an_empty_main_part_is_not_believed():
    assert PROSE.strip() in document(f"<main></main><div><p>{PROSE}</p></div>").text


def test_a_page_of_links_keeps_them_as_its_text():
    items = "".join(f'<li><a href="/{number}">Port number {number}</a>' for number in range(20))
    assert "Port number 7" in document(f"<h1>Ports</h1><ul>{items}</ul>").text


def test_tables_and_code_keep_a_sane_spacing():
    found = document(
        "<table><tr><th>Port<th>Depth<tr><td>Gull<td>7 m</table>"
        "<pre>if deep:\n    enter()\n\n\twait()</pre><p>one<br>two<p>thr<b>ee</b>"
    )
    assert found.text == "Port Depth\nGull 7 m\nif deep:\n    enter()\n    wait()\none two\nthree"


def test_a_heading_within_code_is_one_line():
    found = document("<body><pre>  tide\n<h1>High\n  water</h1>words</pre>")
    assert (found.title, found.headings) == ("High water", (Heading(1, "High water"),))
    assert "High\n  water" in found.text


def test_scripts_styles_and_templates_are_no_text():
    found = document("<p>seen</p><script>var unseen</script><style>.unseen{}</style><template>unseen</template>")
    assert found.text == "seen"
    assert found.boilerplate == ""


@pytest.mark.parametrize("how", ["hidden", 'style="display: none"', "style='visibility:hidden'"])
@pytest.mark.parametrize("tag", ["div", "span", "p"])
def test_hidden_text_is_counted_not_indexed(how, tag):
    found = document(f"<p>{PROSE}</p><{tag} {how}>secret words</{tag}><p>after</p>")
    assert "secret" not in found.text + found.boilerplate
    assert found.text.endswith("after")
    assert found.signals["hidden_text"] > 0


def test_signs_that_link_a_heading_to_itself_are_no_text():
    found = document('<h2>Bar<a class="headerlink" href="#bar">¶</a></h2>')
    assert found.headings == (Heading(2, "Bar"),)
    assert found.text == "Bar"


def test_a_page_without_title_is_called_by_its_heading_or_address():
    assert document("<h2>Second</h2><h1>First</h1>").title == "First"
    assert document("<p>words").title == "tides.html"
    assert document("<svg><title>icon</title></svg><p>words").title == "tides.html"


# Links


def test_links_are_absolute_canonical_and_distinct():
    found = document(
        """<base href="/ports/"><main><p>
        <a href="Gull">Gull</a> <a href="gull#quay"> gull
        quay</a> <a href="Gull">Gull</a> <a href="HTTP://OTHER.example:80/%7ea?utm_source=x" title=" More ">other</a>
        <a href="mailto:a@b.c">m</a><a href="tel:1">t</a><a href="javascript:x()">j</a><a href="data:,x">d</a>
        <a href="#top">top</a><a href="">self</a><a>none</a><a href="http://[bad">bad</a>
        <a href="/pic"><img src="p.png" alt="A picture"></a></p></main>"""
    )
    assert found.links == (
        Link("https://example.org/ports/Gull", "Gull"),
        Link("https://example.org/ports/gull", "gull quay"),
        Link("http://other.example/~a", "other", "More"),
        Link("https://example.org/pic", "A picture"),
    )


def test_rel_and_place_of_links():
    found = document(
        f"""<nav><a href="/n">n</a></nav><main><p>{PROSE} <a href="/c" rel="noopener NoFollow ugc">c</a>
        <a href="/s" rel="sponsored">s</a></p></main><footer><a href="/f">f</a></footer>"""
    )
    links = {link.text: link for link in found.links}
    assert [links[name].place for name in "ncf"] == ["navigation", "content", "footer"]
    assert links["c"].rel == ("nofollow", "ugc")
    assert links["s"].rel == ("sponsored",)
    assert links["n"].rel == ()


def test_frames_and_image_maps_link_too():
    found = document('<frameset><frame src="/left"></frameset>')
    assert [link.url for link in found.links] == ["https://example.org/left"]
    found = document('<map><area href="/gull" alt="Gull"></map>')
    assert found.links == (Link("https://example.org/gull", "Gull"),)


def test_links_are_capped_and_the_document_says_so():
    found = document("".join(f'<a href="/{number}">x</a> ' for number in range(6000)))
    assert len(found.links) == 5000
    assert found.signals["truncated"] == 1.0


# Robots, canonical, refusals


@pytest.mark.parametrize("name", ["robots", "ROBOTS", "periplus"])
@pytest.mark.parametrize("content", ["noindex", "NOINDEX, follow", "none", " nofollow ,noindex"])
def test_noindex_is_a_refusal(name, content):
    found = document(f'<meta name="{name}" content="{content}"><p>{PROSE}</p>')
    assert found.refusal == "noindex"
    assert found.noindex
    assert found.text


def test_directives_for_others_do_not_concern_us():
    assert document(f'<meta name="googlebot" content="noindex"><p>{PROSE}</p>').refusal == ""


@pytest.mark.parametrize(
    ("value", "refused"),
    [
        ("noindex", True),
        ("otherbot: noindex", False),
        ("periplus: noindex", True),
        ("otherbot: noindex, nofollow, periplus: none", True),
        ("unavailable_after: Sun, 01 Dec 2024 00:00:00 GMT", True),
        ("unavailable_after: 2031-01-01", False),
        ("noarchive", False),
    ],
)
def test_robots_header(value, refused):
    found = document(f"<p>{PROSE}</p>", headers=(("X-Robots-Tag", value),))
    assert (found.refusal == "noindex") is refused
    assert found.noarchive is (value == "noarchive")


def test_nofollow_of_the_page_is_laid_on_its_links():
    found = document('<meta name=robots content=nofollow><a href="/a" rel=ugc>a</a> <a href="/b">b</a>')
    assert [link.rel for link in found.links] == [("nofollow", "ugc"), ("nofollow",)]
    assert found.nofollow
    assert not any(link.followed for link in found.links)


def test_canonical_elsewhere_is_believed_within_the_site_only():
    within = document(f'<link rel="canonical" href="https://www.example.org/tides"><p>{PROSE}</p>')
    assert within.refusal == "canonical-elsewhere"
    assert within.canonical == "https://www.example.org/tides"
    outside = document(f'<link rel="canonical" href="https://thief.example/tides"><p>{PROSE}</p>')
    assert (outside.refusal, outside.canonical) == ("", "")
    torn = document(f'<link rel="canonical" href="/a"><link rel="canonical" href="/b"><p>{PROSE}</p>')
    assert (torn.refusal, torn.canonical) == ("", "")


@pytest.mark.parametrize(
    ("value", "canonical"),
    [
        ("</tides>;rel=canonical", "https://example.org/tides"),
        ("</tides> ; title=x ; REL = 'next Canonical' , </y>; rel=next", "https://example.org/tides"),
        ("</a,b>; rel=canonical", "https://example.org/a,b"),
        ("</tides>; rel=alternate; hreflang=canonical", ""),
        ("</tides>; relation=canonical", ""),
        ("</tides; rel=canonical", ""),
        ("<" * 9_000 + "</tides>; rel=canonical", ""),  # more than is read
    ],
)
def test_canonical_by_header_as_it_is_written(value: str, canonical: str) -> None:
    assert document(f"<p>{PROSE}</p>", headers=(("Link", value),)).canonical == canonical


def test_canonical_by_header():
    found = document(f"<p>{PROSE}</p>", headers=(("Link", '</x>; rel="next", </tides>; rel="canonical"'),))
    assert found.canonical == "https://example.org/tides"
    assert found.refusal == "canonical-elsewhere"


def test_an_immediate_refresh_is_a_redirect():
    found = document('<meta http-equiv="refresh" content="0; URL=/new">')
    assert found.refusal == "redirected"
    assert found.links == (Link("https://example.org/new"),)
    assert document(f'<meta http-equiv="refresh" content="300"><p>{PROSE}</p>').refusal == ""


def test_pages_without_text_are_refused_with_the_reason():
    assert document("<html></html>").refusal == "no-content"
    assert document("").refusal == "no-content"
    scripts = "<script src=a.js></script>" * 4
    assert document(f"<div id=app></div>{scripts}").refusal == "needs-javascript"
    notice = "<noscript>You need to enable JavaScript to run this app.</noscript>"
    assert document(f"<body>{notice}<div id=app></div><script src=a.js></script>").refusal == "needs-javascript"
    assert document(f"<body>{notice}<p>{PROSE}</p><script src=a.js></script>").refusal == ""


def test_the_language_may_be_declared_by_header():
    found = document("<p>words", headers=(("Content-Language", "de-AT, en"),))
    assert found.declared_language == "de-at"


# Dates and structured data


ARTICLE = '<script type="application/ld+json">{"@type":"NewsArticle","datePublished":"2024-05-06T07:08:09Z"}</script>'
GRAPH = '<script type="application/ld+json">{"@graph":[{"@type":["Article"],"datePublished":"2024-05-06"}]}</script>'


@pytest.mark.parametrize(
    ("head", "published", "source"),
    [
        (f'{ARTICLE}<meta name="date" content="2020-01-01">', "2024-05-06T07:08:09", "json-ld"),
        (GRAPH, "2024-05-06T00:00:00", "json-ld"),
        ('<meta name="DC.date.issued" content="2023-02-03">', "2023-02-03T00:00:00", "meta"),
        ('<article><time datetime="2022-02-02">then</time></article>', "2022-02-02T00:00:00", "time"),
    ],
)
def test_published_dates_and_their_source(head, published, source):
    found = document(f"{head}<p>{PROSE}</p>")
    assert found.published == moment(published)
    assert found.date_source == source


@pytest.mark.parametrize("text", ["2031-01-01", "1970-01-01", "soon", "9999999999999-01-01", ""])
def test_impossible_dates_are_none(text):
    found = document(f'<meta name="date" content="{text}"><p>{PROSE}</p>')
    assert found.published == 0.0
    assert found.date_source == ""


def test_last_modified_is_the_weakest_date():
    header = (("last-modified", "Tue, 01 Apr 2025 12:00:00 GMT"),)
    assert document(f"<p>{PROSE}</p>", headers=header).modified == moment("2025-04-01T12:00:00")
    assert document(f"<p>{PROSE}</p>", headers=header).date_source == "header"
    meta = '<meta property="article:modified_time" content="2025-04-02">'
    assert document(f"{meta}<p>{PROSE}</p>", headers=header).modified == moment("2025-04-02T00:00:00")


def test_structured_data_and_open_graph():
    found = document(
        """<meta property="og:title" content="Gull"><script type="application/ld+json">
        {"@context": "https://schema.org", "@type": "Place", "name": "Gull \\u0000harbour",
         "geo": {"latitude": 54.1, "longitude": 8.0}, "author": {"name": "P. Chart"}}</script>
        <script type="application/ld+json">{broken</script><p>words"""
    )
    place, graph = found.structured
    assert place["name"] == "Gull harbour"
    assert place["geo"] == {"latitude": 54.1, "longitude": 8.0}
    assert graph == {"@type": "OpenGraph", "og:title": "Gull"}
    assert found.title == "Gull"
    assert found.author == "P. Chart"


# Signals


def test_a_page_that_says_not_found_with_success_is_likely_a_soft_404():
    found = document("<title>Page not found</title><h1>404</h1><p>Sorry, this page was not found.</p>")
    assert found.signals["soft_404"] >= 0.9
    assert "soft_404" not in document(f"<title>Tides</title><p>{PROSE}</p>").signals


def test_prose_and_stuffing_differ_in_their_signals():
    prose = document(f"<p>{PROSE}</p>").signals
    stuffed = document("<p>" + "cheap charts buy charts best charts online charts " * 30).signals
    assert prose["stop_words"] > 0.2 > stuffed["stop_words"]
    assert stuffed["repetition"] > 0.3 > prose["repetition"]


def test_trackers_and_scripts_are_counted():
    found = document("<script src='https://www.googletagmanager.com/gtm.js'></script><script>1</script><p>x")
    assert (found.signals["scripts"], found.signals["trackers"]) == (2.0, 1.0)


CONTENTS = (
    "<ul>" + "".join(f"<li><a href=/{number}>Part {number} of the book</a></li>" for number in range(6)) + "</ul>"
)


def main_text(body):
    return parse(Page("https://example.org/", f"<h1>Ports</h1>{body}".encode(), "text/html")).text


@pytest.mark.parametrize(
    ("before", "after", "kept"),
    [
        ("<div class=toc>", "</div>", False),
        ("<div class=chapter><div class=toc>", "</div></div>", True),
        ("<section><div class=sidebar>", "</div></section>", True),
        ("<div class=docnav>", "</div>", False),
        ("<div class=chapter><div class=docnav>", "</div></div>", False),
        ("<div>", "</div>", False),
        ("<div class=section>", "</div>", True),
        ("<main>", "</main>", True),
    ],
)
def test_lists_of_links_are_text_where_the_text_itself_holds_them(before, after, kept):
    prose = f"<p>{'Ships wait outside until the tide covers the bar. ' * 20}</p>"
    inner = before.replace("<main>", f"<main>{prose}")
    assert ("Part 3 of the book" in main_text(f"{prose}{inner}{CONTENTS}{after}{prose}")) == kept


JSON_DATE = '<script type="application/ld+json">{"@type": "Article", "datePublished": "2024-05-01"}</script>'


@pytest.mark.parametrize(
    ("url", "body", "source", "confidence"),
    [
        ("https://e.example/x", JSON_DATE, "json-ld", 0.95),
        ("https://e.example/x", "<meta property=article:published_time content=2024-05-01>", "meta", 0.85),
        ("https://e.example/x", "<time datetime=2024-05-01 itemprop=datePublished>May</time>", "time", 0.8),
        ("https://e.example/x", "<article><time datetime=2024-05-01>May</time></article>", "time", 0.5),
        ("https://e.example/news/2024/05/01/x", "", "address", 0.6),
        ("https://e.example/2024-5-1-x", "", "address", 0.6),
    ],
)  # fmt: skip
def test_dates_say_where_they_come_from_and_how_sure_they_are(url, body, source, confidence):
    found = parse(Page(url, f"{body}<p>words".encode(), "text/html", fetched=1.8e9))
    assert (found.published, found.date_source, found.date_confidence) == (1714521600.0, source, confidence)


@pytest.mark.parametrize(
    "url", ["https://e.example/12024/05/01", "https://e.example/2024/13/01", "https://e.example/2099/01/01"]
)
def test_numbers_in_an_address_that_are_no_day(url):
    found = parse(Page(url, b"<p>words", "text/html", fetched=1.8e9))
    assert (found.published, found.date_source, found.date_confidence) == (0.0, "", 0.0)


def test_advertisements_and_trackers_are_counted():
    body = """<script src="https://www.googletagmanager.com/gtag.js"></script><script>_paq.push(['x'])</script>
    <script async src="//pagead2.googlesyndication.com/x.js"></script><script>var own = 1</script><p>words"""
    found = parse(Page("https://e.example/", body.encode(), "text/html"))
    assert (found.signals["scripts"], found.signals["trackers"], found.signals["ads"]) == (4.0, 2.0, 1.0)


def test_a_link_around_an_image_alone_is_taken_with_its_text():
    found = document(
        f"""<div class="nav"><p><a href="/home"><img src="h.png" alt="Home"></a></p></div><main><p>{PROSE}</p>
        <p><a href="chart.html"><img src="c.png" alt="Chart of the bar"></a></p>
        <ul><li><a href="search.html" aria-label="Search"><i></i></a></li></ul></main>"""
    )
    assert [(link.url, link.text, link.place) for link in found.links] == [
        ("https://example.org/home", "Home", "navigation"),
        ("https://example.org/guide/chart.html", "Chart of the bar", "content"),
        ("https://example.org/guide/search.html", "Search", "content"),
    ]


def test_links_inside_inline_tags_belong_to_their_block():
    nested = "<b><i>" * 50 + '<a href="deep.html">deep</a>' + "</i></b>" * 50
    found = document(f'<p>{PROSE} {nested} and <code><a href="code.html">code</a></code></p>')
    assert [(link.url.rpartition("/")[2], link.text) for link in found.links] == [
        ("deep.html", "deep"),
        ("code.html", "code"),
    ]
    assert found.text.endswith("deep and code")


def test_spaces_of_other_widths_in_code_are_plain_ones():
    found = document(f"<pre>if x:\n\t&nbsp;&emsp;go(1)&nbsp;\n</pre><p>{PROSE}</p>")
    assert found.text.startswith("if x:\n      go(1)\n")
    assert found.word_count == len(found.text.split())


@pytest.mark.parametrize(
    "style", ["left: -9999px", "position:absolute; top:-1000em", "text-indent:-999px", "margin-left : -5000px"]
)
def test_text_moved_out_of_sight_is_hidden(style):
    found = document(f'<main><p>{PROSE}</p><p style="{style}">cheap pills</p><p style="left:-5px">shown</p></main>')
    assert "pills" not in found.text + found.boilerplate
    assert found.text.endswith("shown")
    assert found.signals["hidden_text"] > 0


@pytest.mark.parametrize(
    "text", ["The page you are looking for does not exist.", "This file doesn’t exist", "Die Seite existiert nicht"]
)
def test_other_words_for_not_found(text):
    assert document(f"<title>Oops</title><h1>{text}</h1><p>Go back.</p>").signals["soft_404"] >= 0.4
    assert "soft_404" not in document(f"<title>Tides</title><h1>Tides</h1><p>{PROSE}</p>").signals


def test_addresses_are_remembered_by_folder_without_mixing_pages():
    markup = (
        f'<p>{PROSE} <a href="?q=1">one</a> <a href="x">two</a> <a href="../x">three</a> <a href="/y?b=1">four</a></p>'
    )
    for url, folder in (("https://example.org/a/b/c.html", "a/b/"), ("https://example.org/a/d/c.html?z=1", "a/d/")):
        found = [link.url.removeprefix("https://example.org/") for link in document(markup, url=url).links]
        assert found == [f"{folder}c.html?q=1", f"{folder}x", "a/x", "y?b=1"]


@pytest.mark.parametrize("text", ["3 May 2024", "May 3, 2024", "3. May 2024", "03 may 2024", "Sept 3 2024"])
def test_dates_in_english_words(text):
    found = document(f'<meta name="date" content="{text}"><p>{PROSE}</p>')
    assert found.published == moment("2024-09-03" if text.startswith("Sept") else "2024-05-03")
    assert found.date_source == "meta"


@pytest.mark.parametrize("text", ["Mayhem 3 2024", "32 May 2024", "3 May 24", "31 June 2024"])
def test_words_that_are_no_date(text):
    assert document(f'<meta name="date" content="{text}"><p>{PROSE}</p>').published == 0.0


def test_terms_that_a_page_defines():
    body = (
        "<title>Words of the sea</title><main><dl><dt><dfn>Ebb</dfn></dt> <dd>The tide that goes out.</dd></dl>"
        '<p>A <dfn title="breakwater">mole</dfn> is a wall in the sea.</p><dl><dt><dfn>x</dfn></dt></dl></main>'
    )
    found = [item for item in document(body).structured if item.get("@type") == "DefinedTerm"]
    assert [(item["name"], item["description"]) for item in found] == [
        ("Ebb", "The tide that goes out."),
        ("breakwater", "A mole is a wall in the sea."),
    ]
