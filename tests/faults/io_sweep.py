"""Errors at every change of the disk in turn: of a crawl, an index update, a ranking and a takedown.

Each operation is done once to count its changes (writes, flushes, new names), then from the same beginning for each of
them, which fails: an error once (``eio``), no room from then on (``full``), half a write (``short``). After each:

- the process ended by itself, with its work done or with one of ``periplus.errors``;
- every address that counts as fetched has its record in the archive;
- searches give the answers of before or of after, and nothing in between;
- the next run ends as one on a sound disk does: the same rows, documents and answers;
- the doctor and the audit of the journal find nothing.

``make soak-io`` does all of them (``--write`` puts the table into docs/reliability.md); the suite some of each.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

TESTS = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(TESTS))

from faults import io_world  # noqa: E402
from faults.failing_disk import MODES, FailingDisk, environment  # noqa: E402
from mockweb.mock_web import MockWeb  # noqa: E402
from periplus import documents  # noqa: E402
from periplus.errors import PeriplusError  # noqa: E402
from periplus.records import Page  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LONGEST = 90  # seconds of one trial, or of looking at what it left
LOADED = (
    "pyarrow.parquet", "pyarrow.compute", "periplus.crawl.leading.session", "periplus.crawl.working.worker",
    "periplus.search", "periplus.graph", "periplus.index", "periplus.jobs.pipeline", "periplus.app.doctor",
    "periplus.core",
)  # fmt: skip
PAGE = TESTS.parent / "docs" / "reliability.md"
MARK = "<!-- io-sweep -->"
HEAD = (
    "| operation | changes of the disk | failures tried | work done all the same | ended with one line"
    " | wrong afterwards | next run and looking, s (median, longest) |"
)


class Trial(NamedTuple):
    """One failure and what came of it; ``wrong`` is empty when all holds."""

    operation: str
    mode: str
    call: int
    where: str
    outcome: str  # "done", or the name of the error
    wrong: str
    recovery: float  # seconds of the next run


# One process, under the failing disk


class Child(NamedTuple):
    """How a forked process ended."""

    value: Any
    error: str
    is_own: bool  # an error of ours


def forked(work: Callable[[], Any]) -> Child:
    """Do ``work`` in a process of its own, so that what a failure leaves in memory ends with it."""
    reading, writing = os.pipe()
    child = os.fork()
    if not child:
        os.close(reading)
        signal.alarm(LONGEST)
        said: tuple[Any, str, bool]
        try:
            said = (work(), "", True)
        except PeriplusError as error:
            said = (None, f"{type(error).__name__}: {error}", True)
        except BaseException as error:  # noqa: BLE001 - an outcome like any other
            said = (None, f"{type(error).__name__}: {error}\n{traceback.format_exc()}", False)
        os.write(writing, json.dumps(said).encode()[:60_000])
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as pipe:
        text = pipe.read()
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status) or not text:
        return Child(None, f"ended by signal {os.WTERMSIG(status)}", is_own=False)
    return Child(*json.loads(text))


class Sweep:
    """The trials of one operation; runs where the failing disk is loaded."""

    def __init__(self, folder: Path, operation: str, resolve: str, only: str = "") -> None:
        self.disk = FailingDisk()
        self.only = only
        self.operation = operation
        self.resolve = resolve
        self.base, self.trial = folder / f"{operation}-base", folder / f"{operation}-trial"
        self.before, self.after, self.final, self.calls = self._rehearse()

    def _rehearse(self) -> tuple[Any, Any, Any, int]:
        operation, base, resolve = self.operation, self.base, self.resolve
        sound(forked(lambda: io_world.prepare(operation, base, resolve)))
        before = sound(forked(lambda: io_world.answers(base)))
        trial = io_world.copied(base, self.trial)
        self.disk.arm(trial, 0, only=self.only)
        sound(forked(lambda: io_world.work(operation, trial, resolve)))
        calls = self.disk.calls
        self.disk.disarm()
        after = sound(forked(lambda: io_world.answers(trial)))
        sound(forked(lambda: io_world.finish(operation, trial, resolve)))
        return before, after, sound(forked(lambda: io_world.picture(trial))), calls

    def run(self, call: int, mode: str) -> Trial:
        trial = io_world.copied(self.base, self.trial)
        self.disk.arm(trial, call, mode, self.only)
        done = forked(lambda: io_world.work(self.operation, trial, self.resolve))
        where = self.disk.where if self.disk.failures else ""
        self.disk.disarm()
        wrong = "" if done.is_own else f"an error that is none of ours: {done.error}"
        began = time.perf_counter()
        wrong = wrong or self._looked_at(acknowledged=not done.error)
        seconds = round(time.perf_counter() - began, 2)
        return Trial(self.operation, mode, call, where, done.error.partition(":")[0] or "done", wrong, seconds)

    def _looked_at(self, *, acknowledged: bool) -> str:
        """What is wrong after a failure; ``acknowledged``: the operation said that it was done."""
        trial = self.trial
        kept = forked(lambda: io_world.acknowledged(trial))
        if kept.error:
            return f"the archive lacks what was acknowledged: {kept.error}"
        found = forked(lambda: io_world.answers(trial))
        if found.error:
            return f"searches fail: {found.error}"
        wanted = (self.after,) if acknowledged else (self.before, self.after)
        if found.value not in wanted:
            return f"searches give neither what was before nor what is after: {found.value}"
        finished = forked(lambda: io_world.finish(self.operation, trial, self.resolve))
        if finished.error:
            return f"the next run fails: {finished.error}"
        final = forked(lambda: io_world.picture(trial))
        if final.value != self.final:
            return f"the next run ends elsewhere: {final.error or different(self.final, final.value)}"
        faults = forked(lambda: io_world.faults(trial))
        return str(faults.error or faults.value or "")


def sound(child: Child) -> Any:
    if child.error:
        raise RuntimeError(child.error)
    return child.value


def different(wanted: dict[str, Any], found: dict[str, Any]) -> str:
    return "; ".join(f"{name}: {wanted[name]} became {found[name]}" for name in wanted if wanted[name] != found[name])


def inner(folder: Path, operation: str, resolve: str, points: int, only: str = "") -> None:
    """The process under the failing disk: a line of JSON for each trial."""
    for module in LOADED:  # once, and not by every process that is forked from this one
        importlib.import_module(module)
    documents.parse(Page("http://warm.test/", b"<p>A first page, so that the next ones need not wait.", "text/html"))
    sweep = Sweep(folder, operation, resolve, only)
    print(json.dumps({"calls": sweep.calls}), flush=True)
    for call, mode in chosen(sweep.calls, points):
        print(json.dumps(sweep.run(call, mode)._asdict()), flush=True)


def chosen(calls: int, points: int) -> Iterator[tuple[int, str]]:
    """Every call in every mode; with ``points``, so many calls spread over all, the modes in turn."""
    modes = list(MODES)
    if not points:
        yield from ((call, mode) for call in range(1, calls + 1) for mode in modes)
        return
    for number in range(points):
        yield 1 + round(number * (calls - 1) / max(1, points - 1)), modes[number % len(modes)]


# The process that starts it, and plays the web


def sweep(folder: Path, operation: str, points: int = 0, only: str = "") -> Iterator[Trial | int]:
    """The number of calls, then each trial; ``only``: of calls on files that hold this text."""
    with MockWeb() as web:
        io_world.lay_out(web)
        command = [sys.executable, __file__, "--inner", str(folder), "--only", operation]
        command += ["--resolve", web.resolve[0], "--points", str(points), "--at", only]
        given = os.environ | environment(folder)
        with subprocess.Popen(command, env=given, stdout=subprocess.PIPE, text=True) as process:
            for line in process.stdout or ():
                said = json.loads(line)
                yield said["calls"] if "calls" in said else Trial(**said)
        code = process.returncode
        if code:
            raise RuntimeError(f"the sweep of {operation} ended with {code}")


def table(trials: dict[str, list[Trial]], calls: dict[str, int]) -> list[str]:
    rows = [HEAD, "|---|--:|--:|--:|--:|--:|--:|"]
    for operation, done in trials.items():
        if not done:  # it changes nothing of what was asked for
            continue
        seconds = sorted(trial.recovery for trial in done)
        outcomes = Counter(trial.outcome == "done" for trial in done)
        wrong = sum(bool(trial.wrong) for trial in done)
        times = f"{seconds[len(seconds) // 2]:.1f}, {seconds[-1]:.1f}"
        row = (operation, calls[operation], len(done), outcomes[True], outcomes[False], wrong, times)
        rows.append(f"| {' | '.join(map(str, row))} |")
    return rows


def write_table(rows: list[str], arguments: str) -> None:
    """The table in its place, with the command that made it."""
    rows = [f'`make soak-io ARGS="{arguments}"`:', "", *rows]
    head, _, rest = PAGE.read_text(encoding="utf-8").partition(MARK)
    tail = rest.partition(MARK)[2]
    PAGE.write_text(f"{head}{MARK}\n" + "\n".join(rows) + f"\n{MARK}{tail}", encoding="utf-8")


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", choices=io_world.OPERATIONS, action="append")
    parser.add_argument("--points", type=int, default=0, help="so many failures of each operation; 0: all of them")
    parser.add_argument("--at", default="", help='calls and files with this text only: "fsync archive/"')
    parser.add_argument("--write", action="store_true", help="put the table into docs/reliability.md")
    parser.add_argument("--inner", help=argparse.SUPPRESS)
    parser.add_argument("--resolve", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.inner:
        inner(Path(given.inner), given.only[0], given.resolve, given.points, given.at)
        return 0
    trials: dict[str, list[Trial]] = {}
    calls: dict[str, int] = {}
    for operation in given.only or io_world.OPERATIONS:
        with tempfile.TemporaryDirectory() as folder:
            trials[operation] = []
            for said in sweep(Path(folder), operation, given.points, given.at):
                if isinstance(said, int):
                    calls[operation] = said
                    print(f"{operation}: {said} changes", file=sys.stderr, flush=True)
                    continue
                trials[operation].append(said)
                print(f"{said.call}:{said.mode} {said.where}: {said.outcome}", file=sys.stderr, flush=True)
                if said.wrong:
                    print(f"WRONG {said}", flush=True)
    rows = table(trials, calls)
    print("\n".join(rows))
    if given.write:
        write_table(rows, " ".join(sys.argv[1:]))
    return int(any(trial.wrong for done in trials.values() for trial in done))


if __name__ == "__main__":
    sys.exit(main())
