"""The whole voyage on three machines, while some of it is killed, beside the same voyage in one folder."""

from __future__ import annotations

import csv
import os
import random
import signal
import subprocess
import sys
import time
import urllib.parse
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from cluster.three_machines import ThreeMachines, address_of
from mockweb.mock_web import MockWeb
from periplus.crawl import audit
from support.object_store import ObjectServer
from support.postgres import server
from support.servers import listening

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [pytest.mark.cluster, pytest.mark.postgres]
HOSTS, PAGES = 12, 25
WORDS = [
    f"{start}{end}" for start in ("tide", "harbour", "chart", "buoy", "reef", "sail", "knot", "quay")
    for end in ("", "s", "master", "light", "line", "works")
]  # fmt: skip
PROFILES = ("periplus", "bm25", "grs2", "cosine-bonus", "tfidf-pagerank", "bm25-pagerank", "multiplicative")
DATED = '<script type="application/ld+json">{{"@type": "Article", "datePublished": "{date}"}}</script>'
REQUESTS = 500
AT_ONCE = 4
SERVE = "rate = 0.0\n"  # in the table of brokers: these visitors are in a hurry
SETTINGS = """
[search]
budget_ms = 30000
[crawl]
workers = 1
scope = "any"
resolve = ["{resolve}"]
allow_private = true
delay = 0.2
ip_delay = 0.0
icons = false
timeout = 3.0
{more}"""


def fill(web: MockWeb) -> list[str]:
    """Sites whose pages differ, with links here and there, the same in every run."""
    drawn = random.Random(21)
    for host in range(HOSTS):
        web.robots(f"h{host}.test")
        for page in range(PAGES):
            words = " ".join(drawn.choice(WORDS) for _ in range(120))
            title = f"{drawn.choice(WORDS)} {host} {page}"
            links = [f"http://h{drawn.randrange(HOSTS)}.test/{drawn.randrange(PAGES)}" for _ in range(6)]
            links += [f"/{page + 1}"] if page + 1 < PAGES else []
            date = f"{drawn.randrange(2019, 2026)}-{drawn.randrange(1, 13):02d}-{drawn.randrange(1, 29):02d}"
            text = DATED.format(date=date) + f"<p>{words}.</p>"  # else the day of the crawl would be compared
            web.page(f"http://h{host}.test/{page}", text, title=title, links=links)
    return [f"http://h{host}.test/0" for host in range(HOSTS)]


def requests() -> list[dict[str, str]]:
    """Of the kinds of ``bench/same_answers``, drawn from the words of the pages; the same in every run.

    But for those that ask for what is new: their scores tell how old a page is at the moment.
    """
    drawn = random.Random(22)

    def words(count: int) -> str:
        return " ".join(drawn.choices(WORDS, k=count))

    def host() -> str:
        return f"h{drawn.randrange(HOSTS)}.test"

    def typo() -> str:
        word = drawn.choice([word for word in WORDS if len(word) > 6])
        place = drawn.randrange(1, len(word) - 2)
        return word[:place] + word[place + 1] + word[place] + word[place + 2 :]

    kinds: list[Callable[[], dict[str, str]]] = [
        lambda: {"q": words(drawn.randrange(1, 5))},
        lambda: {"q": f"{typo()} {words(1)}"},
        lambda: {"q": words(2), "page": str(drawn.randrange(2, 9)), "size": str(drawn.choice((3, 10, 50)))},
        lambda: {
            "q": drawn.choice((f"intitle:{words(1)} OR {words(1)}", f"{words(2)} -{words(1)}", f"inurl:7 {words(1)}"))
        },
        lambda: {"q": words(2), "lens": f"{drawn.choice(('raise', 'lower', 'block', 'pin'))}:{host()}"},
        lambda: {"q": words(30)},
        lambda: {"q": " ".join(f"+{word}" for word in words(3).split())},
        lambda: {"q": f'"{words(2)}"'},
        lambda: {"q": f"{drawn.choice(WORDS)[:4]}* {words(1)}"},
        lambda: {"q": words(2), "lang": drawn.choice(("en", "de"))},
        lambda: {"q": words(2), drawn.choice(("before", "after")): "2026-01-01"},
        lambda: {"q": words(2), "sort": "date"},
        lambda: {"q": words(2), "counts": "true", "safe": "true"},
        lambda: {"q": words(2), "explain": "true", "size": "3"},
        lambda: {"q": words(2), "profile": drawn.choice(PROFILES)},
        lambda: {"q": f"{words(1)} {drawn.choice(('', '-'))}site:{host()}"},
        lambda: {"q": f"{words(1)} link:http://{host()}/{drawn.randrange(PAGES)}"},
        lambda: {"q": f"site:{host()}"},
        lambda: {"q": f"{host()}/{drawn.randrange(PAGES)}"},
        lambda: {"q": words(1), "duplicates": "true", "size": "100"},
    ]
    return [kinds[place % len(kinds)]() for place in range(REQUESTS)]


@pytest.fixture(scope="module")
def web() -> Iterator[MockWeb]:
    with MockWeb() as made:
        yield made


@pytest.fixture(scope="module")
def seeds(web: MockWeb) -> list[str]:
    return fill(web)


@pytest.fixture(scope="module")
def embedded(web: MockWeb, seeds: list[str], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The voyage in one folder."""
    folder = tmp_path_factory.mktemp("embedded")
    (folder / "periplus.toml").write_text(f"[serve]\n{SERVE}{SETTINGS.format(resolve=web.resolve[0], more='')}")
    for words in (["crawl", *seeds], ["index"], ["rank"], ["index"]):
        subprocess.run(
            [sys.executable, "-m", "periplus", *words, "--dir", str(folder)], check=True, capture_output=True
        )
    return folder


@pytest.fixture(scope="module")
def machines(
    request: pytest.FixtureRequest, web: MockWeb, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ThreeMachines]:
    postgres, objects = server(request.config), ObjectServer()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in objects.environment().items():
            patch.setenv(name, value)
        folder = tmp_path_factory.mktemp("voyage")
        more = SERVE + SETTINGS.format(resolve=web.resolve[0], more="[index]\nshards = 3\n[cluster]\nreplicas = 2\n")
        with ThreeMachines(folder, postgres.create(), f"s3://{objects.bucket()}/main", more) as made:
            made.begin()
            yield made
    objects.stop()


def table(folder: Path, kind: str, environment: dict[str, str], *columns: str) -> dict[str, tuple[str, ...]]:
    """What ``periplus export`` says of a collection, by address."""
    out = folder / f"{kind}.csv"
    command = [sys.executable, "-m", "periplus", "export", kind, "--out", str(out), "--dir", str(folder)]
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    csv.field_size_limit(10_000_000)
    with out.open(encoding="utf-8", newline="") as rows:
        return {row["url"]: tuple(row[column] for column in columns) for row in csv.DictReader(rows)}


def comparable(answer: dict[str, Any]) -> dict[str, Any]:
    """An answer without what names its moment and its generation."""
    kept = {name: value for name, value in answer.items() if name not in ("took_ms", "generation", "next")}
    kept["answers"] = kept["answers"] or []  # instant answers: the API gives them where they are asked for
    kept["results"] = [{k: v for k, v in row.items() if k not in ("fetched", "id")} for row in answer["results"]]
    return kept


def test_machines_crawl_together_while_some_are_killed(machines: ThreeMachines, seeds: list[str]) -> None:
    command = [sys.executable, "-m", "periplus", "crawl", *seeds, "--dir", str(machines.home("m1"))]
    crawl = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=machines.environment())
    machines.wait_for(lambda: len(machines.running("help")) == 3 or crawl.poll() is not None)
    worker = machines.running("help").get("help:m2")
    if worker is not None:
        os.kill(worker.process, signal.SIGKILL)
    machines.all["m3"].kill_raylet()
    machines.wait_for(lambda: machines.all["m3"].process.poll() is not None)
    machines.start(3, head=1)
    output = crawl.communicate(timeout=240)[0].decode()
    assert crawl.returncode == 0, output
    assert audit(machines.database).violations == ()
    machines.wait_for(lambda: not machines.running("help") and len(machines.alive()) == 3)


def test_the_same_pages_documents_and_ranks(machines: ThreeMachines, embedded: Path) -> None:
    for words in (["index"], ["rank"], ["index"]):
        done = machines.verb(*words)
        assert done.returncode == 0, done.stderr
    ours, theirs = machines.home("m1"), dict(os.environ)
    for kind, columns in (("pages", ("state",)), ("documents", ("title", "text"))):
        expected = table(embedded, kind, theirs, *columns)
        assert len(expected) >= HOSTS * PAGES
        assert table(ours, kind, machines.environment(), *columns) == expected
    expected, found = (table(one, "ranks", machines.environment(), "rank") for one in (embedded, ours))
    assert found.keys() == expected.keys()
    assert max(abs(float(found[url][0]) - float(expected[url][0])) for url in expected) < 1e-9


def test_identical_answers_while_a_shard_server_is_killed(machines: ThreeMachines, embedded: Path) -> None:
    machines.nodes.set_services(("serve",))
    machines.wait_for(lambda: len(machines.running("shard")) == 6 and len(machines.running("broker")) == 3)
    for number in (1, 2, 3):
        machines.wait_for(lambda number=number: machines.answer(address_of(number), "/readyz") == 200)
    asked = requests()
    with listening("serve", "--dir", str(embedded), "--port", "0") as alone, ThreadPoolExecutor(AT_ONCE) as threads:

        def both(place: int) -> tuple[dict[str, Any], dict[str, Any]]:
            query = urllib.parse.urlencode(asked[place])
            found = machines.search(address_of(place % 3 + 1), query.removeprefix("q="))
            return comparable(found), comparable(alone.get(f"/api/v1/search?{query}").json)

        for request, (found, expected) in zip(asked, threads.map(both, range(len(asked))), strict=True):
            assert found == expected, request
    lost = machines.running("shard")["shard:0:0"]
    os.kill(lost.process, signal.SIGKILL)
    latest = time.monotonic() + 60
    while machines.running("shard").get("shard:0:0", lost).process == lost.process:
        for number in (1, 2, 3):
            answer = machines.search(address_of(number), "tide")
            assert (answer["coverage"], answer["degraded"]) == (1.0, [])
        assert time.monotonic() < latest
