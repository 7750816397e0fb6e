"""Analysis: text → words → terms; the same code for documents and queries."""

from periplus.index.analysis.characters import composed
from periplus.index.analysis.classes import class_table
from periplus.index.analysis.forms import (
    EXACT_SHARE,
    FOLDED_SHARE,
    MAX_TERM_BYTES,
    PART_SHARE,
    STEM_MARK,
    STEM_SHARE,
    FormLines,
    exact_term,
    stem_lines,
)
from periplus.index.analysis.letters import letter_table
from periplus.index.analysis.stemming import base_language, stem
from periplus.index.analysis.tokens import Token, analysis_steps, analyze, forms_of_bytes, forms_of_words

__all__ = [
    "EXACT_SHARE",
    "FOLDED_SHARE",
    "MAX_TERM_BYTES",
    "PART_SHARE",
    "STEM_MARK",
    "STEM_SHARE",
    "FormLines",
    "Token",
    "analysis_steps",
    "analyze",
    "base_language",
    "class_table",
    "composed",
    "exact_term",
    "forms_of_bytes",
    "forms_of_words",
    "letter_table",
    "stem",
    "stem_lines",
]
