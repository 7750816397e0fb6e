"""The judged sets as collections of their own: imported, indexed, and kept below ``build/`` until the index changes."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from periplus.app import Collection
from periplus.app.importing import import_paths
from periplus.evaluation import JudgedCollection, read_collection

ROOT = Path(__file__).resolve().parents[2]
DATA = ROOT.parent / "shared" / "data" / "relevance"
CACHE = ROOT / "build" / "relevance"
BUILDERS = ("builder", "columns", "fields", "files", "norms", "postings", "stored")
NAMES = ("adi", "cranfield", "cacm", "med", "cisi")

# nDCG@10 of plain BM25 (k1 = 1.2, b = 0.75; Porter stemmer, stop words) as published with the sets.
PUBLISHED = {"adi": 0.481, "cranfield": 0.368, "cacm": 0.507, "med": 0.683, "cisi": 0.381}


def judged(name: str) -> JudgedCollection:
    return read_collection(DATA / name)


def collection(name: str, cache: Path = CACHE) -> Collection:
    """The set ``name``, searchable; built anew when the code of the index has changed."""
    folder = cache / f"{name}-{_code()}"
    if not (folder / "index" / "manifest.json").exists():
        for old in cache.glob(f"{name}-*"):
            shutil.rmtree(old)
        with Collection(folder) as fresh:
            import_paths(fresh, [DATA / name / "docs.jsonl"])
            fresh.index()
    return Collection.existing(folder)


def _code() -> str:
    index = ROOT / "src" / "periplus" / "index"
    digest = hashlib.sha256()
    for source in sorted([*(index / "analysis").glob("*.py"), *(index / f"{name}.py" for name in BUILDERS)]):
        digest.update(source.read_bytes())
    return digest.hexdigest()[:12]
