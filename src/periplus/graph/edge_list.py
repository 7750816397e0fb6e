"""Edge lists: ``source target`` a line, in any number of blanks; ``#`` begins a comment line; gzip allowed.

Vertices are whole numbers, or names of any kind; the first edge decides which. A repeated line is the same edge.
"""

from __future__ import annotations

import gzip
import re
import zlib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from isal import igzip
from isal.igzip_lib import IsalError

from periplus.errors import Corrupt, NotFound, StorageError, Truncated, UnfitFile, UsageError
from periplus.graph.csr import Csr, from_edges

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import BinaryIO

    from numpy.typing import NDArray

    Integers = NDArray[np.int64]

BLOCK = 1_000_000  # bytes read at once
LONGEST_LINE = 100_000
MAX_NODES = 2**31  # that are said to exist

_GZIP = b"\x1f\x8b"
_DAMAGE = (zlib.error, gzip.BadGzipFile, cast("type[Exception]", IsalError))
# The group itself is not possessive: Python before 3.11.5 does not step back from an iteration that failed half-way.
_PLAIN_LINES = re.compile(rb"(?:[ \t]*+[0-9]{1,18}+[ \t]++[0-9]{1,18}+[ \t]*+\r?+\n)*")
_NUMBER = re.compile(rb"[0-9]{1,18}")


class EdgeList(NamedTuple):
    """A graph with the names of its vertices: numbers in order, or texts in the order they are met."""

    graph: Csr
    names: Sequence[int] | Sequence[str]


def read_edges(path: Path | str, nodes: int = 0) -> EdgeList:
    """The graph in a file; with ``nodes``, the vertices 0 to ``nodes`` - 1 exist even without a link."""
    path = Path(path)
    if not 0 <= nodes <= MAX_NODES:
        raise UsageError(f"nodes is {nodes}; give a number from 0 to {MAX_NODES:,}")
    reader = _EdgeReader(path)
    try:
        with path.open("rb") as raw:
            packed = raw.read(2) == _GZIP
            raw.seek(0)
            file: Any = igzip.IGzipFile(fileobj=raw) if packed else raw  # type: ignore[no-untyped-call]
            for block in _blocks(file):
                reader.take(block)
    except FileNotFoundError as error:
        raise NotFound(f"{path} does not exist; give the file of an edge list") from error
    except EOFError as error:
        raise Truncated(f"{path} is cut short: its gzip data ends too early; get it again") from error
    except _DAMAGE as error:
        raise Corrupt(f"{path} is damaged: {error}; get it again") from error
    except OSError as error:
        raise StorageError(f"{path} cannot be read: {error.strerror or error}") from error
    return reader.result(nodes)


def _blocks(file: BinaryIO) -> Iterator[bytes]:
    """The content in blocks that end with a line."""
    rest = b""
    while data := file.read(BLOCK):
        whole, newline, rest = (rest + data).rpartition(b"\n")
        if newline:
            yield whole + newline
        elif len(rest) > LONGEST_LINE:
            raise UnfitFile(f"a line is longer than {LONGEST_LINE} bytes; this is no edge list")
    if rest:
        yield rest + b"\n"


def _end_of_plain_lines(block: bytes, at: int) -> int:
    found = _PLAIN_LINES.match(block, at)
    return found.end() if found else at


class _EdgeReader:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._line = 0
        self._numbered: bool | None = None
        self._names: dict[str, int] = {}
        self._parts: list[Integers] = []

    def take(self, block: bytes) -> None:
        """Takes a block of whole lines: runs of plain numbers at once, anything else line by line."""
        at = 0
        while at < len(block):
            end = at if self._numbered is False else _end_of_plain_lines(block, at)
            if end > at:
                self._numbered = True
                self._line += block.count(b"\n", at, end)
                self._parts.append(np.fromstring(block[at:end].decode("ascii"), np.int64, sep=" "))
            else:
                end = block.index(b"\n", at) + 1
                self._line += 1
                self._take_line(block[at:end].strip())
            at = end

    def _take_line(self, line: bytes) -> None:
        if not line or line.startswith(b"#"):
            return
        fields = line.split()
        if len(fields) != 2:
            raise self._wrong(line, "has not two fields")
        numbers = all(_NUMBER.fullmatch(field) for field in fields)
        if self._numbered is None:
            self._numbered = numbers
        if self._numbered and not numbers:
            raise self._wrong(line, "does not hold two whole numbers")
        values = [int(field) if self._numbered else self._named(field) for field in fields]
        self._parts.append(np.array(values, np.int64))

    def _named(self, field: bytes) -> int:
        return self._names.setdefault(field.decode("utf-8", "replace"), len(self._names))

    def _wrong(self, line: bytes, why: str) -> UnfitFile:
        shown = line[:40].decode("utf-8", "replace")
        return UnfitFile(f"{self._path}, line {self._line}: {shown!r} {why}; each line is: source target")

    def result(self, nodes: int) -> EdgeList:
        values = np.concatenate([np.empty(0, np.int64), *self._parts])
        sources, targets = values[0::2], values[1::2]
        if self._numbered is False:
            if nodes:
                raise UnfitFile(f"{self._path} names its vertices; a number of nodes needs vertices that are numbers")
            names = list(self._names)
            return EdgeList(from_edges(sources, targets, len(names)), names)
        known = np.union1d(values, np.arange(nodes, dtype=np.int64))
        graph = from_edges(np.searchsorted(known, sources), np.searchsorted(known, targets), len(known))
        return EdgeList(graph, known.tolist())
