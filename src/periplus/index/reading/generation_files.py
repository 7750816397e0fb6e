"""Files of a generation: what is known of the whole collection, for those who answer without opening its segments.

summaries/<n>.words   all terms in byte order with their live documents
summaries/<n>.pages   what the best pages are called; names of hosts, documents by language, marks that there are

They are written when a generation in several shards is published, named and sealed by its manifest like any other file,
and read through a memory map. A collection in one shard has none: whoever searches it opens all of it.
"""

from __future__ import annotations

from contextlib import suppress
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from msgspec import structs

from periplus.errors import INDEX_PART, Corrupt, Incompatible, UsageError
from periplus.index.format.dictionary import Dictionary, DictionaryWriter, JoinedTerms
from periplus.index.format.fields import FIELDS
from periplus.index.format.files import ArrayFile, ArrayFileWriter
from periplus.index.format.manifest import SummaryEntry
from periplus.index.format.marks import TABS
from periplus.index.reading.live_counts import marks_there, named_counts
from periplus.index.reading.opening import Losses
from periplus.index.reading.titles import PageTitle, TitledPage, titled_pages
from periplus.index.reading.word_changes import changed_entries, patched_terms, word_changes
from periplus.index.reading.wordlist import counted_terms, frequent_words, words_with_prefix

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from periplus.index.format.manifest import Manifest
    from periplus.index.reading.snapshot import Held
    from periplus.index.retrieval.view import SegmentView

WORDS_KIND, PAGES_KIND = "WORD", "PAGE"
TOGETHER = 4_096  # pages that are written at once


def write_summary(
    folder: Path, manifest: Manifest, open_views: Callable[[Manifest], list[SegmentView]], before: Manifest | None
) -> SummaryEntry:
    """The files of a generation that is about to be published; what the one ``before`` it knows is not read again."""
    views = open_views(manifest)
    known = _known_files(folder, before)
    words, pages = f"{manifest.generation:08d}.words", f"{manifest.generation:08d}.pages"
    changes = _changes(before, manifest, open_views) if before and known else None
    if known and changes is not None:
        terms = patched_terms(known[0], changes)
    else:
        terms = ((JoinedTerms.of(some), counts) for some, counts in counted_terms(views))
    titled = titled_pages(views, known[1].titles if known else None)
    return SummaryEntry(words, _write_words(folder / words, terms), pages, _write_pages(folder / pages, views, titled))


def _known_files(folder: Path, before: Manifest | None) -> tuple[WordsFile, PagesFile] | None:
    """Those of an earlier generation, if it has any and they are whole."""
    entry = before.summary if before else None
    if entry is None:
        return None
    with suppress(Corrupt, Incompatible):
        return WordsFile(folder / entry.words, entry.words_seal), PagesFile(folder / entry.pages, entry.pages_seal)
    return None


def _changes(
    before: Manifest, after: Manifest, open_views: Callable[[Manifest], list[SegmentView]]
) -> Mapping[bytes, int] | None:
    gone, come = changed_entries(before.segments, after.segments)
    with suppress(Corrupt, Incompatible):
        old = open_views(structs.replace(before, segments=tuple(gone.values())))
        return word_changes(old, open_views(structs.replace(after, segments=tuple(come.values()))))
    return None


def _write_words(path: Path, terms: Iterable[tuple[JoinedTerms, NDArray[np.int64]]]) -> int:
    """Its seal."""
    file = ArrayFileWriter(path, WORDS_KIND)
    try:
        dictionary, frequencies = DictionaryWriter(file), file.stream("frequency", "<u4")
        for some, counts in terms:
            dictionary.append(some)
            frequencies.append(counts)
        dictionary.finish()
        return file.close().seal
    except BaseException:
        file.abort()
        raise


def _write_pages(path: Path, views: Sequence[SegmentView], pages: Iterable[TitledPage]) -> int:
    """Its seal."""
    file = ArrayFileWriter(path, PAGES_KIND)
    try:
        hosts = list(named_counts(views, "host"))
        _PagesWriter(file, hosts, [view.segment.name for view in views]).write(pages)
        _add_texts(file, "hosts", hosts)
        facts = {"languages": named_counts(views, "language"), "marks": marks_there(views)}
        file.add("facts", np.frombuffer(msgspec.json.encode(facts), np.uint8), "u1")
        return file.close().seal
    except BaseException:
        file.abort()
        raise


class _PagesWriter:
    """Pages by segment and number: a row each, and their titles and headings one behind the other."""

    def __init__(self, file: ArrayFileWriter, hosts: Sequence[str], segments: Sequence[str]) -> None:
        self._texts = file.stream("texts", "u1")
        self._ends = file.stream("texts_end", "<i8")
        self._counts = file.stream("counts", "u1")  # texts of each page: its title and its headings
        kinds = {"host": "<u4", "page_key": "<i8", "prior": "u1", "segment": "<u4", "number": "<u4"}
        self._columns = {name: file.stream(name, kind) for name, kind in kinds.items()}
        self._hosts = {host: place for place, host in enumerate(hosts)}
        self._segments = {name: place for place, name in enumerate(segments)}
        _add_texts(file, "segments", segments)

    def write(self, pages: Iterable[TitledPage]) -> None:
        waiting: list[TitledPage] = []
        for page in pages:
            waiting.append(page)
            if len(waiting) == TOGETHER:
                self._append(waiting)
                waiting = []
        self._append(waiting)

    def _append(self, pages: list[TitledPage]) -> None:
        texts = [text.encode("utf-8", "replace") for page in pages for text in (page.title.title, *page.title.headings)]
        before = self._texts.length
        self._texts.append(b"".join(texts))
        self._ends.append(before + np.cumsum([len(text) for text in texts], dtype=np.int64))
        self._counts.append(np.array([1 + len(page.title.headings) for page in pages], np.uint8))
        rows = {
            "host": [self._hosts[page.host] for page in pages],
            "page_key": [page.page_key for page in pages],
            "prior": [page.prior for page in pages],
            "segment": [self._segments[page.segment] for page in pages],
            "number": [page.number for page in pages],
        }
        for name, values in rows.items():
            self._columns[name].append(np.array(values, np.int64))


def _add_texts(file: ArrayFileWriter, name: str, texts: Sequence[str]) -> None:
    packed = [text.encode("utf-8", "replace") for text in texts]
    file.add(name, np.frombuffer(b"".join(packed), np.uint8), "u1")
    file.add(f"{name}_end", np.cumsum([len(text) for text in packed], dtype=np.int64), "<i8")


class WordsFile:
    """All terms of a generation with their live documents, as one dictionary."""

    def __init__(self, path: Path, seal: int) -> None:
        file = ArrayFile(path, WORDS_KIND, seal=seal)
        self.dictionary = Dictionary(file)
        self._frequency = file.array("frequency")
        if len(self._frequency) != len(self.dictionary):
            raise Corrupt(f"{path}: its tables do not fit together; rebuild the index", INDEX_PART)

    def frequencies(self, low: int, high: int) -> NDArray[np.int64]:
        return self._frequency[low:high].astype(np.int64)

    def documents(self, terms: Sequence[str]) -> list[int]:
        """Live documents with each term."""
        if not len(self.dictionary):
            return [0] * len(terms)
        numbers = self.dictionary.find([term.encode("utf-8", "replace") for term in terms])
        found: list[int] = np.where(numbers >= 0, self._frequency[np.maximum(numbers, 0)], 0).tolist()
        return found


class PagesFile:
    """What the best pages of a generation are called, and what is known of all of them."""

    def __init__(self, path: Path, seal: int) -> None:
        self._file = file = ArrayFile(path, PAGES_KIND, seal=seal)
        self._ends = file.array("texts_end")
        self._first = np.concatenate([[0], np.cumsum(file.array("counts"), dtype=np.int64)])
        self._facts: dict[str, Any] = msgspec.json.decode(file.array("facts").tobytes())
        if int(self._first[-1]) != len(self._ends):
            raise Corrupt(f"{path}: its tables do not fit together; rebuild the index", INDEX_PART)

    @property
    def languages(self) -> dict[str, int]:
        languages: dict[str, int] = self._facts["languages"]
        return languages

    @property
    def tabs(self) -> tuple[str, ...]:
        return tuple(name for name, mark in TABS.items() if self._facts["marks"] & mark)

    @cached_property
    def hosts(self) -> list[str]:
        return self._names("hosts")

    @cached_property
    def segments(self) -> list[str]:
        return self._names("segments")

    def pages(self) -> Iterator[TitledPage]:
        names = ("host", "page_key", "prior", "segment", "number")
        columns = [self._file.array(name).tolist() for name in names]
        for row, (host, page_key, prior, segment, number) in enumerate(zip(*columns, strict=True)):
            yield TitledPage(self.hosts[host], page_key, prior, self._title(row), self.segments[segment], number)

    def titles(self, segment: str, numbers: NDArray[np.int64]) -> Mapping[int, PageTitle]:
        """Those of some documents of a segment that are known here, by their numbers."""
        if segment not in self.segments:
            return {}
        rows = np.flatnonzero(self._file.array("segment") == self.segments.index(segment))
        own = self._file.array("number")[rows].astype(np.int64)
        there = np.isin(own, numbers)
        pairs = zip(own[there].tolist(), rows[there].tolist(), strict=True)
        return {number: self._title(row) for number, row in pairs}

    def _title(self, row: int) -> PageTitle:
        first, last = int(self._first[row]), int(self._first[row + 1])
        begin = int(self._ends[first - 1]) if first else 0
        ends = self._ends[first:last].tolist()
        data = self._file.array("texts")[begin : ends[-1]].tobytes()
        texts = [data[low - begin : high - begin].decode("utf-8", "replace") for low, high in pairwise([begin, *ends])]
        return PageTitle(texts[0], tuple(texts[1:]))

    def _names(self, name: str) -> list[str]:
        data, ends = self._file.array(name).tobytes(), self._file.array(f"{name}_end").tolist()
        return [data[begin:end].decode("utf-8", "replace") for begin, end in pairwise([0, *ends])]


class GenerationFiles:
    """A published generation without its segments: statistics and words of the whole, names, titles.

    Says the same as a ``Snapshot`` of all segments, and may be asked by many threads at once.
    """

    def __init__(self, manifest: Manifest, folder: Path, hold: Held) -> None:
        if manifest.shards == 1:
            raise UsageError("a collection in one shard has no files of its generation; open all of it")
        if manifest.summary is None:
            raise Corrupt(
                f"generation {manifest.generation} has no files of its own; run periplus index --rebuild", INDEX_PART
            )
        entry = manifest.summary
        self.manifest = manifest
        self.generation, self.live = manifest.generation, manifest.documents
        self.losses = Losses()
        if not any(segment.prior_file for segment in manifest.segments):
            self.losses.add("ranks")
        self._hold = hold
        self._words = WordsFile(folder / entry.words, entry.words_seal)
        self._pages = PagesFile(folder / entry.pages, entry.pages_seal)

    @property
    def documents(self) -> int:
        return self.live

    @property
    def average_lengths(self) -> list[float]:
        return [self.manifest.statistics.get(f"average_{field}", 0.0) for field in FIELDS]

    def frequencies(self, terms: Sequence[str]) -> list[int]:
        """Live documents with each term."""
        return self._words.documents(terms)

    def prefix(self, text: str, limit: int) -> list[tuple[str, int]]:
        """Words that begin with ``text``, with their live documents, most frequent first."""
        return words_with_prefix([self._words], text, limit)

    def words(self, limit: int) -> list[tuple[str, int]]:
        """The most frequent words of all."""
        return frequent_words([self._words], limit)

    @property
    def languages(self) -> dict[str, int]:
        """Live documents by language."""
        return self._pages.languages

    @property
    def hosts(self) -> list[str]:
        """Names of all hosts that have documents, in order."""
        return self._pages.hosts

    @property
    def tabs(self) -> tuple[str, ...]:
        """Parts of the collection that there are documents of."""
        return self._pages.tabs

    def titled_pages(self) -> Iterator[TitledPage]:
        """What the documents with the highest prior are called."""
        return self._pages.pages()

    def close(self) -> None:
        """Let go of the generation, so that its files may be removed."""
        self._hold.release()

    def __enter__(self) -> GenerationFiles:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
