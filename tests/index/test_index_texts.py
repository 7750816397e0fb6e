"""Stored texts: with and without a dictionary, what was put in comes back, and damage is noticed."""

from __future__ import annotations

import random

import msgspec
import pytest
from zstandard import ZstdError

from periplus.errors import Corrupt
from periplus.index.format import texts as texts_module
from periplus.index.format.files import ArrayFile, ArrayFileWriter
from periplus.index.format.stored import StoredDocument
from periplus.index.format.texts import LEAST_SAMPLED, SAMPLES, Texts, TextsWriter, sampled

SEED = 4
WORDS = ["tide", "moon", "harbour", "lighthouse", "keeper", "Leuchtturm", "灯台", "🌊"]


def document(number, generator):
    text = " ".join(generator.choices(WORDS, k=generator.choice((0, 1, 30, 400))))
    url = f"https://coast.example.org/{number}"
    return StoredDocument(
        url, str(number), text[:9], "", text, (), "en", "text/html", 0.0, 1.0, "h", "s", "", noarchive=False
    )


def written(path, documents):
    packed = [msgspec.msgpack.encode(one) for one in documents]
    file = ArrayFileWriter(path, "TEXT")
    writer = TextsWriter(file)
    writer.learn([packed[place] for place in sampled(len(packed))])
    writer.extend(packed)
    writer.finish()
    file.close()
    return ArrayFile(path, "TEXT", unchecked=("blocks",))


@pytest.mark.parametrize("count", [0, 1, LEAST_SAMPLED - 1, LEAST_SAMPLED, 3_000])
def test_documents_come_back(tmp_path, count):
    generator = random.Random(SEED)
    documents = [document(number, generator) for number in range(count)]
    file = written(tmp_path / "texts.bin", documents)
    texts = Texts(file)
    assert (len(file.array("dictionary")) > 0) == (count >= LEAST_SAMPLED)
    assert list(texts.all_packed()) == [msgspec.msgpack.encode(one) for one in documents]
    for number in generator.sample(range(count), min(count, 200)):
        assert texts.document(number) == documents[number]
        assert bytes(texts.packed(number)) == msgspec.msgpack.encode(documents[number])


def test_how_many_are_written_together_changes_nothing(tmp_path, monkeypatch):
    generator = random.Random(SEED)
    documents = [document(number, generator) for number in range(LEAST_SAMPLED)]
    written(tmp_path / "many.bin", documents)
    monkeypatch.setattr(texts_module, "BYTES_TOGETHER", 500)  # a few documents
    written(tmp_path / "few.bin", documents)
    assert (tmp_path / "few.bin").read_bytes() == (tmp_path / "many.bin").read_bytes()


def test_samples_are_from_all_over():
    assert list(sampled(LEAST_SAMPLED - 1)) == []
    for count in (LEAST_SAMPLED, 12_345, 1_000_000):
        places = sampled(count)
        assert SAMPLES <= len(places) <= 2 * SAMPLES
        assert places[-1] >= count - count // SAMPLES - 1


def test_what_makes_no_dictionary_is_kept_in_blocks(tmp_path):
    file = ArrayFileWriter(tmp_path / "texts.bin", "TEXT")
    writer = TextsWriter(file)
    writer.learn([b"x"])
    writer.extend([b"one", b"two"])
    writer.finish()
    file.close()
    texts = Texts(ArrayFile(tmp_path / "texts.bin", "TEXT"))
    assert list(texts.all_packed()) == [b"one", b"two"]
    assert bytes(texts.packed(1)) == b"two"


def test_a_damaged_frame_is_noticed(tmp_path):
    generator = random.Random(SEED)
    path = tmp_path / "texts.bin"
    documents = [document(number, generator) for number in range(LEAST_SAMPLED)]
    file = written(path, documents)
    entry = file._entries["blocks"]
    damaged = LEAST_SAMPLED // 2
    starts = file.array("block_start")
    data = bytearray(path.read_bytes())
    for place in range(int(starts[damaged]) + 8, int(starts[damaged + 1])):
        data[entry.offset + place] ^= 0x55
    path.write_bytes(data)
    texts = Texts(ArrayFile(path, "TEXT", unchecked=("blocks",)))
    with pytest.raises(Corrupt, match="rebuild the index"):
        texts.document(damaged)
    assert texts.document(damaged - 1) == documents[damaged - 1]


def test_a_library_without_memory_is_no_damage(tmp_path):
    path = tmp_path / "texts.bin"
    starved = ZstdError("decompression error: Allocation error : not enough memory")
    assert isinstance(texts_module._failure(path, starved), MemoryError)
    assert isinstance(texts_module._failure(path, ZstdError("decompression error: Data corruption detected")), Corrupt)
