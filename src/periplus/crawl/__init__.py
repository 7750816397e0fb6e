"""The crawler: frontier, hosts and politeness, robots, scope, traps, fetching, journal and its audit."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from periplus.crawl.asking import told
from periplus.crawl.asking.audit import AuditReport, Violation, audit
from periplus.crawl.asking.condition import UNDER_WAY
from periplus.crawl.asking.control import is_paused, resume_wanted, send_command
from periplus.crawl.asking.export import archived_places, page_part, page_starts
from periplus.crawl.asking.host_report import HostReport, host_report
from periplus.crawl.asking.inspection import inspect
from periplus.crawl.asking.status import is_at_work, is_running, is_unfinished, last_sign, status, stored_pages
from periplus.crawl.asking.submissions import Submission, submit, submitted_at
from periplus.crawl.frontier.budgets import is_withdrawn, pages_wanted
from periplus.crawl.frontier.journal import JournalEntry, journal
from periplus.crawl.frontier.roster import SlotStatus, WorkerStatus, slots, workers
from periplus.crawl.frontier.rows import COUNT_QUEUED
from periplus.crawl.frontier.seeds import BarrenSeed, barren_seeds, known_seeds
from periplus.crawl.keeping.backlog import Backlog, backlog_size
from periplus.crawl.keeping.forgetting import forget_missing
from periplus.crawl.keeping.remaking import make_again
from periplus.crawl.keeping.retention import Retention, Thinning
from periplus.crawl.keeping.takedown import LOCK as TAKEDOWN_LOCK
from periplus.crawl.keeping.takedown import Removal, is_removed, lift, remove, spellings
from periplus.crawl.rules.robots import RobotsFile, Verdict
from periplus.crawl.rules.scope import canonical_seeds

if TYPE_CHECKING:
    from periplus.crawl.asking.checks import check
    from periplus.crawl.fetching.fetcher import Fetched, Fetcher, user_agent
    from periplus.crawl.leading.crawler import Crawler

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
_HEAVY = {
    "check": "asking.checks",
    "Crawler": "leading.crawler",
    "Fetched": "fetching.fetcher",
    "Fetcher": "fetching.fetcher",
    "user_agent": "fetching.fetcher",
}


def __getattr__(name: str) -> Any:
    if name not in _HEAVY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HEAVY[name]}"), name)
