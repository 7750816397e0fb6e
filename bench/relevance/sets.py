"""The judged sets as collections of their own: imported, indexed, and kept below ``build/`` until the index changes."""

from __future__ import annotations

import hashlib
import shutil
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from periplus.app import Collection
from periplus.app.importing import import_paths
from periplus.errors import Corrupt, Incompatible
from periplus.evaluation import JudgedCollection, read_collection

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data" / "relevance"
CACHE = ROOT / "build" / "relevance"
BUILDERS = ("text", "index/building", "index/format")  # of the product: what decides what is in an index
NAMES = ("adi", "cranfield", "cacm", "med", "cisi")

# nDCG@10 of plain BM25 (k1 = 1.2, b = 0.75; Porter stemmer, stop words) as published with the sets.
PUBLISHED = {"adi": 0.481, "cranfield": 0.368, "cacm": 0.507, "med": 0.683, "cisi": 0.381}


def judged(name: str) -> JudgedCollection:
    return read_collection(DATA / name)


def collection(name: str, cache: Path = CACHE) -> Collection:
    """The set ``name``, searchable; built anew when the code of the index has changed."""
    folder = cache / f"{name}-{_code()}"
    if not folder.exists():
        for old in cache.glob(f"{name}-*"):
            shutil.rmtree(old)
    return kept(folder, lambda fresh: import_paths(fresh, [DATA / name / "docs.jsonl"]))


def kept(folder: Path, fill: Callable[[Collection], object]) -> Collection:
    """The collection in ``folder``; filled and indexed first when there is none or this version cannot read it."""
    if not _is_readable(folder):
        shutil.rmtree(folder, ignore_errors=True)
        with Collection(folder) as fresh:
            fill(fresh)
            fresh.index()
    return Collection.existing(folder)


def _is_readable(folder: Path) -> bool:
    if not (folder / "index" / "manifest.json").exists():
        return False
    try:
        with Collection.existing(folder) as collection:
            return collection.engine.ready
    except (Corrupt, Incompatible) as error:
        print(f"{folder.name} is built anew: {error}", file=sys.stderr, flush=True)
        return False


def _code() -> str:
    """Another name for another way to build an index."""
    digest = hashlib.sha256()
    for folder in BUILDERS:
        sources = sorted((ROOT / "src" / "periplus" / folder).rglob("*.py"))
        assert sources, folder
        for source in sources:
            digest.update(source.read_bytes())
    return digest.hexdigest()[:12]
