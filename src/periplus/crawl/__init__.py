"""The crawler: frontier, hosts and politeness, robots, scope, traps, fetching, journal and its audit."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from periplus.crawl import told
from periplus.crawl.backlog import Backlog, backlog_size
from periplus.crawl.budgets import is_withdrawn, pages_wanted
from periplus.crawl.condition import UNDER_WAY
from periplus.crawl.control import is_paused, resume_wanted, send_command
from periplus.crawl.export import archived_places, page_part, page_starts
from periplus.crawl.forgetting import forget_missing
from periplus.crawl.host_report import HostReport, host_report
from periplus.crawl.inspection import inspect
from periplus.crawl.journal import AuditReport, JournalEntry, Violation, audit, journal
from periplus.crawl.remaking import make_again
from periplus.crawl.retention import Retention, Thinning
from periplus.crawl.robots import RobotsFile, Verdict
from periplus.crawl.roster import SlotStatus, WorkerStatus, slots, workers
from periplus.crawl.rows import COUNT_QUEUED
from periplus.crawl.scope import canonical_seeds
from periplus.crawl.seeds import BarrenSeed, barren_seeds, known_seeds
from periplus.crawl.status import is_at_work, is_running, is_unfinished, last_sign, status, stored_pages
from periplus.crawl.submissions import Submission, submit, submitted_at
from periplus.crawl.takedown import LOCK as TAKEDOWN_LOCK
from periplus.crawl.takedown import Removal, is_removed, lift, remove, spellings

if TYPE_CHECKING:
    from periplus.crawl.checks import check
    from periplus.crawl.crawler import Crawler
    from periplus.crawl.fetcher import Fetched, Fetcher, user_agent

__all__ = [
    "COUNT_QUEUED",
    "TAKEDOWN_LOCK",
    "UNDER_WAY",
    "AuditReport",
    "Backlog",
    "BarrenSeed",
    "Crawler",
    "Fetched",
    "Fetcher",
    "HostReport",
    "JournalEntry",
    "Removal",
    "Retention",
    "RobotsFile",
    "SlotStatus",
    "Submission",
    "Thinning",
    "Verdict",
    "Violation",
    "WorkerStatus",
    "archived_places",
    "audit",
    "backlog_size",
    "barren_seeds",
    "canonical_seeds",
    "check",
    "forget_missing",
    "host_report",
    "inspect",
    "is_at_work",
    "is_paused",
    "is_removed",
    "is_running",
    "is_unfinished",
    "is_withdrawn",
    "journal",
    "known_seeds",
    "last_sign",
    "lift",
    "make_again",
    "page_part",
    "page_starts",
    "pages_wanted",
    "remove",
    "resume_wanted",
    "send_command",
    "slots",
    "spellings",
    "status",
    "stored_pages",
    "submit",
    "submitted_at",
    "told",
    "user_agent",
    "workers",
]

# These load the HTTP client and Arrow, most of a second; whoever only asks about a crawl goes without.
_HEAVY = {"check": "checks", "Crawler": "crawler", "Fetched": "fetcher", "Fetcher": "fetcher", "user_agent": "fetcher"}


def __getattr__(name: str) -> Any:
    if name not in _HEAVY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HEAVY[name]}"), name)
