"""``periplus status``: crawl, index and ranks at a glance."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from msgspec.structs import asdict
from rich.console import Group
from rich.live import Live
from rich.table import Table

from periplus.cli import options as opt
from periplus.cli.crawl_words import crawl_pages, crawl_state
from periplus.cli.output import data, facts, number, print_json, say_notice, size, wait_of

if TYPE_CHECKING:
    from periplus.jobs import CollectionStatus, OperatorView, RankStatus

REFRESH = 1.0  # seconds
SLOTS_SHOWN = 20
EVENTS_SHOWN = 5
WIDE = 110  # columns, from which on a row of a worker has room for everything


def status(
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    watch: Annotated[bool, typer.Option("--watch", help="keep it on the screen until Ctrl-C")] = False,
    json: opt.Json = False,
) -> None:
    """Show how far the collection has come."""
    from periplus.app import Collection
    from periplus.jobs import operator_view

    with Collection.existing(directory) as collection:

        def look() -> Group:
            return _picture(collection.status(), operator_view(collection.database))

        if json:
            print_json(asdict(collection.status()) | asdict(operator_view(collection.database)))
            say_notice(collection)
        elif not watch:
            data().print(look())
            say_notice(collection)
        else:
            with Live(look(), console=data(), auto_refresh=False) as live:
                while True:
                    time.sleep(REFRESH)
                    live.update(look(), refresh=True)


def _picture(status: CollectionStatus, view: OperatorView) -> Group:
    parts: list[Table] = [_overview(status)]
    if status.workers:
        parts.append(_workers(status))
    if status.slots:
        parts.append(_slots(status))
    if any(host.queued or host.active for host in view.host_queues):
        parts.append(_hosts(view))
    if view.errors:
        parts.append(_errors(view))
    if view.failed_tasks:
        parts.append(_failed_tasks(view))
    if view.events:
        parts.append(_events(view))
    return Group(*parts)


def _workers(status: CollectionStatus) -> Table:
    """A row a worker; a narrow terminal goes without the machine's name and the rates of the past."""
    is_wide = data().width >= WIDE
    rates = ("rate", "max", "average") if is_wide else ("rate",)
    table = Table(box=None, header_style="dim", pad_edge=False, title_justify="left", padding=(0, 1))
    for name in ("worker", "state", "pages", "bytes", *rates, "2xx", "3xx", "404", "other", "wrote"):
        table.add_column(name, justify="left" if name in ("worker", "state") else "right", no_wrap=True)
    for worker in status.workers:
        address = worker.address if is_wide else worker.address.rpartition(":")[2]
        table.add_row(
            f"{worker.number} {address}",
            worker.state,
            number(worker.pages),
            size(worker.bytes),
            *(f"{rate:.1f}" for rate in (worker.rate, worker.max_rate, worker.average_rate)[: len(rates)]),
            *(number(n) for n in (worker.answers_2xx, worker.answers_3xx, worker.answers_404, worker.answers_other)),
            _clock(worker.last_write),
        )
    return table


def _slots(status: CollectionStatus) -> Table:
    table = Table(box=None, header_style="dim", pad_edge=False)
    for name in ("worker", "step", "seconds", "address"):
        table.add_column(name, justify="right" if name == "seconds" else "left", overflow="fold")
    for slot in status.slots[:SLOTS_SHOWN]:
        table.add_row(str(slot.worker), slot.step, f"{slot.age:.1f}", slot.url)
    return table


def _hosts(view: OperatorView) -> Table:
    table = _columns("host", "waiting>", "pages>", "delay>", "next>", "state")
    for host in view.host_queues:
        due = "" if host.due_in is None else wait_of(host.due_in)
        state = "active" if host.active and host.reason != "host-yield" else host.reason
        table.add_row(host.host, number(host.queued), number(host.pages), f"{host.delay:g} s", due, state)
    return table


def _errors(view: OperatorView) -> Table:
    table = _columns("error", "host", "times>", "status>", "newest")
    for error in view.errors:
        table.add_row(error.reason, error.host, number(error.count), str(error.status or ""), error.sample)
    return table


def _failed_tasks(view: OperatorView) -> Table:
    table = _columns("failed", "tries>", "of", "error")
    for task in view.failed_tasks:
        table.add_row(task.job, str(task.tries), task.input, task.error)
    return table


def _events(view: OperatorView) -> Table:
    table = _columns("event", "room", "")
    for event in view.events[:EVENTS_SHOWN]:
        table.add_row(_clock(event.at), event.room, event.text)
    return table


def _columns(*names: str) -> Table:
    """A quiet table; a name that ends with > stands on the right."""
    table = Table(box=None, header_style="dim", pad_edge=False)
    for name in names:
        table.add_column(name.rstrip(">"), justify="right" if name.endswith(">") else "left", overflow="fold")
    return table


def _overview(status: CollectionStatus) -> Table:
    from periplus.jobs import seconds_left

    crawl = status.crawl
    left = seconds_left(status)
    rows = [
        ("collection", status.collection),
        ("crawl", crawl_state(crawl)),
        ("pages", f"{crawl_pages(crawl)}; {crawl.rate:.1f} a second"),
        ("", f"{number(crawl.queued)} waiting, {number(crawl.failed)} failed, {number(crawl.refused)} refused"),
        *([("", f"about {timedelta(seconds=round(left))} left at this rate")] if left is not None else []),
        ("last write", _when(status.last_write) if status.last_write else "none yet"),
        ("hosts", number(crawl.hosts)),
        *([("", f"{number(crawl.withdrawn)} without budget, as their pages repeat others")] if crawl.withdrawn else []),
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
    if index and len(index.shards) > 1:
        sizes = f"{number(min(index.shards))} to {number(max(index.shards))} documents"
        rows.append(("shards", f"{number(len(index.shards))} of {sizes}"))
    rows.append(
        ("ranks", f"{number(ranks.pages)} pages, {number(ranks.hosts)} hosts, {_when(ranks.created)}{_origin(ranks)}")
        if ranks
        else ("ranks", "none yet: periplus rank")
    )
    rows.append(("disk", size(status.disk)))
    rows += [("damaged", what) for what in status.damage]
    return facts(rows)


def _origin(ranks: RankStatus) -> str:
    return f", from {ranks.origin}" if ranks.origin else ""


def _clock(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%H:%M:%S")


def _when(moment: float) -> str:
    return datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
