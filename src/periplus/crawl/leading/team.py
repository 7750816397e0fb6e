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
from periplus.crawl.asking import control
from periplus.crawl.frontier import roster
from periplus.crawl.frontier.partitions import lease_seconds
from periplus.crawl.working.worker import LOST, WorkerTask, open_workers_lock
from periplus.errors import PeriplusError, StorageBusy, StorageError
from periplus.storage import write_event

if TYPE_CHECKING:
    from pathlib import Path

    from periplus.crawl.leading.undertaker import Undertaker
    from periplus.settings import Settings
    from periplus.storage import Database, Depot

PATIENCE = 15.0  # seconds for workers of a crawl that died to notice it
STOP_SECONDS = 30.0  # beyond a request's time limit: then a worker that should stop is ended
MOST_DEATHS = 20  # of workers in one crawl that are made good
PAUSE = 0.02


class Hand(Struct):
    """A worker's process."""

    number: int
    process: subprocess.Popen[str]


class WorkerTeam:
    """Belongs to a session of the crawl; ``look`` must be called now and then, from any one thread."""

    def __init__(
        self,
        folder: Path,
        database: Database,
        settings: Settings,
        crawl: int,
        undertaker: Undertaker,
        depot: Depot | None = None,
    ) -> None:
        self._files = depot.objects.address if depot is not None else ""
        self._folder = folder
        self._database = database
        self._settings = settings
        self._crawl = crawl
        self._undertaker = undertaker
        self._hands: list[Hand] = []
        self._is_stopped = False
        self._shut: set[int] = set()  # that were told to leave for good
        self._deaths = 0
        self.wanted = 0
        self.fewer = 0  # of those wanted: they were shut down by order

    @property
    def size(self) -> int:
        return len(self._hands)

    def stop(self) -> None:
        """Let all of them end their requests and leave."""
        if self._is_stopped:
            return
        self._is_stopped = True
        self._dismiss(self._hands)

    def look(self) -> None:
        """Make good for workers that died, here or elsewhere, and let as many work as are wanted."""
        ended = [hand for hand in self._hands if hand.process.poll() is not None]
        self._hands = [hand for hand in self._hands if hand not in ended]
        lost = self._undertaker.look([hand.number for hand in ended if hand.process.returncode])
        for number in set(lost) - {hand.number for hand in ended}:
            self._tell(f"worker {number} is lost: it stopped renewing its lease", "warning")
        for hand in ended:
            self._bury(hand)
        if self._is_stopped:
            return
        most = max(0, self.wanted - self.fewer)
        while len(self._hands) < most:
            self._hands.append(self._start())
        self._dismiss(self._hands[most:])

    def close(self) -> None:
        """Stop all of them, and wait until everything they did is committed."""
        self.stop()
        limit = time.monotonic() + self._settings.crawl.timeout + STOP_SECONDS
        while self._hands:
            self.look()
            if time.monotonic() > limit:
                for hand in self._hands:
                    hand.process.kill()
            time.sleep(PAUSE)

    def _dismiss(self, hands: list[Hand]) -> None:
        new = [hand.number for hand in hands if hand.number not in self._shut]
        self._shut.update(new)
        if new:
            with self._database.write() as tx:
                for number in new:
                    control.order_worker(tx, number, "stop")

    def _start(self) -> Hand:
        number, lease = roster.register(self._database, lease_seconds(self._settings.crawl.timeout))
        address = database_address(self._database)
        task = WorkerTask(str(self._folder), address, self._settings, self._crawl, number, lease, self._files)
        try:
            process = subprocess.Popen(
                [sys.executable, "-m", "periplus.crawl.working.worker"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1,
            )  # fmt: skip
        except OSError as error:
            raise StorageError(f"a worker cannot be started: {error.strerror}; try --workers 1") from error
        self._tell(f"worker {number} joins")
        assert process.stdin is not None
        with contextlib.suppress(OSError):  # it is dead: the next look finds out
            process.stdin.write(msgspec.json.encode(task).decode() + "\n")
            process.stdin.flush()
        return Hand(number, process)

    def _tell(self, text: str, level: str = "info") -> None:
        with self._database.write() as tx:
            write_event(tx, "crawl", text, level)

    def _bury(self, hand: Hand) -> None:
        """Say how a worker ended; what it left undone has been done for it."""
        message = hand.process.stdout.read() if hand.process.stdout else ""
        for pipe in (hand.process.stdin, hand.process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        if hand.process.returncode == 0:
            self._tell(f"worker {hand.number} has left")
            self.fewer += control.was_shut_down(self._database, hand.number)
            return
        self._deaths += 1
        code = hand.process.returncode
        how = " ".join(message.split()) or ("its lease went to others" if code == LOST else f"ended with code {code}")
        self._tell(f"worker {hand.number} is lost: {how}", "warning")
        if message:
            raise _error(message)
        if self._deaths > MOST_DEATHS:
            raise StorageError(f"{self._deaths} workers died; look for what ends them (memory?), or use --workers 1")


def wait_for_old_workers(folder: Path) -> None:
    """Workers of a crawl that was killed end by themselves; nothing may begin before they have."""
    limit = time.monotonic() + PATIENCE
    with open_workers_lock(folder) as file:
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


def _error(message: str) -> PeriplusError:
    """What a worker said before it ended, as the error that it was."""
    name, _, text = message.strip().partition(": ")
    kind = getattr(errors, name, StorageError)
    known = isinstance(kind, type) and issubclass(kind, PeriplusError) and kind is not errors.FetchError
    return kind(text) if known else StorageError(message.strip())
