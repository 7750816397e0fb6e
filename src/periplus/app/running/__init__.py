"""Crawling, indexing and serving at once: ``periplus up``, on one machine or on many, and ``periplus demo``."""
