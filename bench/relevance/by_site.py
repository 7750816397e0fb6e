"""``python -m bench.relevance.by_site --web FOLDER --json FILE [--before FILE]``: known items, site by site.

MRR@10 of ``periplus`` for each kind of known item and each site that nothing was learnt from. ``--json`` keeps the
value of every item, so that another state can be compared with it, item by item. An earlier state, in whose tree this
file is laid, may draw other items: ``--items`` has it asked those of another run.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import fmean

from bench.relevance import known
from bench.relevance.report import table

from periplus.evaluation import evaluate, randomisation_test

PROFILE = "periplus"
DEPTH = 10
MEASURE = "mrr@10"
FEWEST = 10  # items of a kind that a site must have for a row


def measured(web: Path, wanted: Path | None) -> dict[str, float]:
    """The value of every item, by its kind, site, query and target."""
    collection, items = known.build(web)
    if wanted is not None:
        lines = [item.split("\t") for item in json.loads(wanted.read_text(encoding="utf-8"))]
        items = [known.KnownItem(kind, query, target) for kind, _, query, target in lines]
    _, reported = known.halves(items)
    queries, qrels = known.judgements(reported)

    def search(query: str, k: int) -> list[str]:
        return [identifier for identifier, _ in collection.engine.ranking(query, k, PROFILE)]

    with collection:
        found = evaluate(search, queries, qrels, PROFILE, DEPTH)
    values = {one.query: value for one, value in zip(found.by_query, found.values(MEASURE), strict=True)}
    return {
        f"{item.kind}\t{item.host}\t{item.query}\t{item.target}": values[str(number)]
        for number, item in enumerate(reported)
    }


def compared(now: dict[str, float], before: dict[str, float]) -> str:
    """A row for each kind and site, over the items that both states were asked."""
    groups: dict[tuple[str, str], list[str]] = {}
    for item in now:
        if not before or item in before:
            kind, host, *_ = item.split("\t")
            groups.setdefault((kind, host), []).append(item)
    rows = []
    for (kind, host), items in sorted(groups.items()):
        if len(items) >= FEWEST:
            values, earlier = [now[item] for item in items], [before[item] for item in items if before]
            more = [f"{fmean(earlier):.3f}", f"{randomisation_test(values, earlier):.3f}"] if before else []
            rows.append([kind, host, str(len(items)), *more[:1], f"{fmean(values):.3f}", *more[1:]])
    return table(["kind", "site", "queries", *(["before"] if before else []), "now", *(["p"] if before else [])], rows)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--web", type=Path, required=True, help="a local web of manuals")
    options.add_argument("--json", type=Path, required=True, help="where the value of every item goes")
    options.add_argument("--before", type=Path, help="the values of an earlier state")
    options.add_argument("--items", type=Path, help="the values of another run, whose items are asked")
    given = options.parse_args()
    now = measured(given.web, given.items)
    given.json.write_text(json.dumps(now), encoding="utf-8")
    print(compared(now, json.loads(given.before.read_text(encoding="utf-8")) if given.before else {}))


if __name__ == "__main__":
    main()
