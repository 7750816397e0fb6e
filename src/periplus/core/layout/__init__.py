"""Layout: the records, tables and numbers that kernels and Python both know, each written once. No code stands here."""
