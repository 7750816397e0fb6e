"""Words: those near a misspelt one, and those that complete what was typed."""

from periplus.core.words.completing import BLOCK, MEMORY, complete
from periplus.core.words.near_words import near

__all__ = ["BLOCK", "MEMORY", "complete", "near"]
