"""PageRank: the inner loops of its sweeps."""

from periplus.core.graph.pagerank import combine_steps, find_heard, measure_steps, pull, sweep

__all__ = ["combine_steps", "find_heard", "measure_steps", "pull", "sweep"]
