"""A made-up collection in shards, shard servers in threads, and an engine that asks them."""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager

import numpy as np

from periplus import addresses
from periplus.cluster.server import ShardServer
from periplus.cluster.servers import Servers
from periplus.cluster.sources import FolderShards, ServedGenerations
from periplus.graph import Stores
from periplus.index import IndexStore
from periplus.records import Document, Heading
from periplus.search import Engine
from periplus.settings import SearchSettings, Settings

SEED = 5
NOW = 1_800_000_000.0
WORDS = [
    *("tide", "tides", "moon", "harbour", "table", "tables", "light", "keeper", "storm", "lantern", "the", "of"),
    *("chart", "charts", "charting", "compass", "pilot", "pilots", "anchor", "rope", "sail", "sailing"),
]
# What is compared must not depend on how busy the machine is: no answer is cut short by its budget.
PATIENT = Settings(search=SearchSettings(budget_ms=60_000))
HASTY = Settings(search=SearchSettings(budget_ms=1_000))


def made_up(count, seed=SEED):
    generator = random.Random(seed)
    pages, texts = [], []
    for number in range(count):
        text = " ".join(generator.choices(WORDS, k=generator.choice((5, 40, 300))))
        text = generator.choice(texts) if texts and generator.random() < 0.2 else text
        texts.append(text)
        url = f"https://{generator.choice('abcdef')}.example/{generator.choice(WORDS)}/{number}"
        pages.append(
            Document(
                url=url if number else "https://a.example/",
                key=addresses.key(url if number else "https://a.example/"),
                fetched=NOW,
                title=" ".join(generator.choices(WORDS, k=generator.randrange(5))),
                text=text,
                headings=(Heading(2, generator.choice(WORDS)),),
                language=generator.choice(("en", "de", "")),
                fingerprint=random.Random(text).getrandbits(62) | 1,
                published=NOW - generator.randrange(1_000) * 86_400,
            )
        )
    return pages


def prior_of(pages, hosts):
    del hosts
    return (pages % 97) / 97.0 if len(pages) else np.zeros(0)


def build(folder, shards, count=300, number=1, seed=SEED):
    """Add a batch of documents."""
    IndexStore(folder / "index", shards=shards).update([(number, made_up(count, seed))], prior=prior_of)


def until(condition, seconds=30.0):
    """Wait for something that another thread or process does; it is looked at again and again."""
    latest = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < latest, "it did not happen in time"
        time.sleep(0.01)


def is_ready(server):
    held = server.application.readiness().shards
    return bool(held) and all(held.values())


@contextmanager
def serving(folder, groups, settings=PATIENT, token="", patience=60.0, **more):
    """An engine over shard servers in threads; ``groups`` are the shards of each server."""
    with ExitStack() as stack:
        running = [
            stack.enter_context(ShardServer(lambda own=own: own, FolderShards(Stores(folder)), token=token, **more))
            for own in groups
        ]
        until(lambda: all(is_ready(one) for one in running))
        servers = stack.enter_context(Servers(lambda: [one.address for one in running], seed=SEED))
        engine = Engine(folder, settings, ServedGenerations(Stores(folder), servers, token, patience))
        stack.callback(engine.close)
        yield engine, servers, running


class Process:
    """``periplus shard`` as people run it."""

    def __init__(self, folder, number, port=0):
        self._command = [sys.executable, "-m", "periplus", "shard", "--dir", str(folder), "--number", str(number)]
        self._process = subprocess.Popen([*self._command, "--port", str(port)], stderr=subprocess.PIPE, text=True)
        for line in self._process.stderr:
            if found := re.search(r"http://127\.0\.0\.1:(\d+)", line):
                self.url, self.port = found[0], int(found[1])
                return
        raise AssertionError("the shard server did not start")

    def send(self, number):
        os.kill(self._process.pid, number)

    def freeze(self):
        """Have it stop where it stands; comes back when it does nothing any more."""
        self.send(signal.SIGSTOP)
        os.waitpid(self._process.pid, os.WUNTRACED)

    def wait(self):
        """Until it has ended by itself."""
        try:
            return self._process.wait(30)
        finally:
            self._process.stderr.close()

    def end(self, number=signal.SIGTERM):
        self.send(number)
        return self.wait()

    @classmethod
    @contextmanager
    def ended_with_test(cls, folder):
        """Gives a function that starts servers of a shard."""
        started = []

        def start(number):
            started.append(cls(folder, number))
            return started[-1]

        try:
            yield start
        finally:
            for one in started:
                one.make_sure()

    def make_sure(self):
        """That it has ended."""
        if self._process.poll() is None:
            self.send(signal.SIGCONT)
            self.end(signal.SIGKILL)
