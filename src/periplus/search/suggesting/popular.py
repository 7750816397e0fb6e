"""Popular queries that an operator brings, so that completion knows something before anybody asked.

    tide tables<TAB>1200
    spring tide

A line a query, and behind a tab how often it is asked (``USUALLY`` where nothing stands there). The setting
``search.popular`` names the file, relative to the collection. It is read when completion is built, as after every new
generation. Bounds: ``MAX_BYTES``, ``MAX_POPULAR`` queries.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from periplus.errors import SettingError
from periplus.search.query.text import clean, folded

if TYPE_CHECKING:
    from pathlib import Path

MAX_BYTES = 8_000_000
MAX_POPULAR = 100_000
MOST_ASKED = 10**12
USUALLY = 100


def read_popular(folder: Path, name: str) -> dict[str, int]:
    """The queries of the file called ``name`` with their counts; none when that is empty."""
    if not name:
        return {}
    path = folder / name
    try:
        if path.stat().st_size > MAX_BYTES:
            raise SettingError(f"search.popular: {path} is larger than {MAX_BYTES} bytes; make it smaller")
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        advice = "correct search.popular in periplus.toml, or the file"
        raise SettingError(f"search.popular: {path} cannot be read: {error.strerror}; {advice}") from error
    except ValueError as error:
        raise SettingError(f"search.popular: {path} is not UTF-8: {error}; correct that place") from error
    found: dict[str, int] = {}
    for number, line in enumerate(lines, 1):
        query, _, times = line.partition("\t")
        if folded(query):
            found[clean(query)] = _count(path, number, times.strip())
    if len(found) > MAX_POPULAR:
        raise SettingError(f"search.popular: {path} has more than {MAX_POPULAR} queries; leave out the rarest")
    return found


def _count(path: Path, line: int, times: str) -> int:
    if not times:
        return USUALLY
    if not (times.isascii() and times.isdigit() and 0 < int(times[:13]) <= MOST_ASKED):
        raise SettingError(f"search.popular: {path}, line {line}: {times!r} is no count; write a number behind the tab")
    return int(times[:13])
