"""``make relevance``: every profile on every judged set, written to ``docs/relevance.md``."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from bench.relevance import ablations, known, learn, report, sets
from bench.relevance.learning import Learner

from periplus.evaluation import Scores, evaluate
from periplus.evaluation.scores import DEPTH
from periplus.ranking import PROFILES
from periplus.search.query.plan import MAX_SCORING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from periplus.app import Collection
    from periplus.evaluation import Qrels, Queries

KNOWN_DEPTH = 10
OURS = ("periplus", "bm25f", "bm25")
FEW = 60  # known items of a kind that every profile is asked, as references take seconds for some
PAGE = sets.ROOT / "docs" / "relevance.md"


def scored(name: str) -> dict[str, Scores]:
    """Every profile on one set."""
    judged = sets.judged(name)
    with sets.collection(name) as collection:
        return {profile: _scores(collection, profile, judged.queries, judged.qrels, DEPTH) for profile in PROFILES}


def _scores(collection: Collection, profile: str, queries: Queries, qrels: Qrels, depth: int) -> Scores:
    def search(query: str, k: int) -> list[str]:
        return [identifier for identifier, _ in collection.engine.ranking(query, k, profile)]

    found = evaluate(search, queries, qrels, profile, depth)
    print(f"{collection.folder.name} {profile}: nDCG@10 {found.mean('ndcg@10'):.4f}", file=sys.stderr, flush=True)
    return found


def scored_known(web: Path, profiles: Iterable[str], most: int | None = None) -> dict[str, dict[str, Scores]]:
    """Profiles on the known items, or the first of them, of the hosts that nothing was learnt from."""
    collection, items = known.build(web)
    _, reported = known.halves(items)
    found: dict[str, dict[str, Scores]] = {}
    with collection:
        for kind in known.KINDS:
            queries, qrels = known.judgements([item for item in reported if item.kind == kind][:most])
            found[kind] = {name: _scores(collection, name, queries, qrels, KNOWN_DEPTH) for name in profiles}
    return found


def known_section(web: Path) -> str:
    return report.known_section(scored_known(web, OURS), scored_known(web, PROFILES, FEW))


def held_out(names: list[str], web: Path | None) -> dict[str, list[float]]:
    """nDCG@10 of each judged query under weights that were learnt without it."""
    data = learn.Judged(tuple(names), web)
    learner = Learner(data.problem())
    found = learn.by_set(data.cases, learner.cross_validated(learn.start()))
    return {name: found[name] for name in names}


def main() -> None:
    options = argparse.ArgumentParser(prog="relevance", description=__doc__)
    options.add_argument("--sets", nargs="+", choices=sets.NAMES, default=list(sets.NAMES), metavar="SET")
    options.add_argument("--web", type=Path, help="a local web of manuals, for known items")
    options.add_argument("--page", type=Path, default=PAGE, help="the page to write")
    options.add_argument("--json", type=Path, default=sets.CACHE / "result.json", help="where the figures go")
    chosen = options.parse_args()
    if not sets.DATA.is_dir():
        sys.exit(f"{sets.DATA} is missing: the judged sets are not part of this repository")
    results = {name: scored(name) for name in chosen.sets}
    held = held_out(chosen.sets, chosen.web)
    chosen.page.write_text(
        report.page(
            {
                "ablations": ablations.report(ablations.gathered(chosen.web, chosen.sets)),
                "profiles": report.profiles_table(results, chosen.sets),
                "ours": report.ours_table(results, held),
                "published": report.published_table(results),
                "longest": MAX_SCORING,
                "known": known_section(chosen.web) if chosen.web else "",
            }
        ),
        encoding="utf-8",
    )
    figures = {name: [scores.summary() for scores in found.values()] for name, found in results.items()}
    chosen.json.write_text(json.dumps(figures, indent=1), encoding="utf-8")
    print(f"wrote {chosen.page}", file=sys.stderr)


if __name__ == "__main__":
    main()
