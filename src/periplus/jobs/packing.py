"""Inputs of tasks on their way to other machines: paths below our working copy become paths below theirs.

A collection may be in another folder on every machine. So paths travel as they are seen from that folder.
"""

from __future__ import annotations

import io
import os
import pickle
from pathlib import Path, PurePath
from typing import Any, Final

HOME_VARIABLE: Final = "PERIPLUS_NODE_FOLDER"  # names the working copy of a machine to the tasks that run there


def packed(given: Any, home: Path) -> bytes:
    """An input as bytes; ``home`` is the working copy of this machine."""
    buffer = io.BytesIO()
    _Packer(buffer, home).dump(given)
    return buffer.getvalue()


def unpacked(data: bytes, home: str) -> Any:
    """The input, where it has arrived. ``home`` is the sender's folder: where a machine names none, it is the same."""
    return _Unpacker(io.BytesIO(data), Path(os.environ.get(HOME_VARIABLE) or home)).load()


class _Packer(pickle.Pickler):
    def __init__(self, buffer: io.BytesIO, home: Path) -> None:
        super().__init__(buffer, pickle.HIGHEST_PROTOCOL)
        self._homes = {home, home.resolve()}

    def persistent_id(self, value: Any) -> str | None:
        if isinstance(value, PurePath):
            for home in self._homes:
                if value.is_relative_to(home):
                    return value.relative_to(home).as_posix()
        return None


class _Unpacker(pickle.Unpickler):
    """Reads what our own machines sent: Ray lets nobody in without the cluster's token."""

    def __init__(self, buffer: io.BytesIO, home: Path) -> None:
        super().__init__(buffer)
        self._home = home

    def persistent_load(self, name: str) -> Path:
        return self._home / name
