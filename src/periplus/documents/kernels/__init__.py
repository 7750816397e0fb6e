"""Hot loops over one page in numba; imported by ``app.quickening``, and then used through ``documents.quick``."""
