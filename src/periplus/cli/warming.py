"""No query waits in silence for a compiler: verbs that search call ``ready_kernels`` first."""

from __future__ import annotations

from periplus.cli.output import messages
from periplus.cli.progress import step


def ready_kernels() -> None:
    """Compile the kernels with a progress bar if this machine has not done so before."""
    from periplus.app import warming

    if warming.kernels_are_warm():
        return
    messages().print("compiling kernels, once on this machine (about a minute)", soft_wrap=True)
    with step("compile") as bar:
        warming.warm_kernels(bar.at)
