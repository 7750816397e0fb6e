"""Analysis: text → words → terms; the same code for documents and queries."""

from periplus.index.analysis.forms import (
    EXACT_SHARE,
    FOLDED_SHARE,
    MAX_TERM_BYTES,
    PART_SHARE,
    STEM_MARK,
    STEM_SHARE,
    exact_term,
)
from periplus.index.analysis.stemming import stem
from periplus.index.analysis.tokens import Token, analysis_steps, analyze, forms_of_key, word_keys

__all__ = [
    "EXACT_SHARE",
    "FOLDED_SHARE",
    "MAX_TERM_BYTES",
    "PART_SHARE",
    "STEM_MARK",
    "STEM_SHARE",
    "Token",
    "analysis_steps",
    "analyze",
    "exact_term",
    "forms_of_key",
    "stem",
    "word_keys",
]
