"""What must hold after a soak of a cluster, by the log of the web that was crawled and by what the collection says."""

from __future__ import annotations

import csv
import json
import os
import signal
from typing import TYPE_CHECKING

from mockweb.politeness import broken_rules
from periplus.crawl import audit

if TYPE_CHECKING:
    from cluster.three_machines import ThreeMachines
    from mockweb.growing import Growing

MORE = 100  # pages that the last crawl may still fetch
PATIENCE = 300.0


def polite(growing: Growing, delay: float) -> list[str]:
    """Rules of politeness that the web's own log shows broken."""
    return broken_rules(growing.web, delay)


def exact(machines: ThreeMachines) -> list[str]:
    """A last crawl with a limit, whose worker is killed on the way, fetches as many pages as it may."""
    machines.nodes.set_services(())
    machines.wait_for(lambda: not machines.slots(), PATIENCE)
    limit = _stored(machines) + MORE
    folder = str(machines.home("m1"))
    crawl = machines.begun(1, "-m", "periplus", "crawl", "--max-pages", str(limit), "--dir", folder)
    machines.wait_for(lambda: machines.running("help:m2") or crawl.poll() is not None, PATIENCE)
    for slot in machines.running("help:m2").values():
        os.kill(slot.process, signal.SIGKILL)
    said = crawl.communicate(timeout=PATIENCE)[0]
    if crawl.returncode:
        return [f"the last crawl ended with {crawl.returncode}: {said[-300:]}"]
    found = _stored(machines)
    return [] if found == limit else [f"{found} pages were stored, of at most {limit}"]


def kept(machines: ThreeMachines) -> list[str]:
    """Every page that was marked as fetched has its document, and all files that rows name are whole."""
    fetched = {url for url, state in _column(machines, "pages", "state").items() if state == "fetched"}
    documents = set(_column(machines, "documents", "title"))
    wrong = [f"{url} was fetched, and has no document" for url in sorted(fetched - documents)]
    checked = machines.verb("doctor", "--json")
    broken = [one for one in json.loads(checked.stdout) if one["state"] == "failed"]
    return [*wrong, *map(str, broken)]


def policed(machines: ThreeMachines) -> list[str]:
    """What the crawl's own record says of gaps."""
    return [str(one) for one in audit(machines.database).violations]


def _stored(machines: ThreeMachines) -> int:
    with machines.database.read() as tx:
        return int(tx.value("SELECT SUM(pages) FROM hosts") or 0)


def _column(machines: ThreeMachines, kind: str, column: str) -> dict[str, str]:
    out = machines.folder / f"{kind}.csv"
    done = machines.verb("export", kind, "--out", str(out))
    assert done.returncode == 0, done.stderr
    csv.field_size_limit(10_000_000)
    with out.open(encoding="utf-8", newline="") as rows:
        return {row["url"]: row[column] for row in csv.DictReader(rows)}
