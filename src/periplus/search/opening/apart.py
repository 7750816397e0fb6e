"""Words and completions of a large collection, gathered by a process of its own.

Gathering takes seconds of plain Python. In the process that answers queries, each of them would wait for the
interpreter many times over; so that process asks another one, which reads the newest generation, and gets the result
back as arrays: to make objects of it would hold up queries as well.
"""

from __future__ import annotations

import pickle
import subprocess
import sys
import threading
from contextlib import contextmanager, suppress
from pathlib import Path
from struct import Struct as Layout
from typing import IO, TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

PATIENCE = 600.0  # seconds
NICENESS = 10  # searches come first, from the first import on
PROGRAM = f"import os; os.nice({NICENESS}); from {__name__} import main; main()"
SIZES = Layout("q")
_one_at_a_time = threading.Lock()


def gathered_words(folder: Path) -> Any:
    """The ``SpellingDictionary`` of the newest generation; None when that cannot be had."""
    return _asked("words", folder, {}, frozenset())


def gathered_completion(folder: Path, past_queries: Mapping[str, int], blocked: frozenset[str] = frozenset()) -> Any:
    """The ``Completion`` of the newest generation; None when that cannot be had."""
    return _asked("completion", folder, dict(past_queries), blocked)


def _asked(kind: str, folder: Path, past_queries: dict[str, int], blocked: frozenset[str]) -> Any:
    question = pickle.dumps((kind, str(folder), past_queries, blocked))
    with _one_at_a_time, suppress(OSError, EOFError, pickle.UnpicklingError), _gathering() as process:
        return _exchanged(question, process)
    return None


@contextmanager
def _gathering() -> Iterator[subprocess.Popen[bytes]]:
    """The other process, for as long as it is needed and not for ever."""
    with subprocess.Popen(  # noqa: S603  # our own module
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        timer = threading.Timer(PATIENCE, process.kill)
        timer.start()
        try:
            yield process
        finally:
            timer.cancel()
            process.kill()


def _exchanged(question: bytes, process: subprocess.Popen[bytes]) -> Any:
    if process.stdin is None or process.stdout is None:
        raise EOFError
    with process.stdin:
        process.stdin.write(question)
    return received(process.stdout)


def send(stream: IO[bytes], value: Any) -> None:
    """Write a value: the sizes of its parts, then the parts; arrays are parts of their own."""
    buffers: list[pickle.PickleBuffer] = []
    parts: list[bytes | memoryview] = [pickle.dumps(value, protocol=5, buffer_callback=buffers.append)]
    parts += [buffer.raw() for buffer in buffers]
    stream.write(SIZES.pack(len(parts)) + b"".join(SIZES.pack(len(part)) for part in parts))
    for part in parts:
        stream.write(part)


def received(stream: IO[bytes]) -> Any:
    """Read it: straight to where the arrays stay, so that the interpreter is never held for long."""
    (count,) = SIZES.unpack(_read(stream, SIZES.size))
    sizes = [SIZES.unpack(_read(stream, SIZES.size))[0] for _ in range(count)]
    first, *others = (_read(stream, size) for size in sizes)
    return pickle.loads(first, buffers=others)  # noqa: S301  # of our own process


def _read(stream: IO[bytes], size: int) -> memoryview:
    memory = np.empty(size, np.uint8).data  # not filled with zeros
    done = 0
    while done < size:
        read = stream.readinto(memory[done:])  # type: ignore[attr-defined]
        if not read:
            raise EOFError
        done += read
    return memory


def main() -> None:
    """In the process of its own: a question comes in, what was gathered goes out."""
    from periplus.graph import Stores
    from periplus.search.opening.summary import open_summary
    from periplus.search.shards.ranks import Ranks
    from periplus.search.suggesting.completion import Completion
    from periplus.search.suggesting.dictionary import dictionary_of

    kind, folder, past_queries, blocked = pickle.load(sys.stdin.buffer)  # noqa: S301  # of the process that asks
    stores = Stores(Path(folder))  # where machines share a collection, what its process has pulled
    summary = open_summary(stores.index)
    gathered: Any
    if kind == "words":
        gathered = dictionary_of(summary)
    else:
        texts = Ranks.open(stores.ranks).link_texts(blocked)
        gathered = Completion.build(summary, texts, past_queries, blocked)
    send(sys.stdout.buffer, gathered)
    sys.stdout.flush()
