"""What can be imported, each kind as pages to be parsed: archives, ``.jsonl``, Parquet, folders of HTML files."""

from __future__ import annotations

import mimetypes
from typing import TYPE_CHECKING, Any, Final

import msgspec

from periplus import addresses, archive
from periplus.documents import parse
from periplus.errors import Corrupt, Incompatible, ParseError, UsageError
from periplus.records import Document, Page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

HTML_SUFFIXES: Final = {".html", ".htm", ".xhtml"}
JSONL_SUFFIXES: Final = (".jsonl", ".jsonl.gz", ".jsonl.zst")
PARQUET_SUFFIX: Final = ".parquet"
_ROWS: Final = 1_000  # of a Parquet file at once


class Line(msgspec.Struct, frozen=True):
    """One line of a ``.jsonl`` file, or a row of a Parquet file."""

    id: str | int
    text: str = ""
    title: str = ""
    url: str = ""


class Item(msgspec.Struct, frozen=True):
    """A page to be parsed; for a line also what it says itself."""

    page: Page
    line: Line | None = None

    @property
    def size(self) -> int:
        return len(self.page.body)

    def document(self) -> Document | None:
        """The document in the page; None where there is none."""
        try:
            document = parse(self.page)
        except ParseError:
            return None
        return document if self.line is None else _with_line(document, self.line)


def items_of(path: Path, base_url: str, start: int = 0) -> Iterator[Item]:
    """What ``path`` holds, an archive from ``start`` on; raises ``UsageError`` at once for what cannot be imported."""
    if not path.exists():
        raise UsageError(f"{path} does not exist")
    if path.is_dir():
        if not base_url:
            raise UsageError(f"{path} is a folder: its pages need --base-url, the address they are published under")
        return _of_folder(path, addresses.canonical(base_url))
    name = path.name.lower()
    if name.endswith(archive.SUFFIXES):
        return _of_archive(archive.pages(path, start))
    if name.endswith(JSONL_SUFFIXES):
        return _of_lines(path)
    if name.endswith(PARQUET_SUFFIX):
        return _of_table(path)
    known = ", ".join((*archive.SUFFIXES, *JSONL_SUFFIXES, PARQUET_SUFFIX))
    raise UsageError(f"{path}: unknown kind of file; known are {known} and folders of HTML files")


def items_between(stretch: archive.Stretch) -> Iterator[Item]:
    """What a stretch of an archive holds."""
    return _of_archive(archive.pages(stretch.path, stretch.start, stretch.end))


def _of_archive(pages: Iterator[Page]) -> Iterator[Item]:
    for page in pages:
        url = addresses.try_canonical(page.url)
        if url is not None:
            yield Item(msgspec.structs.replace(page, url=url))


def _of_folder(folder: Path, base: str) -> Iterator[Item]:
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() not in HTML_SUFFIXES or not path.is_file():
            continue
        url = addresses.try_canonical(path.relative_to(folder).as_posix(), base)
        if url is not None:
            kind = mimetypes.guess_type(path.name)[0] or "text/html"
            yield Item(Page(url, path.read_bytes(), kind, fetched=path.stat().st_mtime))


def _of_lines(path: Path) -> Iterator[Item]:
    decoder = msgspec.json.Decoder(Line)
    with path.open("rb") as file:
        for number, line in enumerate(archive.unpacked(file), 1):
            if not line.strip():
                continue
            try:
                yield _item_of(decoder.decode(line), path.stat().st_mtime)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                raise Corrupt(f"{path} line {number}: {error}; what came before it is kept") from error


def _of_table(path: Path) -> Iterator[Item]:
    """Rows with a text, and an id or an address by which they are told apart."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as table:
            named = [name for name in msgspec.structs.fields(Line) if name.name in table.schema_arrow.names]
            columns = [field.name for field in named]
            if "text" not in columns or not {"id", "url"} & set(columns):
                raise Incompatible(f"{path}: rows need a column text, and id or url; there are {_listed(table)}")
            for batch in table.iter_batches(_ROWS, columns=columns):
                yield from (_item_of(_line_of(row, path), path.stat().st_mtime) for row in batch.to_pylist())
    except pa.ArrowException as error:
        raise Corrupt(f"{path} cannot be read as Parquet: {error}; what came before it is kept") from error


def _listed(table: Any) -> str:
    return ", ".join(table.schema_arrow.names[:20]) or "none"


def _line_of(row: dict[str, Any], path: Path) -> Line:
    given = {"id": "", **{name: value for name, value in row.items() if value is not None}}
    try:
        line = msgspec.convert(given, Line)
    except msgspec.ValidationError as error:
        raise Corrupt(f"{path}: a row has other types than id, url, title and text should have: {error}") from error
    if line.id == "" and addresses.try_canonical(line.url) is None:
        raise Corrupt(f"{path}: a row has no id, and {line.url[:80]!r} is no address; what came before it is kept")
    return line


def _item_of(line: Line, moment: float) -> Item:
    """A line is one document by its id, whatever its address; without an id, by its address."""
    address = addresses.try_canonical(line.url) if line.url else None
    body = line.text.encode()
    page = Page(address or _name_of(line), body, "text/plain; charset=utf-8", fetched=moment)
    return Item(page, msgspec.structs.replace(line, text=""))


def _name_of(line: Line) -> str:
    return f"id:{line.id}"


def _with_line(document: Document, line: Line) -> Document:
    title = line.title.strip() or document.title
    refusal = "" if title else document.refusal
    key = document.key if line.id == "" else addresses.key(_name_of(line))
    return msgspec.structs.replace(document, key=key, id=str(line.id), title=title, refusal=refusal, links=())
