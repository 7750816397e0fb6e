"""What a server and its children hold: after its start, and after searches."""

from __future__ import annotations

import itertools
import re
import signal
import subprocess
import time
import urllib.parse
import urllib.request
from pathlib import Path

FIRST_WORDS = "default index table file create command option value string server function module"
OTHER_WORDS = (
    "transaction lock directory commit branch query cache template class error type column key release user "
    "password network package install version date time character encoding regular expression thread process "
    "signal socket memory page view trigger constraint sequence schema role backup replication log parameter "
    "syntax object method attribute iterator exception import path test debug build merge remote rebase tag "
    "model form field admin session cookie static media"
)
SETTLE = 30.0  # seconds: what is gathered in the background after a start
_ADDRESS = re.compile(rb"http://[\d.a-z:]+\d")


def measured_server(words: list[str], environment: dict[str, str], searches: int) -> dict[str, dict[str, float]]:
    process = subprocess.Popen(words, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        address = _address(process)
        _search(address, "index")
        time.sleep(SETTLE)
        found = {"started": held(process.pid)}
        pairs = itertools.cycle(itertools.product(FIRST_WORDS.split(), OTHER_WORDS.split()))
        for first, second in itertools.islice(pairs, searches):
            _search(address, f"{first} {second}")
        found[f"{searches} searches later"] = held(process.pid)
    finally:
        process.send_signal(signal.SIGINT)
        process.wait()
    return found


def _address(process: subprocess.Popen[bytes]) -> str:
    assert process.stdout is not None
    for line in process.stdout:
        found = _ADDRESS.search(line)
        if found:
            return found[0].decode()
    raise SystemExit("the server did not start")


def _search(address: str, query: str) -> None:
    asked = urllib.parse.urlencode({"q": query})
    with urllib.request.urlopen(f"{address}/search?{asked}") as answer:
        answer.read()


def held(process: int) -> dict[str, float]:
    """Megabytes of a process and all its children."""
    whole = {"Rss": 0.0, "Pss": 0.0, "Anonymous": 0.0, "processes": 0.0}
    for one in _family(process):
        whole["processes"] += 1
        for line in Path(f"/proc/{one}/smaps_rollup").read_text().splitlines():
            name, _, rest = line.partition(":")
            if name in whole:
                whole[name] += int(rest.split()[0]) / 1024
    return whole


def _family(process: int) -> list[int]:
    children = Path(f"/proc/{process}/task").glob("*/children")
    found = [int(child) for path in children for child in path.read_text().split()]
    return [process, *itertools.chain.from_iterable(map(_family, found))]
