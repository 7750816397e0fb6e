"""Shard servers, the broker's way to them, and machines. Nothing of the embedded default imports this room."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from periplus.cluster.registry import DRAIN, Registry
from periplus.cluster.server import ShardServer, check_token
from periplus.cluster.servers import Servers, address_of
from periplus.cluster.sources import FolderShards, ServedGenerations

if TYPE_CHECKING:
    from periplus.cluster.agent import (
        HEAD_PORT,
        Agent,
        GuestAgent,
        NodePlan,
        address_parts,
        check_port,
        machine_address,
        machine_memory,
        reach,
    )
    from periplus.cluster.conducting import GUESTS, WISH, conductor_of
    from periplus.cluster.keeper import LOGS, TOKEN_FILE, KeptSlot, kept_slots, read_token, shard_token
    from periplus.cluster.nodes import DRAIN_NODE, LEAVE, SERVICES, Node, Nodes
    from periplus.cluster.rays import require_ray

__all__ = [
    "DRAIN",
    "DRAIN_NODE",
    "GUESTS",
    "HEAD_PORT",
    "LEAVE",
    "LOGS",
    "SERVICES",
    "TOKEN_FILE",
    "WISH",
    "Agent",
    "FolderShards",
    "GuestAgent",
    "KeptSlot",
    "Node",
    "NodePlan",
    "Nodes",
    "Registry",
    "ServedGenerations",
    "Servers",
    "ShardServer",
    "address_of",
    "address_parts",
    "check_port",
    "check_token",
    "conductor_of",
    "kept_slots",
    "machine_address",
    "machine_memory",
    "reach",
    "read_token",
    "require_ray",
    "shard_token",
]

_MACHINES = {
    "agent": (
        "HEAD_PORT", "Agent", "GuestAgent", "NodePlan", "address_parts", "check_port", "machine_address",
        "machine_memory", "reach",
    ),
    "conducting": ("GUESTS", "WISH", "conductor_of"),
    "keeper": ("LOGS", "TOKEN_FILE", "KeptSlot", "kept_slots", "read_token", "shard_token"),
    "nodes": ("DRAIN_NODE", "LEAVE", "SERVICES", "Node", "Nodes"),
    "rays": ("require_ray",),
}  # fmt: skip


def __getattr__(name: str) -> Any:
    """Of machines, what is asked for: a shard server needs nothing of it."""
    module = next((module for module, names in _MACHINES.items() if name in names), None)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"periplus.cluster.{module}"), name)
