"""What tasks do in these tests; imported by the processes of Ray."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from msgspec import Struct

from periplus.errors import Corrupt

FUNCTION = "ray_tasks:run_errand"


class Errand(Struct, frozen=True):
    """Leaves a line in a file each time that it is run."""

    name: str
    folder: Path

    def times(self) -> int:
        path = self.folder / self.name
        return len(path.read_text().splitlines()) if path.exists() else 0


def run_errand(given: Errand) -> str:
    with (given.folder / given.name).open("a") as file:
        file.write("begun\n")
    if given.name == "bad":
        raise Corrupt("bad is damaged; restore it")
    if given.name == "killed" and given.times() == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return given.name.upper()
