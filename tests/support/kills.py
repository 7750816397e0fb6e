"""kill -9 at every step: work in a forked child that ends itself at its n-th change of the file system."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

STEPS = frozenset({"os.rename", "os.link", "os.remove", "os.mkdir", "os.rmdir", "os.truncate", "sqlite3.connect"})


def killed_at(step: int, work: Callable[[], object]) -> bool:
    """Do ``work`` in a child that is killed just before its ``step``-th change; False when it came to its end."""
    child = os.fork()
    if child == 0:
        _kill_at(step)
        try:
            work()
        except BaseException as error:  # noqa: BLE001 - the parent hears of it by the exit code
            os.write(2, f"{error!r}\n".encode())
            os._exit(1)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) == signal.SIGKILL
        return True
    assert os.WEXITSTATUS(status) == 0, "the work failed instead of being killed"
    return False


def _kill_at(step: int) -> None:
    left = step

    def hook(event: str, arguments: tuple[Any, ...]) -> None:
        nonlocal left
        if event in STEPS or (event == "open" and _is_writing(arguments)):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def _is_writing(arguments: tuple[Any, ...]) -> bool:
    flags = arguments[2] if len(arguments) > 2 else 0
    return isinstance(flags, int) and bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
