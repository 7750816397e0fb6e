"""One head of Ray with two cores, in a temporary folder, for the tests of this folder."""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PORT = 6390  # outside of the ports that Ray gives to its workers
START_SECONDS = 120


@pytest.fixture(scope="session")
def ray():
    """Ray, connected to a head that was started here and is ended here."""
    token = secrets.token_hex(24)
    paths = os.pathsep.join(map(str, (TESTS / "index", TESTS / "graph", TESTS / "jobs", TESTS / "cluster_ray", TESTS)))
    settings = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token, "RAY_USAGE_STATS_ENABLED": "0"}
    environment = {**os.environ, **settings, "PYTHONPATH": paths}
    with tempfile.TemporaryDirectory(prefix="ray-", dir="/tmp") as folder:
        words = [sys.executable, "-m", "ray.scripts.scripts", "start", "--head", "--block", f"--port={PORT}"]
        words += ["--node-ip-address=127.0.0.1", "--num-cpus=2", "--include-dashboard=false", f"--temp-dir={folder}"]
        words += ["--disable-usage-stats", "--object-store-memory=100000000", "--include-log-monitor=false"]
        with Path(folder, "head.log").open("w") as log:
            head = subprocess.Popen(words, env=environment, stdout=log, stderr=subprocess.STDOUT)
        os.environ.update(settings)
        import ray

        try:
            until = time.monotonic() + START_SECONDS
            while not ray.is_initialized():
                try:
                    ray.init(address=f"127.0.0.1:{PORT}", log_to_driver=False, configure_logging=False)
                except (ConnectionError, RuntimeError, ValueError):
                    if head.poll() is not None or time.monotonic() > until:
                        raise
                    time.sleep(0.5)
            yield ray
        finally:
            ray.shutdown()
            head.terminate()
            try:
                head.wait(30)
            except subprocess.TimeoutExpired:
                head.kill()
                head.wait()
