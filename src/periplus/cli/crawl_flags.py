"""The flags that ``crawl`` and ``up`` share, and the settings they stand for."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, Any

from periplus.cli import options as opt
from periplus.errors import UnfitFile, UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from periplus.app import Collection


def with_crawl_flags(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb with these flags in place of its parameter ``flags``, which gets settings by name."""

    @wraps(verb)
    def run(**given: Any) -> None:
        verb(flags=settings_of(**{name: given.pop(name) for name in _FLAGS}), **given)

    own = inspect.signature(verb, eval_str=True).parameters
    parameters = [one for name, own_one in own.items() for one in (_FLAGS.values() if name == "flags" else (own_one,))]
    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def _flags(
    max_pages: opt.MaxPages = None,
    max_depth: opt.MaxDepth = None,
    scope: opt.Scope = None,
    include: opt.Include = None,
    exclude: opt.Exclude = None,
    delay: opt.Delay = None,
    concurrency: opt.Concurrency = None,
    workers: opt.Workers = None,
    lang: opt.Languages = None,
    resolve: opt.Resolve = None,
    allow_private: opt.AllowPrivate = None,
    header: opt.Header = None,
    auth: opt.Auth = None,
    proxy: opt.Proxy = None,
    max_bandwidth: opt.MaxBandwidth = None,
    hours: opt.Hours = None,
    tls: opt.Tls = None,
    documents: opt.Documents = None,
) -> None:
    """Never called: its parameters are the flags."""


_FLAGS = inspect.signature(_flags, eval_str=True).parameters


def settings_of(**flags: Any) -> dict[str, Any]:
    """Only what was given, as ``crawl.NAME``; ``--lang en,de`` becomes a list, ``--max-bandwidth 2MB`` a number.

    An empty text (``--exclude ""``) empties a list that is remembered.
    """
    languages = flags.pop("lang", None)
    flags["languages"] = None if languages is None else languages.split(",")
    flags["headers"] = flags.pop("header", None)
    flags["max_bandwidth"] = opt.byte_size(flags.pop("max_bandwidth", None))
    given = {name: value for name, value in flags.items() if value not in (None, [])}
    return {f"crawl.{name}": _filled(value) for name, value in given.items()}


def _filled(value: Any) -> Any:
    return [part.strip() for part in value if part.strip()] if isinstance(value, list) else value


def all_seeds(urls: list[str] | None, file: Path | None) -> list[str]:
    """Addresses from the command line, then those of the file, each once and in the spelling that is used."""
    from periplus.crawl import canonical_seeds

    seeds = canonical_seeds(urls or [])
    if file is not None:
        listed = read_seeds(file)
        if not (listed or seeds):
            raise UnfitFile(f"--seeds {file} names no address; write one a line")
        try:
            seeds += canonical_seeds(listed)
        except UsageError as error:
            raise UnfitFile(f"--seeds {file}: {error}") from error
    return list(dict.fromkeys(seeds))


def start_of(collection: Collection, start: list[str]) -> list[str]:
    """Where a crawl begins: at what was named now, or else at what was named before."""
    from periplus.crawl import known_seeds

    seeds = start or known_seeds(collection.database)
    if not seeds:
        raise UsageError("nothing to crawl yet; name at least one address, such as https://example.org/")
    return seeds


def read_seeds(file: Path) -> list[str]:
    """Addresses one a line (empty lines and ``#`` comments do not count), or those of OPML, bookmarks or CDXJ."""
    from periplus.cli.seed_files import MAX_BYTES, addresses_in

    try:
        if file.stat().st_size > MAX_BYTES:
            raise UnfitFile(f"--seeds {file} has more than {MAX_BYTES:,} bytes; split it")
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UnfitFile(f"--seeds {file} cannot be read: {reason}; name a file of addresses, one a line") from error
    return addresses_in(text)
