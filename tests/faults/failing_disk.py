"""A disk that fails at the n-th change below one folder, for all processes that are started with it.

``failing_disk.c`` stands between a process and the C library, so SQLite, Arrow and Python meet the same disk. This half
compiles it, and says which call shall fail, and how, through a page of memory that all processes share. The clock of
the wall is set through the same page, and another server of names through a file.
"""

from __future__ import annotations

import mmap
import os
import shutil
import struct
import subprocess
from pathlib import Path

SOURCE = Path(__file__).with_name("failing_disk.c")
MODES = {"eio": 1, "full": 2, "short": 3}  # an error once; no room from then on; half a write, then no room
LASTING = {"read-only": 4, "slow": 5}  # from the first change on, until it is disarmed: EROFS; 50 ms before each change
_NUMBERS = struct.Struct("<QQQQ")
_SIZE, _PLAN_SIZE = 4096, 2048
_CLOCK = struct.Struct("<q")  # nanoseconds, behind the plan
_CALL, _PATH, _ROOT, _ONLY = (32, 32), (64, 512), (576, 512), (1088, 256)  # texts: place and length


def compiler() -> str | None:
    return shutil.which("cc") or shutil.which("gcc")


def environment(folder: Path, dns_port: int = 0) -> dict[str, str]:
    """What a process must be started with; compiles the library, and makes the page of memory.

    With ``dns_port`` its server of names is the one at that port of loopback.
    """
    library, page = folder / "failing_disk.so", folder / "failing_disk.plan"
    subprocess.run([compiler() or "cc", "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)
    page.write_bytes(bytes(_SIZE))
    given = {"LD_PRELOAD": str(library), "FAILING_DISK": str(page)}
    if not dns_port:
        return given
    servers = folder / "resolv.conf"
    servers.write_text(f"nameserver 127.0.0.1:{dns_port}\n")
    return given | {"FAILING_DNS": str(servers)}


class FailingDisk:
    """The plan of this process and of all that it starts."""

    def __init__(self) -> None:
        with Path(os.environ["FAILING_DISK"]).open("r+b") as file:
            self._page = mmap.mmap(file.fileno(), _SIZE)

    def arm(self, root: Path, target: int, mode: str = "eio", only: str = "") -> None:
        """Have the ``target``-th change below ``root`` fail; 0 counts only.

        ``only``, such as "fsync archive/", leaves out all changes whose call and path do not hold that text.
        """
        self.disarm()
        for (place, length), text in ((_ROOT, str(root.resolve())), (_ONLY, only)):
            name = text.encode()
            assert len(name) < length
            self._page[place : place + len(name)] = name
        self._page[: _NUMBERS.size] = _NUMBERS.pack(0, target, (MODES | LASTING)[mode], 0)

    def disarm(self) -> None:
        self._page[:_PLAN_SIZE] = bytes(_PLAN_SIZE)

    def set_clock(self, seconds: float) -> None:
        """Have the clock of the wall be so much ahead of the machine's; other clocks go on."""
        _CLOCK.pack_into(self._page, _PLAN_SIZE, int(seconds * 1e9))

    @property
    def calls(self) -> int:
        return int(_NUMBERS.unpack(self._page[: _NUMBERS.size])[0])

    @property
    def failures(self) -> int:
        return int(_NUMBERS.unpack(self._page[: _NUMBERS.size])[3])

    @property
    def where(self) -> str:
        """Which call failed first, and on which file."""
        return f"{self._text(_CALL)} {self._text(_PATH)}"

    def _text(self, field: tuple[int, int]) -> str:
        place, length = field
        return self._page[place : place + length].split(b"\0", 1)[0].decode()
