"""Blocks and vectors on their way between machines, as objects that are removed when a sweep is over.

ranks/sent/<ranking>/edges-00007       what lasts is sent once, and stays in the working copies of the others
ranks/sent/<ranking>/share-00012       what is of one sweep goes with it
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING

from msgspec import Struct

from periplus.graph.runs import SENT
from periplus.storage import Depot, LocalFiles, Stored

if TYPE_CHECKING:
    from collections.abc import Sequence

OF_A_SWEEP = ("rank", "share")  # what such files begin with


class SentFiles(Struct, frozen=True):
    """What a task finds in the object store."""

    depot: Depot
    folder: str  # of these files in a working copy, and of what comes back
    files: tuple[Stored, ...]


class Travel:
    """The sender's side of one ranking."""

    def __init__(self, depot: Depot, files: LocalFiles) -> None:
        self._depot = depot
        self._local = files.root.relative_to(depot.files.root).as_posix()
        self._folder = f"{SENT}/{secrets.token_hex(8)}"
        self._sent: dict[str, Stored] = {}

    def send(self, names: Sequence[str]) -> SentFiles:
        """Have these files in the object store; what is there already is not sent again."""
        for name in names:
            if name not in self._sent:
                self._sent[name] = self._depot.push(f"{self._local}/{name}", f"{self._folder}/{name}")
        return SentFiles(self._depot, self._folder, tuple(self._sent[name] for name in names))

    def receive(self, stored: Stored | None, name: str) -> None:
        """Have what a task made in our folder."""
        if stored is not None:
            self._depot.pull(stored, f"{self._local}/{name}")
            self._depot.objects.remove(stored.name)

    def forget(self, sweep: int) -> None:
        """Remove what was sent for a sweep that is whole."""
        for name in [name for name in self._sent if _sweep_of(name) == sweep]:
            self._depot.objects.remove(self._sent.pop(name).name)


def received(sent: SentFiles) -> LocalFiles:
    """The files of a task in the working copy of this machine; those of other rankings and sweeps before go."""
    needed = {stored.name for stored in sent.files}
    sweep = max(_sweep_of(name.rpartition("/")[2]) for name in needed)
    for name in sent.depot.copies(f"{SENT}/"):
        folder, _, file = name.rpartition("/")
        if folder != sent.folder or 0 <= _sweep_of(file) < sweep:
            sent.depot.drop(name)
    for stored in sent.files:
        sent.depot.pull(stored)
    return LocalFiles(sent.depot.files.path(sent.folder))


def answered(sent: SentFiles, name: str) -> Stored:
    """What a task made, on its way back; under a name of its own, since the task may be done twice."""
    local = f"{sent.folder}/{name}"
    stored = sent.depot.push(local, f"{local}-{secrets.token_hex(4)}")
    sent.depot.drop(local)
    return stored


def clear_sent(depot: Depot) -> None:
    """Remove all that travelled: the ranking is over, and there is one at a time."""
    for name in depot.objects.names(f"{SENT}/"):
        depot.objects.remove(name)
    for name in depot.copies(f"{SENT}/"):
        depot.drop(name)


def _sweep_of(name: str) -> int:
    """The number of the sweep that a file is of; -1 for what lasts."""
    kind, _, rest = name.partition("-")
    return int(rest.partition("-")[0]) if kind in OF_A_SWEEP else -1
