"""Dumps of wikis (MediaWiki's XML export, plain or packed): each article is a page under the address of its wiki."""

from __future__ import annotations

import bz2
from contextlib import contextmanager
from datetime import datetime
from typing import IO, TYPE_CHECKING, Any, Final, cast
from urllib.parse import quote
from xml.etree import ElementTree

from msgspec import Struct

from periplus import addresses, archive
from periplus.app.importing.items import Entry, FilePortion, Item, LeftOut, bad
from periplus.app.importing.opening import ask_for
from periplus.app.importing.wikitext import to_html
from periplus.errors import Corrupt, Incompatible
from periplus.records import Page

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from periplus.app.importing.opening import Opener

SUFFIXES: Final = tuple(f".xml{packing}" for packing in ("", ".gz", ".zst", ".lz4", ".bz2"))
ARTICLES: Final = 500  # of a portion
PORTION: Final = 8_000_000  # characters of a portion, or one article
_LOOKED_AT: Final = 4_096
_ROOT: Final = b"<mediawiki"
_ARTICLE: Final = "0"  # the namespace of articles


class Article(Struct, frozen=True):
    title: str
    text: str
    moment: float
    reason: str = ""  # why it is left out


class Articles(FilePortion, frozen=True):
    """Articles of a dump, whose addresses begin with ``prefix``."""

    file: str
    prefix: str
    articles: list[Article]
    size: int

    @property
    def count(self) -> int:
        return len(self.articles)

    @property
    def place(self) -> tuple[str, str]:
        return self.file, f"articles {self.articles[0].title[:80]} to {self.articles[-1].title[:80]}"

    def entries(self, _opened: Opener) -> Iterator[Entry]:
        for article in self.articles:
            yield self._entry(article)

    def _entry(self, article: Article) -> Entry:
        if article.reason:
            return LeftOut(article.reason)
        url = addresses.try_canonical(self.prefix + quote(article.title.replace(" ", "_"), safe="/:@!$&'()*+,;=~"))
        if url is None:
            return bad(self.file, article.title[:80], "its title makes no address", "invalid-address")
        body = to_html(article.title, article.text, self.prefix).encode("utf-8", "replace")
        return Item(Page(url, body, "text/html; charset=utf-8", fetched=article.moment))


def check(path: Path, opened: Opener) -> None:
    """Raise where the file is no dump of a wiki."""
    with _unpacked(path, opened) as file:
        start = file.read(_LOOKED_AT)
    if _ROOT not in start:
        raise Incompatible(f"{path} is no export of MediaWiki; other XML files cannot be imported")


@contextmanager
def _unpacked(path: Path, opened: Opener) -> Iterator[IO[bytes]]:
    with ask_for(opened, path) as file:
        packed = path.name.lower().endswith(".bz2")
        yield cast("IO[bytes]", bz2.BZ2File(file) if packed else archive.unpacked(file))


def portions(path: Path, base_url: str, opened: Opener) -> Iterator[Articles]:
    """The dump in portions. Articles lie below ``base_url``, or where the dump says that its wiki is."""
    waiting: list[Article] = []
    size = 0
    prefix = base_url
    try:
        with _unpacked(path, opened) as file:
            for found in _elements(file):
                if isinstance(found, str):
                    prefix = prefix or found
                    continue
                waiting.append(found)
                size += len(found.text)
                if len(waiting) >= ARTICLES or size >= PORTION:
                    yield Articles(str(path), _based(prefix, path), waiting, size)
                    waiting, size = [], 0
    except (ElementTree.ParseError, OSError, EOFError) as error:
        if waiting:
            yield Articles(str(path), _based(prefix, path), waiting, size)
        raise Corrupt(f"{path}: the dump cannot be read further: {error}") from error
    if waiting:
        yield Articles(str(path), _based(prefix, path), waiting, size)


def _based(prefix: str, path: Path) -> str:
    if not prefix:
        raise Incompatible(
            f"{path} does not say where its wiki is; give --base-url, such as https://wiki.example/wiki/"
        )
    return prefix


def _elements(file: IO[bytes]) -> Iterator[str | Article]:
    """The address below which articles lie, then each page; what was read is let go of."""
    root: Any = None
    for event, element in ElementTree.iterparse(file, ("start", "end")):  # noqa: S314 - expat bounds entities
        root = element if root is None else root
        if event == "start":
            continue
        name = element.tag.rpartition("}")[2]
        if name == "base":
            yield (element.text or "").rpartition("/")[0] + "/"
        elif name == "page":
            yield _article(element)
            root.clear()


def _article(page: Any) -> Article:
    fields: dict[str, str] = {}
    redirects = False
    for element in page.iter():
        name = element.tag.rpartition("}")[2]
        redirects = redirects or name == "redirect"
        if name in ("title", "ns", "text", "timestamp"):
            fields[name] = element.text or ""  # of several revisions the last counts
    reason = "redirected" if redirects else "not-a-page" if fields.get("ns", _ARTICLE) != _ARTICLE else ""
    return Article(fields.get("title", ""), fields.get("text", ""), _moment(fields.get("timestamp", "")), reason)


def _moment(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()
    except (ValueError, OverflowError):
        return 0.0
