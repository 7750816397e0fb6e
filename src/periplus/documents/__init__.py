"""From any bytes on the web to clean text, fields and links; and the log of batches that keeps them."""

from periplus.documents.batches import BatchLog
from periplus.documents.fingerprint import content_hash, distance, simhash
from periplus.documents.outline import Outline, outline, outline_of
from periplus.documents.parse import parse
from periplus.documents.readers import READERS
from periplus.documents.sitemaps import Sitemap, SitemapEntry, read_sitemap

__all__ = [
    "READERS",
    "BatchLog",
    "Outline",
    "Sitemap",
    "SitemapEntry",
    "content_hash",
    "distance",
    "outline",
    "outline_of",
    "parse",
    "read_sitemap",
    "simhash",
]
