"""From any bytes on the web to clean text, fields and links; and the log of batches that keeps them."""

from periplus.documents.batches import BatchLog
from periplus.documents.parse import parse

__all__ = ["BatchLog", "parse"]
