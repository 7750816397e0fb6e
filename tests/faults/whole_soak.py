"""``make soak-faults``: the whole product (``up``) under load while one fault after the other is done to it, at random.

A web that grows is crawled, indexed, ranked and served by ``periplus up``; a process searches fifty times a second.
After each fault: searches are answered, new pages are fetched and become findable, all without a person; ``up`` itself
is started again when it was killed, as a service manager does. At the end: every address that ever counted as fetched
still does, the audit and the web's own log show no gap broken, and the doctor finds nothing.
Faults are data: ``FAULTS`` of the files in ``whole/``. ``--write`` puts the table into docs/reliability.md.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

TESTS = Path(__file__).resolve().parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(TESTS))

from faults.whole import invariants, of_disks, of_files, of_processes, of_webs  # noqa: E402
from faults.whole.fault import Fault  # noqa: E402
from faults.whole.product import PATIENCE, Whole  # noqa: E402
from faults.whole.visitors import A_SECOND, Seen, Visitors  # noqa: E402
from mockweb.dns_server import MockDns  # noqa: E402
from mockweb.mock_web import MockWeb  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

FAULTS = (*of_processes.FAULTS, *of_disks.FAULTS, *of_webs.FAULTS, *of_files.FAULTS)
PAGE = TESTS.parent / "docs" / "reliability.md"
MARK = "<!-- whole-soak -->"
WELL = {"whole", "degraded", "answers of 503", "answers of 429", "not asked in time"}  # answered, or refused cleanly


class Row(NamedTuple):
    fault: str
    seconds: float  # until searches are answered and new pages are fetched and found
    seen: Seen


def drawn(faults: tuple[Fault, ...], chance: random.Random) -> Iterator[Fault]:
    """Each once in a random order, and again in another one."""
    while True:
        yield from chance.sample(faults, len(faults))


def soak(whole: Whole, faults: tuple[Fault, ...], minutes: float, seed: int) -> tuple[list[Row], list[str]]:
    rows: list[Row] = []
    wrong: list[str] = []
    if not whole.recovered(0):
        whole.stop()
        return [], [f"it never began: {whole.waits_for()}"]
    chance = random.Random(seed)
    until = time.monotonic() + 60 * minutes
    with Visitors(whole.port) as visitors:
        for fault in drawn(faults, chance):
            if time.monotonic() > until:
                break
            row, said = suffered(whole, fault, chance, visitors)
            rows += [row] if row is not None else []
            wrong += said
    whole.stop()
    return rows, wrong + invariants.broken(whole)


def suffered(whole: Whole, fault: Fault, chance: random.Random, visitors: Visitors) -> tuple[Row | None, list[str]]:
    """One fault, and the way back; what is wrong after it."""
    whole.note()
    before = whole.documents()
    visitors.take()
    try:
        fault.do(whole, chance)
    except (LookupError, OSError) as error:  # no such process or file at this moment
        print(f"{fault.name}: passed over, {error!r}", flush=True)
        return None, []
    began = time.monotonic()
    wrong = [] if whole.recovered(before) else [f"not recovered after {PATIENCE:.0f} s: {whole.waits_for()}"]
    row = Row(fault.name, time.monotonic() - began, visitors.take())
    badly = [what for what in row.seen.counts if what not in WELL]
    wrong += [f"visitors saw {row.seen}"] if badly and not fault.ends_up else []
    wrong += [said] if (said := fault.after(whole)) else []
    wrong += [] if whole.answers_again() else ["no answer after what was done then"]
    print(time.strftime("%T"), fault.name, f"{row.seconds:.1f} s", row.seen, *wrong, flush=True)
    return row, [f"{fault.name}: {one}" for one in wrong]


def table(rows: list[Row]) -> list[str]:
    lines = ["| fault | times | until pages were fetched and found again, s (longest) | what the visitors saw |"]
    lines.append("|---|--:|--:|---|")
    for name in dict.fromkeys(row.fault for row in rows):
        of_it = [row for row in rows if row.fault == name]
        counts = sum((row.seen.counts for row in of_it), Counter[str]())
        seen = ", ".join(f"{count} {what}" for what, count in counts.most_common())
        lines.append(f"| {name} | {len(of_it)} | {max(row.seconds for row in of_it):.0f} | {seen} |")
    return lines


def report(rows: list[Row], wrong: list[str], said: str) -> list[str]:
    load = ", ".join(f"{one:.0f}" for one in os.getloadavg())
    cpu = sum(row.seen.cpu for row in rows) / max(len(rows), 1)
    slow = max((row.seen.p50 for row in rows), default=0.0)
    head = f'`make soak-faults ARGS="{said}"`: {len(rows)} faults; load of the machine {load}; {A_SECOND} searches a'
    head += f" second by a process that took {cpu:.0%} of a core; p50 of a search {slow:.0f} ms at most"
    return [f"{head}; wrong at the end: {'; '.join(wrong) or 'nothing'}.", "", *table(rows)]


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="faults whose name holds this text")
    parser.add_argument("--write", action="store_true", help="put the table into docs/reliability.md")
    parser.add_argument("--keep", type=Path, help="work here and keep what is written")
    given = parser.parse_args()
    faults = tuple(fault for fault in FAULTS if given.only in fault.name)
    with tempfile.TemporaryDirectory() as temporary, MockWeb() as web, MockDns() as dns:
        folder = given.keep or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        rows, wrong = soak(Whole(folder.resolve(), web, dns), faults, given.minutes, given.seed)
    lines = report(rows, wrong, f"--minutes {given.minutes:g} --seed {given.seed}")
    print("\n".join(lines))
    if given.write:
        head, _, rest = PAGE.read_text(encoding="utf-8").partition(MARK)
        PAGE.write_text(f"{head}{MARK}\n" + "\n".join(lines) + f"\n{MARK}{rest.partition(MARK)[2]}", encoding="utf-8")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
