"""Sources of documents that another process can read by itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

    from periplus.records import Document

# All that the index reads of a document.
INDEXED_FIELDS: Final = (
    "url",
    "key",
    "id",
    "refusal",
    "title",
    "headings",
    "text",
    "boilerplate",
    "description",
    "language",
    "declared_language",
    "hreflang",
    "content_type",
    "published",
    "fetched",
    "author",
    "noarchive",
    "fingerprint",
    "signals",
    "structured",
)


class DocumentSource(ABC):
    """An iterable of documents that can be pickled: it holds where they are, not what they are."""

    @abstractmethod
    def __iter__(self) -> Iterator[Document]: ...
