"""``periplus evaluate``: how good a ranking profile is on judged queries."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from periplus.cli import options as opt
from periplus.cli.output import data, messages, print_json
from periplus.cli.progress import step

if TYPE_CHECKING:
    from periplus.app import Collection
    from periplus.evaluation import Comparison, Scores


def evaluate(
    queries: Annotated[Path, typer.Option(help="TSV: query id, text")],
    qrels: Annotated[Path, typer.Option(help="TSV: query id, document id, grade")],
    profile: Annotated[list[str] | None, typer.Option(help="ranking profile; repeatable")] = None,
    exhaustive: Annotated[
        bool,
        typer.Option(help="score also every page with a word of the query, not only the best of a first pass"),
    ] = False,
    run: Annotated[Path | None, typer.Option(help="write the last profile's lists as a TREC run file")] = None,
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    json: opt.Json = False,
) -> None:
    """Score ranking profiles on judged queries; host diversity and folding are off."""
    from periplus.app import Collection
    from periplus.evaluation import compare, report, write_run

    with Collection.existing(directory) as collection:
        names = profile or [collection.settings.search.profile]
        ways = (False, True) if exhaustive else (False,)
        scored = [_scores(collection, name, queries, qrels, exhaustive=way) for name in names for way in ways]
    messages().print("host diversity and folding are off", style="dim")
    if run is not None:
        write_run(run, scored[-1].run, scored[-1].profile)
    if json:
        print_json(report(scored))
        return
    data().print(_table(scored, [compare(scored[0], other) for other in scored[1:]]))


def _scores(collection: Collection, profile: str, queries: Path, qrels: Path, *, exhaustive: bool) -> Scores:
    from periplus.evaluation import evaluate as score
    from periplus.evaluation import read_qrels, read_queries

    asked = 0

    def search(query: str, count: int) -> list[str]:
        nonlocal asked
        asked += 1
        bar.at(asked)
        found = collection.engine.ranking(query, count, profile, exhaustive=exhaustive)
        return [identifier for identifier, _ in found]

    name = f"{profile}, all matches" if exhaustive else profile
    with step(name) as bar:
        return score(search, read_queries(queries), read_qrels(qrels), name)


def _table(scored: list[Scores], comparisons: list[Comparison]) -> Table:
    from periplus.evaluation import MEASURES

    table = Table(box=None, header_style="dim")
    table.add_column("profile")
    for measure in MEASURES:
        table.add_column(measure, justify="right")
    table.add_column("queries", justify="right")
    table.add_column("seconds", justify="right")
    table.add_column(f"against {scored[0].profile}" if comparisons else "")
    for scores, comparison in zip(scored, [None, *comparisons], strict=True):
        measures = [f"{scores.mean(measure):.4f}" for measure in MEASURES]
        said = f"{comparison.difference:+.4f}, p = {comparison.p:.3f}" if comparison else ""
        table.add_row(scores.profile, *measures, str(len(scores.by_query)), f"{scores.seconds:.2f}", said)
    return table
