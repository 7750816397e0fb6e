"""Crawls of these tests end with the audit of their journal."""

from __future__ import annotations

from mockweb.fixtures import certificates, secure_web  # noqa: F401 (fixtures)
from support.polite_crawls import polite_crawls  # noqa: F401 (a fixture)
from support.postgres import postgres_address  # noqa: F401 (a fixture)
