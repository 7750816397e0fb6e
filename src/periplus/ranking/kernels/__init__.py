"""Hot loops of the ranking in numba; imported only where one is called."""

from periplus.ranking.kernels.listing import arrange
from periplus.ranking.kernels.places import COLUMNS, places
from periplus.ranking.kernels.score import score

__all__ = ["COLUMNS", "arrange", "places", "score"]
