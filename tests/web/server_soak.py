"""Attacks against a running server with 1,024 handles, while another client searches: ``make soak-server``.

For each attack: how many of the other client's searches were answered and how long they took, and what the server
held in memory and in handles. It fails when a search was not answered, or when memory grew beyond its bound.
"""

from __future__ import annotations

import argparse
import http.client
import json
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from server_attacks import ATTACKS

HANDLES = 1_024
PAUSE = 0.02  # seconds between two searches
LONGEST = 10.0  # seconds that a search may take before it counts as unanswered
GROWTH = 100  # MB that memory may grow by over all attacks together
DOCUMENTS = 3_000
WORDS = [
    "tide",
    "harbour",
    "beacon",
    "channel",
    "depth",
    "pilot",
    "church",
    "tower",
    "slack",
    "water",
    "entrance",
    "sound",
    "reach",
    "quay",
    "rock",
]
ATTACKER = Path(__file__).with_name("server_attacks.py")


def collection(folder: Path) -> None:
    """A small one, of made-up texts."""
    lines = [
        json.dumps({"id": str(n), "title": f"Port {n}", "text": " ".join(WORDS[(n * k) % 15] for k in range(1, 120))})
        for n in range(DOCUMENTS)
    ]
    (folder / "ports.jsonl").write_text("\n".join(lines))
    for verb in (["import", str(folder / "ports.jsonl")], ["index"]):
        subprocess.run(
            [sys.executable, "-m", "periplus", *verb, "--dir", str(folder / "c")], check=True, capture_output=True
        )


class Server:
    def __init__(self, folder: Path, log: Path) -> None:
        command = [sys.executable, "-m", "periplus", "serve", "--dir", str(folder / "c"), "--port", "0"]
        with log.open("w") as told:
            self.process = subprocess.Popen(command, stderr=told, preexec_fn=_few_handles)  # noqa: PLW1509
        while "http://" not in log.read_text():
            assert self.process.poll() is None, log.read_text()
            time.sleep(0.1)
        self.port = int(log.read_text().split("http://127.0.0.1:")[1].split("/")[0])
        while not self.search()[0]:
            time.sleep(0.5)

    def search(self) -> tuple[bool, float]:
        began = time.perf_counter()
        asked = http.client.HTTPConnection("127.0.0.1", self.port, timeout=LONGEST)
        try:
            asked.request("GET", "/api/v1/search?q=tide+harbour")
            answer = asked.getresponse()
            done = answer.status == 200 and b'"results":[{' in answer.read()
        except (OSError, http.client.HTTPException):
            done = False
        finally:
            asked.close()
        return done, time.perf_counter() - began

    def memory(self) -> float:
        """Resident, in MB."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * resource.getpagesize() / 1e6

    def handles(self) -> int:
        return sum(1 for _ in Path(f"/proc/{self.process.pid}/fd").iterdir())

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(60)


def _few_handles() -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (HANDLES, HANDLES))


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


class Seen:
    def __init__(self) -> None:
        self.times: list[float] = []
        self.lost = 0
        self.memory = 0.0
        self.handles = 0

    def row(self, name: str, ended: str) -> str:
        taken = sorted(1_000 * seconds for seconds in self.times) or [0.0]
        late = taken[min(len(taken) - 1, int(0.99 * len(taken)))]
        return (
            f"{name:17} {len(self.times):6} {self.lost:5} {statistics.median(taken):8.1f} {late:8.1f} {taken[-1]:8.1f}"
            f" {self.memory:8.0f} {self.handles:8} {ended:>9}"
        )


def attacked(server: Server, name: str, seconds: float) -> tuple[Seen, str]:
    attacker = None
    if name in ATTACKS:
        attacker = subprocess.Popen(
            [sys.executable, str(ATTACKER), name, str(server.port)], stdout=subprocess.PIPE, text=True
        )
    seen, end = Seen(), time.monotonic() + seconds
    while time.monotonic() < end:
        done, took = server.search()
        seen.times += [took] if done else []
        seen.lost += not done
        seen.memory = max(seen.memory, server.memory())
        seen.handles = max(seen.handles, server.handles())
        time.sleep(PAUSE)
    if attacker is None:
        return seen, ""
    attacker.terminate()
    return seen, attacker.communicate()[0].strip()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20, help="of each attack")
    parser.add_argument("--only", default="", help="attacks, with commas")
    given = parser.parse_args()
    names = [name for name in ATTACKS if not given.only or name in given.only.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        collection(Path(folder))
        log = Path(folder) / "log"
        server = Server(Path(folder), log)
        try:
            say("attack          answered  lost  ms p50   ms p99   ms max   MB most  handles   ended")
            before, _ = attacked(server, "", min(5.0, given.seconds))
            say(before.row("(none)", ""))
            lost = 0
            for name in names:
                seen, ended = attacked(server, name, given.seconds)
                lost += seen.lost
                say(seen.row(name, ended))
            after, _ = attacked(server, "", min(5.0, given.seconds))
            say(after.row("(none)", ""))
        finally:
            server.stop()
        lines = log.read_text().splitlines()
        say(f"log: {len(lines)} lines, {sum('Traceback' in line for line in lines)} tracebacks")
        for line in lines[:10]:
            say(f"    {line[:150]}")
        grown = after.memory - before.memory
    good = not lost and grown <= GROWTH
    say("good" if good else f"not good: {lost} searches lost, {grown:.0f} MB more")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
