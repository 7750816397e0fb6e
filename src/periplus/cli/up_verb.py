"""``periplus up``: crawl, index, rank and serve together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from periplus.cli import options as opt
from periplus.cli.crawl_flags import all_seeds, start_of, with_crawl_flags
from periplus.cli.in_force import say_in_force
from periplus.cli.output import messages
from periplus.cli.seed_lines import SeedLines
from periplus.cli.serve_verb import say_where
from periplus.cli.warming import ready_kernels
from periplus.cli.watching import LiveLine, watched

if TYPE_CHECKING:
    from periplus.app import ClusterSupervisor, Collection, Supervisor


@with_crawl_flags
def up(
    urls: Annotated[list[str] | None, typer.Argument(help="addresses to start from", metavar="URL")] = None,
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    seeds: opt.Seeds = None,
    *,
    flags: dict[str, Any],
    forget: opt.Forget = False,
    host: Annotated[str | None, typer.Option(help="address to listen on")] = None,
    port: Annotated[int | None, typer.Option(help="port to listen on; 0 takes a free one")] = None,
) -> None:
    """Crawl, index, rank and serve your sites, continuously, until Ctrl-C."""
    from periplus.app import Collection
    from periplus.crawl.asking.checks import check

    flags |= {"serve.host": host, "serve.port": port}
    start = all_seeds(urls, seeds)
    with Collection(directory, flags=flags) if start else Collection.existing(directory, flags=flags) as collection:
        loaded = collection.in_force(forget=forget)
        check(loaded.values.crawl, loaded.origins)
        begin = start_of(collection, start)
        live = LiveLine()
        supervisor = _supervisor(collection, start, live)
        say_in_force(collection, loaded, begin, forget=forget)
        collection.remember(loaded, forget=forget)
        ready_kernels()
        lines = SeedLines(collection, begin, loaded.values.crawl.max_pages, live.say)
        with watched(collection, lines, live):
            supervisor.run(started=say_where(collection))
        messages().print(f"stopped; periplus up --dir {directory} goes on", soft_wrap=True)


def _supervisor(collection: Collection, start: list[str], live: LiveLine) -> Supervisor | ClusterSupervisor:
    """Everything runs here; where machines have joined, on them."""
    if collection.settings.storage.database:
        from periplus.app import has_cluster

        if has_cluster(collection):
            from periplus.app import ClusterSupervisor

            return ClusterSupervisor(collection, start, say=live.say)
    from periplus.app import Supervisor

    return Supervisor(collection, start, say=live.say)
