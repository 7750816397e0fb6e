"""The body of a page by kernels: what ``walk`` and ``blocks`` find, in one call over the parser's serialisation.

For pages that the kernel refuses, and where there is none (``documents.quick``), the walk in Python does the same.
"""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from turbohtml import Element

from periplus.documents import bounds
from periplus.documents.html.pieces import Body
from periplus.documents.quick import Installed
from periplus.documents.text import clean
from periplus.records import Heading

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

LARGEST: Final = 512 * 1024  # bytes of serialised HTML; larger pages are rare, and walked through in Python
_DEEPEST: Final = 1024  # elements in each other
_FEWEST: Final = 64 * 1024
_PLACES: Final = ("content", "navigation", "footer")
_NAME_BYTES: Final = 4096  # of the names of one element: NAME_CHARS of up to four bytes, and more


class _Room(threading.local):
    """Arrays for pages up to a size, kept from page to page."""

    def __init__(self) -> None:
        self.size = 0
        self.entry: Any = None  # that ``call`` belongs to

    def fit(self, size: int, entry: Callable[..., Callable[[int], int]]) -> None:
        if size <= self.size and self.entry == entry:
            return
        from periplus.documents.html.tables import tables
        from periplus.documents.kernels import nodes, walking

        size = max(_FEWEST, 1 << (size - 1).bit_length())
        known = tables()
        self.levels = np.empty(bounds.HEADINGS, dtype=np.uint8)
        self.places = np.empty(walking.MOST_LINKS, dtype=np.uint8)
        self.names = np.empty((2 * walking.MOST_LINKS, 2), dtype=np.int64)
        self.state = np.empty(walking.STATE, dtype=np.int64)
        self.out = np.empty(12 * size, dtype=np.uint8)
        self.data = _bytes(size + 64)
        self.tail = np.frombuffer(nodes.TAIL, dtype=np.uint8)
        arrays = (
            *(known.tags, known.roles, known.words),
            np.empty((size // 2, 6), dtype=np.int64),  # nodes
            np.empty((_DEEPEST, 3), dtype=np.int64),  # what is open
            np.empty((size // 4, walking.BLOCK), dtype=np.int64),
            np.empty((min(walking.MOST_LINKS, size // 4), walking.LINK), dtype=np.int64),
            *(_bytes(size + 64), _bytes(4 * size + 64), _bytes(2 * size), _bytes(2 * size), _bytes(_NAME_BYTES)),
            *(self.out, self.levels, self.places, self.names, self.state),
        )
        self.call = entry(self.data, *arrays)
        self.size, self.entry = size, entry


_room: Final = _Room()


def _bytes(size: int) -> NDArray[np.uint8]:
    return np.empty(size, dtype=np.uint8)


def read(root: Element) -> Body | None:
    """The body of the page with this root; None where it has to be walked through."""
    entries = Installed.entries
    if entries is None:
        return None
    from periplus.documents.kernels.page import DONE

    try:
        markup = _markup(root)
    except UnicodeEncodeError:
        return None
    size = len(markup)
    if size > LARGEST:
        return None
    _room.fit(size, entries.read_page)
    _room.data[:size] = np.frombuffer(markup, dtype=np.uint8)
    _room.data[size : size + len(_room.tail)] = _room.tail
    if _room.call(size) != DONE:
        return None
    return _body(_room)


def _markup(root: Element) -> bytes:
    """The page without its head, which holds no text: a sixth less to write and to read."""
    for child in root.children:
        if type(child) is Element and child.tag == "body":
            return b"<html>%b</html>" % child.serialize().encode()
    return root.serialize().encode()  # a page of frames


def _body(room: _Room) -> Body | None:
    """What a call left in the arrays."""
    from periplus.documents.kernels import page, walking

    sizes = room.state[page.MAIN_SIZE : page.HIDDEN + 1].tolist()
    main, rest, heading_bytes, link_bytes, name_bytes, headings, names, visible, linked, hidden = sizes
    written = memoryview(room.out)  # type: ignore[arg-type]
    at = main + rest
    texts = _pieces(written, at, at := at + heading_bytes)
    pieces = _pieces(written, at, at := at + link_bytes)
    further = _pieces(written, at, at + name_bytes)
    links = int(room.state[walking.LINKS])
    if len(texts) != headings or len(pieces) != 2 * links or len(further) != names:
        return None  # a zero in an address, which the parser gives none of
    body = Body(
        str(written[:main], "utf-8"),
        str(written[main : main + rest], "utf-8"),
        [
            Heading(level, text[: bounds.HEADING_CHARS])
            for level, text in zip(room.levels.tolist(), texts, strict=False)
        ],
        pieces[::2],
        pieces[1::2],
        [_PLACES[place] for place in room.places[:links].tolist()],
        visible=visible,
        linked=linked,
        hidden=hidden,
    )
    if names:
        _take_names(body, room.names[:names].tolist(), further)
    return body


def _pieces(written: memoryview, start: int, end: int) -> list[str]:
    return str(written[start : end - 1], "utf-8").split("\0") if end > start else []


def _take_names(body: Body, places: list[list[int]], names: list[str]) -> None:
    """Relations and titles of links, and what those without words are called."""
    from periplus.documents.kernels.page import FRAME_TEXT, RELATION, TITLE

    for (link, kind), name in zip(places, names, strict=True):
        if kind == RELATION:
            body.relations[link] = name
        elif kind == TITLE:
            body.titles[link] = name
        elif not body.texts[link]:
            body.texts[link] = clean(name) if kind == FRAME_TEXT else clean(name)[: bounds.ALT_CHARS]
