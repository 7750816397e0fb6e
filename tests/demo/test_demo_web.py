"""The demo's web as a client meets it: everything is served, linked and reachable, in the language it claims."""

from __future__ import annotations

import gzip
from collections import Counter, deque
from html.parser import HTMLParser
from io import BytesIO
from typing import NamedTuple
from urllib.parse import urljoin, urlsplit
from xml.etree import ElementTree

import protego
import py3langid
import pypdf
import pytest

from mockweb.raw_client import Answer, RawClient, fetch
from periplus.demo import DEFAULT_PORT, DemoServer, DemoWeb, Reply
from periplus.demo.content import load
from periplus.errors import CannotListen, PortInUse

BOT = "Periplus"
DELIBERATE_404 = "/shelf/burnt-in-1871"
SITEMAP = "{http://www.sitemaps.org/schemas/sitemap/0.9}"


@pytest.fixture(scope="module")
def web():
    with DemoWeb(public_port=DEFAULT_PORT) as running:
        yield running


def get(web: DemoWeb, url: str, *headers: str, method: str = "GET") -> Answer:
    parts = urlsplit(url)
    target = parts.path + (f"?{parts.query}" if parts.query else "")
    return fetch(web.port, parts.netloc, target, *headers, method=method)


def page(name: str, path: str = "/") -> str:
    return f"http://{name}.localhost:{DEFAULT_PORT}{path}"


class Links(HTMLParser):
    """Addresses of a page, apart by whether they may be followed; its visible text."""

    def __init__(self, base: str, text: str) -> None:
        super().__init__()
        self.base, self.followed, self.nofollow, self.canonical = base, [], [], ""
        self.robots, self.lang, self.words, self._silent = "", "", [], 0
        self.feed(text)
        if "nofollow" in self.robots:
            self.nofollow, self.followed = self.nofollow + self.followed, []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag == "a" and values.get("href"):
            target = urljoin(self.base, values["href"])
            (self.nofollow if "nofollow" in (values.get("rel") or "") else self.followed).append(target)
        elif tag == "link" and values.get("rel") == "canonical":
            self.canonical = urljoin(self.base, values["href"])
        elif tag == "meta" and values.get("name") == "robots":
            self.robots = values["content"]
        elif tag == "html":
            self.lang = values.get("lang") or ""
        self._silent += tag in ("style", "script")

    def handle_endtag(self, tag):
        self._silent -= tag in ("style", "script")

    def handle_data(self, data):
        if not self._silent:
            self.words.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.words).split())


class Visited(NamedTuple):
    answers: dict[str, Answer]
    links: dict[str, Links]
    refused: set[str]


@pytest.fixture(scope="module")
def voyage(web) -> Visited:
    """A small, honest crawl from the seeds: robots obeyed, nofollow obeyed, no further than year 1900."""
    robots: dict[str, protego.Protego] = {}
    answers: dict[str, Answer] = {}
    links: dict[str, Links] = {}
    refused: set[str] = set()
    queue = deque(web.seeds())
    seen = set(queue)
    while queue:
        url = queue.popleft()
        host = urlsplit(url).netloc
        if host not in robots:
            rules = fetch(web.port, host, "/robots.txt")
            robots[host] = protego.Protego.parse(rules.body.decode() if rules.status == 200 else "")
        if not robots[host].can_fetch(url, BOT):
            refused.add(url)
            continue
        answer = answers[url] = get(web, url)
        while answer.status == 500:
            answer = answers[url] = get(web, url)
        found = [urljoin(url, answer.headers["location"])] if "location" in answer.headers else []
        if answer.headers.get("content-type", "").startswith("text/html"):
            charset = answer.headers["content-type"].partition("charset=")[2] or "windows-1252"
            links[url] = Links(url, answer.body.decode(charset))
            found += links[url].followed
        for target in found:
            bare = target.partition("#")[0]
            if bare not in seen and not ("/calendar/" in bare and "/1897/" not in bare):
                seen.add(bare)
                queue.append(bare)
    return Visited(answers, links, refused)


def test_there_are_enough_pages_hosts_and_languages(web):
    assert len(web.pages()) >= 80
    assert len(set(web.pages())) == len(web.pages())
    assert len(web.hosts()) >= 8
    assert {site.lang for site in load()} >= {"en", "de", "fr", "es", "it", "el", "ja", "ar"}
    assert any(source.lang == "zh" for site in load() for source in site.pages)


def test_every_page_is_served(web):
    for url in web.pages():
        answers = [get(web, url).status for _ in range(3)]
        assert answers[-1] == 200, url


def test_every_link_leads_to_something_served(web, voyage):
    for url, links in voyage.links.items():
        for target in links.followed + links.nofollow:
            path = urlsplit(target).path
            assert urlsplit(target).netloc.endswith(f".localhost:{DEFAULT_PORT}"), (url, target)
            if path == DELIBERATE_404:
                assert get(web, target).status == 404
            elif target not in voyage.answers and target not in voyage.refused:
                assert get(web, target).status == 200, (url, target)
    missing = {url for url, answer in voyage.answers.items() if answer.status == 404}
    assert missing == {page("archive", DELIBERATE_404)}


def test_everything_that_may_be_found_is_reached_from_the_seeds(web, voyage):
    hidden = {
        page("almanac", "/drafts/next-year"),
        page("lighthouses", "/lamp-room/"),
        page("harbour", "/private/ledger"),
        page("knots", "/hidden-splice"),
        page("galley", "/cellar-tar"),
    }
    assert set(web.pages()) - set(voyage.answers) == hidden
    assert len(web.seeds()) < len(web.hosts())


def test_texts_are_in_the_language_they_claim(voyage):
    for url, links in voyage.links.items():
        if "/calendar/" in url or url.endswith("/torn-pages") or voyage.answers[url].status != 200:
            continue
        assert py3langid.classify(links.text)[0] == links.lang, url


def test_texts_are_of_a_length_to_enjoy(voyage):
    for site in load():
        for source in site.pages:
            if source.note or source.path.startswith("/private/"):
                continue
            length = len(source.text) / 3 if source.lang in ("ja", "zh") else len(source.text.split())
            assert 100 <= length <= 450, (site.name, source.path, length)


def test_titles_tell_pages_apart():
    titles = Counter((source.lang, source.title) for site in load() for source in site.pages)
    repeated = {title for (_, title), count in titles.items() if count > 1}
    assert repeated == {"The Grey Aunt"}  # the print version has the title of the page that it prints


def test_the_almanac_is_what_others_cite(voyage):
    cited = Counter(
        urlsplit(target).hostname
        for url, links in voyage.links.items()
        for target in set(links.followed)
        if urlsplit(target).hostname != urlsplit(url).hostname
    )
    assert cited.most_common(1)[0][0] == "almanac.localhost"
    assert set(cited) == {site.host for site in load()}


def test_notes_are_listed_and_never_served(web, voyage):
    assert len(web.notes()) >= 25
    served = b"".join(answer.body for answer in voyage.answers.values())
    for note in web.notes():
        assert note.note.encode() not in served
        assert note.url.startswith("http://")


# specials


def test_robots_rules_with_allow_wildcard_and_delay(web, voyage):
    rules = protego.Protego.parse(get(web, page("almanac", "/robots.txt")).body.decode())
    assert rules.can_fetch(page("almanac", "/drafts/errata"), BOT)
    assert not rules.can_fetch(page("almanac", "/drafts/next-year"), BOT)
    assert not rules.can_fetch(page("almanac", "/moon.bak"), BOT)
    assert not rules.can_fetch(page("almanac", "/"), "Wrecker")
    assert rules.crawl_delay(BOT) == 0.2
    assert list(rules.sitemaps) == [page("almanac", "/sitemap.xml")]
    assert voyage.refused == {page("almanac", "/drafts/next-year"), page("lighthouses", "/lamp-room/")}


def test_one_host_has_no_robots(web):
    assert get(web, page("archive", "/robots.txt")).status == 404


def test_a_sitemap_index_with_a_gzip_sitemap(web):
    index = ElementTree.fromstring(get(web, page("almanac", "/sitemap.xml")).body)
    assert index.tag == f"{SITEMAP}sitemapindex"
    places = [element.text for element in index.iter(f"{SITEMAP}loc")]
    assert [place.rpartition(".")[2] for place in places] == ["xml", "gz"]
    plain, packed = (get(web, place) for place in places)
    assert packed.body[:2] == b"\x1f\x8b"
    assert "content-encoding" not in packed.headers
    urls = [
        element.text
        for body in (plain.body, gzip.decompress(packed.body))
        for element in ElementTree.fromstring(body).iter(f"{SITEMAP}loc")
    ]
    assert page("almanac", "/winds/baker") in urls
    assert page("almanac", "/drafts/next-year") not in urls
    assert all(get(web, url).status == 200 for url in urls)


def test_a_plain_sitemap(web):
    root = ElementTree.fromstring(get(web, page("lighthouses", "/sitemap.xml")).body)
    assert page("lighthouses", "/cape-lantern") in [element.text for element in root.iter(f"{SITEMAP}loc")]


def test_the_feed_lists_dated_articles_newest_first(web):
    answer = get(web, page("gazette", "/feed.xml"))
    assert answer.headers["content-type"].startswith("application/rss+xml")
    links = [element.text for element in ElementTree.fromstring(answer.body).iter("link")]
    assert links[:2] == [page("gazette"), page("gazette", "/2026/piano")]
    assert all(get(web, link).status == 200 for link in links)


@pytest.mark.parametrize(
    ("source", "status", "target"),
    [
        (("almanac", "/winds/north-easter"), 301, ("almanac", "/winds/grey-aunt")),
        (("almanac", "/lights"), 302, ("lighthouses", "/")),
        (("lighthouses", "/stacks"), 308, ("lighthouses", "/gannet-stacks")),
        (("lighthouses", "/faros"), 301, ("faros", "/")),
        (("archive", "/cat"), 303, ("archive", "/")),
        (("archive", "/old-almanac"), 307, ("almanac", "/editors")),
        (("harbour", "/fees"), 301, ("harbour", "/tariff")),
        (("harbour", "/berths/a"), 302, ("harbour", "/berths/b")),
        (("harbour", "/berths/b"), 302, ("harbour", "/berths/a")),
    ],
)
def test_redirects(web, source, status, target):
    answer = get(web, page(*source))
    assert (answer.status, urljoin(page(*source), answer.headers["location"])) == (status, page(*target))


def test_canonical_duplicates_name_the_page_they_copy(web):
    printed = Links("", get(web, page("almanac", "/print/grey-aunt")).body.decode())
    assert printed.canonical == page("almanac", "/winds/grey-aunt")
    plain = get(web, page("almanac", "/winds/baker?view=plain"))
    assert Links("", plain.body.decode()).canonical == page("almanac", "/winds/baker")


def test_a_near_duplicate_differs_in_a_few_words(web):
    first, second = (
        Links("", get(web, page("archive", path)).body.decode()).text.split()
        for path in ("/wrecks/dorothea", "/wrecks/dorothea-copy")
    )
    assert first != second
    common = sum((Counter(first) & Counter(second)).values())
    assert common / max(len(first), len(second)) > 0.95


def test_noindex_and_nofollow(web, voyage):
    assert voyage.links[page("galley", "/staff")].robots == "noindex"
    assert page("galley", "/cellar-tar") in voyage.links[page("galley")].nofollow
    assert voyage.links[page("knots", "/other-lockers")].robots == "nofollow"
    assert page("knots", "/hidden-splice") in voyage.links[page("knots", "/other-lockers")].nofollow
    assert get(web, page("archive", "/inventory.txt")).headers["x-robots-tag"] == "noindex"


@pytest.mark.parametrize(
    ("name", "path", "charset", "words"),
    [
        ("nautika", "/periplous", "iso-8859-7", "Ο Άννων ο Καρχηδόνιος"),
        ("minato", "/tides", "shift_jis", "潮の満ち引き"),
    ],
)
def test_legacy_charsets_said_in_the_header(web, name, path, charset, words):
    answer = get(web, page(name, path))
    assert answer.headers["content-type"] == f"text/html; charset={charset}"
    assert words in answer.body.decode(charset)
    with pytest.raises(UnicodeDecodeError):
        answer.body.decode()


def test_a_legacy_charset_said_only_in_a_meta_tag(web):
    answer = get(web, page("archive", "/letters/keeper-1888"))
    assert answer.headers["content-type"] == "text/html"
    assert b'<meta charset="windows-1252">' in answer.body[:1024]
    assert "“très impressionnant”" in answer.body.decode("windows-1252")


def test_the_pdf_has_title_and_text(web):
    answer = get(web, page("archive", "/approaches-to-port-velda.pdf"))
    assert answer.headers["content-type"] == "application/pdf"
    reader = pypdf.PdfReader(BytesIO(answer.body), strict=True)
    assert reader.metadata.title == "Approaches to Port Velda: Sailing Directions of 1903"
    text = " ".join(" ".join(sheet.extract_text() for sheet in reader.pages).split())
    assert "Little John dries one foot only, and is the more to be feared" in text
    assert "Time signal: none that can be recommended." in text


def test_the_plain_text_file(web):
    answer = get(web, page("archive", "/three-pilots-1744.txt"))
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert b"My helmsman is an obedient person." in answer.body


def test_the_broken_page_is_broken_and_says_something(web):
    body = get(web, page("archive", "/torn-pages")).body
    assert b"could not agree" in body
    assert body.count(b"<p") > body.count(b"</p>")
    assert body.count(b"<!--") == 1
    assert b"-->" not in body


def test_the_failing_page_recovers_at_the_third_request():
    with DemoWeb() as fresh:
        statuses = [fetch(fresh.port, "archive.localhost", "/shelf/oil-account").status for _ in range(4)]
    assert statuses == [500, 500, 200, 200]


def test_the_slow_page_takes_a_second(web):
    get(web, page("archive", "/shelf/great-ledger"))
    record = [record for record in web.requests if record.path == "/shelf/great-ledger"][-1]
    assert 1.0 <= record.finished - record.monotonic < 5.0


@pytest.mark.parametrize(
    ("month", "neighbours"),
    [("1897/04", ["1897/03", "1897/05"]), ("1899/12", ["1899/11", "1900/01"]), ("1/01", ["1/02"])],
)
def test_the_calendar_has_no_end(web, month, neighbours):
    answer = get(web, page("harbour", f"/calendar/{month}"))
    links = Links(page("harbour"), answer.body.decode())
    found = [target for target in links.followed if "/calendar/" in target and not target.endswith("/1897/04")]
    wanted = [page("harbour", f"/calendar/{neighbour}") for neighbour in neighbours]
    assert found == wanted


def test_the_calendar_goes_on_in_a_million_years(web):
    assert get(web, page("harbour", "/calendar/1000000/12")).status == 200
    assert get(web, page("harbour", "/calendar/1897/13")).status == 404
    assert get(web, page("harbour", "/calendar/0/01")).status == 404


def test_one_page_is_packed_for_those_who_accept_it(web):
    url = page("tides", "/port-velda")
    plain, packed = get(web, url), get(web, url, "Accept-Encoding: gzip, br")
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert gzip.decompress(packed.body) == plain.body
    assert plain.headers["etag"] != packed.headers["etag"]


def test_unchanged_pages_cost_no_body(web):
    for url in web.pages():
        if "great-ledger" in url:
            continue
        first = get(web, url)
        if first.status == 500:
            continue
        by_tag = get(web, url, f"If-None-Match: {first.headers['etag']}")
        by_date = get(web, url, f"If-Modified-Since: {first.headers['last-modified']}")
        assert (by_tag.status, by_date.status) == (304, 304), url
        assert by_tag.body == by_date.body == b""
        assert by_tag.headers["etag"] == first.headers["etag"]


def test_changed_or_nonsensical_validators_give_the_page(web):
    url = page("almanac", "/moon")
    for header in (
        'If-None-Match: "other"',
        "If-Modified-Since: Mon, 01 Jan 2001 00:00:00 GMT",
        "If-Modified-Since: yesterday",
    ):
        assert get(web, url, header).status == 200
    assert get(web, url, "If-None-Match: *").status == 304
    tag = get(web, url).headers["etag"]
    assert get(web, url, f'If-None-Match: "x", W/{tag}').status == 304


def test_dates_are_given_in_time_and_json_ld(web):
    body = get(web, page("gazette", "/2026/piano")).body.decode()
    assert '<time datetime="2026-03-02">2 March 2026</time>' in body
    assert '"datePublished": "2026-03-02"' in body
    assert '"name": "Hester Quill"' in body


def test_some_hosts_have_a_favicon(web):
    assert get(web, page("almanac", "/favicon.svg")).headers["content-type"] == "image/svg+xml"
    assert get(web, page("tides", "/favicon.svg")).status == 404


def test_right_to_left_pages_say_so(web):
    assert b'<html lang="ar" dir="rtl">' in get(web, page("marsa")).body


def test_translations_name_each_other(web):
    for path in ("/odile-marchetti", "/en/odile-marchetti"):
        body = get(web, page("portolano", path)).body.decode()
        assert f'hreflang="en" href="{page("portolano", "/en/odile-marchetti")}"' in body
        assert f'hreflang="it" href="{page("portolano", "/odile-marchetti")}"' in body


def test_the_cookie_banner_is_on_one_layout_only(web):
    assert b"cookie-banner" in get(web, page("harbour")).body
    assert b"cookie" not in get(web, page("almanac")).body.lower()


# the server


def test_pages_speak_of_the_public_port_wherever_they_are_served():
    with DemoWeb(public_port=DEFAULT_PORT) as first, DemoWeb(public_port=DEFAULT_PORT) as second:
        assert first.port != second.port
        same = [fetch(web.port, "almanac.localhost", "/") for web in (first, second)]
        assert same[0].body == same[1].body
        assert same[0].headers["etag"] == same[1].headers["etag"]
        assert first.seeds() == second.seeds()
        assert first.resolve == (f"*.localhost=127.0.0.1:{first.port}",)


def test_without_a_public_port_pages_speak_of_the_real_one():
    with DemoWeb() as web:
        assert web.public_port == web.port
        assert f"http://gazette.localhost:{web.port}/".encode() in fetch(web.port, "almanac.localhost").body


def test_other_methods_and_hosts_are_refused(web):
    assert fetch(web.port, "almanac.localhost", "/", method="DELETE").status == 405
    assert fetch(web.port, "elsewhere.example").status == 404
    head = fetch(web.port, "almanac.localhost", "/", method="HEAD")
    assert (head.status, head.body) == (200, b"")
    assert int(head.headers["content-length"]) > 1_000


def test_requests_are_recorded(web):
    fetch(web.port, "knots.localhost", "/bowline", "User-Agent: Gull/1.0")
    record = web.requests[-1]
    assert (record.host, record.method, record.path, record.status) == ("knots.localhost", "GET", "/bowline", 200)
    assert record.header("user-agent") == "Gull/1.0"


def test_a_connection_serves_many_requests(web):
    with RawClient(web.port) as client:
        for path in ("/", "/bowline", "/rope"):
            client.send("knots.localhost", path)
            assert client.whole().status == 200
    assert len({record.connection for record in web.requests[-3:]}) == 1


def test_a_port_that_is_taken_is_an_error_with_advice(web):
    with pytest.raises(PortInUse, match="choose another"):
        DemoWeb(web.port).start()
    with pytest.raises(CannotListen):
        DemoWeb(99_999).start()


def test_of_two_that_have_bound_the_same_port_one_is_told():
    """Both may bind it, since neither listens yet."""
    first = DemoServer(lambda _: Reply())
    second = DemoServer(lambda _: Reply(), first.bind())
    second.bind()
    with first, pytest.raises(PortInUse, match="choose another"):
        second.start()


def test_it_can_be_started_again_on_its_port():
    web = DemoWeb().start()
    port = web.port
    web.stop()
    with DemoWeb(port) as again:
        assert fetch(again.port, "almanac.localhost").status == 200
