"""The same crawl with files in the collection's folder and with files in an object store, in turns.

Both have their state on one PostgreSQL server, so that only the files differ. The store is moto on the same machine:
what it costs is shown beside the crawl's own processor time. ``python -m bench.objects --pages 1000 --rounds 2``.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import psycopg
from bench.crawl.rounds import environment
from bench.crawl.web import ROOT, serve
from bench.frontier.server import postgresql

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bench.crawl.web import LocalWeb

HOSTS, WORDS, LINKS = 12, 900, 30
PERIPLUS = Path(sys.executable).with_name("periplus")
STORE = """
import resource, sys
from moto.server import ThreadedMotoServer
server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
server.start()
print(server.get_host_and_port()[1], flush=True)
for line in sys.stdin:
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(used.ru_utime + used.ru_stime, flush=True)
"""


class Store:
    """moto in a process of its own."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self.endpoint = f"http://127.0.0.1:{int(process.stdout.readline())}"
        with urllib.request.urlopen(urllib.request.Request(f"{self.endpoint}/bench", method="PUT")) as answer:
            answer.read()

    def cpu(self) -> float:
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())


class Figures(NamedTuple):
    name: str
    pages: int
    wall: float
    cpu: float
    store_cpu: float

    def row(self) -> str:
        return (
            f"| {self.name} | {self.pages:,} | {self.pages / self.wall:.0f} | {1000 * self.cpu / self.pages:.1f} |"
            f" {1000 * self.store_cpu / self.pages:.1f} |"
        )


def make_web(folder: Path, pages: int) -> None:
    """Pages of a few thousand letters that link to one another, on a dozen hosts; the same in every run."""
    chance = random.Random(7)
    words = ["".join(chance.choices("abcdefghijklmnoprstuvw", k=chance.randint(3, 10))) for _ in range(20_000)]
    each = pages // HOSTS + 20
    lines = []
    for host in (f"h{number}.test" for number in range(HOSTS)):
        (folder / host).mkdir(parents=True)
        for page in range(each):
            links = " ".join(f'<a href="/{chance.randrange(each)}.html">on</a>' for _ in range(LINKS))
            links += f' <a href="/{page + 1}.html">next</a>'
            text = " ".join(chance.choices(words, k=WORDS))
            (folder / host / f"{page}.html").write_text(f"<title>{page}</title><p>{text}<p>{links}", encoding="utf-8")
        lines.append(f"{host}\t{each}\t/0.html")
    (folder / "hosts.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")


@contextmanager
def running_store() -> Iterator[Store]:
    process = subprocess.Popen(
        [sys.executable, "-c", STORE],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        bufsize=1,
    )
    try:
        yield Store(process)
    finally:
        process.kill()
        process.communicate()


def crawl(name: str, files: str, database: str, pages: int, web: LocalWeb, store: Store, work: Path) -> Figures:
    folder = work / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    schema = f"{name.replace('-', '_')}_{os.urandom(4).hex()}"
    with psycopg.connect(database, autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {schema}")
    address = f"{database}&options=-csearch_path%3D{schema}"
    lines = f'[storage]\ndatabase = "{address}"\nfiles = "{files}"\n'
    (folder / "periplus.toml").write_text(lines, encoding="utf-8")
    (folder / "seeds.txt").write_text("\n".join(web.seeds) + "\n", encoding="utf-8")
    command = [
        str(PERIPLUS), "crawl", "--dir", str(folder), "--seeds", str(folder / "seeds.txt"), "--scope", "host",
        "--delay", "0", "--resolve", f"*.test=127.0.0.1:{web.port}", "--max-pages", str(pages),
        "--concurrency", "32", "--workers", "1", "--json",
    ]  # fmt: skip
    before = store.cpu()
    cost = folder / "cost.json"
    secrets = {"AWS_ACCESS_KEY_ID": "bench", "AWS_SECRET_ACCESS_KEY": "bench", "AWS_ENDPOINT_URL": store.endpoint}
    done = subprocess.run(
        [sys.executable, "-m", "bench.crawl.meter", str(cost), *command],
        cwd=ROOT, env=environment() | secrets, capture_output=True, text=True, check=False,
    )  # fmt: skip
    figures = json.loads(cost.read_text(encoding="utf-8"))
    served = web.served()
    if figures["status"] or served.pages < pages * 0.9:
        raise SystemExit(f"{name}: {served.pages} of {pages} pages; {done.stdout[-500:]} {done.stderr[-500:]}")
    return Figures(name, served.pages, figures["wall"], figures["user"] + figures["system"], store.cpu() - before)


def main() -> None:
    parser = argparse.ArgumentParser(prog="make bench-objects", description=__doc__)
    parser.add_argument("--pages", type=int, default=1_000)
    parser.add_argument("--rounds", type=int, default=1)
    asked = parser.parse_args()
    found: list[Figures] = []
    with tempfile.TemporaryDirectory(prefix="bench-objects-") as temporary:
        work = Path(temporary)
        make_web(work / "web", asked.pages)
        with serve(work / "web", work, work / "nginx") as web, running_store() as store, postgresql(None) as database:
            for _ in range(asked.rounds):
                for name, files in (("folder", ""), ("objects", f"s3://bench/{os.urandom(4).hex()}")):
                    found.append(crawl(name, files, database, asked.pages, web, store, work))
    print("| files in | pages | pages/s | CPU ms/page | CPU ms/page of the store |")
    print("|---|--:|--:|--:|--:|")
    for one in found:
        print(one.row())


if __name__ == "__main__":
    main()
