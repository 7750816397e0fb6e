"""``periplus warm``: compile and cache the kernels."""

from __future__ import annotations

import time

from periplus.cli.output import messages
from periplus.cli.progress import step


def warm() -> None:
    """Compile the kernels once, so that no query waits for a compiler."""
    from periplus.app import warming

    started = time.perf_counter()
    with step("compile") as bar:
        count = warming.warm_kernels(bar.at)
    messages().print(f"{count} kernels ready in {time.perf_counter() - started:.1f} s", soft_wrap=True)
