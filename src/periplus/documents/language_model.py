"""The model of the second opinion, kept unpacked so that a process maps it into memory instead of unpacking it.

py3langid ships its model in LZMA: unpacking takes most of a second and 80 MB in every process that asks. The first one
leaves the arrays in the cache folder (67 MB, where the compiled kernels are, too); all others map them, which takes
milliseconds and only the memory of the rows that their texts touch. The answers are py3langid's own either way.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_LAYOUT: Final = 1  # of the files; another number, another folder
_UNUSED: Final = 30 * 86400.0  # seconds after which the arrays of another installation's model are removed
_NAMES: Final = ("table", "prior", "classes", "moves", "rows", "outputs")


def load() -> Any:
    """The identifier with normalised probabilities; from the cache where that can be read or written."""
    folder = model_folder()
    if folder is None:
        return _unpacked()
    with suppress(OSError, ValueError):  # not there yet, or not whole
        identifier = _mapped(folder)
        with suppress(OSError):
            os.utime(folder)
        return identifier
    identifier = _unpacked()
    with suppress(OSError, AttributeError):  # no room, or a py3langid that keeps its model in another way
        _keep(identifier, folder)
    return identifier


def model_folder() -> Path | None:
    """The folder of the installed model; its name changes with the model's file."""
    spec = find_spec("py3langid")
    if spec is None or spec.origin is None:
        return None
    base = os.environ.get("PERIPLUS_CACHE")
    try:
        home = Path(base) if base else Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "periplus"
        model = (Path(spec.origin).parent / "data" / "model.npz.xz").stat()
    except (OSError, RuntimeError):  # no such file; no home
        return None
    return home / "language" / f"{_LAYOUT}-{model.st_size}-{model.st_mtime_ns}"


def _unpacked() -> Any:
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


def _mapped(folder: Path) -> Any:
    from py3langid.langid import LanguageIdentifier

    table, prior, classes, moves, rows, outputs = (_array(folder / f"{name}.npy") for name in _NAMES)
    return LanguageIdentifier(
        table, prior, classes.tolist(), moves.data, outputs.data, norm_probs=True, tk_row=rows.data
    )  # the identifier's loop over bytes needs plain integers, which memoryviews give


def _array(path: Path) -> NDArray[Any]:
    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def _keep(identifier: Any, folder: Path) -> None:
    """Write the arrays beside their place and move them there in one step."""
    arrays = (
        identifier.nb_ptc,
        identifier.nb_pc,
        np.array(identifier.nb_classes),
        np.asarray(identifier.tk_nextmove),
        np.asarray(identifier.tk_row),
        np.asarray(identifier.tk_output, dtype=np.int32),
    )
    folder.parent.mkdir(parents=True, exist_ok=True)
    staged = folder.parent / f".{secrets.token_hex(6)}"
    try:
        staged.mkdir()
        for name, array in zip(_NAMES, arrays, strict=True):
            np.save(staged / f"{name}.npy", array, allow_pickle=False)
        shutil.rmtree(folder, ignore_errors=True)  # it was not whole
        staged.rename(folder)
    finally:
        shutil.rmtree(staged, ignore_errors=True)
    for other in folder.parent.iterdir():
        if other.stat().st_mtime < time.time() - _UNUSED:
            shutil.rmtree(other, ignore_errors=True)
