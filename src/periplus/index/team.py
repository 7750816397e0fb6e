"""Team: several processes that build segments together, this one among them.

Documents are dealt out in turns, so that which process gets what does not depend on who is faster; a round ends when
one of them is full, and then all write their segments with the same norm epoch. Every document carries its turn,
because a later version of a page may have gone to another process than an earlier one: the latest turn wins.
"""

from __future__ import annotations

from collections import deque
from contextlib import suppress
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
import numpy as np

from periplus.index.builder import SegmentBuilder, load_kernels
from periplus.index.processes import HelperProcess
from periplus.index.query import FIELDS
from periplus.index.sources import DocumentSource
from periplus.index.stored import page_key_of
from periplus.records import Document

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence
    from multiprocessing.connection import Connection

    from numpy.typing import NDArray

    from periplus.index.norms import Epoch
    from periplus.records import Anchor

CHUNK = 500  # documents of one turn, where they are sent rather than read
AHEAD = 2  # turns that a process may have waiting


class Written(NamedTuple):
    """What one process wrote: a segment a shard, and the keys it met with their turns."""

    names: list[str]  # empty where nothing was to be found
    keys: NDArray[np.int64]
    turns: NDArray[np.int64]


class Team:
    def __init__(self, size: int, memory: int, anchors: Callable[[int], Sequence[Anchor]] | None) -> None:
        """``memory`` is what each process may count before all write."""
        self._share = memory
        self._counted = [0] * size  # by each, when it was last heard
        self._turn = 0
        self._answered = 0
        self.taken = 0  # documents that have arrived
        self.is_full = False
        load_kernels()  # before this process is copied
        self._own = _Own(_Builder(self._share, anchors))
        self._helpers: list[HelperProcess] = []
        for _ in range(size - 1):
            self._helpers.append(HelperProcess(f"{__name__}:build", may_copy=True))
            self._helpers[-1].send(self._share, anchors)
        self._members: list[HelperProcess | _Own] = [*self._helpers, self._own]

    def take(self, documents: Iterable[Document]) -> Iterator[None]:
        """Deal documents out; comes back after every turn, so that the caller may end a round."""
        for payload in _payloads(documents):
            member = self._members[self._turn % self.size]
            is_sent = member is not self._own and isinstance(payload, list)
            member.send("take", self._turn, msgspec.msgpack.encode(payload) if is_sent else payload)
            self._turn += 1
            if self._turn - self._answered > AHEAD * self.size:
                self._hear()
            yield

    def totals(self) -> tuple[int, NDArray[np.float64]]:
        """How many documents wait to be written, and their words by field."""
        while self._answered < self._turn:
            self._hear()
        found = self._ask("totals")
        return sum(count for count, _ in found), sum((totals for _, totals in found), np.zeros(len(FIELDS)))

    def write(self, folders: Sequence[Sequence[Path]], epoch: Epoch) -> list[Written]:
        """End the round: everything is written, by each process into its folders, one a shard."""
        for member, own in zip(self._members, folders, strict=True):
            member.send("write", list(map(str, own)), epoch)
        written = self._answers()
        self.is_full, self._counted = False, [0] * self.size
        return written

    @property
    def size(self) -> int:
        return len(self._members)

    def close(self) -> None:
        for helper in self._helpers:
            helper.close()

    def _hear(self) -> None:
        """Answers are heard in the order of turns, so that a round ends at the same turn every time."""
        place = self._answered % self.size
        member = self._members[place]
        while not member.has_answered and self._own.is_asked:
            self._own.work()
        rows, memory = member.receive()
        self._answered += 1
        self.taken += rows
        growth, self._counted[place] = max(0, memory - self._counted[place]), memory
        self.is_full = self.is_full or memory + AHEAD * growth >= self._share  # as much again may be on its way

    def _ask(self, *message: Any) -> list[Any]:
        for member in self._members:
            member.send(*message)
        return self._answers()

    def _answers(self) -> list[Any]:
        self._own.work()
        return [member.receive() for member in self._members]


class _Own:
    """This process as a member of the team: what it is asked to do waits until nothing else is to be done."""

    def __init__(self, builder: _Builder) -> None:
        self._builder = builder
        self._asked: deque[tuple[Any, ...]] = deque()
        self._answers: deque[Any] = deque()

    def send(self, *message: Any) -> None:
        self._asked.append(message)

    @property
    def is_asked(self) -> bool:
        return bool(self._asked)

    @property
    def has_answered(self) -> bool:
        return bool(self._answers)

    def work(self) -> None:
        """Do the first of what was asked."""
        verb, *arguments = self._asked.popleft()
        self._answers.append(getattr(self._builder, verb)(*arguments))

    def receive(self) -> Any:
        return self._answers.popleft()


def _payloads(documents: Iterable[Document]) -> Iterator[Any]:
    """What is sent for some documents: where to read them, or they themselves in chunks."""
    if isinstance(documents, DocumentSource):
        yield documents
        return
    rows = iter(documents)
    while chunk := list(islice(rows, CHUNK)):
        yield chunk


def losers(written: Sequence[Written]) -> list[NDArray[np.int64]]:
    """For each process the keys whose latest version went to another one."""
    keys = np.concatenate([part.keys for part in written])
    turns = np.concatenate([part.turns for part in written])
    owners = np.repeat(np.arange(len(written)), [len(part.keys) for part in written])
    order = np.lexsort((turns, keys))
    beaten = np.zeros(len(keys), np.bool_)
    beaten[order[:-1]] = keys[order[:-1]] == keys[order[1:]]
    return [keys[beaten & (owners == owner)] for owner in range(len(written))]


class _Builder:
    """One process of a team."""

    def __init__(self, memory: int, anchors: Callable[[int], Sequence[Anchor]] | None) -> None:
        self._memory = memory
        self._anchors = anchors
        self._builder = SegmentBuilder()
        self._turns: dict[int, int] = {}  # by key of every document met, refused ones too

    def take(self, turn: int, payload: Any) -> tuple[int, int]:
        rows = 0
        documents = _DECODER.decode(payload) if isinstance(payload, bytes) else payload
        for document in documents:
            self._turns[document.key] = turn
            rows += 1
            if document.refusal:
                self._builder.discard(document.key)
            else:
                self._builder.add(document, self._anchors(page_key_of(document)) if self._anchors else ())
        return rows, self._builder.memory

    def totals(self) -> tuple[int, NDArray[np.float64]]:
        return len(self._builder), self._builder.field_totals()

    def write(self, folders: list[str], epoch: Epoch) -> Written:
        names = self._builder.write(list(map(Path, folders)), epoch)
        written = Written(
            names,
            np.fromiter(self._turns.keys(), np.int64, len(self._turns)),
            np.fromiter(self._turns.values(), np.int64, len(self._turns)),
        )
        self._builder, self._turns = self._builder.successor(self._memory), {}
        return written


_DECODER = msgspec.msgpack.Decoder(list[Document])


def build(connection: Connection[Any, Any]) -> None:
    """The function that a helper runs: memory and anchors come first, then what to do."""
    builder = _Builder(*connection.recv())
    asked: SimpleQueue[Any] = SimpleQueue()
    Thread(target=_read_ahead, args=(connection, asked), daemon=True).start()
    while (message := asked.get()) is not None:
        verb, *arguments = message
        connection.send(getattr(builder, verb)(*arguments))


def _read_ahead(connection: Connection[Any, Any], asked: SimpleQueue[Any]) -> None:
    """Take what is sent while the builder works: else the parent, which builds too, would wait until it is read.

    No more than ``AHEAD`` turns are ever on their way. ``None`` says that the parent is gone.
    """
    with suppress(EOFError, OSError):
        while True:
            asked.put(connection.recv())
    asked.put(None)
