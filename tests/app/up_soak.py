"""``periplus up`` over sites that change, with visitors, for as long as you like: ``make soak-up``.

Twenty sites of the mock web: pages change, go and come while they are crawled. What ``up`` holds is looked at every ten
seconds: memory and handles of all its processes, files and bytes of its folder. The run prints a table, draws it
(``--plot FILE.svg``), and ends with 1 when a visitor got an error, a pause between two requests was broken, or
something grew in the second half by more than its bound. Files and their handles may grow as documents do: a page
that is gone is found for a day more.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager
from functools import partial
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench.scale.meter import anonymous, family

from mockweb.mock_web import MockWeb
from periplus.demo import Reply, Request, html

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

HOSTS, PAGES = 20, 100  # pages that a site has at any time
TURNOVER = 30.0  # seconds in which a site loses its oldest page and gets a new one
DELAY = 0.5  # seconds between two requests to a host
EVERY = 2.0  # seconds between two questions of a visitor
NAMES = {"memory MB": "memory", "handles": "handles", "files": "files"}
LOOK = 10.0  # seconds between two looks
WORDS = 5_000
MEMORY_FROM = 20.0  # minutes
GROWTH = {"memory MB": 0.10, "handles": 0.10, "files": 0.25}  # that the second half may add, as a share


class Look(NamedTuple):
    minute: float
    memory: float  # MB, anonymous, of all processes
    handles: int
    files: int
    disk: float  # MB
    documents: int


class Changing:
    """Sites whose pages change as time passes: page n of a site is there for as many turns as it has pages."""

    def __init__(
        self,
        web: MockWeb,
        hosts: int = HOSTS,
        pages: int = PAGES,
        turnover: float = TURNOVER,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._hosts, self._pages, self._turnover, self._clock = hosts, pages, turnover, clock
        self._began = clock()
        for number in range(hosts):
            web.robots(f"s{number}.test")
            web.host(f"s{number}.test", partial(self._page, number))

    @property
    def seeds(self) -> list[str]:
        return [f"http://s{number}.test/" for number in range(self._hosts)]

    def _turn(self) -> int:
        return int((self._clock() - self._began) / self._turnover)

    def _page(self, site: int, request: Request) -> Reply:
        turn, name = self._turn(), request.target.strip("/")
        if not name:
            links = "".join(f'<a href="/{page}">page {page}</a> ' for page in range(turn, turn + self._pages))
            return html(f"<title>Site {site}</title><p>{links}")
        if not name.isdecimal() or not turn <= int(name) < turn + self._pages:
            return Reply(404)
        page = int(name)
        edition = turn // (1 + page % 7)  # some change every turn, some every seventh
        chance = random.Random(f"{site} {page} {edition}")
        text = " ".join(f"word{int(chance.paretovariate(0.6)) % WORDS}" for _ in range(120))
        here = f'<a href="/{page + 1}">next</a> <a href="http://s{(site + page) % self._hosts}.test/">elsewhere</a>'
        return html(f"<title>Page {page} of site {site}</title><p>{text}</p><p>{here}")


class Visitors:
    """Each asks every two seconds, none what another asked before."""

    def __init__(self, port: int, number: int) -> None:
        self.took: list[float] = []
        self.errors: list[str] = []
        self._port, self._number = port, number
        self._texts = (f"word{one % WORDS} word{one * 7919 % 1_000_003 % WORDS} {one}" for one in count())
        self._ends, self._rests, self._under_way = threading.Event(), threading.Event(), 0
        self._thread = threading.Thread(target=lambda: asyncio.run(self._all()))

    def __enter__(self) -> Visitors:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ends.set()
        self._thread.join()

    @contextmanager
    def resting(self) -> Iterator[None]:
        """Nobody asks while the block lasts, nor waits for an answer."""
        self._rests.set()
        while self._under_way:
            time.sleep(0.001)
        yield
        self._rests.clear()

    async def _all(self) -> None:
        await asyncio.gather(*[self._one(EVERY * place / self._number) for place in range(self._number)])

    async def _one(self, first: float) -> None:
        due = time.monotonic() + first
        while not self._ends.is_set():
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            due += EVERY
            while self._rests.is_set():
                await asyncio.sleep(0.01)
            self._under_way += 1
            began = time.monotonic()
            try:
                status = await asyncio.wait_for(self._ask(next(self._texts)), 30)
            except (OSError, TimeoutError, ValueError) as error:
                status = repr(error)
            self._under_way -= 1
            self.took.append(1000 * (time.monotonic() - began))
            if status != "200":
                self.errors.append(status)

    async def _ask(self, text: str) -> str:
        reader, writer = await asyncio.open_connection("127.0.0.1", self._port)
        path = f"/api/v1/search?q={text.replace(' ', '+')}"
        writer.write(f"GET {path} HTTP/1.1\r\nHost: soak\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
        return answer[9:12].decode("ascii", "replace")


class Up:
    """The process that people would run."""

    def __init__(
        self, folder: Path, web: MockWeb, seeds: list[str], recrawl: float = 600.0, more: dict[str, str] | None = None
    ) -> None:
        """``more`` is of the environment of all processes."""
        self.folder, self._log = folder / "c", folder / "log"
        settings = {"RECRAWL_AFTER": str(recrawl), "ICONS": "false", "IP_DELAY": "0", "WORKERS": "1"}
        self.environment = os.environ | (more or {})
        environment = self.environment | {f"PERIPLUS_CRAWL_{name}": value for name, value in settings.items()}
        resolve = [word for one in web.resolve for word in ("--resolve", one)]
        command = [sys.executable, "-m", "periplus", "up", *seeds, "--dir", str(self.folder), "--port", "0"]
        with self._log.open("w") as told:
            self.process = subprocess.Popen(
                [*command, "--delay", str(DELAY), *resolve], env=environment, stdout=told, stderr=told
            )
        self.port = int(self._awaited(r"http://127\.0\.0\.1:(\d+)"))
        while not self._documents():  # until then there is nothing to search
            assert self.process.poll() is None, self._log.read_text()
            time.sleep(1)

    def _awaited(self, pattern: str) -> str:
        for _ in range(600):
            if found := re.search(pattern, self._log.read_text()):
                return found[1]
            assert self.process.poll() is None, self._log.read_text()
            time.sleep(0.1)
        raise SystemExit(f"up said nothing of {pattern}: {self._log.read_text()}")

    def look(self, minute: float) -> Look:
        found = [path for path in self.folder.rglob("*") if path.is_file()]
        return Look(
            minute,
            anonymous(self.process.pid) / 1e6,
            sum(_handles(one) for one in family(self.process.pid)),
            len(found),
            sum(_size(path) for path in found) / 1e6,
            self._documents(),
        )

    def _documents(self) -> int:
        command = [sys.executable, "-m", "periplus", "status", "--dir", str(self.folder), "--json"]
        told = subprocess.run(command, capture_output=True, text=True, check=False, env=self.environment).stdout
        index = json.loads(told).get("index") if told else None
        return int(index["documents"]) if index else 0

    def stop(self) -> int:
        self.process.send_signal(signal.SIGINT)
        return self.process.wait(120)

    @property
    def said(self) -> str:
        return self._log.read_text()


def _handles(process: int) -> int:
    try:
        return len([*Path(f"/proc/{process}/fd").iterdir()])
    except OSError:  # it has ended
        return 0


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:  # removed meanwhile
        return 0


def grown(looks: Sequence[NamedTuple], names: dict[str, str]) -> dict[str, float]:
    """What the last quarter has more than the second one, by medians, of fields by what they are called."""
    quarter = len(looks) // 4
    return {
        told: _median(looks[-quarter:], name) / max(1.0, _median(looks[quarter : 2 * quarter], name)) - 1
        for told, name in names.items()
    }


def too_much(looks: Sequence[NamedTuple], more: dict[str, float], minutes: float) -> list[str]:
    """What grew by more than its bound; memory is judged once the caches of a server had time to fill."""
    documents = grown(looks, {"documents": "documents"})["documents"]
    bounds = {name: bound if name == "memory MB" else max(bound, documents) for name, bound in GROWTH.items()}
    judged = {name: share for name, share in more.items() if name != "memory MB" or minutes >= MEMORY_FROM}
    return [f"{name} grew by {share:.0%}" for name, share in judged.items() if share > bounds[name]]


def _median(looks: Sequence[NamedTuple], name: str) -> float:
    values = sorted(getattr(look, name) for look in looks)
    return float(values[len(values) // 2])


def table(looks: list[Look]) -> str:
    lines = ["| minute | memory MB | handles | files | disk MB | documents |", "|--:|--:|--:|--:|--:|--:|"]
    lines += [
        f"| {one.minute:.0f} | {one.memory:.0f} | {one.handles} | {one.files} | {one.disk:.0f} | {one.documents} |"
        for one in looks[:: max(1, len(looks) // 12)]
    ]
    return "\n".join(lines) + "\n"


def plot(looks: Sequence[NamedTuple]) -> str:
    """A strip for each figure but the first, which is the time, in the unit that its name is."""
    width, strip = 720, 90
    parts = []
    unit, *names = looks[0]._fields
    for place, name in enumerate(names):
        values = [float(getattr(look, name)) for look in looks]
        most, last = max(*values, 1.0), max(getattr(look, unit) for look in looks)
        floor, high = strip * (place + 1) - 15, strip - 35
        points = " ".join(
            f"{60 + (width - 80) * getattr(look, unit) / last:.1f},{floor - high * value / most:.1f}"
            for look, value in zip(looks, values, strict=True)
        )
        parts.append(f'<polyline fill="none" stroke="#2563eb" stroke-width="1.5" points="{points}"/>')
        parts.append(f'<text x="60" y="{strip * place + 14}">{name}, up to {most:,.0f}</text>')
    foot = f'<text x="60" y="{strip * len(names) + 12}">{unit}s, 0 to {last:.0f}</text>'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {strip * len(names) + 20}"'
        f' font-family="sans-serif" font-size="12">'
        f'<rect width="100%" height="100%" fill="white"/>{"".join(parts)}{foot}</svg>\n'
    )


def soak(folder: Path, minutes: float, visitors: int) -> tuple[list[Look], Visitors, list[str]]:
    with MockWeb() as web:
        up = Up(folder, web, Changing(web).seeds)
        looks, began = [], time.monotonic()
        try:
            with Visitors(up.port, visitors) as asking:
                while (passed := time.monotonic() - began) < 60 * minutes:
                    looks.append(up.look(passed / 60))
                    time.sleep(LOOK)
        finally:
            code = up.stop()
        gaps = [gap for number in range(HOSTS) for gap in web.gaps(f"s{number}.test")]
    wrong = [f"{len(asking.errors)} errors, the first {asking.errors[0]}"] if asking.errors else []
    wrong += [f"a pause of {min(gaps):.2f} s instead of {DELAY}"] if min(gaps) < DELAY * 0.98 else []
    wrong += [f"up ended with {code}: {up.said}"] if code else []
    wrong += ["a traceback in what it said"] if "Traceback" in up.said else []
    return looks, asking, wrong


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--visitors", type=int, default=20)
    parser.add_argument("--plot", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        looks, asking, wrong = soak(Path(folder), options.minutes, options.visitors)
    more = grown(looks, NAMES)
    wrong += too_much(looks, more, options.minutes)
    sys.stdout.write(table(looks))
    took = sorted(asking.took)
    shares = ", ".join(f"p{int(100 * at)} {took[int(at * (len(took) - 1))]:.0f} ms" for at in (0.5, 0.95, 0.99))
    more_told = ", ".join(f"{name} {share:+.0%}" for name, share in more.items())
    sys.stdout.write(
        f"\n{len(took)} searches by {options.visitors} visitors, {len(asking.errors)} errors: {shares}\n"
        f"last quarter against the second: {more_told}\n"
    )
    if options.plot:
        options.plot.write_text(plot(looks), encoding="utf-8")
    if wrong:
        raise SystemExit("; ".join(wrong))


if __name__ == "__main__":
    main()
