"""The index: analysis, segments, generations, and exact top-k search over them."""

from periplus.index.analysis import Token, analysis_steps, analyze
from periplus.index.manifest import Manifest
from periplus.index.query import FIELDS, Filters, Group, IndexQuery, TermForm
from periplus.index.rooms import TopHits
from periplus.index.snapshot import Snapshot
from periplus.index.store import IndexStore
from periplus.index.stored import StoredDocument

__all__ = [
    "FIELDS",
    "Filters",
    "Group",
    "IndexQuery",
    "IndexStore",
    "Manifest",
    "Snapshot",
    "StoredDocument",
    "TermForm",
    "Token",
    "TopHits",
    "analysis_steps",
    "analyze",
]
