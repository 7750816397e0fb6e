"""Sources of documents that another process can read by itself."""

from __future__ import annotations

import secrets
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
    "site_name",
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
    "images",
)


class DocumentSource(ABC):
    """An iterable of documents that can be pickled: it holds where they are, not what they are."""

    @abstractmethod
    def __iter__(self) -> Iterator[Document]: ...

    @property
    def size(self) -> int:
        """Bytes, as they are packed: tasks are cut by them."""
        return 0

    @property
    def name(self) -> str:
        """Says which documents these are, for whoever wants to know whether something was made of the very same."""
        return secrets.token_hex(8)
