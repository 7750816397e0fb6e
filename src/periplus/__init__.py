"""Periplus: a complete web search engine. See ARCHITECTURE.md for the plan of the house."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
__all__ = ["Collection", "__version__"]

if TYPE_CHECKING:
    from periplus.app import Collection


def __getattr__(name: str) -> Any:
    # Imported on first use, so that `import periplus.addresses` does not load the whole engine.
    if name == "Collection":
        from periplus.app import Collection

        return Collection
    raise AttributeError(f"module 'periplus' has no attribute {name!r}")
