"""The machines of a collection's cluster: joining with this one, leaving, orders to others, and how they stand."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from xxhash import xxh3_64_hexdigest

from periplus.cluster import (
    DRAIN_NODE,
    HEAD_PORT,
    LEAVE,
    LOGS,
    SERVICES,
    TOKEN_FILE,
    WISH,
    Agent,
    GuestAgent,
    KeptSlot,
    Node,
    NodePlan,
    Nodes,
    address_parts,
    check_port,
    kept_slots,
    machine_address,
    machine_memory,
    reach,
    read_token,
    require_ray,
    shard_token,
)
from periplus.errors import NotFound, NotReady, SettingError, UnfitFile, UsageError
from periplus.log_lines import message_of
from periplus.storage import Leases, database_time, make_private_folder, process_name

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from periplus.app.collection import Collection

SHORTEST_TOKEN = 32  # characters
START_SECONDS = 180.0  # to wait for an agent that was started in the background
STOP_SECONDS = 120.0  # to wait for nodes to go
MOST_LEASES = 200  # that the console shows
MOST_TASKS = 200  # rows of counted tasks, the same
WISH_SECONDS = 30.0  # that a wish for shard servers holds without being renewed


class ClusterStatus(Struct, frozen=True):
    """What ``periplus cluster status`` shows."""

    head: str
    conductor: str
    services: tuple[str, ...]
    nodes: list[Node]
    slots: list[KeptSlot]


class NodeOptions(Struct, frozen=True):
    """How a machine is to take part, as typed; what is empty or 0 is found out."""

    head: str = ""  # to join; empty: be the head
    ray_address: str = ""  # of a Ray cluster that somebody else runs
    address: str = ""
    port: int = HEAD_PORT
    cores: int = 0
    name: str = ""
    token_file: Path | None = None


def require_cluster(collection: Collection) -> None:
    """Raise, in one line, unless machines can share this collection."""
    storage = collection.settings.storage
    if not storage.database.startswith("postgresql://"):
        raise SettingError('a cluster keeps its state in PostgreSQL; set storage.database = "postgresql://…"')
    if not storage.files:
        raise SettingError('a cluster keeps its files in an object store; set storage.files = "s3://bucket/prefix"')


def has_cluster(collection: Collection) -> bool:
    """Whether machines have joined that are alive; asks only where a collection can have a cluster."""
    if not collection.settings.storage.database or not collection.exists:
        return False
    return bool(Nodes(collection.database).alive())


def plan_of(collection: Collection, options: NodeOptions) -> NodePlan:
    """What is typed and what is found out; keeps the token in the collection's folder."""
    require_ray()
    require_cluster(collection)
    check_port(options.port)
    if options.head:
        host, port = address_parts(options.head)
        options_head = f"{host}:{port}"
        address = options.address or machine_address(host)
    else:
        options_head, address = "", options.address or machine_address()
    make_private_folder(collection.folder)
    _keep_token(collection.folder, options)
    if options_head:
        reach(options_head)
    collection.create()
    folder = str(collection.folder.resolve())
    cores = options.cores or os.cpu_count() or 1
    name = options.name or node_name(folder)
    return NodePlan(name, address, cores, machine_memory(), folder, options_head, options.port, options.ray_address)


def node_name(folder: str) -> str:
    """The same for a folder of a machine at every start, so that a node that comes back gets what it had."""
    host = socket.gethostname().partition(".")[0]
    return f"{host}-{xxh3_64_hexdigest(f'{host}:{folder}'.encode())[:4]}"


def _keep_token(folder: Path, options: NodeOptions) -> None:
    kept = folder / TOKEN_FILE
    if options.token_file is not None:
        try:
            token = options.token_file.read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise UnfitFile(f"{options.token_file} cannot be read as a token: {error}; check --token-file") from error
        _write_token(kept, token)
    elif not kept.exists():
        if options.head:
            raise UsageError(f"joining needs the head's token: copy its {TOKEN_FILE} here, and give --token-file")
        _write_token(kept, secrets.token_hex(32))
    if len(read_token(folder)) < SHORTEST_TOKEN:
        raise UnfitFile(f"the token of a cluster has at least {SHORTEST_TOKEN} characters; copy the head's again")


def _write_token(path: Path, token: str) -> None:
    path.touch(mode=0o600)
    path.chmod(0o600)
    path.write_text(token + "\n", encoding="ascii")


def run_node(collection: Collection, plan: NodePlan, stopping: threading.Event, say: Callable[[str], None]) -> None:
    """Be a node until told to leave."""
    agent = GuestAgent(plan, collection.database) if plan.ray_address else Agent(plan, collection.database)
    agent.run(stopping, lambda node: say(_welcome(plan, node)))


def start_in_background(collection: Collection, plan: NodePlan, words: Sequence[str]) -> str:
    """Start this command again without a terminal, and wait until its node has joined; what there is to say."""
    log = collection.folder / LOGS / "agent.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as output:
        child = subprocess.Popen(  # noqa: S603 (our own command)
            [sys.executable, "-m", "periplus", *words, "--foreground"],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    own = process_name(child.pid)
    nodes, latest = Nodes(collection.database), time.monotonic() + START_SECONDS
    while time.monotonic() < latest:
        if child.poll() is not None:
            raise NotReady(_last_line(log) or f"the agent ended with code {child.returncode}; see {log}")
        joined = [node for node in nodes.all() if node.process == own]
        if joined:
            return _welcome(plan, joined[0])
        time.sleep(0.2)
    raise NotReady(f"the agent has not joined after {START_SECONDS:.0f} s; see {log}")


def _welcome(plan: NodePlan, node: Node) -> str:
    if plan.ray_address:
        return f"this cluster runs on the Ray at {plan.ray_address}; periplus cluster status shows its machines"
    if plan.head:
        return f"node {node.id} has joined {plan.head}"
    token = Path(plan.folder) / TOKEN_FILE
    return (
        f"node {node.id} is the head; on other machines, with a copy of {token}:\n"
        f"periplus cluster join {plan.address}:{plan.port} --token-file {TOKEN_FILE}"
    )


def _last_line(log: Path) -> str:
    lines = [line.strip() for line in log.read_text(encoding="utf-8", errors="replace").split("\n") if line.strip()]
    return message_of(lines[-1]) if lines else ""


# Looking, and orders


def cluster_status(collection: Collection) -> ClusterStatus:
    from periplus.cluster import conductor_of

    nodes = Nodes(collection.database)
    return ClusterStatus(
        head=nodes.head().address,
        conductor=conductor_of(collection.database),
        services=nodes.services(),
        nodes=nodes.all(),
        slots=kept_slots(collection.database),
    )


def cluster_panel(collection: Collection) -> dict[str, Any]:
    """For the console; empty where no machine has joined."""
    status = cluster_status(collection)
    if not status.nodes:
        return {}
    with collection.database.read() as tx:
        now = database_time(tx)
        count = int(tx.value("SELECT COUNT(*) FROM leases WHERE expires > ?", (now,)))
        sql = "SELECT name, owner, token, expires FROM leases WHERE expires > ? ORDER BY name LIMIT ?"
        rows = tx.rows(sql, (now, MOST_LEASES))
        tasks = tx.rows(
            "SELECT job, kind, state, COUNT(*) FROM tasks GROUP BY job, kind, state ORDER BY job, kind, state"
        )
    leases = [dict(zip(("name", "owner", "token", "expires"), row, strict=True)) for row in rows]
    shown: dict[str, Any] = msgspec.to_builtins(status)
    counted = [dict(zip(("job", "kind", "state", "count"), row, strict=True)) for row in tasks[:MOST_TASKS]]
    return {**shown, "leases": leases, "more_leases": count - len(leases), "tasks": counted}


def leave(collection: Collection, name: str = "") -> str:
    """Take this machine, or the node of that name, out of the cluster; waits until it has gone."""
    nodes, name = Nodes(collection.database), name or node_name(str(collection.folder.resolve()))
    nodes.order(name, LEAVE)
    if not _wait_for(lambda: all(node.id != name or not node.is_alive for node in nodes.all())):
        raise NotReady(f"node {name} has not left after {STOP_SECONDS:.0f} s; look at its agent's log")
    return f"node {name} has left"


def drain(collection: Collection, name: str, *, undo: bool = False) -> str:
    """Let nothing run on a node any more, or let it work again."""
    Nodes(collection.database).order(name, "" if undo else DRAIN_NODE)
    return f"node {name} takes work again" if undo else f"what runs on node {name} goes elsewhere"


def order_machine(collection: Collection, order: str, name: str) -> None:
    """From the console: ``drain``, ``work`` or ``leave`` to one node, ``stop`` to all; does not wait."""
    nodes = Nodes(collection.database)
    if order == "stop":
        tell_to_stop(nodes)
    else:
        nodes.order(name, {"drain": DRAIN_NODE, "work": "", "leave": LEAVE}[order])


def tell_to_stop(nodes: Nodes) -> int:
    """End everything: what the cluster was told to run, and its nodes, the head last; how many there are."""
    alive = len(nodes.alive())
    if not alive:
        raise NotFound("no node of a cluster is alive; periplus cluster start begins one")
    nodes.set_services(())
    nodes.order_all(LEAVE)
    return alive


def stop(collection: Collection) -> str:
    """End everything, and wait until that is done."""
    nodes = Nodes(collection.database)
    alive = tell_to_stop(nodes)
    if not _wait_for(lambda: not nodes.alive()):
        left = ", ".join(node.id for node in nodes.alive())
        raise NotReady(f"{left} did not leave within {STOP_SECONDS:.0f} s; look at the agents' logs")
    return f"the cluster has ended, {alive} node(s)"


def _wait_for(condition: Callable[[], bool]) -> bool:
    latest = time.monotonic() + STOP_SECONDS
    while not condition():
        if time.monotonic() > latest:
            return False
        time.sleep(0.2)
    return True


# What other verbs ask of a cluster


@contextmanager
def running(collection: Collection, services: Sequence[str] = SERVICES) -> Iterator[None]:
    """Let the cluster run these until the block ends; a crash leaves it running."""
    nodes = Nodes(collection.database)
    nodes.set_services({*nodes.services(), *services})
    try:
        yield
    finally:
        nodes.set_services(set(nodes.services()) - set(services))


@contextmanager
def wishing_for_shards(collection: Collection) -> Iterator[str]:
    """Have shard servers run on the cluster while the block lasts; gives the token that they want."""
    leases = Leases(collection.database)
    lease = leases.acquire(f"{WISH}{process_name()}", process_name(), WISH_SECONDS)
    ended = threading.Event()

    def renew() -> None:
        from periplus.errors import PeriplusError

        held = lease
        while held is not None and not ended.wait(WISH_SECONDS / 4):
            try:
                held = leases.renew(held, WISH_SECONDS)
            except PeriplusError:
                continue

    thread = threading.Thread(target=renew, name="wish", daemon=True)
    thread.start()
    try:
        yield shard_token(read_token(collection.folder))
    finally:
        ended.set()
        thread.join()
        if lease is not None:
            leases.release(lease)
