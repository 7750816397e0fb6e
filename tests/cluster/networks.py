"""A network for each machine, joined by a bridge, so that machines can be cut from each other or from everything.

Works in a network of its own only (``scripts/own-network``), and needs the rights of its owner.
"""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path
from typing import Any

BRIDGE = "bridge-p"
HERE = "10.77.0.1"  # of whoever starts the machines, at the bridge
WEB = "10.77.0.200"  # the same one's, for a web that machines still reach when ``HERE`` is lost to them
NOBODY = "02:00:00:00:00:99"  # the card of no machine: what is sent there is lost without a word
PROGRAMS = os.environ["PATH"] + ":/usr/sbin:/sbin"


class Networks:
    """``with Networks(3) as networks``: machine 1 is at 10.77.0.2, 2 at 10.77.0.3 and so on."""

    def __init__(self, count: int) -> None:
        self._count = count
        self._holders: dict[int, subprocess.Popen[bytes]] = {}  # a network lives while a process is in it

    def __enter__(self) -> Networks:
        run("ip", "link", "add", BRIDGE, "type", "bridge")
        for address in (HERE, WEB):
            run("ip", "address", "add", f"{address}/24", "dev", BRIDGE)
        run("ip", "link", "set", BRIDGE, "up")
        for number in range(1, self._count + 1):
            self._make(number)
        return self

    def __exit__(self, *_: Any) -> None:
        for holder in self._holders.values():
            holder.kill()
            holder.wait()
        run("ip", "link", "delete", BRIDGE)

    def _make(self, number: int) -> None:
        holder = subprocess.Popen(["unshare", "--net", "sleep", "infinity"])
        self._holders[number] = holder
        latest = time.monotonic() + 10
        while _network(holder.pid) == _network(os.getpid()):
            assert time.monotonic() < latest, "no network of its own"
            time.sleep(0.01)
        run("ip", "link", "add", _link(number), "type", "veth", "peer", "name", "eth0", "netns", str(holder.pid))
        run("ip", "link", "set", _link(number), "master", BRIDGE, "up")
        for words in (f"address add {self.address(number)}/24 dev eth0", "link set eth0 up", "link set lo up"):
            run(*self.entered(number), "ip", *words.split())

    def address(self, number: int) -> str:
        return f"10.77.0.{number + 1}"

    def entered(self, number: int) -> list[str]:
        """What a command begins with to be run in the network of a machine."""
        return ["nsenter", "--target", str(self._holders[number].pid), "--net"]

    def cut(self, number: int, *, off: bool = True) -> None:
        """Take a machine from everything: the others, the database, the object store, the web."""
        run("ip", "link", "set", _link(number), "down" if off else "up")

    def lose(self, number: int, *, off: bool = True) -> None:
        """Take ``HERE`` from a machine, which still reaches the others and ``WEB``: what it sends there is lost."""
        what = ["replace", HERE, "lladdr", NOBODY, "nud", "permanent"] if off else ["delete", HERE]
        run(*self.entered(number), "ip", "neighbour", *what, "dev", "eth0")

    def part(self, *, off: bool = True) -> None:
        """Take the machines from each other only."""
        for number in self._holders:
            run("bridge", "link", "set", "dev", _link(number), "isolated", "on" if off else "off")


def run(*command: str) -> None:
    subprocess.run(command, check=True, env=os.environ | {"PATH": PROGRAMS})


def _link(number: int) -> str:
    return f"to-m{number}"


def _network(process: int) -> str:
    return str(Path(f"/proc/{process}/ns/net").readlink())
