"""``periplus cluster``: the machines that share a collection."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from periplus.cli import options as opt
from periplus.cli.output import data, messages, print_json
from periplus.errors import UsageError

if TYPE_CHECKING:
    from periplus.app import ClusterStatus, Collection, NodeOptions

ACTIONS = ("start", "join", "status", "leave", "drain", "stop")


def cluster(
    action: Annotated[str, typer.Argument(help="start, join ADDRESS, status, leave, drain NODE or stop")] = "status",
    name: Annotated[str, typer.Argument(help="address of the head to join; node to drain")] = "",
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    token_file: Annotated[Path | None, typer.Option(help="file of the cluster's token; start makes one")] = None,
    address: Annotated[str, typer.Option(help="address by which other machines reach this one")] = "",
    port: Annotated[int, typer.Option(help="port of the head; not 10002 to 19999")] = 6379,
    cores: Annotated[int, typer.Option(help="cores to use here; 0 is all", min=0)] = 0,
    node: Annotated[str, typer.Option(help="name of this node; else made of the machine's name")] = "",
    ray_address: Annotated[str, typer.Option(help="with start: use the Ray cluster at this address")] = "",
    foreground: Annotated[bool, typer.Option("--foreground", help="stay, for systemd and the like")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="with drain: let the node work again")] = False,
    json: opt.Json = False,
) -> None:
    """Start or join a cluster of machines, show it, take machines out, or end it."""
    from periplus.app import Collection, machines

    _check(action, name)
    if action in ("start", "join"):
        options = machines.NodeOptions(
            name if action == "join" else "", ray_address, address, port, cores, node, token_file
        )
        with Collection(directory) as collection:
            _begin(collection, options, action, foreground=foreground)
        return
    with Collection.existing(directory) as collection:
        if action == "status":
            _show(machines.cluster_status(collection), json=json)
        elif action == "leave":
            _say(machines.leave(collection, node))
        elif action == "drain":
            _say(machines.drain(collection, name, undo=undo))
        else:
            _say(machines.stop(collection))


def _check(action: str, name: str) -> None:
    if action not in ACTIONS:
        raise UsageError(f"cluster knows no {action!r}; use {', '.join(ACTIONS)}")
    if action == "join" and not name:
        raise UsageError("name the head: periplus cluster join ADDRESS --token-file FILE")
    if action == "drain" and not name:
        raise UsageError("name the node: periplus cluster drain NODE; periplus cluster status lists them")
    if action not in ("join", "drain") and name:
        raise UsageError(f"periplus cluster {action} takes no {name!r}")


def _begin(collection: Collection, options: NodeOptions, action: str, *, foreground: bool) -> None:
    from periplus.app import machines

    plan = machines.plan_of(collection, options)
    if not foreground:
        _say(machines.start_in_background(collection, plan, _again(options, action, collection.folder)))
        return
    stopping = threading.Event()
    for one in (signal.SIGINT, signal.SIGTERM):
        signal.signal(one, lambda *_: stopping.set())
    machines.run_node(collection, plan, stopping, _say)
    _say("left the cluster")


def _again(options: NodeOptions, action: str, folder: Path) -> list[str]:
    """The words of this command, for a process without a terminal; the token is in the folder by now."""
    words = ["cluster", action, *([options.head] if options.head else []), "--dir", str(folder)]
    words += ["--port", str(options.port), "--cores", str(options.cores)]
    for flag, value in (
        ("--address", options.address),
        ("--node", options.name),
        ("--ray-address", options.ray_address),
    ):
        words += [flag, value] if value else []
    return words


def _say(line: str) -> None:
    messages().print(line, soft_wrap=True, markup=False, highlight=False)


def _show(status: ClusterStatus, *, json: bool) -> None:
    if json:
        print_json(status)
        return
    if not status.nodes:
        _say("no machines yet; periplus cluster start begins a cluster")
        return
    table = Table("node", "address", "cores", "state", "runs", box=None)
    for node in status.nodes:
        runs = ", ".join(slot.name.removesuffix(f":{node.id}") for slot in status.slots if slot.node == node.id)
        state = ("head, " if node.is_head else "") + (node.leaving or "at work" if node.is_alive else "silent")
        table.add_row(node.id, node.address, str(node.cores), state, runs or "nothing")
    data().print(table)
    for slot in status.slots:
        if slot.note:
            _say(f"{slot.name} on {slot.node}: {slot.state}, {slot.note}")
