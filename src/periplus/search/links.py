"""``link:``: the pages that link to an address, from the batches that the open generation was built of.

Reads the columns of keys and targets of every batch, newest state winning, so the time grows with the number of links;
the answers of a generation are kept for the last ``KEPT`` addresses.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from periplus.errors import Corrupt
from periplus.search.cache import Cache
from periplus.storage.parquet import read_columns

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from periplus.index.snapshot import Snapshot
    from periplus.search.generations import Generation

KEPT = 64
LEAST_SAID = 3  # times, for the text of a link to be suggested
MAX_TEXTS = 200_000
_BATCH = re.compile(r"(?:(\d{8,})-)?(\d{8,})\.parquet")
LONGEST = 70  # characters of a text that is suggested

Keys = np.ndarray[Any, np.dtype[np.int64]]


class InLinks:
    def __init__(self, folder: Path, last_batch: int) -> None:
        self._folder = folder
        self._last = last_batch
        self._found: Cache[Keys] = Cache(KEPT)

    @property
    def known(self) -> bool:
        """Are there batches to look into? A collection whose batches were moved away has none."""
        return any(self._folder.joinpath("links").glob("*.parquet"))

    def sources(self, url: str) -> Keys:
        """Keys of the documents whose newest version links to ``url``, by http or https."""
        cached = self._found.get(url)
        if cached is not None:
            return cached
        rest = url.split("://", 1)[-1]
        wanted = [f"http://{rest}", f"https://{rest}"]
        keys: set[int] = set()
        for name in batch_names(self._folder, self._last):
            keys -= self._replaced(name)
            keys |= _linking(self._folder / "links" / name, wanted)
        found = np.array(sorted(keys), dtype=np.int64)
        self._found.put(url, found)
        return found

    def _replaced(self, name: str) -> set[int]:
        """Documents that this batch has a newer version of."""
        return set(read_columns(self._folder / "documents" / name, ["key"]).column("key").to_pylist())


def link_texts(folder: Path, last_batch: int, snapshot: Snapshot | None = None) -> dict[str, int]:
    """What links say, with how many say it: those of at least ``LEAST_SAID``, the ``MAX_TEXTS`` most frequent."""
    counts: Counter[str] = Counter()
    for name in batch_names(folder, last_batch):
        try:
            found = read_columns(folder / "links" / name, ["text"]).column("text").value_counts()
        except Corrupt as error:  # what cannot be read is not suggested
            if snapshot is not None:
                snapshot.losses.add("documents", str(error))
            continue
        texts, times = found.field("values").to_pylist(), found.field("counts").to_pylist()
        counts.update({text: count for text, count in zip(texts, times, strict=True) if text and len(text) <= LONGEST})
        if len(counts) > 4 * MAX_TEXTS:
            counts = Counter(dict(counts.most_common(2 * MAX_TEXTS)))
    return {text: count for text, count in counts.most_common(MAX_TEXTS) if count >= LEAST_SAID}


def _linking(path: Path, wanted: list[str]) -> set[int]:
    table = read_columns(path, ["source_key", "target"])
    pairs = zip(table.column("source_key").to_pylist(), table.column("target").to_pylist(), strict=True)
    return {key for key, target in pairs if target in wanted}


def document_columns(folder: Path, last_batch: int, columns: list[str], snapshot: Snapshot) -> Iterator[Any]:
    """Columns of the documents of each batch of a generation, oldest first; it then lacks those that are damaged."""
    for name in batch_names(folder, last_batch):
        try:
            yield read_columns(folder / "documents" / name, columns)
        except Corrupt as error:
            snapshot.losses.add("documents", str(error))


def batch_names(folder: Path, last_batch: int) -> list[str]:
    """Names of the batches up to a number, oldest first. One that only one of the two folders has is among them.

    A compacted batch has the first and the last of its numbers, and stands for all that it covers.
    """
    found = {path.name for kind in ("documents", "links") for path in folder.joinpath(kind).glob("*.parquet")}
    spans = [(int(match[1] or match[2]), -int(match[2]), match[0]) for match in map(_BATCH.fullmatch, found) if match]
    names, covered = [], 0
    for first, last, name in sorted(spans):
        if -last > covered and first <= last_batch:
            names.append(name)
            covered = -last
    return names


def linking(generation: Generation, url: str) -> Keys:
    """Numbers of the documents that link to ``url``."""
    found = (generation.snapshot.find(key) for key in generation.in_links.sources(url).tolist())
    return np.array(sorted(number for number in found if number is not None), dtype=np.int64)
