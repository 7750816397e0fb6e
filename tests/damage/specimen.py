"""A collection with every kind of file in it, and what is asked of it: the material of the damage tests."""

from __future__ import annotations

import json
import random
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from periplus import Collection, addresses, archive
from periplus.app.console.judging import Judgements
from periplus.app.importing import import_paths
from periplus.app.parts.occupancy import is_up
from periplus.app.serving.backend import CollectionBackend
from periplus.crawl.frontier.address_slots import SharedAddressSlots
from periplus.demo import DemoWeb
from periplus.documents import BatchLog
from periplus.documents.compaction import FAN
from periplus.records import Document
from periplus.storage import Blocklist
from periplus.storage.sealing import sealed
from periplus.web.requests.keys import ApiKey, digest_of

if TYPE_CHECKING:
    from collections.abc import Callable

RULES = """\
[[synonyms]]
words = ["tide", "ebb"]
"""
SETTINGS = """
[search]
rules = "rules.toml"
per_host = 5

[index]
workers = 1
shards = 2
"""
SINGLES = 2_300  # imported documents: enough for segments of both shards whose texts are frames with a dictionary
NOW, LONGEST_WAIT = 2e9, 601.0  # a time to come, so that what was asked for while it was made lies behind
WORDS = "harbour lantern compass anchor pilot current shoal beacon ferry mooring gull keel"
QUERIES = ("tide", "harbour lantern", '"spring tide"', "light*", "winds -tide", "site:almanac.localhost tide")

# Kinds of files by pattern; the first that fits is the kind of a file.
KINDS = {
    "settings": ("periplus.toml",),
    "rules": ("rules.toml",),
    "identity": ("collection.id",),
    "blocked hosts": ("blocked.json",),
    "judgements": ("judgements.json",),
    "keys": ("api-keys.json",),
    "console key": ("console.key",),
    "past queries": ("suggest/queries.json",),
    "state": ("state.db",),
    "state's log": ("state.db-wal",),
    "locks": ("*.lock", "index/*.lock"),
    "slots": ("crawl.slots",),
    "takedown plan": ("archive/blanking.json",),
    "archive": ("archive/*.warc.gz",),
    "documents": ("documents/*.parquet",),
    "links": ("links/*.parquet",),
    "manifest": ("index/manifest.json",),
    "generation": ("index/generations/*.json",),
    "segment header": ("index/segments/*/segment.json",),
    "terms": ("index/segments/*/terms.bin",),
    "postings": ("index/segments/*/postings.bin",),
    "positions": ("index/segments/*/positions.bin",),
    "columns": ("index/segments/*/columns.bin",),
    "texts": ("index/segments/*/texts.bin",),
    "live overlay": ("index/overlays/*.live",),
    "prior overlay": ("index/overlays/*.prior",),
    "words of the whole": ("index/summaries/*.words",),
    "titles of the whole": ("index/summaries/*.pages",),
    "rank pointer": ("ranks/current.json",),
    "rank table": ("ranks/[0-9]*/meta.json",),
    "links of the graph": ("ranks/[0-9]*/link_*.npy", "ranks/[0-9]*/site_*.npy", "ranks/[0-9]*/said_*.npy"),
    "rank columns": ("ranks/[0-9]*/*.npy",),
    "runs": ("ranks/runs/*.npz",),
}


def build(folder: Path, before: Path, pages: int = 30, singles: int = SINGLES) -> None:
    """A crawled, imported, indexed and ranked collection; ``before`` is a copy from some generations earlier."""
    notes = folder.with_name("imported.jsonl")
    notes.write_text("".join(json.dumps(row) + "\n" for row in _singles(singles)), encoding="utf-8")
    with DemoWeb() as web, Collection(folder) as made:
        made.create(SETTINGS)
        (folder / "rules.toml").write_text(RULES, encoding="utf-8")
        made.keys.programs.create("reader", ["search"])
        import_paths(made, [notes])
        made.pipeline.index(merge=False)
        notes.write_text(json.dumps(_singles(1)[0] | {"title": "A note of its own"}) + "\n", encoding="utf-8")
        import_paths(made, [notes])  # its former version is dead from now on: a segment with a live overlay
        _crawl(made, web, pages // 2)
        _append_small(made)
        made.pipeline.index(merge=False)
        BatchLog(made.files, made.database).forget_merged()
        made.rank()
        made.close()
        shutil.copytree(folder, before)
        _crawl(made, web, pages)
        made.pipeline.index(merge=False)
        made.rank()
        made.remove(next(hit.url for hit in made.search("tide") if hit.url))
        made.rank()  # so that ranks, index and documents agree, as they do when all are made anew
        made.pipeline.index(merge=False)
        Judgements(made.sound_state).add("tide", "note-1", 2)
        Blocklist(made.files, made.sound_state).add(f"gazette.localhost:{web.port}", "http://almanac.localhost/never")
        _leave_files_of_an_earlier_version(made)
        _plan_takedown(made)
    _leave_log(folder)


def _leave_files_of_an_earlier_version(made: Collection) -> None:
    """What it kept beside the state, and this version takes over into rows."""
    made.files.write("console.key", b"a-key-of-the-console")
    made.files.write("suggest/queries.json", b'{"spring tide": 5}')
    made.files.write("judgements.json", b'{"ebb": {"note-2": 1}}')
    kept = [ApiKey("writer", digest_of("periplus_of-an-earlier-version"), ("search",), 1.0)]
    made.files.write("api-keys.json", msgspec.json.encode(kept))


def _append_small(made: Collection) -> None:
    """Batches that the next index compacts into one, under a name with two numbers."""
    log = BatchLog(made.files, made.database)
    for number in range(FAN):
        url = f"http://logbook.test/{number}"
        log.append([Document(url, addresses.key(url), 1.0, title=f"Logbook {number}", text="winds and a lantern")])


def _plan_takedown(made: Collection) -> None:
    """As a kill in the middle of one leaves it: records of a page that is not found any more, not overwritten yet."""
    places = archive.places_of(made.folder / "archive", lambda url: url.endswith("/robots.txt"))[:2]
    made.files.write("archive/blanking.json", sealed(places))


def _leave_log(folder: Path) -> None:
    """The write-ahead log of a process that was killed: closing would fold it in."""
    state, aside = folder / "state.db", folder.with_name("aside.db")
    with closing(sqlite3.connect(state)) as connection:
        connection.execute("PRAGMA wal_autocheckpoint = 0")
        connection.execute("INSERT INTO meta (key, value) VALUES ('specimen', 'of damage')")
        connection.commit()
        shutil.copy(state, aside)
        shutil.copy(f"{state}-wal", f"{aside}-wal")
    aside.replace(state)
    Path(f"{aside}-wal").replace(f"{state}-wal")


def _crawl(made: Collection, web: DemoWeb, pages: int) -> None:
    made.crawl(web.seeds(), max_pages=pages, scope="any", delay=0.0, ip_delay=0.0, workers=1, resolve=web.resolve)


def _singles(count: int) -> list[dict[str, str]]:
    chance, words = random.Random(7), WORDS.split()
    return [
        {"id": f"note-{n}", "title": f"Note {n} {chance.choice(words)}", "text": " ".join(chance.choices(words, k=40))}
        for n in range(count)
    ]


def files_of(folder: Path) -> dict[str, list[str]]:
    """Names of the files of each kind."""
    found = {}
    for kind, patterns in KINDS.items():
        paths = [path for pattern in patterns for path in sorted(folder.glob(pattern)) if path.is_file()]
        found[kind] = [path.relative_to(folder).as_posix() for path in paths]
    return found


# What is asked


def questions(folder: Path, urls: tuple[str, ...]) -> dict[str, Callable[[Collection, CollectionBackend], Any]]:
    """What a reader, a program and an operator ask of a collection; answers are plain and hold no times."""
    asked: dict[str, Callable[[Collection, CollectionBackend], Any]] = {
        f"search {query}": lambda c, _b, query=query: _plain(c.search(query)) for query in QUERIES
    }
    asked |= {f"cached {url}": lambda _c, b, url=url: b.cached(url) for url in urls}
    return asked | {
        "search by link": lambda c, _b: _plain(c.search(f"link:{urls[0]}")),
        "suggest": lambda c, _b: [one.text for one in c.suggest("li")],
        "explain": lambda c, _b: msgspec.to_builtins(c.explain("tide", urls[0])),
        "inspect": lambda c, _b: _steps(c.inspect(urls[0])),
        "similar": lambda _c, b: [one.url for one in b.similar(urls[0])],
        "site": lambda _c, b: _without(b.site(urls[0].split("/")[2]) or {}, "seconds"),
        "console key": lambda c, _b: c.keys.operator.check() and c.keys.operator.is_key("a-key-of-the-console"),
        "keys": lambda c, _b: [key.name for key in c.keys.programs.all()],
        "judgements": lambda c, _b: Judgements(c.sound_state, c.files).all(),
        "up": lambda c, _b: is_up(c.folder),
        "waiting": lambda c, _b: _waits(c.folder),
    }


def _waits(folder: Path) -> bool:
    """Whether a request to some address would have to wait for longer than a worker plans ahead."""
    with closing(SharedAddressSlots(folder / "crawl.slots", 0.0)) as slots:
        return any(slots.ask(f"192.0.2.{n}", n, NOW) > NOW + LONGEST_WAIT for n in range(200))


def _plain(answer: Any) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(answer)
    return _without(plain, "took_ms", "generation")


def _steps(inspection: Any) -> Any:
    return [(step.step, step.state, step.reason) for step in inspection.steps]


def _without(plain: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in plain.items() if name not in names}
