"""A collection with every kind of file in it, and what is asked of it: the material of the damage tests."""

from __future__ import annotations

import json
import random
import shutil
from typing import TYPE_CHECKING, Any

import msgspec

from periplus import Collection
from periplus.app.backend import CollectionBackend
from periplus.app.importing import import_paths
from periplus.app.serving import operator_key
from periplus.demo import DemoWeb
from periplus.web.keys import KeyRing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

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
"""
SINGLES = 1_100  # imported documents: enough for a segment whose texts are frames with a dictionary
WORDS = "harbour lantern compass anchor pilot current shoal beacon ferry mooring gull keel"
QUERIES = ("tide", "harbour lantern", '"spring tide"', "light*", "winds -tide", "site:almanac.localhost tide")

# Kinds of files by pattern; the first that fits is the kind of a file.
KINDS = {
    "settings": ("periplus.toml",),
    "rules": ("rules.toml",),
    "keys": ("api-keys.json",),
    "console key": ("console.key",),
    "past queries": ("suggest/queries.json",),
    "state": ("state.db",),
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
    "rank pointer": ("ranks/current.json",),
    "rank table": ("ranks/[0-9]*/meta.json",),
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
        KeyRing(made.files).create("reader", ["search"])
        made.files.write("console.key", b"a-key-of-the-console")
        made.files.write("suggest/queries.json", b'{"spring tide": 5}')
        import_paths(made, [notes])
        made.pipeline.index(merge=False)
        notes.write_text(json.dumps(_singles(1)[0] | {"title": "A note of its own"}) + "\n", encoding="utf-8")
        import_paths(made, [notes])  # its former version is dead from now on: a segment with a live overlay
        _crawl(made, web, pages // 2)
        made.pipeline.index(merge=False)
        made.rank()
        made.close()
        shutil.copytree(folder, before)
        _crawl(made, web, pages)
        made.pipeline.index(merge=False)
        made.rank()
        made.remove(next(hit.url for hit in made.search("tide") if hit.url))
        made.rank()  # so that ranks, index and documents agree, as they do when all are made anew
        made.pipeline.index(merge=False)


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
        "console key": lambda c, _b: operator_key(c),
        "keys": lambda c, _b: [key.name for key in KeyRing(c.files).all()],
    }


def _plain(answer: Any) -> dict[str, Any]:
    plain: dict[str, Any] = msgspec.to_builtins(answer)
    return _without(plain, "took_ms", "generation")


def _steps(inspection: Any) -> Any:
    return [(step.step, step.state, step.reason) for step in inspection.steps]


def _without(plain: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in plain.items() if name not in names}
