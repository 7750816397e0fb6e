"""Search: the query language, plans, execution, snippets, spelling, completion, and the ``Engine`` over them."""

from periplus.search.answering.engine import Engine
from periplus.search.opening.generations import NO_INDEX, LocalSource, Opened
from periplus.search.opening.summary import CollectionSummary, FileSummary, SnapshotSummary
from periplus.search.query.language import read
from periplus.search.query.lexicon import KnownWord
from periplus.search.query.plan import QueryPlan, QueryWord, plan
from periplus.search.query.syntax import ParsedQuery
from periplus.search.shards.broker import Broker, GenerationGone, LocalShards
from periplus.search.shards.counting import Counted
from periplus.search.shards.evidence import CandidateEvidence
from periplus.search.shards.exchange import (
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
from periplus.search.shards.ranks import Ranks
from periplus.search.shards.shard import Shard

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
