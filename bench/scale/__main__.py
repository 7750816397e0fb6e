"""``make bench-scale``: what grows with the corpus when it is imported, indexed and searched, and what does not.

    make bench-scale                                                # 250,000, 1 and 2 million documents
    make bench-scale ARGS="--sizes 20000 --passages passages.jsonl"

One collection grows from size to size; at each its index is built anew by ``periplus index``. Memory is the largest sum
of anonymous memory over all processes of a command, looked at twenty times a second.
"""

from __future__ import annotations

import argparse
import itertools
import json
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bench.scale import corpus, meter
from bench.scale.report import table

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.scale.corpus import Page
    from bench.scale.report import Figures

ROOT = Path(__file__).resolve().parents[2]
CACHE = ROOT / "build" / "bench-scale"
SIZES = (250_000, 1_000_000, 2_000_000)
PORTION = 250_000  # documents of one file that is imported
PASSAGES = 50_000  # whose sentences are mixed


def main() -> None:
    options = _options()
    collection = options.folder / "collection"
    shutil.rmtree(collection, ignore_errors=True)
    options.folder.mkdir(parents=True, exist_ok=True)
    pages = corpus.pages(corpus.read_sentences(_passages(options)), max(options.sizes))
    rows: list[Figures] = []
    known = 0
    for size in sorted(options.sizes):
        figures = _imported(collection, itertools.islice(pages, size - known), size - known)
        known = size
        figures |= _indexed(collection, size, options.memory) | _searched(collection, options.queries)
        rows.append({"documents": size} | figures)
        print(table(rows), flush=True)
        options.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    if not options.keep:
        shutil.rmtree(collection)
    print(f"\nfigures: {options.json}", file=sys.stderr)


def _options() -> argparse.Namespace:
    options = argparse.ArgumentParser(prog="bench-scale", description=__doc__)
    options.add_argument("--sizes", type=int, nargs="+", default=SIZES, help="documents")
    options.add_argument("--passages", type=Path, help="passages as .jsonl, whose sentences are mixed")
    options.add_argument("--web", type=Path, help="a local web that passages are cut from")
    options.add_argument("--folder", type=Path, default=CACHE, help="where the collection is made")
    options.add_argument("--memory", default="", help="for periplus index; the usual unless it is given")
    options.add_argument("--queries", type=int, default=500, help="searches at each size, after as many to warm up")
    options.add_argument("--keep", action="store_true", help="leave the collection")
    options.add_argument("--json", type=Path, default=CACHE / "result.json")
    chosen = options.parse_args()
    chosen.json.parent.mkdir(parents=True, exist_ok=True)
    if not (chosen.passages or chosen.web):
        options.error("name what is mixed with --passages FILE or --web FOLDER")
    return chosen


def _passages(options: argparse.Namespace) -> Path:
    if options.passages:
        return Path(options.passages)
    target = options.folder / "passages.jsonl"
    if not target.exists():
        script = ROOT.parent / "shared" / "localweb" / "passages"
        meter.run([sys.executable, str(script), str(options.web), str(target), str(PASSAGES)])
    return Path(target)


def _imported(collection: Path, pages: Iterator[Page], count: int) -> Figures:
    """Bring pages into the collection, file by file."""
    taken = []
    path = collection.with_name("portion.jsonl")
    for _ in range(0, count, PORTION):
        with path.open("w", encoding="utf-8") as sink:
            for page in itertools.islice(pages, PORTION):
                sink.write(json.dumps(page._asdict(), ensure_ascii=False) + "\n")
        taken.append(meter.run(_periplus("import", "--dir", str(collection), str(path))))
        path.unlink()
    cpu = sum(one.cpu for one in taken)
    peak = max((one.peak for one in taken), default=0)
    return {"import_rate": count / cpu if cpu else 0.0, "import_peak": peak / 1e6}


def _indexed(collection: Path, size: int, memory: str) -> Figures:
    shutil.rmtree(collection / "index", ignore_errors=True)
    bound = ["--memory", memory] if memory else []
    taken = meter.run(_periplus("index", "--dir", str(collection), *bound))
    segments = len(list((collection / "index" / "segments").iterdir()))
    stored = {name: _size(collection / name) / 1e9 for name in ("documents", "index")}
    return {
        "index_rate": size / taken.cpu,
        "index_seconds": taken.wall,
        "index_peak": taken.peak / 1e6,
        "segments": segments,
    } | {f"{name}_disk": value for name, value in stored.items()}


def _searched(collection: Path, queries: int) -> Figures:
    taken = meter.run([sys.executable, "-m", "bench.scale.searching", str(collection), str(queries)])
    return {f"search_{name}": value for name, value in json.loads(taken.output.splitlines()[-1]).items()}


def _periplus(*words: str) -> list[str]:
    return [sys.executable, "-m", "periplus", *words]


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


if __name__ == "__main__":
    main()
