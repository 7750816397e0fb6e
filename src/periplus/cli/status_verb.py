"""``periplus status``: crawl, index and ranks at a glance."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.live import Live

from periplus.cli import options as opt
from periplus.cli.output import data, facts, number, print_json, size

if TYPE_CHECKING:
    from rich.table import Table

    from periplus.jobs import CollectionStatus

REFRESH = 1.0  # seconds


def status(
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    watch: Annotated[bool, typer.Option("--watch", help="keep it on the screen until Ctrl-C")] = False,
    json: opt.Json = False,
) -> None:
    """Show how far the collection has come."""
    from periplus.app import Collection

    with Collection.existing(directory) as collection:
        if json:
            print_json(collection.status())
        elif not watch:
            data().print(_picture(collection.status()))
        else:
            with Live(_picture(collection.status()), console=data(), auto_refresh=False) as live:
                while True:
                    time.sleep(REFRESH)
                    live.update(_picture(collection.status()), refresh=True)


def _picture(status: CollectionStatus) -> Table:
    crawl = status.crawl
    limit = f" of at most {number(crawl.limit)}" if crawl.limit else ""
    rows = [
        ("collection", status.collection),
        ("crawl", f"{crawl.state}, {number(crawl.pages)} pages{limit} at {crawl.rate:.1f} a second"),
        ("", f"{number(crawl.queued)} waiting, {number(crawl.failed)} failed, {number(crawl.refused)} refused"),
        ("hosts", number(crawl.hosts)),
        ("batches", number(status.batches)),
    ]
    index, ranks = status.index, status.ranks
    rows.append(
        ("index", f"generation {index.generation}, {number(index.documents)} documents, {_when(index.created)}")
        if index
        else ("index", "none yet: periplus index")
    )
    rows.append(
        ("ranks", f"{number(ranks.pages)} pages, {number(ranks.hosts)} hosts, {_when(ranks.created)}")
        if ranks
        else ("ranks", "none yet: periplus rank")
    )
    rows.append(("disk", size(status.disk)))
    return facts(rows)


def _when(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M UTC")
