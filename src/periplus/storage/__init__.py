"""Files with atomic writes; the state database (SQLite or PostgreSQL) with migrations; leases."""

from periplus.storage.database import Database, Transaction
from periplus.storage.files import LocalFiles
from periplus.storage.leases import Lease, Leases

__all__ = ["Database", "Lease", "Leases", "LocalFiles", "Transaction"]
