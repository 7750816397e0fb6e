"""What is known of a list in a segment: where its numbers stand.

First posting, how many there are, the addresses of its windows' offsets and maxima (of a rare list: 0, and the address
of the window of each posting), and its four best impacts in one number. ``finding`` fills them, but for what is in
other memory, which ``opening`` brings.

Behind the rows of all segments is a head: how many postings of rare lists there are in all segments together, the
addresses of their documents and impacts, and in how many segments the list has tables of windows. These documents are
numbered through all segments (``WINDOW`` times the windows before it, and its number there), so they ascend, and the
lists of many segments are one.
"""

from __future__ import annotations

FIRST, LENGTH, STARTS, MAXIMA, BESTS = range(5)
LIST_ROW = 5
COUNT, DOCUMENTS, IMPACTS, TABLES = range(4)
LIST_HEAD = 4
LAST_DOCUMENT = 0xFFFFFFFF  # behind the documents: greater than all of them
