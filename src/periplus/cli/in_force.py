"""What a crawl goes by, and where each setting came from: said when ``crawl`` or ``up`` starts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.table import Table

from periplus import log_lines
from periplus.cli.output import messages, size
from periplus.settings import CONSOLE, FILE_NAME, FLAG, REMEMBERED, SECRETS, catalogue

if TYPE_CHECKING:
    from collections.abc import Sequence

    from periplus.app import Collection
    from periplus.settings import LoadedSettings

ALWAYS = ("crawl.scope", "crawl.max_pages", "crawl.max_depth", "crawl.delay")  # also at their defaults
SEEDS_SHOWN = 3
FLAGS = {"crawl.headers": "--header", "crawl.auth": "--auth", "crawl.proxy": "--proxy"}
FLAGS |= {"crawl.allow_private": "--allow-private"}  # those that are not remembered


def say_in_force(collection: Collection, loaded: LoadedSettings, seeds: Sequence[str], *, forget: bool = False) -> None:
    """The limits in force and every crawl setting that is not at its default, each with its origin."""
    if not _told_in_force(collection, loaded, seeds):
        _show_in_force(collection, loaded, seeds)
    for line in remarks(loaded, [] if forget else collection.needed(loaded)):
        messages().print(line, soft_wrap=True)


def _told_in_force(collection: Collection, loaded: LoadedSettings, seeds: Sequence[str]) -> bool:
    """Where lines are for programs."""
    values = {_name(key): in_words(key, loaded.value(key)) for key in shown_settings(loaded)}
    line = f"crawling into {collection.folder}"
    return log_lines.tell(line, event="crawling", seeds=_listed(seeds), settings=values)


def _show_in_force(collection: Collection, loaded: LoadedSettings, seeds: Sequence[str]) -> None:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="dim")
    table.add_column(overflow="fold")
    table.add_column(style="dim", no_wrap=True)
    table.add_row("from", _listed(seeds))
    for key in shown_settings(loaded):
        table.add_row(_name(key), in_words(key, loaded.value(key)), origin_of(loaded, key))
    messages().print(f"crawling into {collection.folder}", soft_wrap=True)
    messages().print(table)


def shown_settings(loaded: LoadedSettings) -> list[str]:
    others = [info.key for info in catalogue() if info.section == "crawl" and info.key in loaded.origins]
    return list(dict.fromkeys((*ALWAYS, *others)))


def origin_of(loaded: LoadedSettings, key: str) -> str:
    origin = loaded.origins.get(key, "default")
    return FILE_NAME if origin.endswith(FILE_NAME) else origin


def in_words(key: str, value: Any) -> str:
    """A setting as people say it; secrets are not shown."""
    if key in SECRETS:
        return "(kept secret)" if value else "none"
    if key == "crawl.max_pages":
        return f"{value:,}" if value else "no limit"
    if key == "crawl.delay":
        return f"{value:g} s, or what robots.txt asks"
    if key == "crawl.max_bandwidth":
        return f"{size(value)} a second" if value else "no limit"
    if isinstance(value, tuple):
        return ", ".join(value) or "none"
    return ("yes" if value else "no") if isinstance(value, bool) else str(value) or "none"


def remarks(loaded: LoadedSettings, needed: Sequence[str]) -> list[str]:
    """What a later edit of the file replaced, and what must be given again because it is not remembered."""
    lines = [
        f"{FILE_NAME} was edited since: {_name(key)} is {_plain(loaded.value(key))}, no longer the {_plain(old.value)}"
        f" that {'the console' if old.by == CONSOLE else 'a crawl'} was told"
        for key, old in loaded.outdated.items()
        if origin_of(loaded, key) == FILE_NAME
    ]
    if needed:
        flags = ", ".join(FLAGS[key] for key in needed)
        lines.append(f"given before and not remembered: {flags}; give it again where it is needed")
    if REMEMBERED in loaded.origins.values() and FLAG not in loaded.origins.values():
        lines.append("a flag changes what is remembered; --forget drops all of it")
    return lines


def _plain(value: Any) -> str:
    if isinstance(value, tuple | list):
        return ", ".join(map(str, value)) or "empty list"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _name(key: str) -> str:
    """As it is typed; where flag and setting differ, the setting."""
    return key.removeprefix("crawl.").replace("_", "-")


def _listed(seeds: Sequence[str]) -> str:
    more = len(seeds) - SEEDS_SHOWN
    return ", ".join(seeds[:SEEDS_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
