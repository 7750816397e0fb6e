"""Search: the query language, plans, execution, snippets, spelling, completion, and the ``Engine`` over them."""

from periplus.search.broker import Broker, GenerationGone, LocalShards
from periplus.search.counting import Counted
from periplus.search.engine import Engine
from periplus.search.evidence import CandidateEvidence
from periplus.search.exchange import (
    EVERYBODY,
    MISSING,
    Ask,
    Excerpt,
    Hits,
    Mask,
    Numbers,
    Order,
    Scores,
    ShardQuery,
    Visibility,
)
from periplus.search.generations import NO_INDEX, LocalSource, Opened
from periplus.search.language import read
from periplus.search.lexicon import KnownWord
from periplus.search.plan import QueryPlan, QueryWord, plan
from periplus.search.ranks import Ranks
from periplus.search.shard import Shard
from periplus.search.summary import CollectionSummary, FileSummary, SnapshotSummary
from periplus.search.syntax import ParsedQuery

__all__ = [
    "EVERYBODY",
    "MISSING",
    "NO_INDEX",
    "Ask",
    "Broker",
    "CandidateEvidence",
    "CollectionSummary",
    "Counted",
    "Engine",
    "Excerpt",
    "FileSummary",
    "GenerationGone",
    "Hits",
    "KnownWord",
    "LocalShards",
    "LocalSource",
    "Mask",
    "Numbers",
    "Opened",
    "Order",
    "ParsedQuery",
    "QueryPlan",
    "QueryWord",
    "Ranks",
    "Scores",
    "Shard",
    "ShardQuery",
    "SnapshotSummary",
    "Visibility",
    "plan",
    "read",
]
