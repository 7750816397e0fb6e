"""ZIP containers of documents (DOCX, ODT, EPUB), opened so that a bomb stays packed.

Bounds: entries, unpacked bytes of all entries that are read, and the ratio of unpacked to packed size.
"""

from __future__ import annotations

import io
import zipfile
import zlib

from periplus.documents import bounds
from periplus.documents.charset import decode
from periplus.errors import ParseError

_MEGABYTE = 2**20
_PACKINGS = {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}  # those of documents; others may ask for gigabytes to unpack


class Container:
    """A ZIP file in memory, read entry by entry within the bounds."""

    def __init__(self, body: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(body))
        except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError, EOFError) as error:
            raise ParseError("unreadable", f"the ZIP file is damaged: {error}") from error
        if len(self._zip.infolist()) > bounds.ZIP_ENTRIES:
            raise ParseError("parse-bound", f"more than {bounds.ZIP_ENTRIES} entries")
        self._left = bounds.ZIP_BYTES

    def __contains__(self, name: str) -> bool:
        return name in self._zip.NameToInfo

    def read(self, name: str) -> bytes:
        """The bytes of an entry; a missing or damaged one is ``unreadable``."""
        try:
            info = self._zip.getinfo(name)
        except KeyError as error:
            raise ParseError("unreadable", f"the container has no {name}") from error
        if info.file_size > _MEGABYTE and info.file_size > bounds.ZIP_RATIO * max(1, info.compress_size):
            raise ParseError("parse-bound", f"{name} unpacks to more than {bounds.ZIP_RATIO} times its size")
        if info.compress_type not in _PACKINGS:
            raise ParseError("unreadable", f"{name} is packed in a way that documents are not")
        try:
            with self._zip.open(info) as entry:
                data = entry.read(self._left + 1)
        except (zipfile.BadZipFile, zlib.error, OSError, RuntimeError, ValueError, EOFError) as error:
            raise ParseError("unreadable", f"{name} is damaged: {error}") from error
        self._left -= len(data)
        if self._left < 0:
            raise ParseError("parse-bound", f"the container unpacks to more than {bounds.ZIP_BYTES} bytes")
        return data

    def text(self, name: str) -> str:
        return decode(self.read(name)).text
