"""``make voyage``: a generated web crawled at delay 0, parsed, indexed, ranked and searched on this machine.

For each step: wall and processor time of all its processes, the largest process, what is on the disk afterwards. Then
the yield: of all requests for pages, how many became findable documents, and why the others did not, by kind of host.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from bench.voyage.web import Web

from periplus import Collection, documents

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "scale.md"
MARK = "<!-- voyage -->"
PAGES, HOSTS_A_PAGE = 500_000, 0.01
QUERIES = 500
REQUESTS = "SELECT host, COUNT(*) FROM journal WHERE url NOT LIKE '%/robots.txt' GROUP BY host"


class Step(NamedTuple):
    name: str
    wall: float
    cpu: float
    megabytes: float  # the largest process
    disk: float  # megabytes of the collection afterwards
    figure: str


def stepped(name: str, folder: Path, work: Callable[[], str]) -> Step:
    """Do one step in a process of its own."""
    print(f"{name} …", file=sys.stderr, flush=True)
    said = folder.parent / "said"
    began = time.perf_counter()
    child = os.fork()
    if not child:
        os.dup2(os.open(folder.parent / f"{name}.log", os.O_WRONLY | os.O_CREAT), 2)
        code = 1
        try:
            said.write_text(work(), encoding="utf-8")
            documents.apart._READERS.close()
            code = 0
        except BaseException:  # noqa: BLE001 - the log says what it was
            traceback.print_exc()
        finally:
            os._exit(code)
    _, status, used = os.wait4(child, 0)
    if status:
        raise SystemExit(f"{name} failed: {(folder.parent / f'{name}.log').read_text()[-2000:]}")
    wall = time.perf_counter() - began
    disk = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file()) / 1e6
    done = Step(
        name, wall, used.ru_utime + used.ru_stime, used.ru_maxrss / 1000, disk, said.read_text(encoding="utf-8")
    )
    print(f"{name}: {done}", file=sys.stderr, flush=True)
    return done


def crawl(folder: Path, port: int, pages: int, workers: int) -> str:
    with Collection(folder) as made:
        done = made.crawl(
            [f"http://h{number}.test/" for number in range(20)], max_pages=pages, scope="any", delay=0.0, ip_delay=0.0,
            workers=workers, concurrency=64, resolve=[f"*.test=127.0.0.1:{port}"], icons=False, retries=1, timeout=20.0,
        )  # fmt: skip
        return f"{done.pages} pages"


def index(folder: Path) -> str:
    with Collection(folder) as made:
        return f"{made.index().documents} documents"


def rank(folder: Path) -> str:
    with Collection(folder) as made:
        done = made.rank()
        return f"{done.pages} pages, {done.links} links, {done.iterations} iterations"


def search(folder: Path) -> str:
    """Two words of documents that are there, as a reader would type them."""
    chance, times, found = random.Random(3), [], 0
    with Collection(folder) as made:
        titles = [document.title.split() for document, _ in zip(made.documents(), range(5_000), strict=False)]
        queries = [" ".join(chance.sample(words, 2)) for words in titles if len(words) > 3][:QUERIES]
        made.search(queries[0])
        for query in queries:
            began = time.perf_counter()
            found += bool(made.search(query).results)
            times.append((time.perf_counter() - began) * 1000)
    times.sort()
    return (
        f"{len(times)} queries, {found} with results; p50 {times[len(times) // 2]:.1f} ms, "
        f"p99 {times[len(times) * 99 // 100]:.1f} ms"
    )


def yields(folder: Path, web: Web) -> list[str]:
    """Requests and findable documents by kind of host, with what became of the rest."""
    with Collection(folder) as made, made.database.read() as tx:
        asked = Counter(dict(tx.rows(REQUESTS)))
        rows = tx.rows(
            "SELECT hosts.name, urls.state, urls.reason, urls.refusal, urls.same_as, COUNT(*) FROM urls JOIN hosts ON"
            " hosts.key = urls.host WHERE urls.tried_at > 0 GROUP BY 1, 2, 3, 4, 5"
        )
    findable: Counter[str] = Counter()
    lost: dict[str, Counter[str]] = {}
    for name, state, reason, refusal, same_as, count in rows:
        kind = web.host_kind(int(name.split(".")[0][1:]))
        if state == 1 and not refusal and not same_as:
            findable[name] += count
        else:
            lost.setdefault(kind, Counter())["duplicate" if same_as else refusal or reason] += count
    return _yield_table(asked, findable, lost, web)


def _yield_table(asked: Counter[str], findable: Counter[str], lost: dict[str, Counter[str]], web: Web) -> list[str]:
    kinds: dict[str, list[str]] = {}
    for name in asked:
        kinds.setdefault(web.host_kind(int(name.split(".")[0][1:])), []).append(name)
    lines = ["| hosts | how many | requests | findable | yield, all | yield of a host, p10 / median | why not |"]
    lines.append("|---|--:|--:|--:|--:|--:|---|")
    for kind, names in sorted(kinds.items(), key=lambda one: -len(one[1])):
        requests, found = sum(asked[name] for name in names), sum(findable[name] for name in names)
        shares = sorted(findable[name] / asked[name] for name in names)
        why = ", ".join(f"{reason} {count:,}" for reason, count in lost.get(kind, Counter()).most_common(5))
        spread = f"{shares[len(shares) // 10]:.0%} / {statistics.median(shares):.0%}"
        lines.append(
            f"| {kind} | {len(names):,} | {requests:,} | {found:,} | {found / requests:.0%} | {spread} | {why} |"
        )
    return lines


def table(steps: list[Step]) -> list[str]:
    lines = ["| step | wall, s | CPU, s | largest process, MB | disk afterwards, MB | |", "|---|--:|--:|--:|--:|---|"]
    numbers = ([f"{number:,.0f}" for number in (one.wall, one.cpu, one.megabytes, one.disk)] for one in steps)
    return lines + [
        f"| {one.name} | {' | '.join(row)} | {one.figure} |" for one, row in zip(steps, numbers, strict=True)
    ]


@contextlib.contextmanager
def served(passages: Path, pages: int, hosts: int) -> Iterator[int]:
    command = [sys.executable, "-m", "bench.voyage.web", "--passages", str(passages)]
    command += ["--pages", str(pages), "--hosts", str(hosts)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            yield int(process.stdout.readline())
        finally:
            process.stdin.close()


def voyage(given: argparse.Namespace, base: Path) -> list[str]:
    hosts = given.hosts or max(50, int(given.pages * HOSTS_A_PAGE))
    folder = base / "collection"
    Collection(folder).create("[index]\nworkers = 1\n").close()
    with served(given.passages, given.pages, hosts) as port:
        steps = [stepped("crawl", folder, lambda: crawl(folder, port, given.pages, given.workers))]
    steps.extend(stepped(work.__name__, folder, partial(work, folder)) for work in (index, rank, search))
    web = Web(given.passages, given.pages, hosts)
    load = ", ".join(f"{one:.0f}" for one in os.getloadavg())
    head = f'`make voyage ARGS="--pages {given.pages}"`: {hosts:,} hosts; load of the machine at the end: {load}.'
    return [head, "", *table(steps), "", *yields(folder, web)]


def main() -> None:
    options = argparse.ArgumentParser(prog="voyage", description=__doc__)
    options.add_argument("--passages", type=Path, required=True, help="JSON lines with title and text")
    options.add_argument("--pages", type=int, default=PAGES)
    options.add_argument("--hosts", type=int, help="a hundredth of the pages, where not named")
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--keep", type=Path, help="work here and keep what is written")
    options.add_argument("--write", action="store_true", help="put the tables into docs/scale.md")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        base = given.keep or Path(temporary)
        base.mkdir(parents=True, exist_ok=True)
        lines = voyage(given, base)
    print("\n".join(lines))
    if given.write:
        head, _, rest = PAGE.read_text(encoding="utf-8").partition(MARK)
        PAGE.write_text(f"{head}{MARK}\n" + "\n".join(lines) + f"\n{MARK}{rest.partition(MARK)[2]}", encoding="utf-8")


if __name__ == "__main__":
    main()
