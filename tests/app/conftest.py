"""Crawls of these tests end with the audit of their journal."""

from __future__ import annotations

from mockweb.fixtures import certificates, secure_web  # noqa: F401 (fixtures)
from support.object_store import bucket, gate, gated_bucket, object_server  # noqa: F401 (fixtures)
from support.polite_crawls import polite_crawls  # noqa: F401 (a fixture)
from support.postgres import postgres_address  # noqa: F401 (a fixture)
