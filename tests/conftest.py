"""What all tests share: where others' test material is, and that nothing leaves this machine."""

from __future__ import annotations

import ipaddress
import os
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest

from support.components import missing  # noqa: F401 - rooms ask the plugin for it

if TYPE_CHECKING:
    from collections.abc import Iterator

# The same examples in every run, however slow the machine; PERIPLUS_EXPLORE=1 looks for new ones.
hypothesis.settings.register_profile("fixed", derandomize=True, deadline=None)
hypothesis.settings.register_profile("explore", deadline=None)
hypothesis.settings.load_profile("explore" if os.environ.get("PERIPLUS_EXPLORE") == "1" else "fixed")

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Test material written by others; never part of the repository, so a clone elsewhere goes without."""
    folder = Path(os.environ.get("PERIPLUS_SHARED_DATA", ROOT.parent / "shared" / "data"))
    if not folder.is_dir():
        pytest.skip(f"no test material of others at {folder}")
    return folder


def _is_local(address: object) -> bool:
    if not isinstance(address, tuple):
        return True  # a UNIX socket's path
    host = str(address[0]).split("%")[0]
    try:
        ip = ipaddress.ip_address(host)
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
    return ip.is_loopback or ip.is_unspecified


_foreign: list[object] = []


def _watch_sockets(event: str, arguments: tuple[object, ...]) -> None:
    if event in ("socket.connect", "socket.sendto") and not _is_local(arguments[1]):
        _foreign.append(arguments[1])
        raise PermissionError(f"a test tried to reach {arguments[1]}, outside loopback")


sys.addaudithook(_watch_sockets)


@pytest.fixture(autouse=True)
def _stay_on_loopback() -> Iterator[None]:
    """A test that tries to leave this machine fails, even where the code under test swallows the refusal."""
    _foreign.clear()
    yield
    if _foreign:
        pytest.fail(f"tried to reach {_foreign}, outside loopback")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A parallel run keeps one test of each name, so a second of the same name would be left out in silence."""
    names = Counter(item.nodeid for item in items)
    if twice := [name for name, count in names.items() if count > 1]:
        raise pytest.UsageError(f"several tests have the same name: {', '.join(twice)}")
