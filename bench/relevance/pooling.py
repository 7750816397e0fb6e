"""``python -m bench.relevance.pooling``: the sixty queries of people, asked of two states and judged as one pool.

    import --web FOLDER --articles FOLDER --to COLLECTION   pages of fourteen sites and 76 articles, once
    ask COLLECTION RUN          ranks and indexes with the code at hand, asks, writes the first ten of every query
    pool RUN RUN … --to FILE    results without a judgement, in an order that tells nothing of where they came from
    score RUN RUN …             nDCG@10 by kind, and whether the last run differs from the first

Judgements are grades 0 to 3 (``people/qrels.tsv``), as the console's tool takes them, given without knowing which state
found a page.
"""

from __future__ import annotations

import argparse
import gzip
import io
import json
import random
import sys
from collections import defaultdict
from pathlib import Path

from bench.relevance.report import table
from msgspec import Struct

from periplus.app import Collection
from periplus.app.importing import import_paths
from periplus.evaluation import metrics, randomisation_test
from periplus.records import SearchRequest

FOLDER = Path(__file__).parent / "people"
HOSTS = (
    "gimp postgresql git httpd sqlite docs.python django nodejs handbook.debian install.debian reference.debian "
    "policy.debian faq.debian"
)
FETCHED = "2019-11-25T00:00:00Z"  # the articles
DEPTH = 10
SEED = 11


class PersonsQuery(Struct, frozen=True):
    id: str
    kind: str
    language: str
    query: str
    wants: str


def queries() -> list[PersonsQuery]:
    lines = (FOLDER / "queries.tsv").read_text(encoding="utf-8").splitlines()
    return [PersonsQuery(*line.split("\t")) for line in lines if line and not line.startswith("#")]


def judgements() -> dict[str, dict[str, int]]:
    """Query → address → grade."""
    found: dict[str, dict[str, int]] = defaultdict(dict)
    path = FOLDER / "qrels.tsv"
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        query, url, grade = line.split("\t")
        found[query][url] = int(grade)
    return found


def bring_in(web: Path, articles: Path, folder: Path) -> None:
    with Collection(folder) as collection:
        for name in HOSTS.split():
            host = f"{name}.test"
            import_paths(collection, [web / host], f"http://{host}/")
            print(host, file=sys.stderr, flush=True)
        import_paths(collection, [_archive(articles, folder / "articles.warc.gz")])


def _archive(articles: Path, path: Path) -> Path:
    """The articles at their own addresses, as an archive."""
    from warcio.statusandheaders import StatusAndHeaders
    from warcio.warcwriter import WARCWriter

    with path.open("wb") as file:
        writer = WARCWriter(file, gzip=True)
        for line in (articles / "gold.jsonl").read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            body = gzip.decompress((articles / row["file"]).read_bytes())
            head = StatusAndHeaders("200 OK", [("Content-Type", "text/html; charset=utf-8")], protocol="HTTP/1.1")
            more = {"payload": io.BytesIO(body), "http_headers": head, "warc_headers_dict": {"WARC-Date": FETCHED}}
            record = writer.create_warc_record(row["url"], "response", **more)
            writer.write_record(record)
    return path


def ask(folder: Path, run: Path) -> None:
    """A line a result: query, rank, address, title, snippet."""
    with Collection.existing(folder) as collection:
        collection.rank()
        collection.index()
        lines = []
        for asked in queries():
            request = SearchRequest(asked.query, size=DEPTH, reader=asked.language or "en")
            for result in collection.engine.search(request):
                shown = [" ".join(text.split()) for text in (result.title, result.snippet)]
                lines.append("\t".join([asked.id, str(result.rank), result.url, *shown]))
    run.write_text("\n".join(lines) + "\n", encoding="utf-8")


def read_run(path: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for line in path.read_text(encoding="utf-8").splitlines():
        query, _, url, *_ = line.split("\t")
        found[query].append(url)
    return found


def pool(runs: list[Path], to: Path) -> None:
    known, seen = judgements(), {}
    for run in runs:
        for line in run.read_text(encoding="utf-8").splitlines():
            query, _, url, *shown = line.split("\t")
            if url not in known.get(query, {}):
                seen[query, url] = shown
    rows = sorted(seen.items())
    random.Random(SEED).shuffle(rows)
    rows.sort(key=lambda row: row[0][0])  # by query; within it the order tells nothing
    to.write_text("".join("\t".join([*where, *shown]) + "\n" for where, shown in rows), encoding="utf-8")


def gains(run: Path) -> dict[str, float]:
    """nDCG@10 of every query."""
    judged, found = judgements(), read_run(run)
    return {asked.id: metrics.ndcg(found[asked.id], judged[asked.id], DEPTH) for asked in queries()}


def score(runs: list[Path]) -> str:
    by_run = {run.stem: gains(run) for run in runs}
    kinds = list(dict.fromkeys(asked.kind for asked in queries()))
    rows = []
    for kind in [*kinds, "all"]:
        ids = [asked.id for asked in queries() if kind in (asked.kind, "all")]
        means = [sum(found[name] for name in ids) / len(ids) for found in by_run.values()]
        first, *_, last = by_run.values()
        p = randomisation_test([last[name] for name in ids], [first[name] for name in ids])
        rows.append([kind, str(len(ids)), *(f"{mean:.3f}" for mean in means), f"{p:.3f}"])
    return table(["kind", "queries", *by_run, "p"], rows)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = options.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("import")
    for name in ("--web", "--articles", "--to"):
        verb.add_argument(name, type=Path, required=True)
    verb = verbs.add_parser("ask")
    verb.add_argument("collection", type=Path)
    verb.add_argument("run", type=Path)
    for name in ("pool", "score"):
        verb = verbs.add_parser(name)
        verb.add_argument("runs", type=Path, nargs="+")
        if name == "pool":
            verb.add_argument("--to", type=Path, required=True)
    chosen = options.parse_args()
    match chosen.verb:
        case "import":
            bring_in(chosen.web, chosen.articles, chosen.to)
        case "ask":
            ask(chosen.collection, chosen.run)
        case "pool":
            pool(chosen.runs, chosen.to)
        case "score":
            print(score(chosen.runs))


if __name__ == "__main__":
    main()
