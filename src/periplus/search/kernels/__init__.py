"""Hot loops of the search room in numba; imported only where one is called."""
