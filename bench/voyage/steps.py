"""One step of a voyage in a process of its own, with what it took; a step that is done is kept and not done again."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from periplus import documents

if TYPE_CHECKING:
    from collections.abc import Callable

TICKS = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
DONE, SAMPLES, SAID = "steps.jsonl", "samples.jsonl", "said"
SAMPLE_SECONDS = 2.0


class Step(NamedTuple):
    name: str
    wall: float
    cpu: float  # seconds, of all processes of the step
    megabytes: float  # the largest process, with what it maps of files
    disk: float  # megabytes of the collection afterwards
    load: float  # of the machine while it went on: the mean of its running processes, ours included
    figure: str
    own: float = 0.0  # megabytes of all its processes without mapped files, at most


class Sample(NamedTuple):
    """The processes of a step while it goes on."""

    step: str
    at: float  # seconds since it began
    cpu: float
    megabytes: float  # resident, of all of them
    load: float
    figure: str  # what the step says of itself so far
    own: float = 0.0  # megabytes that are no mapped files


def steps_done(base: Path) -> list[Step]:
    path = base / DONE
    return [Step(*json.loads(line)) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def samples(base: Path) -> list[Sample]:
    path = base / SAMPLES
    return [Sample(*json.loads(line)) for line in path.read_text("utf-8").splitlines()] if path.exists() else []


def stepped(name: str, base: Path, work: Callable[[], str], so_far: Callable[[], str] = str) -> Step:
    """Do one step, or tell what it took when it was done before; ``so_far`` is asked while it goes on."""
    before = {one.name: one for one in steps_done(base)}
    if name in before:
        return before[name]
    print(f"{name} …", file=sys.stderr, flush=True)
    began = time.perf_counter()
    child = os.fork()
    if not child:
        _work(name, base, work)
    watch = _Watch(name, child, base / SAMPLES, so_far)
    _, status, used = os.wait4(child, 0)
    load, own = watch.end()
    if status:
        raise SystemExit(f"{name} failed: {(base / f'{name}.log').read_text()[-2000:]}")
    figure = (base / SAID).read_text(encoding="utf-8")
    cpu = used.ru_utime + used.ru_stime
    done = Step(name, time.perf_counter() - began, cpu, used.ru_maxrss / 1000, _disk(base), load, figure, own)
    _append(base / DONE, done)
    print(f"{name}: {done}", file=sys.stderr, flush=True)
    return done


def _work(name: str, base: Path, work: Callable[[], str]) -> None:
    """The child's life."""
    os.dup2(os.open(base / f"{name}.log", os.O_WRONLY | os.O_CREAT), 2)
    code = 1
    try:
        (base / SAID).write_text(work(), encoding="utf-8")
        documents.apart._READERS.close()
        code = 0
    except BaseException:  # noqa: BLE001 - the log says what it was
        traceback.print_exc()
    finally:
        os._exit(code)


class _Watch:
    """Looks at a process and its children every few seconds."""

    def __init__(self, name: str, process: int, path: Path, so_far: Callable[[], str]) -> None:
        self._name = name
        self._process = process
        self._path = path
        self._so_far = so_far
        self._loads = [os.getloadavg()[0]]
        self._own = 0.0
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)
        self._thread.start()

    def end(self) -> tuple[float, float]:
        """Stop looking; the mean load of the machine meanwhile, and the most memory that the processes had."""
        self._over.set()
        self._thread.join()
        return sum(self._loads) / len(self._loads), self._own

    def _look(self) -> None:
        began = time.perf_counter()
        while not self._over.wait(SAMPLE_SECONDS):
            seen = [_used(one) for one in _family(self._process)]
            cpu, size, own = (sum(column) for column in zip(*seen, strict=True))
            self._own = max(self._own, own)
            self._loads.append(os.getloadavg()[0])
            at = time.perf_counter() - began
            _append(self._path, Sample(self._name, at, cpu, size, self._loads[-1], self._so_far(), own))


def _family(process: int) -> list[int]:
    """A process, and those that it started."""
    try:
        text = Path(f"/proc/{process}/task/{process}/children").read_text("ascii")
    except OSError:
        return [process]
    return [process, *(one for child in text.split() for one in _family(int(child)))]


def _used(process: int) -> tuple[float, float, float]:
    """Seconds of the processor of a process and its ended children; its resident megabytes, and those not of files."""
    try:
        fields = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()
        _, resident, of_files, *_ = map(int, Path(f"/proc/{process}/statm").read_text("ascii").split())
    except (OSError, IndexError):
        return 0.0, 0.0, 0.0
    megabytes = PAGE_BYTES / 1e6
    return sum(map(int, fields[11:15])) / TICKS, resident * megabytes, (resident - of_files) * megabytes


def _disk(base: Path) -> float:
    return sum(path.stat().st_size for path in (base / "collection").rglob("*") if path.is_file()) / 1e6


def _append(path: Path, row: Step | Sample) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(row) + "\n")
