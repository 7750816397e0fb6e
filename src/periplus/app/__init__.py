"""The Python surface and the wiring of rooms from settings."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from periplus.app.collection import Collection
    from periplus.app.exporting.ciff import write_ciff
    from periplus.app.exporting.sql import export_to_sql
    from periplus.app.exporting.warc import write_warc
    from periplus.app.machines import ClusterStatus, NodeOptions, has_cluster, wishing_for_shards
    from periplus.app.running.building import build_until
    from periplus.app.running.up import Supervisor, crawl_until
    from periplus.app.running.up_cluster import ClusterSupervisor
    from periplus.app.serving.mcp_serving import require_mcp, serve_mcp_over_http, serve_mcp_over_stdio
    from periplus.app.serving.shards import FOUND, ShardPlan, serve_shard, token_of

__all__ = [
    "FOUND",
    "ClusterStatus",
    "ClusterSupervisor",
    "Collection",
    "NodeOptions",
    "ShardPlan",
    "Supervisor",
    "build_until",
    "crawl_until",
    "export_to_sql",
    "has_cluster",
    "require_mcp",
    "serve_mcp_over_http",
    "serve_mcp_over_stdio",
    "serve_shard",
    "token_of",
    "wishing_for_shards",
    "write_ciff",
    "write_warc",
]

_LATER = {
    "collection": ("Collection",),
    "exporting.ciff": ("write_ciff",),
    "exporting.sql": ("export_to_sql",),
    "exporting.warc": ("write_warc",),
    "machines": ("ClusterStatus", "NodeOptions", "has_cluster", "wishing_for_shards"),
    "running.building": ("build_until",),
    "running.up": ("Supervisor", "crawl_until"),
    "running.up_cluster": ("ClusterSupervisor",),
    "serving.mcp_serving": ("require_mcp", "serve_mcp_over_http", "serve_mcp_over_stdio"),
    "serving.shards": ("FOUND", "ShardPlan", "serve_shard", "token_of"),
}


def __getattr__(name: str) -> Any:
    """What few verbs need is loaded when it is asked for: people wait for a search."""
    module = next((module for module, names in _LATER.items() if name in names), None)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"periplus.app.{module}"), name)
