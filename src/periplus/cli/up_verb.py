"""``periplus up``: crawl, index, rank and serve together."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from periplus.cli import options as opt
from periplus.cli.crawl_flags import all_seeds, crawl_options, limits
from periplus.cli.output import messages
from periplus.cli.serve_verb import say_where
from periplus.cli.warming import ready_kernels
from periplus.cli.watching import watched


def up(
    urls: Annotated[list[str] | None, typer.Argument(help="addresses to start from", metavar="URL…")] = None,
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    seeds: opt.Seeds = None,
    max_pages: opt.MaxPages = None,
    max_depth: opt.MaxDepth = None,
    scope: opt.Scope = None,
    include: opt.Include = None,
    exclude: opt.Exclude = None,
    delay: opt.Delay = None,
    concurrency: opt.Concurrency = None,
    workers: opt.Workers = None,
    lang: opt.Languages = None,
    resolve: opt.Resolve = None,
    allow_private: opt.AllowPrivate = None,
    header: opt.Header = None,
    auth: opt.Auth = None,
    proxy: opt.Proxy = None,
    max_bandwidth: opt.MaxBandwidth = None,
    hours: opt.Hours = None,
    tls: opt.Tls = None,
    documents: opt.Documents = None,
    host: Annotated[str | None, typer.Option(help="address to listen on")] = None,
    port: Annotated[int | None, typer.Option(help="port to listen on; 0 takes a free one")] = None,
) -> None:
    """Crawl, index, rank and serve your sites, continuously, until Ctrl-C."""
    from periplus.app import Collection
    from periplus.app.up import Supervisor
    from periplus.crawl import canonical_seeds

    chosen = crawl_options(
        max_pages=max_pages, max_depth=max_depth, scope=scope, include=include, exclude=exclude, delay=delay,
        concurrency=concurrency, workers=workers, lang=lang, resolve=resolve, allow_private=allow_private,
        header=header, auth=auth, proxy=proxy, max_bandwidth=max_bandwidth, hours=hours, tls=tls,
        documents=documents,
    )  # fmt: skip
    flags = {f"crawl.{name}": value for name, value in chosen.items()}
    flags |= {"serve.host": host, "serve.port": port}
    start = canonical_seeds(all_seeds(urls, seeds))
    with Collection(directory, flags=flags) if start else Collection.existing(directory, flags=flags) as collection:
        supervisor = Supervisor(collection, start, say=lambda line: messages().print(line, soft_wrap=True))
        messages().print(f"{directory}: {limits(collection.settings.crawl)}", soft_wrap=True)
        ready_kernels()
        with watched(collection):
            supervisor.run(started=say_where)
