"""The kernels of reading pages, handed to the room of documents, which cannot reach the compiler itself."""

from __future__ import annotations

from periplus.app.machine_code import MachineCode
from periplus.documents import quick
from periplus.documents.kernels import page, wording
from periplus.documents.kernels.compiling import hand_to_numba

KERNELS = {
    kernel.name: kernel
    for kernel in (
        MachineCode(page.read_page, page.READ_PAGE, hand_to_numba),  # the one that takes longest comes first
        MachineCode(wording.weigh_words, wording.WEIGH_WORDS, hand_to_numba),
    )
}


def entries() -> quick.Entries:
    """The compiled forms; they are compiled where they are not kept."""
    return quick.Entries(KERNELS["read_page"].bound, KERNELS["weigh_words"].bound)


def quicken() -> bool:
    """Read pages by kernels from now on, where these are kept; whether they are."""
    if missing():
        return False
    quick.use(entries())
    return True


def missing() -> list[str]:
    """The kernels that have to be compiled."""
    return [name for name, kernel in KERNELS.items() if not kernel.is_kept]
