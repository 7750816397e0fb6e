"""The parts of ``make soak-faults`` that decide what is told: which faults are drawn, what is damaged, what counts."""

from __future__ import annotations

import random
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import islice
from types import SimpleNamespace

import pytest

from faults.whole import of_files
from faults.whole.invariants import short_gaps
from faults.whole.product import DELAY
from faults.whole.visitors import Visitors
from faults.whole_soak import FAULTS, drawn

SEARCHES = 10


def test_each_fault_is_drawn_once_before_any_comes_again():
    draws = drawn(FAULTS, random.Random(1))
    first, second = (Counter(fault.name for fault in islice(draws, len(FAULTS))) for _ in range(2))
    assert first == second == Counter({fault.name: 1 for fault in FAULTS})


def test_one_file_is_flipped_and_one_torn_and_both_are_kept(tmp_path):
    folder = tmp_path / "collection"
    (folder / "documents").mkdir(parents=True)
    sound = {f"{number}.parquet": random.Random(number).randbytes(1_000) for number in range(4)}
    for name, data in sound.items():
        (folder / "documents" / name).write_bytes(data)

    of_files.damage(of_files.KINDS["documents/"], SimpleNamespace(folder=folder), random.Random(2))

    found = {name: (folder / "documents" / name).read_bytes() for name in sound}
    damaged = [name for name in sound if found[name] != sound[name]]
    flipped, torn = sorted(damaged, key=lambda name: -len(found[name]))
    pairs = zip(found[flipped], sound[flipped], strict=True)
    assert [(one ^ other).bit_count() for one, other in pairs if one != other] == [1]
    assert sound[torn].startswith(found[torn])
    kept = {path.name: path.read_bytes() for path in (tmp_path / of_files.COPIES / "documents").iterdir()}
    assert kept == {name: sound[name] for name in damaged}


def test_the_file_of_the_archive_that_is_written_to_is_left_alone(tmp_path):
    (tmp_path / "collection" / "archive").mkdir(parents=True)
    (tmp_path / "collection" / "archive" / "one.warc.gz").write_bytes(b"written to")
    with pytest.raises(FileNotFoundError):
        of_files.damage(of_files.KINDS["archive/"], SimpleNamespace(folder=tmp_path / "collection"), random.Random(1))


def test_gaps_behind_a_request_that_was_given_up_are_left_out():
    urls, times = ("a", "b", "c", "d"), (0.0, DELAY / 2, DELAY, 3 * DELAY)
    records = [SimpleNamespace(url=url, monotonic=at) for url, at in zip(urls, times, strict=True)]
    assert short_gaps(records, set()) == [DELAY / 2, DELAY / 2]
    assert short_gaps(records, {"b"}) == [DELAY / 2]


def test_visitors_count_what_they_are_answered():
    answers = [(200, b'{"degraded": []}'), (200, b'{"degraded": ["index"]}'), (503, b"{}")]
    asked: list[str] = []
    enough = threading.Event()

    class Server(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self):
            status, body = answers[len(asked) % len(answers)]
            asked.append(self.path)
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
            if len(asked) >= SEARCHES:
                enough.set()

        def log_message(self, *_):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Server) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with Visitors(server.server_port) as visitors:
            assert enough.wait(30)
            seen = [visitors.take()]
            while sum(one.counts.total() for one in seen) < SEARCHES:  # the last ones are on their way back
                seen.append(visitors.take())
        server.shutdown()

    assert set().union(*(one.counts for one in seen)) == {"whole", "degraded", "answers of 503"}
    assert len(set(asked)) == len(asked)  # none is answered from a cache
    assert max(one.p99 for one in seen) > 0
