"""What must hold when all is over, whatever was done."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from faults.whole.product import DELAY, HOSTS
from periplus import Collection
from periplus.app import doctor

if TYPE_CHECKING:
    from faults.whole.product import Whole
    from periplus.demo import RequestRecord

JITTER = 0.1
SHOWN = 3


def broken(whole: Whole) -> list[str]:
    """One line each."""
    lost = sorted(whole.acknowledged - whole.fetched())
    wrong = [f"lost: {lost[:SHOWN]} and {len(lost)} in all"] if lost else []
    with Collection(whole.folder) as made:
        violations = made.politeness().violations
        wrong += [f"{len(violations)} violations by the audit: {violations[0]}"] if violations else []
        wrong += [f"{one.check}: {one.detail}" for one in doctor.examine(made) if one.state == "failed"]
        with made.database.read() as tx:
            given_up = {url for (url,) in tx.rows("SELECT url FROM journal WHERE outcome = 'timeout'")}
    for number in range(HOSTS):
        host = f"h{number}.test"
        short = short_gaps(whole.web.requests(host), given_up)
        wrong += [f"{host}: gaps of {short[:SHOWN]} s"] if short else []
        wrong += [f"{host}: {whole.web.most_at_once(host)} requests at once"] * (whole.web.most_at_once(host) > 1)
    return wrong


def short_gaps(records: list[RequestRecord], given_up: set[str]) -> list[float]:
    """Gaps that were broken. Behind a request that was given up, the web may have looked late, not we come early."""
    pairs = [(one, other) for one, other in pairwise(records) if one.url not in given_up]
    return [gap for one, other in pairs if (gap := other.monotonic - one.monotonic) < DELAY - JITTER]
