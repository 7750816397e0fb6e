"""Gathering: the texts that kernels find in packed documents are those of the definition, normalised."""

import gc
import subprocess
import sys

import msgspec
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from index_world import PROPERTY
from plain_fields import field_pieces

from periplus import addresses
from periplus.core.layout.documents import FIELD_BITS
from periplus.errors import StorageError
from periplus.index import IndexStore
from periplus.index.building.arena import LARGE_BYTES, SMALL_BYTES, Arena
from periplus.index.building.builder import SegmentBuilder
from periplus.index.building.gathering import Gatherer
from periplus.index.format.columns import Collected
from periplus.index.format.fields import FIELDS
from periplus.index.format.norms import Epoch
from periplus.index.format.stored import StoredDocument, hexadecimal
from periplus.index.publishing.writing import NEW_OBJECTS
from periplus.records import Anchor, Document, Heading
from periplus.text import composed

some_text = st.one_of(
    st.just(""),
    st.text("ab é.\u00a0…ﬁe\u0301東½\n\U0001d400", max_size=12),
    st.text("word ", min_size=30, max_size=70),
    st.integers(100, 70_000).map("tide "[:4].__mul__),
)
urls = st.builds(
    "{}{}{}".format,
    st.sampled_from(["http://", "https://", "http:/", "httpx://", "mail:", "", "http", "https:///"]),
    st.sampled_from(["a.test", "a.test:8080", "user@a.test", "bücher.test", "", "[::1]", "A-b_c.test"]),
    st.one_of(st.just(""), st.text("/ab_.-~%41#?=&+é \\\t\0,;'", max_size=20).map("/".__add__)),
)
documents = st.builds(
    Document,
    url=urls,
    key=st.integers(-(1 << 63), (1 << 63) - 1),
    fetched=st.floats(0, 2e9),
    title=some_text,
    text=some_text,
    description=some_text,
    boilerplate=some_text,
    headings=st.lists(st.builds(Heading, st.integers(1, 6), some_text), max_size=3).map(tuple),
    id=st.sampled_from(["", "one"]),
    noarchive=st.booleans(),
)


def gathered(gatherer, some, anchors):
    """Texts by document and field, and the documents as they are stored."""
    batch = gatherer.gather(some, Collected().extend(some), anchors)
    texts = [[[] for _ in FIELDS] for _ in some]
    for owner, begin, end in zip(batch.owners.tolist(), batch.spans.begin, batch.spans.end, strict=True):
        texts[owner >> FIELD_BITS][owner % (1 << FIELD_BITS)].append(batch.spans.data[begin:end].tobytes().decode())
        assert not chr(batch.spans.data[end]).isascii() or batch.spans.data[end] == ord("\n")
    assert np.all(np.diff(batch.owners) >= 0)
    assert not batch.spans.data[-64:].any()
    bounds = zip(batch.starts[:-1].tolist(), batch.starts[1:].tolist(), strict=True)
    return texts, [msgspec.msgpack.decode(batch.packed[begin:end], type=StoredDocument) for begin, end in bounds]


def expected(document, anchors):
    pieces = [[composed(piece) for piece in field] for field in field_pieces(document, anchors)]
    return [[piece.split() if field == 4 else piece for piece in some] for field, some in enumerate(pieces)]


@PROPERTY
@given(st.lists(st.tuples(documents, st.booleans()), min_size=1, max_size=20))
@example([(Document("https://a.test/one_two/three.html?page=4", 1, 0.0, title="é"), True)])
@example([(Document("http:///path", 1, 0.0, text="e\u0301"), False)] * 17)
def test_what_kernels_find_is_what_the_fields_say(some):
    rows = [document for document, _ in some]
    anchors = {row: (Anchor("tides…", 2), Anchor("", 1)) for row, (_, named) in enumerate(some) if named}
    gatherer = Gatherer()
    for _ in range(2):  # the second time in memory that was used before
        texts, stored = gathered(gatherer, rows, anchors)
        for row, document in enumerate(rows):
            words = [[piece.split() if field == 4 else piece for piece in of] for field, of in enumerate(texts[row])]
            assert words == expected(document, anchors.get(row, ()))
            assert stored[row].url == document.url
            assert stored[row].headings == document.headings
            assert stored[row].id == (document.id or hexadecimal(document.key))


def test_batches_of_many_documents():
    rows = [Document(f"https://a.test/{number}", number, 0.0, title=f"t{number}") for number in range(70_000)]
    texts, stored = gathered(Gatherer(), rows, {})
    assert texts[69_999] == [["t69999"], [], [], [], ["a.test", "69999"], []]
    assert stored[65_536].title == "t65536"


def test_what_is_no_document_is_refused():
    row = Document("https://a.test/", 1, 0.0)
    for wrong in ((), (1, 2, 3), ("a",) * 13, (*[b"a"] * 14,), ("a", "b", "c", "d", 5, *[0] * 9)):
        with pytest.raises(StorageError, match="packed"):
            Gatherer().gather([row], [wrong], {})


def test_the_form_of_a_packed_list_is_the_one_that_is_skipped():
    for size, head in ((15, 1), (16, 3), (65_535, 3), (65_536, 5)):
        assert len(msgspec.msgpack.encode([0] * size)) == size + head


@PROPERTY
@given(st.lists(urls, max_size=8))
def test_keys_of_many_pages_are_those_of_each(some):
    assert addresses.page_keys(some) == [addresses.page_key(url) for url in some]


def test_an_update_leaves_the_collector_of_cycles_as_it_was(tmp_path):
    before, seen = gc.get_threshold(), []
    rows = (seen.append(gc.get_threshold()[0]) or Document("https://a.test/", 1, 0.0) for _ in range(1))
    IndexStore(tmp_path).update([(1, rows)])
    assert seen == [NEW_OBJECTS]
    assert gc.get_threshold() == before


def test_an_arena_keeps_what_it_was_given_and_uses_its_memory_again():
    arena = Arena()
    for _ in range(2):
        kept = [arena.keep(np.full(size, size % 251, np.uint8)) for size in (0, 1, 9, SMALL_BYTES, LARGE_BYTES + 3)]
        numbers = arena.keep(np.arange(5, dtype=np.uint32))
        assert [len(one) for one in kept] == [0, 1, 9, SMALL_BYTES, LARGE_BYTES + 3]
        assert all((one == len(one) % 251).all() for one in kept)
        assert numbers.tolist() == [0, 1, 2, 3, 4]
        assert arena.lent(10) is None
        arena.clear()
        assert len(arena.lent(10)) == 10
    assert arena.lent(1 << 40) is None


def test_a_segment_that_misses_documents_is_not_written(tmp_path):
    """Texts would come under the addresses of others."""
    builder = SegmentBuilder()
    builder.add(Document("https://a.test/", 1, 0.0, title="\ud800"))
    with pytest.raises(UnicodeEncodeError):
        builder.write([tmp_path / "one"], Epoch())
    builder.add(Document("https://a.test/2", 2, 0.0, title="tide"))
    with pytest.raises(StorageError, match="begin a new segment"):
        builder.write([tmp_path / "one"], Epoch())


NARROW = """
import resource
import numpy as np
from periplus.index.building.arena import Arena

size = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (size + 100_000_000,) * 2)
arena = Arena()
print(sum(len(arena.keep(np.ones(40_000, np.uint8))) for _ in range(10)))
"""

FREED = """
import resource
import numpy as np
from periplus.index.building.builder import give_memory_back, keep_memory

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * resource.getpagesize()

keep_memory()
give_memory_back()
before = resident()
several = [np.ones(2_000_000, np.uint8) for _ in range(100)]
several.clear()
print(resident() - before < 50_000_000)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads the size of a process from /proc")
@pytest.mark.parametrize(("script", "told"), [(NARROW, "400000"), (FREED, "True")], ids=["few addresses", "given back"])
def test_memory_is_asked_for_and_given_back_with_care(script, told):
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == told
