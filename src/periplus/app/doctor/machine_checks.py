"""Is the machine fit? Each check gives findings and changes nothing."""

from __future__ import annotations

import os
import resource
import shutil
import sys
from typing import TYPE_CHECKING

from periplus.app.findings import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from periplus.app.collection import Collection
    from periplus.app.findings import Progress

LEAST_PYTHON = (3, 11)
LEAST_DISK, LITTLE_DISK = 200 * 1024**2, 2 * 1024**3  # bytes
LITTLE_MEMORY = 1024**3
FEW_FILES = 1_024  # open files of a process: one a connection and some for the index


def machine(collection: Collection, _: Progress) -> Iterator[Finding]:
    from periplus.app.warming import kernels_are_warm

    version = ".".join(map(str, sys.version_info[:3]))
    if sys.version_info[:2] < LEAST_PYTHON:
        yield Finding("python", "failed", f"version {version}", "install Python 3.11 or later")
    else:
        yield Finding("python", "ok", f"version {version}")
    yield _disk(collection.folder)
    yield _memory()
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    few = files < FEW_FILES
    yield Finding("open files", "warning" if few else "ok", f"up to {files:,}", f"ulimit -n {FEW_FILES}" if few else "")
    if kernels_are_warm():
        yield Finding("kernels", "ok", "compiled")
    else:
        yield Finding("kernels", "warning", "not compiled for this version and processor", "periplus warm")


def _disk(folder: Path) -> Finding:
    free = shutil.disk_usage(folder).free
    detail = f"{free / 1024**3:.1f} GB free"
    if free < LEAST_DISK:
        return Finding("disk", "failed", detail, "make room: nothing can be stored soon")
    return Finding("disk", "warning", detail, "make room") if free < LITTLE_DISK else Finding("disk", "ok", detail)


def _memory() -> Finding:
    size = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    detail = f"{size / 1024**3:.1f} GB"
    if size < LITTLE_MEMORY:
        return Finding("memory", "warning", detail, "lower index.memory in periplus.toml")
    return Finding("memory", "ok", detail)
