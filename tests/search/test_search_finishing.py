"""Results that kernels write, beside those put together from the documents one by one."""

from __future__ import annotations

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from periplus import index
from periplus.addresses.display import MAX_LENGTH
from periplus.index.stored import StoredDocument
from periplus.index.texts import pack
from periplus.records import Heading, SearchResult
from periplus.search import finishing, hits, plan, read, snippets
from periplus.search.finishing import _result, finished
from periplus.search.kernels import addresses, frames, layout, openings, records, results, sentences, texts
from periplus.search.snippets import wanted

WORDS = ["tide", "Tides", "the", "harbour", "Café", "潮汐", "“high”", "tide_table", "🌊", "lorem", "x" * 40, "ẞ", "ﬁ"]
SIGNS = [" ", " ", " ", " ", ". ", ".\n", "  ", "! ", "\u00a0", "\u200b", "\x1b", "… ", " (", ") "]
HOSTS = st.sampled_from(["a.example", "a.example:8080", "xn--nxasmq6b.example", "", "b.example"])
PATHS = st.sampled_from(
    [
        "",
        "/",
        "/a/b/",
        "/a//b",
        "/a%20b",
        "/#top",
        "/?q=1",
        "/a/?",
        "/a/b?x=/y/",
        "/é",
        "/" + "long/" * 30,
        "/a?b?c",
        "/xn--a",
    ]
)
TITLES = st.one_of(
    st.sampled_from(
        ["", "Tide tables", " two  spaces ", "a\nb", "Café “au” lait", "t" * 90, "word " * 18, "潮" * 91, "\ufffc"]
    ),
    st.text(max_size=12),
)
TIMES = st.one_of(
    st.sampled_from(
        [0.0, -0.0, 0.5, 1.0, -1.0, 951_782_400.0, 951_868_799.9, 2.0**38, 253_402_300_799.5, 253_402_300_800.0]
    ),
    st.floats(),
    st.floats(0, 4e9),
)


@st.composite
def documents(draw):
    host = draw(HOSTS)
    scheme = draw(st.sampled_from(["http", "https", "ftp", "urn"]))
    url = f"{scheme}://{host}{draw(PATHS)}" if host else draw(st.sampled_from(["", "urn:x", "http://", "https://?"]))
    pieces = draw(st.lists(st.tuples(st.sampled_from(WORDS), st.sampled_from(SIGNS)), max_size=60))
    return StoredDocument(
        url,
        draw(st.text(st.characters(codec="utf-8"), max_size=5)),
        draw(TITLES.filter(lambda title: title.isprintable() or "\n" in title or title == "\ufffc")),
        draw(st.sampled_from(["", "All about tides."])),
        "".join(part for piece in pieces for part in piece),
        (Heading(1, "Of tides"),) * draw(st.integers(0, 20)),
        draw(st.sampled_from(["en", "de", "", "pt-BR", "x" * 300])),
        "text/html",
        draw(TIMES),
        draw(TIMES),
        host,
        host,
        "",
        noarchive=draw(st.booleans()),
    )


def asked(query):
    words = plan(read(query)).words
    return wanted(words, [1.0 + place for place in range(len(words))])


def one_by_one(some, query, rank, scores, numbers):
    shown = snippets.snippets(some, query)
    every = zip(some, shown, scores.tolist(), numbers.reshape(-1, 3).tolist(), strict=True)
    return [_result(rank + place, *one) for place, one in enumerate(every)]


@settings(max_examples=400, deadline=None)
@given(
    st.lists(documents(), min_size=1, max_size=4),
    st.sampled_from(["tide", "the tide of harbour", "潮汐", "cafe", "nowhere", ""]),
    st.sampled_from([1, 11, 991]),
    st.lists(st.sampled_from([0, 0, 1, 127, 128, 16_000]), min_size=8, max_size=8),
    st.lists(st.floats(allow_nan=False), min_size=4, max_size=4),
)
def test_results_are_the_same_as_one_by_one(some, query, rank, counts, scores):
    numbers = np.array([n for i in range(len(some)) for n in (counts[2 * i], counts[2 * i + 1], i % 2)], np.int64)
    own = np.array(scores[: len(some)])
    made = finished([pack(one) for one in some], asked(query), rank, own, numbers)
    expected = one_by_one(some, asked(query), rank, own, numbers)
    assert made == expected
    assert msgspec.json.encode(made) == msgspec.json.encode(expected)


JOINTS = st.sampled_from(
    [" ", " ", " ", " - ", " – ", ", ", ": ", " | ", "· ", "· · ", "-", "→", " ◦ ", ". ", "\u0301 "]
)
ENDS = st.sampled_from(["", "…", " …", "... ", "  x", "x", ".x", "\u200b", "\n"])  # of descriptions
LONG = st.lists(st.tuples(st.sampled_from([*WORDS[3:], "tidings", "a", "the"]), JOINTS), min_size=8, max_size=90)


@settings(max_examples=400, deadline=None)
@given(LONG, LONG, st.integers(0, 30), st.sampled_from(["", "", " ", "\n", "  "]), ENDS)
def test_long_titles_and_texts_without_a_word_of_the_query(title, text, more, end, behind):
    title, text = ("".join(part for piece in pieces for part in piece) for pieces in (title, text))
    text = (text[: 250 + more] + end + text[250 + more :]).strip()
    described = text[: 4 * more] + behind if behind else ""
    one = plain(1, title=title[: 80 + more].strip(), text=text, description=described)
    numbers, scores = np.zeros(3, np.int64), np.zeros(1)
    made = finished([pack(one)], asked("nowhere tidied"), 1, scores, numbers)
    assert made == one_by_one([one], asked("nowhere tidied"), 1, scores, numbers)


STEPS = st.lists(
    st.sampled_from(["/", "/", "a", "log", "part", "x", "n", "-", "--", "?", "%20", "#", ".html"]), max_size=70
)
SHORT = st.text("abc  .—“”\u200b\x7f潮🌊", max_size=140)


@settings(max_examples=400, deadline=None)
@given(STEPS, st.integers(1, 70), SHORT, SHORT)
def test_addresses_and_titles_of_any_size(steps, size, title, shown):
    """Where what has to be looked at lies before, on and behind the ends of 64 bytes."""
    host = "a" * size + ".example"
    one = plain(1, url=f"https://{host}/{''.join(steps)}", host=host, title=title, text=f"{shown} tide {shown}")
    numbers, scores = np.zeros(3, np.int64), np.zeros(1)
    made = finished([pack(one)], asked("tide"), 1, scores, numbers)
    assert made == one_by_one([one], asked("tide"), 1, scores, numbers)


def test_results_are_written_in_the_order_of_their_fields():
    """So that whoever reads them finds each field where it is expected."""
    fields = [name for name in SearchResult.__struct_fields__ if name != "explain"]
    texts_of_one = hits.Texts.packed(
        [pack(plain(1))], (bytes(16), np.array([3, 2, 1], np.int64).tobytes()), asked("tide")
    )
    assert texts_of_one.show(1) == 0
    assert list(msgspec.msgpack.decode(texts_of_one.results)[0]) == fields


def test_openings_and_shortened_titles_are_written_by_the_kernel(monkeypatch):
    text = "The moon draws the water, and the → water follows; so it is with all shores. " * 8
    one = plain(1, title="Tide tables and more – " * 6 + "end", text=text, description=text[:50] + "…")
    numbers, scores = np.zeros(3, np.int64), np.zeros(1)
    expected = one_by_one([one], asked("nowhere"), 1, scores, numbers)
    monkeypatch.setattr(finishing, "_result", None)
    assert finished([pack(one)], asked("nowhere"), 1, scores, numbers) == expected
    assert expected[0].title.endswith("…")
    assert expected[0].snippet.endswith("…")
    assert expected[0].highlights == ()


@pytest.mark.parametrize(
    ("path", "shown"),
    [
        ("a" * 40 + "/" + "b" * 40 + "/c/d?q=1", "a.example › " + "a" * 40 + " › … › d › ?q=1"),
        ("a/" * 30 + "end", "a.example" + " › a" * 9 + " › …" + " › a" * 8 + " › end"),
        ("a/" + "b" * 100, "a.example › … › " + "b" * 73 + "…"),
        ("b" * 100, "a.example › " + "b" * 77 + "…"),
        ("b?" + "q" * 5_000, "a.example › … › ?" + "q" * 72 + "…"),
    ],
)
def test_long_addresses_are_written_by_the_kernel(path, shown, monkeypatch):
    one = plain(1, url=f"https://a.example/{path}", text="tide")
    numbers, scores = np.zeros(3, np.int64), np.zeros(1)
    expected = one_by_one([one], asked("tide"), 1, scores, numbers)
    monkeypatch.setattr(finishing, "_result", None)
    assert finished([pack(one)], asked("tide"), 1, scores, numbers) == expected
    assert expected[0].display_url == shown


LONG_STEPS = st.lists(st.integers(0, 60).map(lambda size: "s" * size), max_size=12).map("/".join)


@settings(max_examples=400, deadline=None)
@given(LONG_STEPS, st.integers(1, 95), st.sampled_from(["", "/", "?", "?x=/y/", "/?" + "q" * 50, "?" + "q" * 120]))
def test_long_addresses_of_any_steps(steps, size, end):
    host = "h" * size
    one = plain(1, url=f"https://{host}/{steps}{end}", host=host, text="tide")
    numbers, scores = np.zeros(3, np.int64), np.zeros(1)
    made = finished([pack(one)], asked("tide"), 1, scores, numbers)
    assert made == one_by_one([one], asked("tide"), 1, scores, numbers)


def plain(number, **more):
    known = {
        "url": f"https://a.example/log/{number}?page=2",
        "id": f"d{number}",
        "title": f"Tide tables, part {number}",
        "description": "",
        "text": "The moon draws the water. Tide tables list high water for “every” harbour of the coast.",
        "headings": (),
        "language": "en",
        "content_type": "text/html",
        "published": 0.0,
        "fetched": 1_700_000_000.25,
        "host": "a.example",
        "site": "a.example",
        "author": "",
        "noarchive": False,
    }
    return StoredDocument(**(known | more))


def test_plain_documents_are_written_by_the_kernel(monkeypatch):
    some = [plain(number, published=86_400.0 * number) for number in range(10)]
    numbers, scores = np.zeros(30, np.int64), np.arange(10.0)
    expected = one_by_one(some, asked("tide tables"), 1, scores, numbers)
    monkeypatch.setattr(finishing, "_result", None)
    made = finished([pack(one) for one in some], asked("tide tables"), 1, scores, numbers)
    assert made == expected
    assert made[3].display_url == "a.example › log › 3 › ?page=2"
    assert made[3].published == "1970-01-04T00:00:00Z"
    assert made[3].highlights == ((0, 4), (5, 11))


def test_documents_of_another_version_are_made_one_by_one():
    some = [plain(number) for number in range(3)]
    numbers, scores = np.zeros(9, np.int64), np.arange(3.0)
    more = [msgspec.msgpack.encode([*msgspec.structs.astuple(one), "of another version"]) for one in some]
    assert finished(more, asked("tide"), 1, scores, numbers) == one_by_one(some, asked("tide"), 1, scores, numbers)


@given(st.binary(max_size=60), st.integers(0, 200))
def test_what_is_no_document_is_refused(noise, at):
    packed = pack(plain(1))
    data = np.frombuffer(packed[:at] + noise + packed[at:], np.uint8)
    fields, spans = np.zeros(records.RECORD, np.int64), np.zeros(records.SPAN, np.int64)
    if records.cut(data, fields, spans, np.zeros(2, np.int64)):
        assert all(0 <= place <= len(data) for place in fields.tolist())


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 253_402_300_799))
def test_moments(seconds):
    made = finished([pack(plain(1, fetched=float(seconds)))], asked("tide"), 1, np.zeros(1), np.zeros(3, np.int64))
    assert made[0].fetched == finishing.moment(float(seconds))


def test_what_is_surely_seen_is_printable():
    seen = [chr(c) for c in range(0x11_0000) if openings.is_seen.py_func(c)]
    assert len(seen) > 30_000
    assert all(c.isprintable() and not c.isspace() and c != "\ufffc" for c in seen)


def test_kernels_know_the_fields_of_documents_and_results():
    places = {name.upper(): place for place, name in enumerate(StoredDocument.__struct_fields__)}
    known = {name: getattr(records, name) for name in places if hasattr(records, name)}
    assert known.items() <= places.items()
    assert places["CONTENT_TYPE"] == records.TYPE
    assert len(places) == records.FIELDS
    assert [name.decode() for name in results.NAMES] == [n for n in SearchResult.__struct_fields__ if n != "explain"]
    assert (hits._SPAN, hits.PAGE, hits.MAX_SNIPPET) == (records.SPAN, sentences.PAGE, sentences.MAX_SNIPPET)
    assert (openings.MAX_TITLE, addresses.MAX_ADDRESS) == (snippets.MAX_TITLE, MAX_LENGTH)
    assert openings.MAX_SNIPPET == snippets.MAX_SNIPPET


def test_kernels_know_the_parts_of_memory():
    named = [name for name in vars(layout) if name.isupper() and hasattr(hits, name)]
    assert {name: getattr(hits, name) for name in named} == {name: getattr(layout, name) for name in named}
    assert {"HEAD", "OUT_SIZE", "STARTS", "NAMES_SIZE"} <= set(named)
    assert (hits.FRAMES, hits.PACKED, hits.ALONE) == (texts.FRAMES, texts.PACKED, texts.ALONE)
    assert (hits.IMPOSSIBLE, hits.UNKNOWN) == (frames.IMPOSSIBLE, texts.UNKNOWN)
    assert frames.SEGMENT == index.frames.SEGMENT


@pytest.mark.parametrize("text", ["a tide " * 20_000, "tide" * 20_000, "\u3042" * 60_000, "tide\n" * 15_000])
def test_long_texts_are_looked_at_as_far_as_stated(text):
    some = [plain(1, text=text), plain(2, text=text + " harbour")]
    numbers, scores = np.zeros(6, np.int64), np.zeros(2)
    made = finished([pack(one) for one in some], asked("tide harbour あ"), 1, scores, numbers)
    assert made == one_by_one(some, asked("tide harbour あ"), 1, scores, numbers)
    assert all(len(result.snippet) <= snippets.MAX_SNIPPET for result in made)
    assert all("harbour" not in result.snippet for result in made)
