"""The Python surface and the wiring of rooms from settings."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from periplus.app.collection import Collection

if TYPE_CHECKING:
    from periplus.app.export_ciff import write_ciff
    from periplus.app.export_sql import export_to_sql
    from periplus.app.mcp_serving import require_mcp, serve_mcp_over_http, serve_mcp_over_stdio

__all__ = [
    "Collection",
    "export_to_sql",
    "require_mcp",
    "serve_mcp_over_http",
    "serve_mcp_over_stdio",
    "write_ciff",
]

# These load the web server, which most verbs go without.
_HEAVY = dict.fromkeys(("require_mcp", "serve_mcp_over_http", "serve_mcp_over_stdio"), "mcp_serving")
_HEAVY |= {"export_to_sql": "export_sql", "write_ciff": "export_ciff"}


def __getattr__(name: str) -> Any:
    if name not in _HEAVY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HEAVY[name]}"), name)
