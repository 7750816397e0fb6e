"""The index: segments, generations, and exact top-k search over them."""

from periplus.index.building.segment_tasks import most_processes
from periplus.index.format.fields import FIELDS
from periplus.index.format.manifest import Manifest
from periplus.index.format.meant_for import meant_for, text_language
from periplus.index.format.stored import StoredDocument, hexadecimal
from periplus.index.format.title_prints import BEFORE_LAST, sameness, title_print
from periplus.index.publishing.store import IndexStore
from periplus.index.reading.generation_files import GenerationFiles
from periplus.index.reading.snapshot import Snapshot
from periplus.index.reading.titles import TitledPage
from periplus.index.retrieval.hits import TopHits
from periplus.index.retrieval.occurrences import Occurrences
from periplus.index.retrieval.query import STRONG_SHARE, Filters, Group, IndexQuery
from periplus.index.retrieval.statistics import GivenStatistics, Statistics
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
