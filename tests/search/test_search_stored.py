"""Results of stored documents: unpacked by a kernel, or one by one where that cannot be; both are the same."""

from __future__ import annotations

import random
import sys
import threading

import numpy as np
import pytest

from periplus.errors import Corrupt
from periplus.index import frames
from periplus.index.files import ArrayFile, ArrayFileWriter
from periplus.index.frames import Frames
from periplus.index.stored import StoredDocument
from periplus.index.texts import LEAST_SAMPLED, Texts, TextsWriter, pack, sampled
from periplus.search import finishing, hits, memory, plan, read
from periplus.search.snippets import wanted

SEED = 11
WORDS = ["tide", "moon", "harbour", "lighthouse", "keeper.", "Leuchtturm", "灯台", "the", "high", "water"]


def document(number, text):
    url = f"https://coast.example.org/log/{number}"
    host = "coast.example.org"
    return StoredDocument(
        url, str(number), f"Log {number}", "", text, (), "en", "text/html", 0.0, 1e9, host, host, "", noarchive=False
    )


class Stored:
    """What results need of a snapshot, over segments of documents."""

    def __init__(self, folder, *segments):
        self.files = [_written(folder / f"{place}.bin", documents) for place, documents in enumerate(segments)]
        self.open()

    def open(self):
        self.texts = [Texts(ArrayFile(path, "TEXT", unchecked=("blocks",))) for path in self.files]
        self.frames = Frames([texts.frames for texts in self.texts])

    def packed_many(self, numbers):
        return [self.texts[number >> 32].packed(number & 0xFFFF_FFFF) for number in numbers]


def _written(path, documents):
    packed = [pack(one) for one in documents]
    file = ArrayFileWriter(path, "TEXT")
    writer = TextsWriter(file)
    writer.learn([packed[place] for place in sampled(len(packed))])
    writer.extend(packed)
    writer.finish()
    file.close()
    return path


def documents_of(count, seed=SEED, words=120):
    generator = random.Random(seed)
    return [document(number, " ".join(generator.choices(WORDS, k=words))) for number in range(count)]


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Two segments with a dictionary, and one that keeps blocks."""
    folder = tmp_path_factory.mktemp("stored")
    return Stored(folder, documents_of(LEAST_SAMPLED), documents_of(LEAST_SAMPLED + 5, 2), documents_of(20, 3))


def asked(query="tide harbour 灯台"):
    words = plan(read(query)).words
    return wanted(words, [1.0] * len(words))


def arrays(numbers):
    return np.array(numbers, np.int64), np.arange(float(len(numbers))), np.arange(3 * len(numbers)) % 5


def both(stored, numbers, query):
    """The results by a kernel, and one by one."""
    places, scores, counts = arrays(numbers)
    expected = finishing.finished(stored.packed_many(numbers), query, 1, scores, counts)
    return finishing.results(stored, places, query, 1, scores, counts), expected


def unpacked_by_python(stored, monkeypatch):
    calls = []
    one_by_one = stored.packed_many
    monkeypatch.setattr(stored, "packed_many", lambda numbers: calls.append(numbers) or one_by_one(numbers))
    return calls


needs_addresses = pytest.mark.skipif(not frames.unpacker(), reason="zstandard without its C functions")


@needs_addresses
def test_documents_of_several_segments_are_unpacked_by_the_kernel(stored, monkeypatch):
    numbers = [5, (1 << 32) + 3, 0, LEAST_SAMPLED - 1, (1 << 32) + LEAST_SAMPLED + 4, 5]
    places, scores, counts = arrays(numbers)
    expected = finishing.finished(stored.packed_many(numbers), asked(), 1, scores, counts)
    calls = unpacked_by_python(stored, monkeypatch)
    assert finishing.results(stored, places, asked(), 1, scores, counts) == expected
    assert [result.id for result in expected] == ["5", "3", "0", "999", "1004", "5"]
    assert not calls


def test_blocks_are_unpacked_one_by_one(stored, monkeypatch):
    calls = unpacked_by_python(stored, monkeypatch)
    made, expected = both(stored, [7, (2 << 32) + 19, (2 << 32) + 1], asked())
    assert made == expected
    assert len(calls) == 2


def test_without_addresses_documents_are_unpacked_one_by_one(stored, tmp_path, monkeypatch):
    made, _ = both(stored, [3, 1, 2], asked())
    for function in (frames._module, frames.unpacker):
        function.cache_clear()
    monkeypatch.setitem(sys.modules, "zstandard._cffi", None)
    try:
        assert frames.unpacker() == frames._made_context() == 0
        assert frames.prepared(b"x") is None
        without = Stored(tmp_path, documents_of(LEAST_SAMPLED))
        assert without.texts[0].frames is None
        again, expected = both(without, [3, 1, 2], asked())
        assert again == expected == made
    finally:
        for function in (frames._module, frames.unpacker):
            function.cache_clear()


def test_a_damaged_frame_is_an_error(tmp_path):
    damaged = Stored(tmp_path, documents_of(LEAST_SAMPLED))
    file = ArrayFile(damaged.files[0], "TEXT", unchecked=("blocks",))
    first, starts = file._entries["blocks"].offset, file.array("block_start")
    data = bytearray(damaged.files[0].read_bytes())
    for place in range(int(starts[9]) + 8, int(starts[10])):
        data[first + place] ^= 0x55
    damaged.files[0].write_bytes(data)
    damaged.open()
    places, scores, counts = arrays([8, 9])
    with pytest.raises(Corrupt, match="rebuild the index"):
        finishing.results(damaged, places, asked(), 1, scores, counts)
    made, expected = both(damaged, [8, 10], asked())
    assert made == expected


def test_memory_grows_with_what_is_shown_and_is_given_back(tmp_path, monkeypatch):
    monkeypatch.setattr(memory, "SMALLEST", 1 << 13)
    monkeypatch.setattr(memory, "LARGEST", 1 << 14)
    monkeypatch.setattr(memory, "_kept", memory._Kept())
    long = [document(LEAST_SAMPLED + number, "the moon and the tide of " * 3_000) for number in range(3)]
    stored = Stored(tmp_path, [*documents_of(LEAST_SAMPLED), *long])
    for numbers in ([1], list(range(10)), [LEAST_SAMPLED, 4, LEAST_SAMPLED + 2], list(range(100))):
        made, expected = both(stored, numbers, asked("tide moon harbour keeper water"))
        assert made == expected
        assert [result.id for result in made] == [str(number) for number in numbers]
    assert memory._kept.own is None or memory._kept.own.words <= 1 << 14


def test_too_much_is_left_to_the_other_way(stored, monkeypatch):
    made, expected = both(stored, [1, 2, 3], asked())
    monkeypatch.setattr(hits, "MOST_WORDS", 0)
    calls = unpacked_by_python(stored, monkeypatch)
    places, scores, counts = arrays([1, 2, 3])
    assert finishing.results(stored, places, asked(), 1, scores, counts) == expected == made
    assert calls == [[1, 2, 3]]


def test_threads_have_memory_of_their_own(stored):
    generator = random.Random(SEED)
    pages = [generator.sample(range(LEAST_SAMPLED), 10) for _ in range(30)]
    expected = [both(stored, numbers, asked())[1] for numbers in pages]
    found = [None] * 4

    def ask(place):
        found[place] = [both(stored, numbers, asked())[0] for numbers in pages]

    threads = [threading.Thread(target=ask, args=(place,)) for place in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 4
