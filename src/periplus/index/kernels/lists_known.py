"""What is known of a list in a segment: where its numbers stand.

First posting, how many there are, the addresses of its windows' offsets and maxima (of a rare list: 0, and the address
of the window of each posting), and its four best impacts in one number. ``search.find`` fills them.
"""

from __future__ import annotations

FIRST, LENGTH, STARTS, MAXIMA, BESTS = range(5)
LIST_ROW = 5
