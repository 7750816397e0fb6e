"""``make same-answers-cluster``: the kept requests of ``make same-answers``, asked of one folder and of a cluster.

Each collection is stored once. One copy is indexed and ranked in its folder. Another is moved to an object store and
PostgreSQL, indexed and ranked by three machines with Ray, and searched by a broker over the shard servers that these
machines started by themselves. Runs in a network of its own, as ``make test-cluster`` does.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bench.same_answers.__main__ import ASK, REQUESTS, ROOT, Report
from bench.same_answers.corpora import CORPORA, build, make

from cluster.three_machines import PORT, ThreeMachines
from periplus.app.serving.shards import TOKEN_VARIABLE
from periplus.cluster.keeper import read_token, shard_token
from support.object_store import ObjectServer
from support.postgres import PostgresServer, find_binaries

if TYPE_CHECKING:
    from collections.abc import Sequence

SHARDS, REPLICAS = 3, 2
PATIENCE = 600.0  # seconds, on a machine that is busy
SETTINGS = f"\n[index]\nshards = {SHARDS}\n[cluster]\nreplicas = {REPLICAS}\n[serve]\nport = {PORT}\n"
PERIPLUS = (sys.executable, "-m", "periplus")


def answered(folder: Path, requests: Path, *more: str) -> list[Any]:
    """What a collection answers, in a process with a clock that stands still."""
    answers = folder.with_suffix(".answers")
    subprocess.run([sys.executable, ASK, folder, requests, answers, *more], check=True)
    return lines_of(answers)


def lines_of(path: Path) -> list[Any]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def moved(stored: Path, folder: Path, database: str, bucket: str) -> None:
    """A copy of what is stored, in an object store and PostgreSQL; three machines have working copies of it."""
    first = folder / "m1"
    shutil.copytree(stored, first, ignore=shutil.ignore_patterns("index", "ranks"))
    subprocess.run([*PERIPLUS, "move", "--to", bucket, database, "--dir", first], check=True)
    with (first / "periplus.toml").open("a") as settings:
        settings.write(SETTINGS)
    for name in ("m2", "m3"):
        (folder / name).mkdir()
        for file in ("periplus.toml", "rules.toml"):
            shutil.copy(first / file, folder / name / file)


def by_machines(stored: Path, requests: Path, postgres: PostgresServer, objects: ObjectServer) -> list[Any]:
    """What a broker over shard servers answers that a cluster of three machines has started."""
    with tempfile.TemporaryDirectory(prefix="answers-", ignore_cleanup_errors=True) as name:
        folder, database, bucket = Path(name), postgres.create(), f"s3://{objects.bucket()}/main"
        moved(stored, folder, database, bucket)
        with ThreeMachines(folder, database, bucket) as machines:
            machines.begin()
            for words in (("index", "--rebuild"), ("rank",)):
                done = machines.verb(*words)
                assert done.returncode == 0, done.stderr
            machines.nodes.set_services(("serve",))
            wanted = SHARDS * REPLICAS
            machines.wait_for(lambda: len(machines.running("shard")) == wanted, PATIENCE)
            os.environ[TOKEN_VARIABLE] = shard_token(read_token(machines.home("m1")))
            return answered(machines.home("m1"), requests, "cluster")


def asked(name: str, work: Path, every: int) -> Path:
    """The requests of a collection, or each so-manieth of them."""
    chosen = (REQUESTS / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()[::every]
    path = work / f"{name}.requests"
    path.write_text("".join(f"{line}\n" for line in chosen), encoding="utf-8")
    return path


def compared(names: Sequence[str], options: argparse.Namespace) -> Report:
    report = Report()
    with ExitStack() as stack:
        binaries = find_binaries()
        assert binaries, "PostgreSQL is missing; scripts/components installs it"
        postgres, objects = PostgresServer(binaries), ObjectServer()
        stack.callback(postgres.stop)
        stack.callback(objects.stop)
        os.environ.update(objects.environment())
        for corpus in (corpus for corpus in CORPORA if corpus.name in names):
            stored, alone = options.work / "stored" / corpus.name, options.work / "alone" / corpus.name
            make(corpus, stored, ROOT, options.web, options.data)
            build(stored, alone, ROOT)
            requests = asked(corpus.name, options.work, options.every)
            sides = [answered(alone, requests), by_machines(stored, requests, postgres, objects)]
            for request, *answers in zip(lines_of(requests), *sides, strict=True):
                report.add(corpus.name, request, *answers)
    return report


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    names = [corpus.name for corpus in CORPORA]
    parser.add_argument("--only", nargs="*", default=names, choices=names, help="these collections")
    parser.add_argument("--every", type=int, default=1, help="each so-manieth request; 1 is all of them")
    parser.add_argument("--web", type=Path, default=ROOT / "build/web", help="a local web, for the manuals")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared/data", help="the judged sets")
    parser.add_argument("--work", type=Path, default=ROOT / "build/same-answers", help="where collections are kept")
    options = parser.parse_args()
    report = compared(options.only, options)
    report.show()
    return 1 if report.differs else 0


if __name__ == "__main__":
    sys.exit(main())
