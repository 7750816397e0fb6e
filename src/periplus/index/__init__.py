"""The index: segments, generations, and exact top-k search over them."""

from periplus.index.generation_files import GenerationFiles
from periplus.index.hits import TopHits
from periplus.index.manifest import Manifest
from periplus.index.meant_for import meant_for, text_language
from periplus.index.occurrences import Occurrences
from periplus.index.query import FIELDS, STRONG_SHARE, Filters, Group, IndexQuery
from periplus.index.segment_tasks import most_processes
from periplus.index.snapshot import Snapshot
from periplus.index.statistics import GivenStatistics, Statistics
from periplus.index.store import IndexStore
from periplus.index.stored import StoredDocument, hexadecimal
from periplus.index.title_prints import BEFORE_LAST, sameness, title_print
from periplus.index.titles import TitledPage
from periplus.text import TermForm

__all__ = [
    "BEFORE_LAST",
    "FIELDS",
    "STRONG_SHARE",
    "Filters",
    "GenerationFiles",
    "GivenStatistics",
    "Group",
    "IndexQuery",
    "IndexStore",
    "Manifest",
    "Occurrences",
    "Snapshot",
    "Statistics",
    "StoredDocument",
    "TermForm",
    "TitledPage",
    "TopHits",
    "hexadecimal",
    "meant_for",
    "most_processes",
    "sameness",
    "text_language",
    "title_print",
]
