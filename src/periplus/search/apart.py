"""Words and completions of a large collection, gathered by a process of its own.

Gathering takes seconds of plain Python. In the process that answers queries, each of them would wait for the
interpreter many times over; so that process asks another one, which reads the newest generation, and gets the result
back packed.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

PATIENCE = 600.0  # seconds
NICENESS = 10  # searches come first
_one_at_a_time = threading.Lock()


def gathered_words(folder: Path) -> Any:
    """The ``Dictionary`` of the newest generation; None when that cannot be had."""
    return _asked("words", folder, 0, {})


def gathered_completion(folder: Path, last_batch: int, past_queries: Mapping[str, int]) -> Any:
    """The ``Completion`` of the newest generation; None when that cannot be had."""
    return _asked("completion", folder, last_batch, dict(past_queries))


def _asked(kind: str, folder: Path, last_batch: int, past_queries: dict[str, int]) -> Any:
    question = pickle.dumps((kind, str(folder), last_batch, past_queries))
    command = [sys.executable, "-m", __name__]
    with _one_at_a_time:
        try:
            done = subprocess.run(  # noqa: S603  # our own module
                command, input=question, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=PATIENCE, check=True
            )
            return pickle.loads(done.stdout)  # noqa: S301  # of our own process
        except (OSError, subprocess.SubprocessError, pickle.UnpicklingError, EOFError):
            return None


def main() -> None:
    """In the process of its own: a question comes in, what was gathered goes out."""
    from periplus.index import IndexStore
    from periplus.search.completion import Completion
    from periplus.search.links import link_texts
    from periplus.search.spelling import dictionary_of

    os.nice(NICENESS)
    kind, folder, last_batch, past_queries = pickle.load(sys.stdin.buffer)  # noqa: S301  # of the process that asks
    with IndexStore(Path(folder) / "index").open() as snapshot:
        gathered: Any
        if kind == "words":
            gathered = dictionary_of(snapshot)
        else:
            gathered = Completion.build(snapshot, link_texts(Path(folder), last_batch), past_queries)
        pickle.dump(gathered, sys.stdout.buffer, protocol=5)


if __name__ == "__main__":
    main()
