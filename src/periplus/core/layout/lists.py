"""What is known of a list in a segment: where its numbers stand.

First posting, how many there are, the addresses of its windows' offsets and maxima (of a rare list: 0, and the address
of the window of each posting), its four best impacts in one number, and the addresses of its places and impacts.
``retrieval.finding`` fills them, but for what is in other memory, which ``opening`` and ``set_bits`` there bring. A
list that was made for one query has the same rows (``index/retrieval/made.py``).

Behind the rows of all segments is a head: how many postings of rare lists there are in all segments together, the
addresses of their documents and impacts, in how many segments the list has tables of windows, and the address of its
bits (0: none). These documents are numbered through all segments (``WINDOW`` times the windows before it, and its
number there), so they ascend, and the lists of many segments are one. Bits are by these numbers, too, one a document,
set where the list has it.
"""

from __future__ import annotations

FIRST, LENGTH, STARTS, MAXIMA, BESTS, PLACES_AT, IMPACTS_AT = range(7)
LIST_ROW = 7
COUNT, DOCUMENTS, IMPACTS, TABLES, BITS = range(5)
LIST_HEAD = 5
LAST_DOCUMENT = 0xFFFFFFFF  # behind the documents: greater than all of them
