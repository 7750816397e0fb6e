"""What became of the records of an import, counted; and the problems, named."""

from __future__ import annotations

from msgspec import Struct, field

NAMED = 100  # problems that a report names; all are counted
TYPES = 20  # content types without a reader that a report names
COMPARED = 5_000_000  # documents of one import among which repeated ones are looked for: 40 MB of keys


class ImportProblem(Struct, frozen=True):
    """A record that cannot be read, or a file; ``reason`` is one of ``periplus.reasons``."""

    file: str
    place: str  # "line 12", "row 7", "byte 100, 50 bytes"; empty for a whole file
    reason: str
    what: str

    def __str__(self) -> str:
        return f"{self.file}{f', {self.place}' if self.place else ''}: {self.what}"


class Tally(Struct):
    """Counts of records; those of several jobs are added up."""

    records: int = 0
    documents: int = 0
    left_out: dict[str, int] = field(default_factory=dict)  # by reason
    types: dict[str, int] = field(default_factory=dict)  # of what has no reader
    without_address: int = 0  # kept, though their url is none
    cut: int = 0  # kept, without all of their text
    problems: list[ImportProblem] = field(default_factory=list)
    unnamed: int = 0  # further problems
    keys: bytes = b""  # of the documents, 8 bytes each

    def leave_out(self, reason: str, kind: str = "", problem: ImportProblem | None = None) -> None:
        self.left_out[reason] = self.left_out.get(reason, 0) + 1
        if kind:
            self.types[kind] = self.types.get(kind, 0) + 1
        if problem is not None:
            self._name(problem)

    def add(self, other: Tally) -> None:
        self.records += other.records
        self.documents += other.documents
        self.without_address += other.without_address
        self.cut += other.cut
        self.unnamed += other.unnamed
        for mine, others in ((self.left_out, other.left_out), (self.types, other.types)):
            for name, count in others.items():
                mine[name] = mine.get(name, 0) + count
        for problem in other.problems:
            self._name(problem)

    def _name(self, problem: ImportProblem) -> None:
        if len(self.problems) < NAMED:
            self.problems.append(problem)
        else:
            self.unnamed += 1


class ImportReport(Struct, frozen=True):
    """What an import did."""

    documents: int  # kept, and to be found
    refused: int  # all that were left out
    seconds: float
    records: int = 0  # read
    left_out: dict[str, int] = field(default_factory=dict)  # by reason, most first
    types: dict[str, int] = field(default_factory=dict)  # content types without a reader, most first
    repeated: int = 0  # documents that a later one of this import replaces: the same id or address
    without_address: int = 0  # kept by their id, though their url is no http address
    cut: int = 0  # kept without all of their text, which broke a bound of the parser
    problems: tuple[ImportProblem, ...] = ()  # the first ones
    unnamed: int = 0  # problems beyond those


def report_of(tally: Tally, keys: bytes, seconds: float) -> ImportReport:
    import numpy as np

    found = np.frombuffer(keys, dtype=np.int64)
    return ImportReport(
        documents=tally.documents,
        refused=tally.records - tally.documents,
        seconds=seconds,
        records=tally.records,
        left_out=_most_first(tally.left_out),
        types=dict(list(_most_first(tally.types).items())[:TYPES]),
        repeated=len(found) - len(np.unique(found)),
        without_address=tally.without_address,
        cut=tally.cut,
        problems=tuple(tally.problems),
        unnamed=tally.unnamed,
    )


def _most_first(counts: dict[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))
