"""Retrieval: terms are looked up, lists opened or made, and the best documents found by block-max or as phrases."""

from periplus.core.retrieval.blockmax import block_max
from periplus.core.retrieval.finding import BEYOND, find_all
from periplus.core.retrieval.made_lists import in_field, spread
from periplus.core.retrieval.occurrences import occurrences
from periplus.core.retrieval.opening import open_lists
from periplus.core.retrieval.phrases import phrase_search
from periplus.core.retrieval.set_bits import give_bits

__all__ = [
    "BEYOND",
    "block_max",
    "find_all",
    "give_bits",
    "in_field",
    "occurrences",
    "open_lists",
    "phrase_search",
    "spread",
]
