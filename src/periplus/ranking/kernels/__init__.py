"""Hot loops of the ranking in numba; imported only where one is called."""

from periplus.ranking.kernels.hosts import spread
from periplus.ranking.kernels.places import COLUMNS, places
from periplus.ranking.kernels.scores import scores
from periplus.ranking.kernels.shortlist import shortlist

__all__ = ["COLUMNS", "places", "scores", "shortlist", "spread"]
