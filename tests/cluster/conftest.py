"""A state database of either kind."""

from __future__ import annotations

from support.databases import database, postgres_address  # noqa: F401 (fixtures)
