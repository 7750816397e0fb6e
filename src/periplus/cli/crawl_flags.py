"""The flags that ``crawl`` and ``up`` share, the settings they stand for, and the limits in force in words."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, Any

from periplus.cli import options as opt
from periplus.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from periplus.settings import CrawlSettings


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
    """Only what was given, as ``crawl.NAME``; ``--lang en,de`` becomes a list, ``--max-bandwidth 2MB`` a number."""
    languages = flags.pop("lang", None)
    flags["headers"] = flags.pop("header", None)
    flags["max_bandwidth"] = opt.byte_size(flags.pop("max_bandwidth", None))
    if languages:
        flags["languages"] = [part.strip() for part in languages.split(",") if part.strip()]
    return {f"crawl.{name}": value for name, value in flags.items() if value not in (None, [])}


def all_seeds(urls: list[str] | None, file: Path | None) -> list[str]:
    """Addresses from the command line, then those of the file."""
    seeds = list(urls or [])
    if file is not None:
        seeds += read_seeds(file)
    return seeds


def read_seeds(file: Path) -> list[str]:
    """One address a line; empty lines and ``#`` comments do not count."""
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
        raise UsageError(f"--seeds {file} cannot be read: {reason}") from error
    return [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]


def limits(settings: CrawlSettings) -> str:
    """The limits in force, as one line."""
    pages = f"{settings.max_pages:,} pages" if settings.max_pages else "no page limit"
    more = [
        f"at most {settings.max_bandwidth:,} bytes/s" if settings.max_bandwidth else "",
        f"only at {settings.hours} o'clock" if settings.hours else "",
        "through a proxy" if settings.proxy else "",
        "documents later" if settings.documents == "later" else "",
    ]
    return ", ".join(
        [
            f"scope {settings.scope}, {pages}, depth {settings.max_depth}",
            f"delay {settings.delay:g} s or what robots.txt asks",
            *filter(None, more),
        ]
    )
