"""A collection from its folder to an object store and PostgreSQL, where many machines share it; and back.

1. Nobody else may be at work: locks on the folder and leases in the database are held, or the move is refused.
2. The new place is marked as unfinished. A database that holds another collection, or a store, is refused.
3. Files go over, each under a name of its own, and are read back and compared by checksum.
4. Rows go over from one snapshot, and are counted.
5. One transaction makes rows name the files of the new place, and takes the mark away.
6. The settings file names the new place. What was at the old one is kept.

A move that was interrupted is begun again with the same command, and sends no file twice.
"""

from periplus.app.moving.plan import Moved, move

__all__ = ["Moved", "move"]
