"""Hot loops over one page in numba; used through ``documents.quick``."""
