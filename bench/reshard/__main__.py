"""``make bench-reshard``: what it costs to index, update and reshard a collection in several shards.

    make bench-reshard ARGS="--passages passages.jsonl"                      # 20,000 documents, 1 to 16 shards
    make bench-reshard ARGS="--passages passages.jsonl --documents 200000"

Documents are those of ``bench.scale``. One process builds; its processor time is counted.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.scale.corpus import pages, read_sentences

from periplus import addresses
from periplus.index import IndexStore
from periplus.records import Document

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

SHARDS = (1, 2, 4, 16)
CHAIN = (4, 8, 2, 1)  # numbers of shards that an index in one is resharded to
UPDATE = 100  # documents
MEMORY = 400_000_000


def main() -> None:
    options = _options()
    rows = _documents(options.passages, options.documents + 2 * UPDATE)
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        _indexed(Path(folder) / "warm", 2, rows[:300]).reshard(1)  # kernels are loaded
        print(
            "| shards | index, s | update, s | segments | MB | files of the generation, MB |\n|--:|--:|--:|--:|--:|--:|"
        )
        for shards in SHARDS:
            _show(Path(folder) / str(shards), shards, rows)
        store = IndexStore(Path(folder) / "1" / "index", memory=MEMORY)
        for shards in CHAIN:
            print(f"reshard to {shards}: {_seconds(lambda shards=shards: store.reshard(shards)):.2f} s", flush=True)


def _show(folder: Path, shards: int, rows: list[Document]) -> None:
    first = len(rows) - 2 * UPDATE
    took = _seconds(lambda: _indexed(folder, shards, rows[:first]))
    store = IndexStore(folder / "index", memory=MEMORY)
    for batch, begin in enumerate((first, first + UPDATE), 2):  # the second is shown: it finds what the first left
        update = [(batch, rows[begin : begin + UPDATE])]
        updated = _seconds(lambda update=update: store.update(update, prior=_prior, merge=False))
    manifest = store.manifest()
    if manifest is None:
        raise SystemExit("nothing was published")
    files = sum(path.stat().st_size for path in (folder / "index" / "summaries").iterdir())
    sizes = f"{manifest.statistics['bytes'] / 1e6:.1f} | {files / 1e6:.1f}"
    print(f"| {shards} | {took:.2f} | {updated:.2f} | {len(manifest.segments)} | {sizes} |", flush=True)


def _indexed(folder: Path, shards: int, rows: list[Document]) -> IndexStore:
    store = IndexStore(folder / "index", memory=MEMORY, shards=shards)
    store.update([(1, rows)], prior=_prior, merge=False)
    return store


def _prior(page_keys: NDArray[Any], _hosts: NDArray[Any]) -> Any:
    return (page_keys & 0xFF) / 255


def _seconds(act: Callable[[], object]) -> float:
    """Processor time of this process."""
    began = _processor_time()
    act()
    return _processor_time() - began


def _processor_time() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def _documents(passages: Path, count: int) -> list[Document]:
    made = enumerate(pages(read_sentences(passages), count))
    return [
        Document(page.url, addresses.key(page.url), 1_000.0 + row, title=page.title, text=page.text, language="en")
        for row, page in made
    ]


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bench.reshard", description=__doc__)
    parser.add_argument("--passages", type=Path, required=True, help="lines of JSON with a text each")
    parser.add_argument("--documents", type=int, default=20_000)
    parser.add_argument("--folder", type=Path, help="where indexes are written; a temporary one when not given")
    return parser.parse_args()


if __name__ == "__main__":
    main()
