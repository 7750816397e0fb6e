"""The further workers of a crawl, each a process of its own: started, told what to do, replaced when they die."""

from __future__ import annotations

import contextlib
import fcntl
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import msgspec
from msgspec import Struct

from periplus import errors
from periplus.crawl import roster
from periplus.crawl.recovery import Recovery
from periplus.crawl.worker import LOST, WORKERS_LOCK, Worker, WorkerTask
from periplus.errors import PeriplusError, StorageBusy, StorageError
from periplus.storage import write_event

if TYPE_CHECKING:
    from pathlib import Path

    from periplus.settings import Settings
    from periplus.storage import Database

PATIENCE = 15.0  # seconds for workers of a crawl that died to notice it
STOP_SECONDS = 30.0  # beyond a request's time limit: then a worker that should stop is ended
MOST_DEATHS = 20  # of workers in one crawl that are made good
PAUSE = 0.02


class Hand(Struct):
    """A worker's process."""

    number: int
    process: subprocess.Popen[str]


class WorkerTeam:
    """Belongs to the crawl's own process; ``look`` must be called now and then, from any one thread."""

    def __init__(self, folder: Path, database: Database, settings: Settings, crawl: int) -> None:
        self._folder = folder
        self._database = database
        self._settings = settings
        self._crawl = crawl
        self._hands: list[Hand] = []
        self._command = ""
        self._deaths = 0
        self.wanted = 0

    @property
    def size(self) -> int:
        return len(self._hands)

    def order(self, command: str) -> None:
        """Tell all workers; those that come later hear it too."""
        if self._command in (command, "stop"):
            return
        self._command = command
        for hand in self._hands:
            _tell(hand, command)

    def dismiss(self, number: int) -> bool:
        """Let one worker end its requests and leave; ``look`` replaces it while it is wanted."""
        for hand in self._hands:
            if hand.number == number:
                _tell(hand, "stop")
                return True
        return False

    def look(self) -> None:
        """Make good for those that died, and let as many work as are wanted."""
        for hand in [hand for hand in self._hands if hand.process.poll() is not None]:
            self._hands.remove(hand)
            self._bury(hand)
        if self._command == "stop":
            return
        while len(self._hands) < self.wanted:
            self._hands.append(self._start())
        for hand in self._hands[self.wanted :]:
            _tell(hand, "stop")

    def close(self) -> None:
        """Stop all of them, and wait until everything they did is committed."""
        self.order("stop")
        limit = time.monotonic() + self._settings.crawl.timeout + STOP_SECONDS
        while self._hands:
            self.look()
            if time.monotonic() > limit:
                for hand in self._hands:
                    hand.process.kill()
            time.sleep(PAUSE)

    def _start(self) -> Hand:
        number = roster.register(self._database)
        task = WorkerTask(str(self._folder), database_address(self._database), self._settings, self._crawl, number)
        try:
            process = subprocess.Popen(
                [sys.executable, "-m", "periplus.crawl.worker"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
            )  # fmt: skip
        except OSError as error:
            raise StorageError(f"a worker cannot be started: {error.strerror}; try --workers 1") from error
        hand = Hand(number, process)
        self._tell(f"worker {number} joins")
        _tell(hand, msgspec.json.encode(task).decode())
        if self._command:
            _tell(hand, self._command)
        return hand

    def _tell(self, text: str, level: str = "info") -> None:
        with self._database.write() as tx:
            write_event(tx, "crawl", text, level)

    def _bury(self, hand: Hand) -> None:
        """What a worker left undone is done for it, before its hosts go to others."""
        message = hand.process.stdout.read() if hand.process.stdout else ""
        for pipe in (hand.process.stdin, hand.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        if hand.process.returncode == 0:
            self._tell(f"worker {hand.number} has left")
            return
        kit = Worker(self._folder, self._database, self._settings)
        recovery = Recovery(self._folder, self._database, self._settings.crawl, kit.frontier, kit.interpreter)
        recovery.heal(hand.number, self._crawl)
        self._deaths += 1
        code = hand.process.returncode
        how = " ".join(message.split()) or ("its leases went to others" if code == LOST else f"ended with code {code}")
        self._tell(f"worker {hand.number} is lost: {how}", "warning")
        if message:
            raise _error(message)
        if self._deaths > MOST_DEATHS:
            raise StorageError(f"{self._deaths} workers died; look for what ends them (memory?), or use --workers 1")


def wait_for_old_workers(folder: Path) -> None:
    """Workers of a crawl that was killed end by themselves; nothing may begin before they have."""
    folder.mkdir(parents=True, exist_ok=True)
    limit = time.monotonic() + PATIENCE
    with (folder / WORKERS_LOCK).open("ab") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > limit:
                    raise StorageBusy(f"a worker of an earlier crawl of {folder} is still running; end it") from None
                time.sleep(PAUSE)
            else:
                return


def database_address(database: Database) -> str:
    """By which another process opens the same database."""
    backend = database.backend
    return str(getattr(backend, "address", "") or getattr(backend, "path", ""))


def _tell(hand: Hand, line: str) -> None:
    assert hand.process.stdin is not None
    with contextlib.suppress(OSError):  # it is dead: the next look finds out
        hand.process.stdin.write(line + "\n")
        hand.process.stdin.flush()


def _error(message: str) -> PeriplusError:
    """What a worker said before it ended, as the error that it was."""
    name, _, text = message.strip().partition(": ")
    kind = getattr(errors, name, StorageError)
    known = isinstance(kind, type) and issubclass(kind, PeriplusError) and kind is not errors.FetchError
    return kind(text) if known else StorageError(message.strip())
