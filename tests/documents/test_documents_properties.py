"""What holds for every page, whatever is in it."""

from __future__ import annotations

import re
import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from periplus.addresses import canonical, try_canonical
from periplus.documents import READERS, parse, simhash
from periplus.documents.links import LinkSet
from periplus.documents.text import clean, clean_lines, shorten
from periplus.errors import ParseError
from periplus.reasons import REASONS
from periplus.records import Page

URL = "https://example.org/dir/page?x=1"


def words(line):
    return st.sampled_from(line.split())


tags = words(
    "p div span a b h1 h2 li ul ol table tr td th pre nav footer main article aside header form button select option"
    " script style title meta link base body html head br img svg template noscript textarea time frame area"
)
names = words("href class id role style hidden rel title alt src name content lang datetime")
values = words(
    "../a /b#c ?q=2 //other.example/x http://EX.org:80/%7e mailto:x javascript:1 menu main nofollow noindex robots"
    " canonical display:none https://example.org/dir/page?x=1&utm_source=z"
)
attributes = st.lists(st.tuples(names, st.text(max_size=12) | values), max_size=3)
text = st.text(max_size=30)


@st.composite
def pieces(draw):
    kind = draw(st.integers(0, 5))
    if kind < 2:
        return draw(text)
    tag = draw(tags)
    if kind == 2:
        return f"</{tag}>"
    written = " ".join(f'{name}="{value}"' for name, value in draw(attributes))
    return f"<{tag} {written}>"


markup = st.lists(pieces(), max_size=40).map("".join)


def page(body, content_type="text/html; charset=utf-8"):
    return Page(URL, body, content_type, fetched=1.7e9)


@settings(max_examples=80, deadline=None)
@given(markup)
def test_links_are_absolute_and_canonical_and_texts_clean(source):
    found = parse(page(source.encode("utf-8", "surrogatepass")))
    for link in found.links:
        assert canonical(link.url) == link.url
        assert link.place in ("content", "navigation", "footer")
        assert set(link.rel) <= {"nofollow", "ugc", "sponsored"}
        assert_clean(link.text + link.title)
    for url in (*found.feeds, *found.hreflang.values(), *(image for image, _ in found.images), found.canonical):
        assert not url or canonical(url) == url
    assert_clean(found.title + found.description + found.author + "".join(heading.text for heading in found.headings))
    assert_clean((found.text + found.boilerplate).replace("\n", ""))
    assert found.refusal in REASONS or found.refusal == ""
    assert all(isinstance(value, float) for value in found.signals.values())


def assert_clean(line):
    assert not [char for char in line if unicodedata.category(char) in ("Cc", "Cs")]


@settings(max_examples=40, deadline=None)
@given(markup)
def test_parsing_is_deterministic(source):
    body = source.encode("utf-8", "surrogatepass")
    assert parse(page(body)) == parse(page(body))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("abcdefgh", min_size=3, max_size=8), min_size=1, max_size=30))
def test_text_is_the_words_and_never_the_markup(words):
    body = " ".join(f"<p class='q{number}' title='zzz'>{word}</p>" for number, word in enumerate(words))
    found = parse(page(f"<!-- zzz -->{body}<script>zzz()</script>".encode()))
    assert found.text.split() == words


def outcome(given_page):
    """The refusal of a page, or its parse error; a fault of ours says that it is an internal fault."""
    try:
        return parse(given_page).refusal
    except ParseError as error:
        return str(error)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=300), st.sampled_from(["", "text/plain", *sorted(READERS)]))
def test_any_bytes_give_a_document_or_a_parse_error(body, content_type):
    for start in (b"", b"%PDF-1.4\n", b"PK\x03\x04", b"<?xml version='1.0'?><rss>"):
        assert "internal fault" not in outcome(page(start + body, content_type))


@given(st.text())
def test_cleaning_is_idempotent(line):
    assert clean(clean(line)) == clean(line)
    assert clean_lines(clean_lines(line)) == clean_lines(line)
    assert_clean(clean(line))
    assert_clean(clean_lines(line).replace("\n", ""))


@given(st.text(), st.integers(1, 50))
def test_shortening_keeps_a_beginning(line, limit):
    assert len(shorten(line, limit)) <= limit
    assert line.startswith(shorten(line, limit))


upward = st.from_regex(r"(\.\./){1,4}[a-z0-9_./?#%:\\ -]{0,12}", fullmatch=True)


@given(upward, st.sampled_from(["https://e.example/", "https://e.example/a/b/c.html", "https://e.example/a/b/?q=../x"]))
def test_steps_upwards_are_resolved_as_the_standard_says(href, base):
    assert LinkSet(base).address(href) == try_canonical(href, base)


@given(
    st.text("ab./?#%:\\ \xa0é", min_size=1, max_size=12).map(str.strip).filter(bool),
    st.sampled_from(["https://e.example/", "https://e.example/a/b/c.html", "https://e.example/a/b/?q=../x#y"]),
)
def test_what_follows_the_sign_of_a_place_changes_no_address(href, base):
    assert LinkSet(base).address(href) == try_canonical(href, base)
    assert LinkSet(base).address(href) == try_canonical(href, base)  # from memory


def slow_simhash(source):
    """The fingerprint by its definition, a word and a bit at a time."""
    mask = 2**64 - 1
    folded = source.lower().encode("utf-8", "ignore")
    found = re.findall(rb"[0-9a-zA-Z\x80-\xff]+", folded)
    hashes = [sum(byte * pow(0x9E3779B97F4A7C15, at, 2**64) for at, byte in enumerate(word)) & mask for word in found]
    if not hashes or len(folded) / len(hashes) > 24:
        return None  # no words, or a script without spaces
    width = min(3, len(hashes))
    counts = [0] * 64
    for start in range(len(hashes) - width + 1):
        value = 0
        for number in hashes[start : start + width]:
            value = (value * 0xD6E8FEB86659FD93 + number) & mask
        value = ((value ^ (value >> 30)) * 0xBF58476D1CE4E5B9) & mask
        value = ((value ^ (value >> 27)) * 0x94D049BB133111EB) & mask
        value ^= value >> 31
        for bit in range(64):
            counts[bit] += value >> bit & 1
    shingles = len(hashes) - width + 1
    return sum(1 << bit for bit in range(64) if 2 * counts[bit] > shingles)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text("ab É9.-\n", max_size=8), max_size=400).map(" ".join))
def test_the_fingerprint_is_what_its_definition_says(source):
    expected = slow_simhash(source)
    if expected is not None:
        assert simhash(source) & (2**64 - 1) == expected


@settings(max_examples=60, deadline=None)
@given(markup)
def test_the_words_of_a_text_are_counted_right(source):
    found = parse(page(f"<pre>{source}</pre><p>{source}".encode("utf-8", "surrogatepass")))
    if found.language not in ("zh", "ja", "th", "lo", "km", "my"):
        assert found.word_count == len(found.text.split())
