"""From any bytes on the web to clean text, fields and links; and the log of batches that keeps them."""

from typing import TYPE_CHECKING, Any

from periplus.documents.apart import outline_apart, parse_apart, read_sitemap_apart, warm_apart
from periplus.documents.fingerprint import content_hash, distance, simhash
from periplus.documents.outline import Outline, outline, outline_of
from periplus.documents.parse import parse, parse_text
from periplus.documents.pictures import telling_pictures, with_picture_texts
from periplus.documents.readers import READERS
from periplus.documents.sitemaps import Sitemap, SitemapEntry, looks_like_sitemap, read_sitemap

if TYPE_CHECKING:
    from periplus.documents.batches import BatchLog

__all__ = [
    "READERS",
    "BatchLog",
    "Outline",
    "Sitemap",
    "SitemapEntry",
    "content_hash",
    "distance",
    "looks_like_sitemap",
    "outline",
    "outline_apart",
    "outline_of",
    "parse",
    "parse_apart",
    "parse_text",
    "read_sitemap",
    "read_sitemap_apart",
    "simhash",
    "telling_pictures",
    "warm_apart",
    "with_picture_texts",
]


def __getattr__(name: str) -> Any:
    """The log loads Arrow: 0.2 s and 55 MB, without which a page can be read."""
    if name != "BatchLog":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from periplus.documents.batches import BatchLog

    return BatchLog
