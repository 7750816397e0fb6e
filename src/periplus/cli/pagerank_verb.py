"""``periplus pagerank``: PageRank of any edge list."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from periplus.cli.output import messages
from periplus.cli.progress import step
from periplus.errors import NotFound, StorageError

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from typing import TextIO

    from periplus.graph.pagerank import Dangling, Floats, Form


def pagerank(
    edges: Annotated[Path, typer.Argument(help="file of `source target` lines; # comments and gzip allowed")],
    damping: Annotated[float, typer.Option(help="share of rank that follows links")] = 0.85,
    tolerance: Annotated[float, typer.Option(help="L1 difference at which iteration ends")] = 1e-10,
    max_iterations: Annotated[int, typer.Option(help="iterations at most")] = 10_000,
    dangling: Annotated[
        str, typer.Option(help="mass of nodes without links: spread, normalise, back-edges or ignore")
    ] = "spread",
    self_links: Annotated[bool, typer.Option(help="keep links of a node to itself")] = True,
    form: Annotated[str, typer.Option(help="probability (sum 1) or classic (mean 1)")] = "probability",
    trusted: Annotated[
        list[str] | None, typer.Option(help="node that the random jumps lead to, instead of all; repeatable")
    ] = None,
    check_every: Annotated[int, typer.Option(help="look at the difference every so many iterations")] = 1,
    table: Annotated[bool, typer.Option("--table", help="show the convergence table")] = False,
    nodes: Annotated[int, typer.Option(help="the nodes 0 to N-1 exist even without a link")] = 0,
    out: Annotated[Path | None, typer.Option(help="write there instead of to standard output")] = None,
) -> None:
    """Compute PageRank of an edge list: node, tab, rank; the ranks sum to 1."""
    from periplus.graph import pagerank as compute
    from periplus.graph import read_edges

    listed = read_edges(edges, nodes)
    with step("pagerank") as bar:
        result = compute(
            listed.graph,
            damping=damping,
            tolerance=tolerance,
            max_iterations=max_iterations,
            dangling=cast("Dangling", dangling),
            self_links=self_links,
            form=cast("Form", form),
            teleport=_teleport(listed.names, trusted) if trusted else None,
            check_every=check_every,
            progress=lambda done, change: bar.at(done, note=f"change {change:.1e}"),
        )
    messages().print(
        f"{listed.graph.vertices:,} nodes, {listed.graph.edges:,} links, {result.iterations} iterations, "
        f"last change {result.difference:.1e}, {result.seconds:.2f} s",
        soft_wrap=True,
    )
    if not result.converged:
        messages().print(
            f"not converged: the last change is above {tolerance:.0e}; allow more with --max-iterations", style="yellow"
        )
    if table:
        for row in result.history:
            messages().print(f"  {row.iteration:>5}  {row.difference:.2e}  {row.seconds:8.3f}")
    with _target(out) as file:
        _write(file, listed.names, result.ranks.tolist())


def _teleport(names: Sequence[object], trusted: Sequence[str]) -> Floats:
    import numpy as np

    places = {str(name): place for place, name in enumerate(names)}
    weights = np.zeros(len(names))
    for name in trusted:
        if name not in places:
            raise NotFound(f"there is no node {name}; --trusted names nodes of the edge list")
        weights[places[name]] = 1.0
    return weights


@contextlib.contextmanager
def _target(out: Path | None) -> Iterator[TextIO]:
    if out is None:
        yield sys.stdout
        return
    try:
        with out.open("w", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise StorageError(f"{out} cannot be written: {error.strerror}; choose another --out") from error


def _write(file: TextIO, names: Sequence[object], ranks: Sequence[float]) -> None:
    file.writelines(f"{name}\t{rank!r}\n" for name, rank in zip(names, ranks, strict=True))
