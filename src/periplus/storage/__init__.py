"""Files with atomic writes; the state database (SQLite or PostgreSQL) with migrations; leases."""

from periplus.storage.blocklist import Blocklist
from periplus.storage.database import Database, Transaction
from periplus.storage.depot import Depot, Stored
from periplus.storage.events import write_event
from periplus.storage.files import LocalFiles
from periplus.storage.leases import Lease, Leases, database_time, steady
from periplus.storage.locks import folder_lock, holder_of
from periplus.storage.migrations import schema_version
from periplus.storage.objects import Objects, open_objects
from periplus.storage.processes import is_dead, process_name
from periplus.storage.sealing import sealed, unsealed
from periplus.storage.shared import Follower, Shares, State, is_taken, mark_taken, note_change, take_over
from periplus.storage.state_copies import copy_state

__all__ = [
    "Blocklist",
    "Database",
    "Depot",
    "Follower",
    "Lease",
    "Leases",
    "LocalFiles",
    "Objects",
    "Shares",
    "State",
    "Stored",
    "Transaction",
    "copy_state",
    "database_time",
    "folder_lock",
    "holder_of",
    "is_dead",
    "is_taken",
    "mark_taken",
    "note_change",
    "open_objects",
    "process_name",
    "schema_version",
    "sealed",
    "steady",
    "take_over",
    "unsealed",
    "write_event",
]
