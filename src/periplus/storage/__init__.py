"""Files with atomic writes; the state database (SQLite or PostgreSQL) with migrations; leases."""

from periplus.storage.blocklist import Blocklist
from periplus.storage.catalog import Catalog, CatalogEntry, Catalogs, GivenCatalog
from periplus.storage.copying import copy_tables, tables
from periplus.storage.database import Database, Transaction
from periplus.storage.depot import NOTES, Depot, Stored, digest_of
from periplus.storage.events import write_event
from periplus.storage.files import TEMPORARY_PREFIX, LocalFiles, disk_errors, make_private_folder, reserve, sync
from periplus.storage.kept_leases import KeptLease, kept_lease
from periplus.storage.leases import Lease, Leases, database_time, steady
from periplus.storage.locks import awaited_lock, folder_lock, holder_of
from periplus.storage.migrations import schema_version
from periplus.storage.objects import Objects, may_fork, open_objects
from periplus.storage.processes import is_dead, is_here, process_name
from periplus.storage.retirement import FILES, PREFIXES, SharedCopies, remove_orphans, remove_retired, retire
from periplus.storage.running import Runner, SerialRunner, TaskOutcome, named_function, outcome_of, results
from periplus.storage.sealing import sealed, unsealed
from periplus.storage.shared import Follower, Shares, State, is_taken, mark_taken, note_change, take_over
from periplus.storage.state_copies import copy_state

__all__ = [
    "FILES",
    "NOTES",
    "PREFIXES",
    "TEMPORARY_PREFIX",
    "Blocklist",
    "Catalog",
    "CatalogEntry",
    "Catalogs",
    "Database",
    "Depot",
    "Follower",
    "GivenCatalog",
    "KeptLease",
    "Lease",
    "Leases",
    "LocalFiles",
    "Objects",
    "Runner",
    "SerialRunner",
    "SharedCopies",
    "Shares",
    "State",
    "Stored",
    "TaskOutcome",
    "Transaction",
    "awaited_lock",
    "copy_state",
    "copy_tables",
    "database_time",
    "digest_of",
    "disk_errors",
    "folder_lock",
    "holder_of",
    "is_dead",
    "is_here",
    "is_taken",
    "kept_lease",
    "make_private_folder",
    "mark_taken",
    "may_fork",
    "named_function",
    "note_change",
    "open_objects",
    "outcome_of",
    "process_name",
    "remove_orphans",
    "remove_retired",
    "reserve",
    "results",
    "retire",
    "schema_version",
    "sealed",
    "steady",
    "sync",
    "tables",
    "take_over",
    "unsealed",
    "write_event",
]
