"""Threads for what visitors wait for: searches and completion.

Few of them: a search is mostly computing, so more threads than cores only take turns, and the slowest answer gets
slower. What an operator asks for runs elsewhere (Starlette's pool) and cannot take these places.
"""

from __future__ import annotations

import asyncio
import os
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

T = TypeVar("T")

MOST = 8


class Pool:
    def __init__(self, threads: int = 0) -> None:
        wanted = threads or min(MOST, len(os.sched_getaffinity(0)) + 1)
        self._threads = ThreadPoolExecutor(wanted, thread_name_prefix="search")

    async def run(self, function: Callable[..., T], *arguments: object) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, function, *arguments)
