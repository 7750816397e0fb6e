"""The demo's pages as they lie in ``sites/``: one folder a host, ``site.toml`` and a file a page.

A page file begins with TOML between two ``+++`` lines, then comes the text. The address follows the file's place:
``index.md`` is ``/``, ``winds/index.md`` is ``/winds/``, ``winds/baker.md`` is ``/winds/baker``; other endings stay in
the address (``ledger.txt``). ``{{name}}`` anywhere stands for the address of the host ``name.localhost``.
A key ``note`` marks a special page and says what it is for; notes are never served.
"""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

SITES = Path(__file__).parent / "sites"
DOMAIN = "localhost"
FENCE = "+++\n"
_HOST_MARK = re.compile(r"\{\{([a-z0-9-]+)\}\}")


@dataclass(frozen=True)
class PageSource:
    """One page file. Which renderer takes it is decided by ``kind``, the ending of the file."""

    path: str
    kind: str  # "md", "html", "txt", "pdf" …
    text: str
    title: str = ""
    lang: str = ""
    date: str = ""  # ISO, of publication; Last-Modified too
    author: str = ""
    description: str = ""
    layout: str = ""
    robots: str = ""  # content of a robots meta tag
    x_robots: str = ""  # the X-Robots-Tag header
    canonical: str = ""
    charset: str = "utf-8"
    charset_in: str = "header"  # "header" or "meta": where the page says it
    gzip: bool = False
    delay: float = 0.0
    fails: int = 0  # answers 500 so many times first
    status: int = 200
    listed: bool = True  # in the sitemap and the feed
    alternates: dict[str, str] = field(default_factory=dict)
    note: str = ""


@dataclass(frozen=True)
class Redirect:
    source: str
    target: str
    status: int
    note: str


@dataclass(frozen=True)
class SiteSource:
    """One host: its face, its rules and its pages."""

    name: str
    title: str
    lang: str
    layout: str
    pages: tuple[PageSource, ...]
    tagline: str = ""
    footer: str = ""
    colour: str = "#1f4e5f"
    icon: str = ""  # one sign; empty is no favicon
    robots: str | None = None  # None is a 404
    sitemap: str = ""  # "", "single" or "index"
    feed: bool = False
    calendar: str = ""  # path under which an endless calendar is played
    seed: bool = False
    navigation: tuple[tuple[str, str], ...] = ()
    redirects: tuple[Redirect, ...] = ()
    notes: dict[str, str] = field(default_factory=dict)  # path → what is special there

    @property
    def host(self) -> str:
        return f"{self.name}.{DOMAIN}"

    @property
    def direction(self) -> str:
        return direction(self.lang)


def direction(lang: str) -> str:
    return "rtl" if lang in {"ar", "he"} else "ltr"


def origin(name: str, port: int) -> str:
    return f"http://{name}.{DOMAIN}" + ("" if port == 80 else f":{port}")


def with_hosts(text: str, port: int) -> str:
    """``text`` with every ``{{name}}`` replaced by the address of that host."""
    return _HOST_MARK.sub(lambda match: origin(match[1], port), text)


@cache
def load(folder: Path = SITES) -> tuple[SiteSource, ...]:
    """All sites, by name; read once a process."""
    return tuple(_site(place.parent) for place in sorted(folder.glob("*/site.toml")))


def _site(folder: Path) -> SiteSource:
    values = tomllib.loads((folder / "site.toml").read_text(encoding="utf-8"))
    redirects = tuple(Redirect(**row) for row in values.pop("redirects", ()))
    navigation = tuple((label, target) for label, target in values.pop("navigation", ()))
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "site.toml")
    pages = tuple(_page(path, folder, values.get("lang", "en")) for path in files)
    return SiteSource(name=folder.name, pages=pages, redirects=redirects, navigation=navigation, **values)


def _page(path: Path, folder: Path, lang: str) -> PageSource:
    empty, head, text = path.read_text(encoding="utf-8").split(FENCE, 2)
    if empty:
        raise ValueError(f"{path}: a page begins with {FENCE!r}")
    values: dict[str, Any] = tomllib.loads(head)
    unknown = set(values) - {item.name for item in fields(PageSource)}
    if unknown:
        raise ValueError(f"{path}: unknown keys {sorted(unknown)}")
    address, kind = _address(path.relative_to(folder).as_posix())
    return PageSource(**{"path": address, "kind": kind, "text": text, "lang": lang, **values})


def _address(name: str) -> tuple[str, str]:
    stem, _, kind = name.rpartition(".")
    if kind == "md" and "." in Path(stem).name:  # "chart.pdf.md" is the PDF made from that text
        return f"/{stem}", stem.rpartition(".")[2]
    if kind in ("md", "html"):
        return "/" + (stem.removesuffix("index") if Path(stem).name == "index" else stem), kind
    return f"/{name}", kind
