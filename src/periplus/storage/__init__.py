"""Files with atomic writes; the state database (SQLite or PostgreSQL) with migrations; leases."""

from periplus.storage.blocklist import Blocklist
from periplus.storage.database import Database, Transaction
from periplus.storage.depot import Depot, Stored
from periplus.storage.events import write_event
from periplus.storage.files import LocalFiles
from periplus.storage.leases import Lease, Leases, database_time, steady
from periplus.storage.locks import folder_lock, holder_of
from periplus.storage.objects import Objects, may_fork, open_objects
from periplus.storage.processes import is_dead, process_name
from periplus.storage.retirement import FILES, PREFIXES, SharedCopies, remove_orphans, remove_retired, retire
from periplus.storage.shared import Follower, Shares, State, is_taken, mark_taken, note_change, take_over

__all__ = [
    "FILES",
    "PREFIXES",
    "Blocklist",
    "Database",
    "Depot",
    "Follower",
    "Lease",
    "Leases",
    "LocalFiles",
    "Objects",
    "SharedCopies",
    "Shares",
    "State",
    "Stored",
    "Transaction",
    "database_time",
    "folder_lock",
    "holder_of",
    "is_dead",
    "is_taken",
    "mark_taken",
    "may_fork",
    "note_change",
    "open_objects",
    "process_name",
    "remove_orphans",
    "remove_retired",
    "retire",
    "steady",
    "take_over",
    "write_event",
]
