"""Analysis: text → words → terms; the same code for documents and queries."""

from periplus.text.characters import composed
from periplus.text.classes import class_table
from periplus.text.forms import (
    CALL_SHARE,
    EXACT_SHARE,
    FOLDED_SHARE,
    MAX_TERM_BYTES,
    PART_SHARE,
    SIGNLESS_SHARE,
    STEM_MARK,
    STEM_SHARE,
    FormLines,
    TermForm,
    exact_term,
    forms_of,
    signless,
    stem_lines,
)
from periplus.text.letters import letter_table
from periplus.text.stemming import base_language, stem
from periplus.text.titles import TITLE_BORDER
from periplus.text.tokens import Token, analysis_steps, analyze, forms_of_bytes, forms_of_words

__all__ = [
    "CALL_SHARE",
    "EXACT_SHARE",
    "FOLDED_SHARE",
    "MAX_TERM_BYTES",
    "PART_SHARE",
    "SIGNLESS_SHARE",
    "STEM_MARK",
    "STEM_SHARE",
    "TITLE_BORDER",
    "FormLines",
    "TermForm",
    "Token",
    "analysis_steps",
    "analyze",
    "base_language",
    "class_table",
    "composed",
    "exact_term",
    "forms_of",
    "forms_of_bytes",
    "forms_of_words",
    "letter_table",
    "signless",
    "stem",
    "stem_lines",
]
