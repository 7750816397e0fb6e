"""What can be imported: each kind of file, checked before anything is read, and then in portions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from periplus import addresses, archive
from periplus.app.importing import archives, folders, lines, listings, mailboxes, tables, wikis
from periplus.errors import Incompatible, NotFound, StorageError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from periplus.app.importing.items import Portion

_HINTS: Final = {
    ".json": "put each record on a line of its own, in a .jsonl file",
    ".csv": "convert it to Parquet, or to a .jsonl file with a record a line",
    ".tsv": "convert it to Parquet, or to a .jsonl file with a record a line",
    ".zip": "unpack it and import the folder; a web archive in a ZIP file is named .wacz",
    ".html": "import the folder that it lies in, with --base-url",
    ".htm": "import the folder that it lies in, with --base-url",
}


def check(path: Path, base_url: str) -> None:
    """Raise at once what keeps a path from being imported."""
    if path.is_dir():
        if not base_url:
            raise UsageError(f"{path} is a folder: its pages need --base-url, the address they are published under")
        addresses.canonical(base_url)
        return
    if not path.exists():
        raise NotFound(f"{path} does not exist; check the name")
    if not path.is_file():
        raise Incompatible(f"{path} is neither a file nor a folder; write it to a file first")
    try:
        with path.open("rb"):
            pass
        _check_file(path, path.name.lower(), base_url)
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}") from error


def _check_file(path: Path, name: str, base_url: str) -> None:
    if name.endswith(lines.SUFFIXES):
        lines.check(path)
    elif name.endswith(tables.SUFFIX):
        tables.check(path)
    elif name.endswith(wikis.SUFFIXES):
        wikis.check(path)
    elif listings.is_list(name):
        listings.check(base_url)
    elif not name.endswith((*archive.SUFFIXES, *mailboxes.SUFFIXES)):
        raise _unknown(path)


def _unknown(path: Path) -> Incompatible:
    kinds = (".warc", ".wet", ".arc", ".wacz", ".jsonl", ".ndjson", tables.SUFFIX, ".mbox", ".xml", ".cdxj", ".paths")
    known = f"{', '.join(kinds)} (most also packed: .gz, .zst, .lz4)"
    hint = _HINTS.get(path.suffix.lower(), f"known are {known} and folders of HTML files")
    return Incompatible(f"{path}: unknown kind of file; {hint}")


def portions(path: Path, base_url: str) -> Iterator[Portion]:
    """What a path holds, which was checked."""
    name = path.name.lower()
    if path.is_dir():
        yield from folders.portions(path, base_url)
    elif name.endswith(lines.SUFFIXES):
        yield from lines.portions(path)
    elif name.endswith(tables.SUFFIX):
        yield from tables.portions(path)
    elif name.endswith(mailboxes.SUFFIXES):
        yield from mailboxes.portions(path)
    elif name.endswith(wikis.SUFFIXES):
        yield from wikis.portions(path, base_url)
    elif listings.is_list(name):
        yield from listings.portions(path, base_url)
    else:
        yield from archives.portions(path)
