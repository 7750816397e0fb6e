"""Hot loops of the ranking in numba; imported only where one is called."""

from periplus.ranking.kernels.candidates import ranked
from periplus.ranking.kernels.places import COLUMNS, places
from periplus.ranking.kernels.scores import scores

__all__ = ["COLUMNS", "places", "ranked", "scores"]
