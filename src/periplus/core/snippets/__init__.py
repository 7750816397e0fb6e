"""Snippets: where words of a query may stand in texts, and which sentences are shown, with their highlights."""

from periplus.core.snippets.beginnings import find_beginnings, place_matches
from periplus.core.snippets.sentences import choose_fragments

__all__ = ["choose_fragments", "find_beginnings", "place_matches"]
