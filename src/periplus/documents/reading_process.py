"""The process that reads strangers' pages: ``python -m periplus.documents.reading_process``, started by ``apart.py``.

It loads the readers, gives up everything that reading needs not (``confinement.py``), and then answers on its standard
output what comes on its standard input, until that ends.
"""

from __future__ import annotations

import gc
import os
import sys
import sysconfig
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

import periplus
from periplus.documents.apart import (
    ANSWER,
    ANSWER_BYTES,
    OUTLINE,
    PARSE,
    PIPE_BYTES,
    READ,
    REFUSED,
    REQUEST,
    SITEMAP,
)
from periplus.documents.confinement import confine
from periplus.documents.language_model import model_folder
from periplus.documents.outline import outline
from periplus.documents.parse import parse
from periplus.documents.sitemaps import read_sitemap
from periplus.errors import ParseError
from periplus.records import Page

if TYPE_CHECKING:
    from collections.abc import Iterable

MEMORY_BYTES: Final = 2**30
OPEN_FILES: Final = 32
YOUNG: Final = 20_000  # objects between two looks for cycles, of which documents have none
_ABOUT: Final = msgspec.msgpack.Decoder(tuple[str, str, tuple[tuple[str, str], ...], int, float])
_WARM: Final = (  # a page for each part that is loaded when it is needed first
    Page(
        "http://warm.invalid/", b"<!doctype html><title>Warm</title><p>Eine kurze Seite, ni une ni deux.", "text/html"
    ),
    Page("http://warm.invalid/feed", b"<rss><channel><title>Warm</title></channel></rss>", "application/rss+xml"),
    Page("http://warm.invalid/text", "Текст на русском языке, and some more.".encode(), "text/plain"),
)


def main() -> None:
    shut_in(MEMORY_BYTES)
    asked = bytearray()
    while (question := _question(asked)) is not None:
        said, answer = _answered(*question)
        write(ANSWER.pack(said, len(answer)) + answer)


def shut_in(memory: int, also: Iterable[Path] = (), *, threads: bool = False) -> None:
    """Load the readers, then give up everything that reading needs not; ``also`` are further folders to read from."""
    for page in _WARM:
        _answered(PARSE, page)
    sys.stderr = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 - what libraries say of pages is for nobody
    gc.collect()
    gc.freeze()
    gc.set_threshold(YOUNG)
    confine([*_readable(), *also], memory=memory, files=OPEN_FILES, threads=threads)


def _readable() -> list[Path]:
    """Python's own folders, for what is imported late, and the model of languages."""
    named = [sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")]
    packages = [place for place in sys.path if place.endswith("-packages")]
    places = [Path(place) for place in (*named, *packages, "/usr/share/zoneinfo")]
    model = model_folder()
    return [*places, Path(periplus.__file__).parent, *([model] if model is not None else [])]


def _answered(reader: int, page: Page) -> tuple[int, bytes]:
    try:
        found = _found(reader, page)
        answer = msgspec.msgpack.encode(found)
    except ParseError as error:
        return REFUSED, msgspec.msgpack.encode((error.reason, error.detail))
    except MemoryError:
        return REFUSED, msgspec.msgpack.encode(("parse-bound", "memory"))
    except Exception as error:  # noqa: BLE001 - a fault of ours must cost one page
        return REFUSED, msgspec.msgpack.encode(("unreadable", f"internal fault, {type(error).__name__}"))
    if len(answer) > ANSWER_BYTES:
        return REFUSED, msgspec.msgpack.encode(("parse-bound", f"a document of {len(answer)} bytes"))
    return READ, answer


def _found(reader: int, page: Page) -> Any:
    if reader == OUTLINE:
        return outline(page)
    return read_sitemap(page.body, page.url) if reader == SITEMAP else parse(page)


def _question(asked: bytearray) -> tuple[int, Page] | None:
    """Which reader is asked about which page; nothing when nobody asks any more. What follows stays in ``asked``."""
    while (end := _end_of_first(asked)) == 0 or len(asked) < end:
        part = os.read(0, max(PIPE_BYTES, end - len(asked)))
        if not part:
            return None
        asked += part
    reader, about, _ = REQUEST.unpack_from(asked)
    behind = REQUEST.size + about
    with memoryview(asked) as given:
        url, kind, headers, status, fetched = _ABOUT.decode(given[REQUEST.size : behind])
        page = Page(url, bytes(given[behind:end]), kind, headers, status, fetched)
    del asked[:end]
    return reader, page


def _end_of_first(asked: bytearray) -> int:
    """Where the first question ends; 0 while that is not known."""
    return REQUEST.size + sum(REQUEST.unpack_from(asked)[1:]) if len(asked) >= REQUEST.size else 0


def write(data: bytes | bytearray) -> None:
    """Say something to whoever asked."""
    left = memoryview(data)
    while left:
        left = left[os.write(1, left) :]


if __name__ == "__main__":
    main()
