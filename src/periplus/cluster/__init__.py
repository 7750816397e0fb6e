"""Shard servers and the broker's way to them. Nothing of the embedded default imports this room."""

from periplus.cluster.registry import DRAIN, Registry
from periplus.cluster.server import ShardServer, check_token
from periplus.cluster.servers import Servers, address_of
from periplus.cluster.sources import FolderShards, ServedGenerations

__all__ = [
    "DRAIN",
    "FolderShards",
    "Registry",
    "ServedGenerations",
    "Servers",
    "ShardServer",
    "address_of",
    "check_token",
]
