"""The link graph: PageRank of pages and hosts, the prior that search uses, and anchor text."""

from periplus.graph.anchors import AnchorTable, anchors
from periplus.graph.backlinks import Backlinks
from periplus.graph.block_pagerank import block_pagerank
from periplus.graph.csr import Csr, from_edges
from periplus.graph.edge_list import EdgeList, read_edges
from periplus.graph.export import GraphTables
from periplus.graph.given_ranks import RankFile, RankOrigin
from periplus.graph.host_addresses import host_addresses
from periplus.graph.hosts import HostSigns
from periplus.graph.link_graph import LinkGraph
from periplus.graph.measures import HostNote, Measures
from periplus.graph.pagerank import Convergence, PageRank, pagerank
from periplus.graph.policies import OURS, POLICIES, refresh_policy_ranks, store_of
from periplus.graph.ranks import NO_VERTICES, RankMeta, RankStore, RankTable, TopRank, VertexRanks
from periplus.graph.refresh import refresh_ranks
from periplus.graph.site_links import Linked, Neighbours
from periplus.graph.stores import Stores

__all__ = [
    "NO_VERTICES",
    "OURS",
    "POLICIES",
    "AnchorTable",
    "Backlinks",
    "Convergence",
    "Csr",
    "EdgeList",
    "GraphTables",
    "HostNote",
    "HostSigns",
    "LinkGraph",
    "Linked",
    "Measures",
    "Neighbours",
    "PageRank",
    "RankFile",
    "RankMeta",
    "RankOrigin",
    "RankStore",
    "RankTable",
    "Stores",
    "TopRank",
    "VertexRanks",
    "anchors",
    "block_pagerank",
    "from_edges",
    "host_addresses",
    "pagerank",
    "read_edges",
    "refresh_policy_ranks",
    "refresh_ranks",
    "store_of",
]
