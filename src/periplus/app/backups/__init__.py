"""Backups of a live collection: made, brought back, checked."""

from periplus.app.backups.checking import check_backups
from periplus.app.backups.copying import back_up
from periplus.app.backups.inventory import Inventory, open_store
from periplus.app.backups.returning import Restored, restore

__all__ = [
    "Inventory",
    "Restored",
    "back_up",
    "check_backups",
    "open_store",
    "restore",
]
