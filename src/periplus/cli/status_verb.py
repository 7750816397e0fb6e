"""``periplus status``: crawl, index and ranks at a glance."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Group
from rich.live import Live
from rich.table import Table

from periplus.cli import options as opt
from periplus.cli.output import data, facts, number, print_json, size

if TYPE_CHECKING:
    from periplus.jobs import CollectionStatus

REFRESH = 1.0  # seconds
SLOTS_SHOWN = 20


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


def _picture(status: CollectionStatus) -> Group:
    parts: list[Table] = [_overview(status)]
    if status.workers:
        parts.append(_workers(status))
    if status.slots:
        parts.append(_slots(status))
    return Group(*parts)


def _workers(status: CollectionStatus) -> Table:
    table = Table(box=None, header_style="dim", pad_edge=False, title_justify="left")
    for name in ("worker", "state", "pages", "bytes", "rate", "max", "average", "2xx", "3xx", "404", "other", "wrote"):
        table.add_column(name, justify="left" if name in ("worker", "state") else "right")
    for worker in status.workers:
        table.add_row(
            worker.address,
            worker.state,
            number(worker.pages),
            size(worker.bytes),
            *(f"{rate:.1f}" for rate in (worker.rate, worker.max_rate, worker.average_rate)),
            *(number(n) for n in (worker.answers_2xx, worker.answers_3xx, worker.answers_404, worker.answers_other)),
            datetime.fromtimestamp(worker.last_write, UTC).strftime("%H:%M:%S"),
        )
    return table


def _slots(status: CollectionStatus) -> Table:
    table = Table(box=None, header_style="dim", pad_edge=False)
    for name in ("worker", "step", "seconds", "address"):
        table.add_column(name, justify="right" if name == "seconds" else "left", overflow="fold")
    for slot in status.slots[:SLOTS_SHOWN]:
        table.add_row(str(slot.worker), slot.step, f"{slot.age:.1f}", slot.url)
    return table


def _overview(status: CollectionStatus) -> Table:
    crawl = status.crawl
    limit = f" of at most {number(crawl.limit)}" if crawl.limit else ""
    rows = [
        ("collection", status.collection),
        ("crawl", f"{crawl.state}, {number(crawl.pages)} pages{limit} at {crawl.rate:.1f} a second"),
        ("", f"{number(crawl.queued)} waiting, {number(crawl.failed)} failed, {number(crawl.refused)} refused"),
        ("hosts", number(crawl.hosts)),
        ("batches", number(status.batches)),
    ]
    if status.backlog:
        rows.append(("documents", f"{number(status.backlog)} pages wait for theirs: periplus index"))
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
