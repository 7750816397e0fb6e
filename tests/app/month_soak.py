"""A month of ``periplus up`` in a quarter of an hour: ``make soak-month``.

The real processes live by one clock (``support/fast_clock.py``) that runs ten times as fast as the wall's, and leaps
when the crawl has run dry: over hours in which little is due. The sites of ``up_soak`` change by the same clock, and
visitors search throughout. Before each leap it is looked at what ``up`` holds: memory, handles, files, bytes by folder,
what it said, and rows of every table. The run prints a table of it, and ends with 1 when a visitor got an error, a
promise of politeness was broken, or something grew in the second half of the month that has no reason to.

``--keep`` says for how many days every response stays in the archive, which is flat after two and a half times as many.
What grows with the pages that were lately has a reason, and is only told: a row of each address until it was missing
for eight months, a row of the journal for each request.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

from app.up_soak import Changing, Up, Visitors, grown, plot
from mockweb.mock_web import MockWeb
from periplus.app.parts.query_counts import DAYS_KEPT, MOST_KEPT
from periplus.crawl.asking import status
from periplus.crawl.frontier import journal
from periplus.storage import events
from support.fast_clock import FastClock

DAY = 86_400.0
HOSTS, PAGES = 10, 40
TURNOVER = DAY / 2  # seconds in which a site loses its oldest page and gets a new one
SPEED = 10
DRY = 1.0  # seconds by the wall without work before a leap
PATIENCE = 60.0  # … and at most so long for work to end
GROWTH = {"memory": 0.15, "handles": 0.15, "files": 0.25, "archive": 0.15}  # that the second half may add, as a share
SAID_A_DAY = 2.0  # kB that up may say: a line for each crawl, to whoever keeps its output
# Tables whose rows are of addresses and batches of all times; all others may hold only what is needed now.
OF_HISTORY = frozenset({"urls", "batches", "archive_marks", "archive_looks", "aliases"})
# Tables that grow to a bound, which a month need not reach: counts of searches of 400 days and of 1,000 queries a kind.
ENDING = {
    "crawls": status.KEPT,
    "events": events.KEPT,
    "journal": journal.KEPT,
    "counters": 3 * (DAYS_KEPT + MOST_KEPT) + 10,
}
MARK = "<!-- month -->"
DOCS = Path(__file__).parents[2] / "docs"


class Look(NamedTuple):
    day: float
    memory: float  # MB, anonymous, of all processes
    handles: int
    files: int
    index: float  # MB, with ranks
    log: float  # MB of batches of documents and links
    archive: float  # MB
    state: float  # MB
    said: float  # kB
    requests: int
    documents: int


class Month(NamedTuple):
    looks: list[Look]
    rows: list[dict[str, int]]  # of each table, at each look
    asking: Visitors
    late: int  # leaps into work that did not end
    wrong: list[str]


def soak(folder: Path, days: float, step: float, visitors: int, keep: int) -> Month:
    clock = FastClock(folder, SPEED)
    with MockWeb() as web:
        web_clock = Changing(web, HOSTS, PAGES, TURNOVER, clock.passed)
        environment = clock.environment | {"PERIPLUS_ARCHIVE_KEEP_DAYS": str(keep)}
        up = Up(folder, web, web_clock.seeds, recrawl=DAY, more=environment)
        month = Month([], [], Visitors(up.port, visitors), 0, [])
        began = clock.passed()
        try:
            with month.asking:
                while (passed := clock.passed() - began) < days * DAY:
                    is_late = not _runs_dry(up, clock)
                    month = month._replace(late=month.late + is_late)
                    month.rows.append(_rows(up.folder))
                    month.looks.append(_look(up, passed / DAY, month.rows[-1]))
                    with month.asking.resting():
                        clock.leap(step - (clock.passed() - began) % step)
            month.wrong.extend(_impolite(up))
        finally:
            code = up.stop()
    if code:
        month.wrong.append(f"up ended with {code}: {up.said[-2000:]}")
    if "Traceback" in up.said:
        month.wrong.append(f"a traceback in what it said: {up.said[up.said.index('Traceback') :][:3000]}")
    return month


def _runs_dry(up: Up, clock: FastClock) -> bool:
    """Wait until a crawl was made after the leap, and nothing works any more; whether that came about."""
    leapt, dry = clock.now(), 0.0
    limit = time.monotonic() + PATIENCE
    while time.monotonic() < limit:
        if up.process.poll() is not None:
            raise SystemExit(f"up ended by itself: {up.said[-3000:]}")
        time.sleep(0.1)
        if _works(up, clock) or clock.now() - leapt < 40:  # up looks for pages that are due every 30 s
            dry = time.monotonic()
        elif time.monotonic() - dry > DRY:
            return True
    return False


def _works(up: Up, clock: FastClock) -> bool:
    with closing(sqlite3.connect(up.folder / "state.db", timeout=30)) as state:
        return bool(state.execute("SELECT 1 FROM leases WHERE expires > ?", (clock.now(),)).fetchone())


def _rows(folder: Path) -> dict[str, int]:
    with closing(sqlite3.connect(folder / "state.db", timeout=30)) as state:
        names = [name for (name,) in state.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: state.execute(f'SELECT COUNT(*) FROM "{name}"').fetchone()[0] for name in sorted(names)}


def _look(up: Up, day: float, rows: dict[str, int]) -> Look:
    every = [path for path in up.folder.rglob("*") if path.is_file()]
    sizes: dict[str, float] = {}
    for path in every:
        try:
            size = path.stat().st_size / 1e6
        except OSError:  # removed meanwhile
            continue
        top = path.relative_to(up.folder).parts[0]
        sizes[top] = sizes.get(top, 0.0) + size
    usual = up.look(0)
    return Look(
        day=day,
        memory=usual.memory,
        handles=usual.handles,
        files=len(every),
        index=sizes.get("index", 0.0) + sizes.get("ranks", 0.0),
        log=sizes.get("documents", 0.0) + sizes.get("links", 0.0),
        archive=sizes.get("archive", 0.0),
        state=sum(size for name, size in sizes.items() if name.startswith("state.db")),
        said=len(up.said) / 1e3,
        requests=rows["journal"],
        documents=usual.documents,
    )


def _impolite(up: Up) -> list[str]:
    """What the audit of the journal finds."""
    command = [sys.executable, "-m", "periplus", "politeness", "--dir", str(up.folder)]
    told = subprocess.run(command, capture_output=True, text=True, check=False, env=up.environment)
    return [f"the audit: {told.stdout[-1000:]} {told.stderr[-1000:]}"] if told.returncode else []


def wrong_of(month: Month, keep: int) -> list[str]:
    errors = month.asking.errors
    found = [*month.wrong, *([f"{len(errors)} errors, the first {errors[0]}"] if errors else [])]
    more = grown(month.looks, {name: name for name in GROWTH if name != "archive" or keep})
    found += [f"{name} grew by {share:.0%}" for name, share in more.items() if share > GROWTH[name]]
    last = month.looks[-1]
    found += [f"up said {last.said:.0f} kB"] if last.said > SAID_A_DAY * max(1.0, last.day) else []
    return found + [f"the table {name} grew: {told}" for name, told in _growing(month.rows).items()]


def _growing(rows: list[dict[str, int]]) -> dict[str, str]:
    """Tables that should hold what is needed now, and hold more in the last quarter than in the second."""
    quarter = len(rows) // 4
    found = {}
    for name in sorted(set(rows[-1]) - OF_HISTORY - set(ENDING)):
        before = max(one.get(name, 0) for one in rows[quarter : 2 * quarter])
        after = max(one[name] for one in rows[-quarter:])
        if after > 1.25 * before + 5:
            found[name] = f"{before} rows, then {after}"
    return found | {name: f"over {most}" for name, most in ENDING.items() if rows[-1][name] > most}


def report(month: Month) -> str:
    names = {"memory": "memory MB", "index": "index MB", "log": "batches MB", "archive": "archive MB"}
    names |= {"state": "state MB", "said": "said kB"}
    fields = Look._fields
    lines = [f"| {' | '.join(names.get(name, name) for name in fields)} |", f"|{'--:|' * len(fields)}"]
    shown = [*month.looks[:: max(1, len(month.looks) // 10)], month.looks[-1]]
    for look in shown:
        cells = (f"{value:.1f}" if isinstance(value, float) and value < 100 else f"{value:.0f}" for value in look)
        lines.append(f"| {' | '.join(cells)} |")
    more = grown(month.looks, {name: name for name in Look._fields[1:]})
    told = ", ".join(f"{names.get(name, name)} {share:+.0%}" for name, share in more.items())
    took, late = month.asking.took, month.late
    return "\n".join(
        [
            *lines,
            "",
            f"Last quarter against the second: {told}.",
            f"{len(took)} searches, {len(month.asking.errors)} errors. Of {len(month.looks)} leaps {late} into work.",
            "",
            *_rows_table(month.rows),
            "",
        ]
    )


def _rows_table(rows: list[dict[str, int]]) -> list[str]:
    places = [len(rows) // 4, len(rows) // 2, 3 * len(rows) // 4, len(rows) - 1]
    lines = ["| rows of | after a quarter | a half | three quarters | all of it |", "|---|--:|--:|--:|--:|"]
    for name in sorted(rows[-1]):
        counts = [rows[place].get(name, 0) for place in places]
        if any(counts):
            told = " (of all times)" if name in OF_HISTORY else f" (up to {ENDING[name]:,})" if name in ENDING else ""
            lines.append(f"| `{name}`{told} | {' | '.join(str(one) for one in counts)} |")
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--days", type=float, default=30.0)
    parser.add_argument("--step", type=float, default=20.0, help="hours from leap to leap")
    parser.add_argument("--visitors", type=int, default=5)
    parser.add_argument("--keep", type=int, default=3, help="archive.keep_days; 0 is for ever")
    parser.add_argument("--write", action="store_true", help="into docs/reliability.md, with its plot")
    options = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        month = soak(Path(folder), options.days, 3_600 * options.step, options.visitors, options.keep)
    wrong = wrong_of(month, options.keep)
    arguments = " ".join(f"--{name} {getattr(options, name):g}" for name in ("days", "step", "visitors", "keep"))
    load = ", ".join(f"{one:.0f}" for one in os.getloadavg())
    told = (
        f'`make soak-month ARGS="{arguments}"`: {(time.monotonic() - began) / 60:.0f} minutes, load {load};'
        f" wrong: {'; '.join(wrong) or 'nothing'}.\n\n{report(month)}"
    )
    sys.stdout.write(told)
    if options.write:
        page = DOCS / "reliability.md"
        before, _, after = page.read_text(encoding="utf-8").split(MARK)
        page.write_text(f"{before}{MARK}\n{told}{MARK}{after}", encoding="utf-8")
        (DOCS / "images/plots/month.svg").write_text(plot(month.looks), encoding="utf-8")
    if wrong:
        raise SystemExit("; ".join(wrong))


if __name__ == "__main__":
    main()
