"""PDF to a ``Reading``: text of each page, title, author, dates and the links it carries.

Bounds: pages, time (looked at between operators of a page, so one endless page stops too), unpacked size of a stream.
A file that cannot be opened is ``unreadable``; one whose later pages are damaged gives what was read.
"""

from __future__ import annotations

import io
import logging
import time
from typing import TYPE_CHECKING, Any, Final

from periplus.documents import bounds
from periplus.documents.links import LinkSet
from periplus.documents.reading import Dates, Reading
from periplus.documents.text import clean
from periplus.errors import ParseError

if TYPE_CHECKING:
    from periplus.records import Page

_OPERATORS: Final = 256  # between two looks at the clock
# What pypdf may do for one file; beyond these it raises, and the page counts as damaged.
_LIMITS: Final[dict[str, Any]] = {
    "zlib_maximum_output_length": bounds.PDF_STREAM_BYTES,
    "lzw_maximum_output_length": bounds.PDF_STREAM_BYTES,
    "run_length_maximum_output_length": bounds.PDF_STREAM_BYTES,
    "array_based_stream_maximum_output_length": bounds.PDF_STREAM_BYTES,
    "stream_decoding_work_maximum_length": 4 * bounds.PDF_STREAM_BYTES,
    "stream_parsing_work_maximum_count": bounds.PDF_TOKENS,
    "xform_maximum_invocations_per_extraction": 200,
    "page_tree_maximum_entries": 20_000,
    "jbig2dec_binary": None,  # no other program is run
    "disable_legacy_handling": True,  # else its old constants win over these
}


class _OutOfTime(Exception):
    pass


class _Clock:
    """Called for every operator of a page's content."""

    def __init__(self) -> None:
        self._deadline = time.monotonic() + bounds.SECONDS
        self._calls = 0

    def __call__(self, *_: object) -> None:
        self._calls += 1
        if not self._calls % _OPERATORS:
            self.check()

    def check(self) -> None:
        if time.monotonic() > self._deadline:
            raise _OutOfTime


def read(page: Page) -> Reading:
    """Read a PDF file."""
    import pypdf

    logging.getLogger("pypdf").setLevel(logging.CRITICAL)  # it reports every oddity of every file
    with pypdf.apply_configuration(**_LIMITS):
        return _read(pypdf, page)


def _read(pypdf: Any, page: Page) -> Reading:
    try:
        file = pypdf.PdfReader(io.BytesIO(page.body), strict=False)
        locked = file.is_encrypted and not file.decrypt("")
        count = 0 if locked else len(file.pages)
    except Exception as error:
        raise ParseError("unreadable", _line(error)) from error
    if locked:
        raise ParseError("unreadable", "the PDF asks for a password")
    reading = Reading()
    _read_pages(reading, file, count, page.url)
    _describe(reading, file)
    if not reading.text and count == 0:
        raise ParseError("unreadable", "the PDF has no page")
    return reading


def _read_pages(reading: Reading, file: Any, count: int, url: str) -> None:
    clock = _Clock()
    links = LinkSet(url)
    texts: list[str] = []
    failures = 0
    size = 0
    for number in range(min(count, bounds.PDF_PAGES)):
        try:
            clock.check()
            sheet = file.pages[number]
            texts.append(sheet.extract_text(visitor_operand_before=clock) or "")
            _take_links(sheet, links)
        except _OutOfTime:
            reading.signals["truncated"] = 1.0
            break
        except Exception:  # noqa: BLE001 (pypdf raises many kinds on damaged pages; the others still count)
            failures += 1
            continue
        size += len(texts[-1])
        if size > bounds.TEXT_CHARS:
            break
    if failures and failures == min(count, bounds.PDF_PAGES):
        raise ParseError("unreadable", "no page of the PDF could be read")
    if failures or size > bounds.TEXT_CHARS or count > bounds.PDF_PAGES:
        reading.signals["truncated"] = 1.0
    reading.text = paragraphs("\n\n".join(texts))[: bounds.TEXT_CHARS]
    reading.links = links.links()


def paragraphs(text: str) -> str:
    """Lines of a page joined to paragraphs: a line ends one when it is empty, or short and ends a sentence."""
    found: list[str] = []
    current: list[str] = []
    for raw in text.splitlines():
        line = clean(raw)
        if line:
            current.append(line)
        if current and (not line or (len(line) < 50 and line[-1] in ".!?:")):
            found.append(_joined(current))
            current = []
    if current:
        found.append(_joined(current))
    return "\n".join(found)


def _joined(lines: list[str]) -> str:
    """Lines as one text; a word that was broken at a line's end is mended."""
    text = lines[0]
    for line in lines[1:]:
        if text.endswith("-") and len(text) > 1 and text[-2].isalpha() and line[:1].islower():
            text = text[:-1] + line
        else:
            text = f"{text} {line}"
    return text


def _take_links(sheet: Any, links: LinkSet) -> None:
    for reference in list(sheet.get("/Annots") or ())[: bounds.LINKS]:
        note = reference.get_object()
        action = note.get("/A") if note.get("/Subtype") == "/Link" else None
        address = action.get_object().get("/URI") if action is not None else None
        if isinstance(address, (str, bytes)):
            links.add(address.decode("latin-1") if isinstance(address, bytes) else str(address), "")


def _describe(reading: Reading, file: Any) -> None:
    """Title, author and dates; a PDF without or with broken metadata is no worse for it."""
    try:
        about = file.metadata
        if about is None:
            return
        reading.title = clean(about.title or "")
        reading.author = clean(about.author or "")[: bounds.TITLE_CHARS]
        created = about.creation_date.timestamp() if about.creation_date else 0.0
        changed = about.modification_date.timestamp() if about.modification_date else 0.0
    except Exception:  # noqa: BLE001 (as above)
        return
    reading.dates = Dates(created, changed, "file" if created or changed else "")


def _line(error: Exception) -> str:
    return clean(str(error))[:200] or type(error).__name__
