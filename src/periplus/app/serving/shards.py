"""A collection over shard servers: those that are named, those that report themselves, or processes of our own."""

from __future__ import annotations

import os
import secrets
import socket
import threading
from contextlib import ExitStack, contextmanager, suppress
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from msgspec import Struct

from periplus.app.children import Child
from periplus.app.thrift import settle
from periplus.cluster import (
    DRAIN,
    FolderShards,
    Registry,
    ServedGenerations,
    Servers,
    ShardServer,
    address_of,
    check_token,
)
from periplus.errors import NotFound, NotReady, UsageError
from periplus.web import is_loopback

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from periplus.app.collection import Collection
    from periplus.app.parts.shard_orders import ShardOrders

FOUND = "auto"  # in place of addresses: the servers that report themselves in the state database
RESTART = "restart"  # an order: end, and start again
_EVERYWHERE = ("0.0.0.0", "::", "")  # noqa: S104 (all addresses of a machine: none that others could ask)
NICENESS = 2  # of shard processes: their broker refuses what is too much at once, while they compute
TOKEN_VARIABLE = "PERIPLUS_SHARD_TOKEN"  # noqa: S105 (its name)


class ShardPlan(Struct, frozen=True):
    """Who searches the documents: servers that are named, or ``FOUND``; or so many processes of our own."""

    urls: tuple[str, ...] = ()
    processes: int = 0
    token: str = ""


class OwnServers:
    """Shard servers that are children of this process, by address; several threads may order at once."""

    def __init__(self, children: dict[str, Child], token: str) -> None:
        self._children = children
        self._lock = threading.Lock()
        self.plan = ShardPlan(tuple(children), 0, token)

    def orders(self) -> dict[str, tuple[str, ...]]:
        return {url: (DRAIN, RESTART) if child.is_at_work else (RESTART,) for url, child in self._children.items()}

    def order(self, address: str, order: str) -> None:
        with self._lock:
            if order not in self.orders().get(address, ()):
                raise NotFound(f"{address} cannot be told to {order}; look at what it does now")
            child = self._children[address]
            if order == RESTART:
                child.restart()
            else:
                child.stop()

    def close(self) -> None:
        """End all of them, once and for all."""
        with self._lock:
            children, self._children = self._children, {}
        for child in children.values():
            child.stop()


@contextmanager
def over_shards(collection: Collection, plan: ShardPlan, say: Callable[[str], None]) -> Iterator[ShardPlan]:
    """Let shard servers search the collection; gives the plan by which other processes can do the same."""
    with ExitStack() as stack:
        orders: ShardOrders = Registry(collection.database)
        if plan.processes:
            orders = own = stack.enter_context(_own_processes(collection, plan.processes, say))
            plan = own.plan
        servers = stack.enter_context(Servers(_addresses(collection, plan)))
        here = all(_is_here(url) for url in plan.urls)
        collection.source = ServedGenerations(collection.stores, servers, plan.token, shares_cores=here)
        collection.shard_orders = orders
        try:
            yield plan
        finally:
            collection.source = collection.shard_orders = None


def _is_here(url: str) -> bool:
    """Whether a shard server runs on this machine; of those that are yet to be found nothing is known."""
    host = urlsplit(url).hostname or ""
    return host == "localhost" or (bool(host) and is_loopback(host))


def _addresses(collection: Collection, plan: ShardPlan) -> Callable[[], Sequence[str]]:
    if plan.urls == (FOUND,):
        return Registry(collection.database).addresses
    for url in plan.urls:
        address_of(url)
    return lambda: plan.urls


@contextmanager
def _own_processes(collection: Collection, processes: int, say: Callable[[str], None]) -> Iterator[OwnServers]:
    """Shard servers as children: each has the shards whose number leaves its own when divided by how many there are."""
    manifest = collection.stores.index.manifest()
    if manifest is None:
        raise NotReady("no index is published yet; run periplus index")
    if processes > manifest.shards:
        raise UsageError(
            f"{processes} shard processes for {manifest.shards} shard(s); run periplus reshard {processes} before"
        )
    token = secrets.token_urlsafe(24)
    # Bound here, so that a child that is started again has the address of the one before.
    listeners = [socket.create_server(("127.0.0.1", 0), backlog=1024) for _ in range(processes)]
    children = {
        f"http://127.0.0.1:{listener.getsockname()[1]}": Child(
            f"shards {place}",
            serve_shards,
            (str(collection.folder), collection.flags, place, processes, token, listener),
            say,
        )
        for place, listener in enumerate(listeners)
    }
    for child in children.values():
        child.start()
    own = OwnServers(children, token)
    try:
        yield own
    finally:
        own.close()
        for listener in listeners:
            listener.close()


def serve_shards(
    stopping: threading.Event,
    folder: str,
    flags: dict[str, Any],
    place: int,
    processes: int,
    token: str,
    listener: socket.socket,
) -> None:
    """Child: serve some shards of a collection until stopped."""
    from periplus.app.collection import Collection

    take_own_cores(place, processes)
    with Collection(folder, flags=flags) as collection:
        source = FolderShards(collection.stores)

        def numbers() -> range:
            return range(place, source.count(), processes)

        with ShardServer(numbers, source, token=token, listener=listener, taken_up=settle) as server:
            stopping.wait()
            server.drain(0.0)  # without notice: its broker ends, too, or told it to


def take_own_cores(place: int, processes: int) -> None:
    """Run after the broker and beside the other shard processes, where the system allows that: a service may not."""
    with suppress(PermissionError):
        os.nice(NICENESS)
        os.sched_setaffinity(0, own_cores(place, processes))


def own_cores(place: int, processes: int) -> set[int]:
    """The part of the cores that one of several shard processes has; all, where there are fewer cores than processes.

    All of them are asked at the same moment, by one broker, and the system likes to wake whom it wakes on its own core:
    two of them then take turns there while another core rests.
    """
    cores = sorted(os.sched_getaffinity(0))
    if processes > len(cores):
        return set(cores)
    return set(cores[place * len(cores) // processes : (place + 1) * len(cores) // processes])


def serve_shard(
    collection: Collection,
    numbers: Sequence[int],
    host: str,
    port: int,
    token: str,
    stopping: threading.Event,
    started: Callable[[str], None],
    advertised: str = "",
) -> None:
    """Serve shards by hand until stopped, and report that in the state database, where it can be written."""
    check_token(host, token)
    if not advertised and host in _EVERYWHERE:
        raise UsageError(f"{host} is no address that brokers could ask; name one with --advertise http://HOST:PORT")
    registry = Registry(collection.database, on_drain=stopping.set)
    source = FolderShards(collection.stores)
    server = ShardServer(
        lambda: numbers,
        source,
        host,
        port,
        token=token,
        report=registry.report,
        taken_up=settle,
        advertised=advertised,
    )
    try:
        server.serve_until(stopping, started)
    finally:
        registry.leave(server)


def token_of(given: Path | None, environment: Mapping[str, str]) -> str:
    """From a file, or from the environment; empty when there is none."""
    if given is None:
        return environment.get(TOKEN_VARIABLE, "").strip()
    try:
        return given.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{given} cannot be read as a token: {error}; check --token-file") from error
