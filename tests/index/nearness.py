"""Where words stand near each other, by trying every place; the slow half of ``oracle.py`` for phrases."""

from collections import Counter


def starts_of(terms, rows, slop, ordered):
    """The places in one field where a match begins; ``rows`` has the positions of every term."""
    if slop == 0 and ordered:
        return [first for first in rows[0] if all(first + n in row for n, row in enumerate(rows))]
    reach = len(terms) + slop
    if ordered:
        return [first for first in rows[0] if follows(first, rows[1:]) < first + reach]
    return [first for first in sorted(set().union(*rows)) if holds(terms, rows, range(first, first + reach))]


def follows(last, rows):
    """Where the last of the words stands when each is taken as early as it may follow the one before."""
    for row in rows:
        last = min((position for position in row if position > last), default=float("inf"))
    return last


def holds(terms, rows, stretch):
    return all(
        sum(position in stretch for position in rows[terms.index(term)]) >= count
        for term, count in Counter(terms).items()
    )
