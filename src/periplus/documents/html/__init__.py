"""The HTML reader: one walk over the parser's events, then decisions over what the walk gathered."""

from periplus.documents.html.reader import read

__all__ = ["read"]
