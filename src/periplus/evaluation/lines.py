"""Text files of lines: read with numbers for error messages, written with clear errors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from periplus.errors import NotFound, StorageError, UnfitFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


def numbered_lines(path: str | Path) -> Iterator[tuple[int, str]]:
    """Lines that are not blank, with their numbers; what cannot be read is one clear error."""
    try:
        with Path(path).open(encoding="utf-8-sig", newline="\n") as file:
            for number, line in enumerate(file, 1):
                if line.strip():
                    yield number, line.rstrip("\r\n")
    except FileNotFoundError as error:
        raise NotFound(f"{path} does not exist; give the path of a file") from error
    except OSError as error:
        raise UnfitFile(f"{path} cannot be read: {error.strerror}; give the path of a file") from error
    except UnicodeDecodeError as error:
        raise UnfitFile(f"{path} is not UTF-8: {error.reason} at byte {error.start}; convert it") from error


def write_lines(path: str | Path, lines: Iterable[str]) -> None:
    try:
        with Path(path).open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(f"{line}\n" for line in lines)
    except OSError as error:
        raise StorageError(f"{path} cannot be written: {error.strerror}; choose another place") from error
