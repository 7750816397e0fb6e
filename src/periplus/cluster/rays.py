"""Everything that is asked of Ray: the only module that imports it, and only when it is asked.

Ray starts keepers on machines and runs batch tasks. No query and no lease asks it. The token is set explicitly on
every process, since Ray turns it on by itself in some of them only.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

from periplus.cluster.keeper import Keeper
from periplus.errors import NotReady, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from periplus.cluster.keeper import Keep

NAMESPACE = "periplus"
RECONNECT_SECONDS = 3600  # that nodes and drivers go on for without Ray's head
WORKER_PORTS = range(10_002, 20_000)  # Ray gives these to its workers
DRAIN_SECONDS = 10.0
RAYLET_LOOK = 0.5  # seconds between two looks of a keeper after its raylet
_PIN = 0.001  # of a node's own resource: keeps an actor on it


def require_ray() -> None:
    """Say what to install where Ray is missing; imports nothing."""
    if importlib.util.find_spec("ray") is None:
        raise UsageError(
            "a cluster needs Ray: pip install 'periplus[cluster]', in a clone: scripts/environment cluster"
        )


def ray_environment(token: str, given: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables of every process that has to do with Ray; without a token those of somebody else's cluster."""
    chosen = dict(os.environ if given is None else given)
    chosen["RAY_gcs_rpc_server_reconnect_timeout_s"] = str(RECONNECT_SECONDS)
    # Ray waits so long, once told to end, for a node that is not idle; what runs there was asked to end before.
    chosen["RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S"] = str(DRAIN_SECONDS)
    chosen["RAY_USAGE_STATS_ENABLED"] = "0"
    chosen["RAY_DEDUP_LOGS_SKIP_REGEX"] = ".*"  # what Ray says of lost tasks is not for the output of a verb
    if token:
        chosen |= {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token}
    return chosen


def start_words(address: str, cores: int, *, head: str = "", port: int = 0) -> list[str]:
    """``ray start`` on this machine: of a new head at ``port``, or of a node that joins ``head``."""
    words = [sys.executable, "-m", "ray.scripts.scripts", "start", "--block", "--disable-usage-stats"]
    words += [f"--node-ip-address={address}", f"--num-cpus={cores}", "--include-log-monitor=false"]
    return [*words, f"--address={head}"] if head else [*words, "--head", f"--port={port}", "--include-dashboard=false"]


def connect(head: str, token: str, own: str = "") -> Any:
    """Ray, connected to the cluster at ``head``. This machine must be a node of it; ``own`` is its address there."""
    require_ray()
    os.environ.update(ray_environment(token, {}))
    import ray

    if not ray.is_initialized():
        here: dict[str, Any] = {"_node_ip_address": own} if own else {}
        try:
            ray.init(address=head, namespace=NAMESPACE, log_to_driver=False, configure_logging=False, **here)
        except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
            why = next(iter(str(error).strip().splitlines()), type(error).__name__)
            raise NotReady(f"Ray's head at {head} does not take this machine in: {why}; look at ray.log") from error
    return ray


def disconnect() -> None:
    if "ray" in sys.modules:
        sys.modules["ray"].shutdown()


class RayKeeper(Keeper):
    """A keeper as an actor. It ends with its raylet, without which nobody could end it.

    One that lost its slot ends, too: Ray starts it again where it is still wanted.
    """

    def __init__(self, keep: Keep) -> None:
        self._raylet = os.getppid()
        threading.Thread(target=self._watch_raylet, name="raylet", daemon=True).start()
        super().__init__(keep)

    def _watch_raylet(self) -> None:
        while os.getppid() == self._raylet:
            time.sleep(RAYLET_LOOK)
        os._exit(1)

    def lost(self) -> None:
        os._exit(1)


class RayFleet:
    """Keepers as actors of Ray, each on its node; they outlive whoever started them."""

    def __init__(self, ray: Any) -> None:
        self._ray = ray
        self._actor = ray.remote(RayKeeper)
        self._ending: dict[str, tuple[Any, Any]] = {}  # keepers that were told to end: handle and answer

    def names(self) -> set[str]:
        """``SLOT@NODE`` of all keepers, those that end included."""
        return set(self._ray.util.list_named_actors())

    def start(self, keep: Keep, address: str) -> None:
        """Start a keeper on the node at ``address``, unless it is there already."""
        self._actor.options(
            name=keeper_name(keep.slot, keep.node),
            lifetime="detached",
            get_if_exists=True,
            num_cpus=0,
            resources={f"node:{address}": _PIN},
            max_restarts=-1,
        ).remote(keep)

    def end(self, name: str) -> None:
        """Tell a keeper to end; ``settle`` sees to it that it goes."""
        if name in self._ending:
            return
        try:
            handle = self._ray.get_actor(name)
        except ValueError:  # it went meanwhile
            return
        self._ending[name] = (handle, handle.end.remote())

    def settle(self, gone: Iterable[str]) -> None:
        """Remove keepers that have ended, or whose node is ``gone``."""
        lost = set(gone)
        for name, (handle, answer) in list(self._ending.items()):
            done, _ = self._ray.wait([answer], timeout=0)
            if done or name.rpartition("@")[2] in lost:
                del self._ending[name]
                self._ray.kill(handle, no_restart=True)

    def close(self) -> None:
        """Remove keepers that were told to end; they have, when nothing runs any more."""
        for handle, _ in self._ending.values():
            self._ray.kill(handle, no_restart=True)
        self._ending.clear()

    def nodes(self) -> list[tuple[str, int, int]]:
        """Address, cores and memory of the machines that Ray has."""
        return [
            (one["NodeManagerAddress"], int(one["Resources"].get("CPU", 0)), int(one["Resources"].get("memory", 0)))
            for one in self._ray.nodes()
            if one["Alive"]
        ]


def keeper_name(slot: str, node: str) -> str:
    return f"{slot}@{node}"
