"""Files of every kind, damaged at random: an import reads what it can, names what it cannot, and never breaks."""

from __future__ import annotations

import gzip
import io
import json
import random
import zipfile
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from periplus.app.importing import tables
from periplus.app.importing.intake import outcomes_of
from periplus.app.importing.items import LeftOut
from periplus.app.importing.reading_apart import check
from periplus.app.importing.work import Work
from periplus.errors import Corrupt, PeriplusError

if TYPE_CHECKING:
    from pathlib import Path

ROUNDS = 12
RECORDS = [{"id": str(n), "url": f"http://harbour.example/{n}", "text": f"Tide {n}. " * 9} for n in range(120)]


def lines() -> bytes:
    return "".join(json.dumps(record) + "\n" for record in RECORDS).encode()


def table(compression: str) -> bytes:
    file = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(RECORDS), file, row_group_size=40, compression=compression)
    return file.getvalue()


def response(number: int) -> bytes:
    block = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Tide</title><p>High water %d." % number
    head = (
        b"WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://harbour.example/%d\r\nContent-Length: %d\r\n\r\n"
    )
    return head % (number, len(block)) + block + b"\r\n\r\n"


def package(packing: int) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", packing) as written:
        written.writestr("archive/a.warc.gz", b"".join(gzip.compress(response(n), mtime=0) for n in range(20)))
        written.writestr("archive/b.warc", b"".join(map(response, range(20))))
    return file.getvalue()


FILES = {
    "docs.jsonl": lines(),
    "docs.jsonl.gz": gzip.compress(lines(), mtime=0),
    "docs.jsonl.zst": zstandard.compress(lines()),
    "packed.parquet": table("zstd"),
    "plain.parquet": table("none"),
    "stored.wacz": package(zipfile.ZIP_STORED),
    "deflated.wacz": package(zipfile.ZIP_DEFLATED),
    "frames.warc.zst": b"".join(zstandard.compress(response(n)) for n in range(20)),
}


def damaged(data: bytes, rng: random.Random) -> bytes:
    start = rng.randrange(len(data))
    end = min(len(data), start + rng.choice([1, 30, 600]))
    there = rng.randrange(len(data))
    flipped = bytearray(data)
    flipped[start] ^= 1 << rng.randrange(8)
    return rng.choice(
        [
            bytes(flipped),
            data[:start],
            data[:start] + bytes(end - start) + data[end:],
            data[:start] + rng.randbytes(end - start) + data[end:],
            data[:there] + data[start:end] + data[there:],
        ]
    )


def parsed(path: Path) -> int:
    """How many documents a file gives; what is wrong has to be one line that names the file."""
    documents = 0
    said: list[str] = []
    try:
        check(str(path))
        work = Work([path], "", 2)
        while (job := work.next()) is not None:
            for outcome in outcomes_of(job.portions):
                if isinstance(outcome, LeftOut):
                    said += [str(outcome.problem)] if outcome.problem else []
                else:
                    documents += 1
    except PeriplusError as error:
        said.append(str(error))
    assert [line for line in said if str(path) not in line or "\n" in line] == []
    return documents


def test_a_table_whose_columns_have_damaged_names_is_named(tmp_path):
    file = io.BytesIO()
    pq.write_table(pa.table({"id": ["1"], "text": ["t"], "tags": ["a"]}), file, store_schema=False)
    path = tmp_path / "damaged.parquet"
    path.write_bytes(file.getvalue().replace(b"tags", b"t\xfags"))
    with pytest.raises(Corrupt, match=r"damaged\.parquet cannot be read as Parquet: 'utf-8'"):
        tables.check(path, lambda asked: asked.path.open("rb"))


@pytest.mark.parametrize("name", FILES)
def test_damage_never_breaks_an_import(tmp_path, name):
    path = tmp_path / name
    path.write_bytes(FILES[name])
    whole = parsed(path)
    assert whole in (20, 40, 120)
    rng = random.Random(name)
    for _ in range(ROUNDS):
        path.write_bytes(damaged(FILES[name], rng))
        assert parsed(path) <= 2 * whole
