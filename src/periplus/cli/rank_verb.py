"""``periplus rank``: link graph and PageRank."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from periplus.cli import options as opt
from periplus.cli.output import facts, messages, number, print_json, say_warnings
from periplus.cli.progress import step
from periplus.errors import StorageError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.graph import Convergence, RankMeta, RankOrigin, RankTable, TopRank
    from periplus.jobs import RankSummary

SHOWN = 5
SHOWN_ROWS = 12  # of a convergence table; the rest is in the generation's meta.json
BAR = 24
GRAPHS = ("page", "host", "both")


def rank(
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    graph: Annotated[str, typer.Option(help="whose ranks to show: page, host or both")] = "both",
    policy: Annotated[
        str, typer.Option(help="ours, or that of a reference profile, which alone reads those ranks")
    ] = "ours",
    plot: Annotated[Path | None, typer.Option(help="write a picture of the ranks there, as SVG")] = None,
    given: Annotated[
        Path | None,
        typer.Option(
            "--from", help="ranks of pages computed elsewhere: Parquet or CSV with url (or page_key) and rank"
        ),
    ] = None,
    json: opt.Json = False,
) -> None:
    """Compute PageRank of pages and hosts from the stored links."""
    from periplus.app import Collection
    from periplus.graph import OURS, RankStore, store_of

    if graph not in GRAPHS:
        raise UsageError(f"graph is {graph!r}; give one of {', '.join(GRAPHS)}")
    with Collection.existing(directory) as collection, step("rank") as bar:
        told = lambda done, change: bar.at(done, note=f"change {change:.1e}")  # noqa: E731
        summary = collection.rank(policy=policy, given=given, progress=told)
    say_warnings(collection)
    ranks = RankStore(collection.folder / "ranks")
    table = (ranks if policy == OURS else store_of(ranks, policy)).current()
    if plot is not None and table is not None:
        _draw(table, plot)
    if json:
        print_json(summary)
        return
    _show(summary)
    if table is not None:
        _show_ranks(table.meta, graph)


def _show(summary: RankSummary) -> None:
    origin = summary.origin
    rows = [
        ("pages", number(summary.pages)),
        ("hosts", number(summary.hosts)),
        ("links", number(summary.links)),
    ]
    if origin is None:
        rows.append(("iterations", f"{summary.iterations} (last change {summary.difference:.1e})"))
    else:
        rows += [("from", f"{origin.file}, {number(origin.rows)} rows"), *_misfits(origin)]
    messages().print(facts([*rows, ("seconds", f"{summary.seconds:.2f}")]))


def _misfits(origin: RankOrigin) -> list[tuple[str, str]]:
    """Where a file of ranks and the collection differ."""
    rows = []
    if origin.unknown:
        more = " …" if origin.unknown > len(origin.samples) else ""
        rows.append(("unknown", f"{number(origin.unknown)} rows passed over: {', '.join(origin.samples)}{more}"))
    if origin.missing:
        rows.append(("missing", f"{number(origin.missing)} pages have the least rank"))
    return rows


def _show_ranks(meta: RankMeta, graph: str) -> None:
    if graph in ("page", "both"):
        _show_graph("pages", meta.page_history, meta.top_pages)
    if graph in ("host", "both"):
        _show_graph("hosts", meta.host_history, meta.top_hosts)


def _show_graph(name: str, history: Sequence[Convergence], top: Sequence[TopRank]) -> None:
    console = messages()
    if history:
        console.print(f"\n{name}: iteration, change, seconds", style="dim")
    for row in _some(history):
        console.print(f"  {row.iteration:>5}  {row.difference:.2e}  {row.seconds:8.3f}")
    if top:
        console.print(f"best {name}", style="dim")
    for entry in top[:SHOWN]:
        filled = round(BAR * entry.rank / top[0].rank)
        console.print(f"  {entry.rank:.5f}  {'█' * filled:<{BAR}}  {entry.name}", soft_wrap=True)


def _some(history: Sequence[Convergence]) -> list[Convergence]:
    """Rows spread over a long table, the last one among them."""
    every = -(-len(history) // SHOWN_ROWS) or 1
    return [row for place, row in enumerate(history, 1) if place % every == 0 or place == len(history)]


def _draw(table: RankTable, path: Path) -> None:
    from periplus.graph.picture import rank_picture

    try:
        path.write_text(rank_picture(table), encoding="utf-8")
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}; choose another --plot") from error
    messages().print(f"picture in {path}", soft_wrap=True)
