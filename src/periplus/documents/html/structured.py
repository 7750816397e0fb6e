"""JSON-LD and Open Graph of a page, cut to size: bounded depth, count and length of everything kept.

Broken JSON is left out without complaint; pages are full of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from periplus.documents import bounds
from periplus.documents.text import clean

if TYPE_CHECKING:
    from collections.abc import Iterator

# What old templates put around a script's text, to hide it from browsers of the last century.
_BEFORE: Final = ("<!--", "//<![CDATA[", "// <![CDATA[", "/*<![CDATA[*/", "<![CDATA[")
_AFTER: Final = (";", "-->", "//]]>", "// ]]>", "/*]]>*/", "]]>")
_LARGEST: Final = 2**53


class _Pruner:
    """Copies JSON values within the bounds; counts what it kept."""

    def __init__(self) -> None:
        self.left = bounds.JSON_VALUES

    def pruned(self, value: Any, depth: int = 0) -> Any:
        self.left -= 1
        if self.left < 0 or depth > bounds.JSON_DEPTH:
            return None
        if isinstance(value, str):
            return clean(value[: 2 * bounds.JSON_STRING_CHARS])[: bounds.JSON_STRING_CHARS]
        if isinstance(value, dict):
            return self._pruned_object(value, depth)
        if isinstance(value, list):
            items = (self.pruned(item, depth + 1) for item in value)
            return [item for item in items if item is not None]
        return _scalar(value)

    def _pruned_object(self, value: dict[str, Any], depth: int) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for name, item in value.items():
            if self.left <= 0:
                break
            pruned = self.pruned(item, depth + 1)
            if pruned is not None:
                kept[clean(name[:100])] = pruned
        return kept


def _scalar(value: Any) -> Any:
    if isinstance(value, int) and abs(value) > _LARGEST:
        return float(value) if abs(value) < 1e300 else None
    return value


def items(scripts: list[str]) -> list[dict[str, Any]]:
    """The objects of all JSON-LD scripts, graphs unfolded, in page order."""
    pruner = _Pruner()
    found: list[dict[str, Any]] = []
    for script in scripts:
        for item in _objects(_decoded(script)):
            if len(found) < bounds.JSON_ITEMS and pruner.left > 0:
                found.append(pruner.pruned(item))
    return [item for item in found if item]


def _decoded(script: str) -> Any:
    try:
        return msgspec.json.decode(_unwrapped(script).encode("utf-8", "replace"))
    except (msgspec.MsgspecError, RecursionError, ValueError):
        return None


def _unwrapped(script: str) -> str:
    text = script.strip()
    for mark in _BEFORE:
        text = text.removeprefix(mark).lstrip()
    for mark in _AFTER:
        text = text.removesuffix(mark).rstrip()
    return text


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    for item in value[: bounds.JSON_ITEMS] if isinstance(value, list) else [value]:
        if not isinstance(item, dict):
            continue
        graph = item.get("@graph")
        if isinstance(graph, list):
            yield from (member for member in graph[: bounds.JSON_ITEMS] if isinstance(member, dict))
        else:
            yield item


def types(item: dict[str, Any]) -> list[str]:
    """The schema.org types of an item, without the vocabulary's address."""
    value = item.get("@type")
    names = value if isinstance(value, list) else [value]
    return [str(name).rpartition("/")[2] for name in names if isinstance(name, str)]


def text_of(value: Any) -> str:
    """A readable text of a property: a string, the name of an object, or the first of a list."""
    if isinstance(value, list):
        return text_of(value[0]) if value else ""
    if isinstance(value, dict):
        return text_of(value.get("name"))
    return value if isinstance(value, str) else ""


def open_graph(metas: list[dict[str, str]]) -> dict[str, Any]:
    """The page's Open Graph properties as one item; empty when there are none."""
    found: dict[str, Any] = {}
    for meta in metas:
        name = (meta.get("property") or meta.get("name") or "").strip().lower()
        if name.startswith(("og:", "article:", "product:")) and meta.get("content") and len(found) < 40:
            found.setdefault(name, clean(meta["content"])[: bounds.JSON_STRING_CHARS])
    return {"@type": "OpenGraph", **found} if found else {}
