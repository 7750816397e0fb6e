"""Arrays in files without a name: as long as documents, but pages that the system can write out, not memory."""

from __future__ import annotations

import mmap
import os
import tempfile
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray


def mapped_array(folder: Path, dtype: str, length: int) -> NDArray[Any]:
    """An array of zeros below ``folder``, gone when nobody refers to it; the disk has room for it, or it is refused."""
    kind = np.dtype(dtype)
    size = max(1, length * kind.itemsize)
    with tempfile.TemporaryFile(dir=folder) as file:
        os.posix_fallocate(file.fileno(), 0, size)  # a page that the disk has no room for would end the process
        return np.frombuffer(mmap.mmap(file.fileno(), size), kind, length)
