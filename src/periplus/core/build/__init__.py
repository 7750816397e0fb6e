"""Building: packed documents are cut into words, numbered and inverted; segments are merged."""

from periplus.core.build.forms import join_forms, plain_forms
from periplus.core.build.inverting import (
    count_terms,
    encode,
    layout,
    place_pieces,
    scatter,
)
from periplus.core.build.live import live_statistics
from periplus.core.build.merging import copy_positions, fold_again, gather_postings
from periplus.core.build.pieces import cut_documents
from periplus.core.build.spellings import (
    gather_spellings,
    leading_bytes,
    number_all,
    rehash,
    sort_ties,
)
from periplus.core.build.tokens import tokenize

__all__ = [
    "copy_positions",
    "count_terms",
    "cut_documents",
    "encode",
    "fold_again",
    "gather_postings",
    "gather_spellings",
    "join_forms",
    "layout",
    "leading_bytes",
    "live_statistics",
    "number_all",
    "place_pieces",
    "plain_forms",
    "rehash",
    "scatter",
    "sort_ties",
    "tokenize",
]
