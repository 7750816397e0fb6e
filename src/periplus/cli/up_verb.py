"""``periplus up``: crawl, index, rank and serve together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from periplus.cli import options as opt
from periplus.cli.crawl_flags import all_seeds, limits, with_crawl_flags
from periplus.cli.output import messages
from periplus.cli.serve_verb import say_where
from periplus.cli.warming import ready_kernels
from periplus.cli.watching import watched


@with_crawl_flags
def up(
    urls: Annotated[list[str] | None, typer.Argument(help="addresses to start from", metavar="URL…")] = None,
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    seeds: opt.Seeds = None,
    *,
    flags: dict[str, Any],
    host: Annotated[str | None, typer.Option(help="address to listen on")] = None,
    port: Annotated[int | None, typer.Option(help="port to listen on; 0 takes a free one")] = None,
) -> None:
    """Crawl, index, rank and serve your sites, continuously, until Ctrl-C."""
    from periplus.app import Collection
    from periplus.app.up import Supervisor
    from periplus.crawl import canonical_seeds
    from periplus.crawl.checks import check

    flags |= {"serve.host": host, "serve.port": port}
    start = canonical_seeds(all_seeds(urls, seeds))
    with Collection(directory, flags=flags) if start else Collection.existing(directory, flags=flags) as collection:
        check(collection.settings.crawl)
        supervisor = Supervisor(collection, start, say=lambda line: messages().print(line, soft_wrap=True))
        messages().print(f"{directory}: {limits(collection.settings.crawl)}", soft_wrap=True)
        ready_kernels()
        with watched(collection):
            supervisor.run(started=say_where)
