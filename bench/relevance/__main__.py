"""``make relevance``: every profile on every judged set, written to ``docs/relevance.md``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from bench.relevance import learn, report, sets

from periplus.evaluation import Scores, evaluate
from periplus.evaluation.learning import Learner
from periplus.ranking import PROFILES, ours
from periplus.search.plan import MAX_SCORING

PAGE = sets.ROOT / "docs" / "relevance.md"


def scored(name: str) -> dict[str, Scores]:
    """Every profile on one set."""
    judged = sets.judged(name)
    found = {}
    with sets.collection(name) as collection:
        for profile in PROFILES:
            found[profile] = evaluate(
                lambda query, k, profile=profile: [i for i, _ in collection.engine.ranking(query, k, profile)],
                judged.queries,
                judged.qrels,
                profile,
            )
            print(f"{name} {profile}: nDCG@10 {found[profile].mean('ndcg@10'):.4f}", file=sys.stderr, flush=True)
    return found


def held_out(names: list[str]) -> dict[str, list[float]]:
    """nDCG@10 of each query under weights that were learnt without it."""
    data = learn.Judged(tuple(names))
    learner = Learner(data.problem())
    return learn.by_set(data.cases, learner.cross_validated(learn.present(ours.weights())))


def main() -> None:
    options = argparse.ArgumentParser(prog="relevance", description=__doc__)
    options.add_argument("--sets", nargs="+", choices=sets.NAMES, default=list(sets.NAMES), metavar="SET")
    options.add_argument("--page", type=Path, default=PAGE, help="the page to write")
    options.add_argument("--json", type=Path, default=sets.CACHE / "result.json", help="where the figures go")
    chosen = options.parse_args()
    if not sets.DATA.is_dir():
        sys.exit(f"{sets.DATA} is missing: the judged sets are not part of this repository")
    results = {name: scored(name) for name in chosen.sets}
    held = held_out(chosen.sets)
    chosen.page.write_text(
        report.page(
            {
                "profiles": report.profiles_table(results, chosen.sets),
                "ours": report.ours_table(results, held),
                "published": report.published_table(results),
                "longest": MAX_SCORING,
                "known": "",
            }
        ),
        encoding="utf-8",
    )
    figures = {name: [scores.summary() for scores in found.values()] for name, found in results.items()}
    chosen.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    print(f"wrote {chosen.page}", file=sys.stderr)


if __name__ == "__main__":
    main()
