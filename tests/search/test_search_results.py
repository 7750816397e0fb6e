"""Results made of stored documents: addresses, times and texts as people read them."""

from __future__ import annotations

import random

import msgspec
import pytest

from periplus.errors import Corrupt
from periplus.index.format.files import ArrayFile, ArrayFileWriter
from periplus.index.format.stored import StoredDocument
from periplus.index.format.texts import LEAST_SAMPLED, Texts, TextsWriter, sampled
from periplus.search import plan, read
from periplus.search.query.lexicon import KnownWord
from periplus.search.shards import snippets
from periplus.search.shards.shard import excerpts

SEED = 11
WORDS = ["tide", "moon", "harbour", "lighthouse", "keeper.", "Leuchtturm", "灯台", "the", "high", "water"]


def document(number=1, **more):
    known = {
        "url": f"https://a.example/log/{number}?page=2",
        "id": f"d{number}",
        "title": f"Tide tables, part {number}",
        "description": "",
        "text": "The moon draws the water. Tide tables list high water for “every” harbour of the coast.",
        "headings": (),
        "language": "en",
        "content_type": "text/html",
        "published": 86_400.0 * number,
        "fetched": 1_700_000_000.25,
        "host": "a.example",
        "site": "a.example",
        "author": "",
        "noarchive": False,
    }
    return StoredDocument(**(known | more))


class Stored:
    """What results need of a snapshot, over one segment of documents."""

    def __init__(self, path, documents):
        self.path = path
        packed = [msgspec.msgpack.encode(one) for one in documents]
        file = ArrayFileWriter(path, "TEXT")
        writer = TextsWriter(file)
        writer.learn([packed[place] for place in sampled(len(packed))])
        writer.extend(packed)
        writer.finish()
        file.close()
        self.open()

    def open(self):
        self.texts = Texts(ArrayFile(self.path, "TEXT", unchecked=("blocks",)))

    def stored_many(self, numbers):
        return [self.texts.document(number) for number in numbers]


def shown(stored, numbers, query="tide tables"):
    words = [KnownWord(word.text, 1.0, word.forms, (1,), 1.0, word.prefix) for word in plan(read(query)).words]
    return excerpts(stored, list(numbers), tuple(words))


def test_a_result_says_what_its_document_says(tmp_path):
    found = shown(Stored(tmp_path / "texts.bin", [document(number) for number in range(5)]), [3, 1])
    assert [one.id for one in found] == ["d3", "d1"]
    first = found[0]
    assert first.title == "Tide tables, part 3"
    assert first.display_url == "a.example › log › 3 › ?page=2"
    assert (first.published, first.fetched) == ("1970-01-04T00:00:00Z", "2023-11-14T22:13:20Z")
    assert first.snippet.startswith("Tide tables list")
    assert first.highlights == ((0, 4), (5, 11))


@pytest.mark.parametrize(
    ("path", "address"),
    [
        ("a" * 40 + "/" + "b" * 40 + "/c/d?q=1", "a.example › " + "a" * 40 + " › … › d › ?q=1"),
        ("a/" * 30 + "end", "a.example" + " › a" * 9 + " › …" + " › a" * 8 + " › end"),
        ("a/" + "b" * 100, "a.example › … › " + "b" * 73 + "…"),
        ("b" * 100, "a.example › " + "b" * 77 + "…"),
        ("b?" + "q" * 5_000, "a.example › … › ?" + "q" * 72 + "…"),
    ],
)
def test_long_addresses_are_shortened_where_they_say_least(tmp_path, path, address):
    stored = Stored(tmp_path / "texts.bin", [document(url=f"https://a.example/{path}")])
    assert shown(stored, [0])[0].display_url == address


def test_times_that_no_calendar_has_are_left_out(tmp_path):
    times = [0.0, -1e300, 1e300, float("nan"), float("inf"), 253_402_300_800.0]
    stored = Stored(tmp_path / "texts.bin", [document(published=one, fetched=one) for one in times])
    assert [(one.published, one.fetched) for one in shown(stored, range(len(times)))] == [(None, "")] * len(times)


@pytest.mark.parametrize("text", ["a tide " * 20_000, "tide" * 20_000, "\u3042" * 60_000, "tide\n" * 15_000])
def test_long_texts_are_looked_at_as_far_as_stated(tmp_path, text):
    stored = Stored(tmp_path / "texts.bin", [document(text=text), document(text=text + " harbour")])
    for one in shown(stored, [0, 1], "tide harbour あ"):
        assert len(one.snippet) <= snippets.MAX_SNIPPET
        assert "harbour" not in one.snippet


def many(count):
    generator = random.Random(SEED)
    return [document(number, text=" ".join(generator.choices(WORDS, k=120))) for number in range(count)]


@pytest.mark.parametrize("count", [20, LEAST_SAMPLED])
def test_documents_come_from_blocks_and_from_single_frames(tmp_path, count):
    stored = Stored(tmp_path / "texts.bin", many(count))
    assert [one.id for one in shown(stored, [count - 1, 0, 7])] == [f"d{count - 1}", "d0", "d7"]


def test_a_damaged_frame_is_an_error(tmp_path):
    stored = Stored(tmp_path / "texts.bin", many(LEAST_SAMPLED))
    file = ArrayFile(stored.path, "TEXT", unchecked=("blocks",))
    first, starts = file._entries["blocks"].offset, file.array("block_start")
    data = bytearray(stored.path.read_bytes())
    for place in range(int(starts[9]) + 8, int(starts[10])):
        data[first + place] ^= 0x55
    stored.path.write_bytes(data)
    stored.open()
    with pytest.raises(Corrupt, match="rebuild the index"):
        shown(stored, [8, 9])
    assert [one.id for one in shown(stored, [8, 10])] == ["d8", "d10"]
