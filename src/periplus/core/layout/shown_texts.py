"""What is found in texts that are shown: places where words may stand, matches, and what is chosen of each text."""

from __future__ import annotations

PLACE = 4  # numbers of a place: text, start and end of what is to be analysed, and its spelling
MATCH = 4  # numbers of a match: start, end, word, whether it is a stop word
STOP = 3  # where that stands
FRAGMENT = 4  # of a fragment: start, end, whether something was cut off before it and behind it
PAGE = 2 + 2 * FRAGMENT  # of a page: its state, where its marks end, and two fragments (the second may be empty)
MAX_SNIPPET = 260  # code points of what is shown of a page
# States: nothing found; ASCII; other letters; has to be made readable; words found, but in no sentence.
NOTHING, PLAIN, FOREIGN, ODD, LOST = 0, 1, 2, 3, 4
