"""The link graph: PageRank of pages and hosts, the prior that search uses, and anchor text."""

from periplus.graph.csr import Csr, from_edges
from periplus.graph.pagerank import Convergence, PageRank, pagerank
from periplus.graph.ranks import RankMeta, RankStore, RankTable, TopRank

__all__ = [
    "Convergence",
    "Csr",
    "PageRank",
    "RankMeta",
    "RankStore",
    "RankTable",
    "TopRank",
    "from_edges",
    "pagerank",
]
