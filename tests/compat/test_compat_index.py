"""Indexes written by earlier versions of the format are opened, or refused clearly.

``index-N`` was written by ``write`` below when the format had the version N. A new format adds a folder; the old ones
stay, and what happens to them is said here.
"""

import json
import shutil
from pathlib import Path

import pytest

from periplus import addresses
from periplus.errors import Incompatible
from periplus.index import Group, IndexQuery, IndexStore, TermForm
from periplus.index.format.files import FORMAT
from periplus.index.format.marks import PLACES, UNFIT
from periplus.records import Document, Heading

HERE = Path(__file__).parent
READABLE = (5,)
REFUSED = (1, 2, 3, 4)


def write(folder, *, rebuild=False):
    """The documents that every kept index holds."""
    texts = ("the tide tables of the harbour", "a chart of the harbour", "lighthouses and tides")
    documents = [
        Document(
            url := f"https://coast.example.org/{number}",
            addresses.key(url),
            1000.0 + number,
            title=f"Page {number}",
            headings=(Heading(1, "Coast"),),
            text=text,
            language="en",
            fingerprint=number + 1,
            signals={"adult_words": 0.5} if number == 1 else {},
            structured=({"@type": "Museum", "name": "The Light", "telephone": "12"},) if number == 2 else (),
        )
        for number, text in enumerate(texts)
    ]
    store = IndexStore(folder)
    (store.rebuild if rebuild else store.update)([(1, documents)], prior=lambda pages, hosts: pages * 0 + 0.5)


@pytest.fixture
def kept(tmp_path, request):
    return Path(shutil.copytree(HERE / f"index-{request.param}", tmp_path / "index"))


def test_every_format_is_accounted_for():
    kept = sorted(int(folder.name.removeprefix("index-")) for folder in HERE.glob("index-*"))
    assert kept == sorted((*READABLE, *REFUSED))
    assert FORMAT in READABLE


@pytest.mark.parametrize("kept", READABLE, indirect=True)
def test_readable_formats_answer(kept):
    store = IndexStore(kept)
    with store.open() as snapshot:
        assert snapshot.live == 3
        hits = snapshot.top(IndexQuery(should=(Group(forms=(TermForm("harbour"),)),)), 10)
        assert {snapshot.stored(number).url[-1] for number in hits.numbers.tolist()} == {"0", "1"}
        phrase = snapshot.top(IndexQuery(must=(Group(phrase=("tide", "tables")),)), 10)
        assert [snapshot.stored(number).title for number in phrase.numbers.tolist()] == ["Page 0"]
        assert snapshot.column("prior", hits.numbers).tolist() == pytest.approx([0.5, 0.5], abs=0.01)
        numbers = [snapshot.find(addresses.key(f"https://coast.example.org/{number}")) for number in range(3)]
        assert snapshot.column("fingerprint", numbers).tolist() == [1, 2, 3]
        assert snapshot.column("marks", numbers).tolist() == [0, UNFIT, PLACES]
        assert snapshot.facts(numbers[2], "places") == {"telephone": "12"}
    assert store.remove([addresses.key("https://coast.example.org/1")]).documents == 2


@pytest.mark.parametrize("kept", REFUSED, indirect=True)
def test_older_formats_are_refused_and_rebuilt(kept):
    with pytest.raises(Incompatible, match="rebuild the index"):
        IndexStore(kept).open()
    write(kept, rebuild=True)
    with IndexStore(kept).open() as snapshot:
        assert snapshot.live == 3


@pytest.mark.parametrize("kept", [max(READABLE)], indirect=True)
def test_another_version_of_a_segment_is_refused(kept):
    from xxhash import xxh3_64_hexdigest

    header = next((kept / "segments").glob("*/segment.json"))
    fields = json.loads(header.read_bytes().partition(b"\n")[2])
    body = json.dumps(fields | {"format": FORMAT + 1}).encode()
    header.write_bytes(xxh3_64_hexdigest(body).encode() + b"\n" + body)
    with pytest.raises(Incompatible, match="rebuild the index"):
        IndexStore(kept).open()


@pytest.mark.parametrize("kept", [max(READABLE)], indirect=True)
def test_another_version_of_a_file_is_refused(kept):
    from periplus.index.format.files import PREAMBLE

    path = next((kept / "segments").glob("*/terms.bin"))
    data = bytearray(path.read_bytes())
    magic, version, *rest = PREAMBLE.unpack(data[: PREAMBLE.size])
    data[: PREAMBLE.size] = PREAMBLE.pack(magic, version + 1, *rest)
    path.write_bytes(bytes(data))
    with pytest.raises(Incompatible, match="rebuild the index"):
        IndexStore(kept).open()
