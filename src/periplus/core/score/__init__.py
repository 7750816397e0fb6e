"""Scores: features and scores of candidates, and the list that is shown of them."""

from periplus.core.score.features import COLUMNS, places
from periplus.core.score.listing import arrange
from periplus.core.score.score import score

__all__ = ["COLUMNS", "arrange", "places", "score"]
