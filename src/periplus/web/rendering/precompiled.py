"""Precompiled templates: what a template makes of values that are not known yet, kept as text with holes.

Most of a result page is the same for every query, and a template engine pays for each value that it shows. So a
template is rendered once for each *shape* (which values are there, and the plain values that it may compare) with a
hole in place of every field; after that a page is one formatting of text. The template stays the only place where the
page is written. A hole can be shown and asked whether it is there; anything else (a filter, a comparison) fails when
it is precompiled, so no decision can depend on a value that is not part of the shape.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from operator import itemgetter, not_
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from periplus.web.rendering.highlights import escaped

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    import jinja2

MOST = 1_024  # precompiled templates of one language that are kept

Plain = dict[str, Any]  # few values, known beforehand: a template may do with them what it likes
Texts = dict[str, str]  # escaped when they are put in; an empty one is not there
Lists = dict[str, list[str]]  # the same, several of a kind
Ready = dict[str, Markup | str]  # made by other templates and put in as they are; an empty one is not there
_NONE: dict[str, Any] = {}
_TOKEN = re.compile("\ue000([^\ue001]*)\ue001")
_BETWEEN = "\x1f"  # joins texts, so that all of them are escaped in one go


class TemplateHole:
    """Where a field will stand."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __html__(self) -> str:
        return f"\ue000{self.name}\ue001"

    def __bool__(self) -> bool:
        return True

    def __str__(self) -> str:
        raise TypeError(f"{self.name} is a field: a template can show it or ask whether it is there, no more")

    __repr__ = __str__

    def __eq__(self, other: object) -> bool:
        raise TypeError(f"{self.name} is a field and cannot be compared in a template; give it as a plain value")

    __hash__ = object.__hash__


class PrecompiledTemplate:
    """The text of one shape, with the names of its fields in the order of their places."""

    def __init__(self, text: str, ready: Collection[str]) -> None:
        pieces = _TOKEN.split(text)
        self.text = "%s".join(piece.replace("%", "%%") for piece in pieces[::2])
        order = pieces[1::2]
        names = sorted(set(order), key=lambda name: name in ready)
        self.texts = [name for name in names if name not in ready]
        self.ready = [name for name in names if name in ready]
        self._places = _getter([names.index(name) for name in order])

    def fill(self, texts: Mapping[str, str], ready: Mapping[str, str]) -> str:
        """Every text is escaped once, however often it stands there."""
        values = all_escaped([texts[name] for name in self.texts])
        values += [ready[name] for name in self.ready]
        return self.text % self._places(values)


class PrecompiledTemplates:
    """The precompiled templates of one environment."""

    def __init__(self, environment: jinja2.Environment) -> None:
        self._environment = environment
        self._made: OrderedDict[tuple[Any, ...], PrecompiledTemplate] = OrderedDict()
        self.language = str(environment.globals.get("language", ""))
        self.root = str(environment.globals.get("root", ""))
        self.catalogue: dict[str, str] = environment.catalogue  # type: ignore[attr-defined]

    def __len__(self) -> int:
        return len(self._made)

    def say(self, text: str) -> str:
        """A text of the interface in this language."""
        return self.catalogue.get(text, text)

    def render(self, template: str, context: Plain) -> Markup:
        """A template as it is, not precompiled: for what is rarely asked for, or different every time."""
        return Markup(self._environment.get_template(template).render(context))  # noqa: S704 - templates escape

    def fill(
        self, template: str, texts: Texts, *, plain: Plain = _NONE, lists: Lists = _NONE, ready: Ready = _NONE
    ) -> Markup:
        """What ``template`` says with these values."""
        key = (template, *plain.values(), *map(not_, texts.values()), *map(not_, ready.values()))
        if lists:
            key += tuple(tuple(map(not_, items)) for items in lists.values())
        compiled = self._made.get(key)
        if compiled is None:
            compiled = self._made[key] = self._make(template, texts, plain, lists, ready)
            if len(self._made) > MOST:
                self._made.popitem(last=False)
        else:
            self._made.move_to_end(key)
        # The template's own text, texts that are escaped, and what other templates made.
        return Markup(compiled.fill({**texts, **_flat(lists)} if lists else texts, ready))  # noqa: S704

    def _make(self, template: str, texts: Texts, plain: Plain, lists: Lists, ready: Ready) -> PrecompiledTemplate:
        holes: Plain = {name: TemplateHole(name) if value else "" for name, value in (texts | ready).items()}
        for name, items in lists.items():
            holes[name] = [TemplateHole(f"{name}.{place}") if item else "" for place, item in enumerate(items)]
        return PrecompiledTemplate(self._environment.get_template(template).render(plain | holes), ready.keys())


def all_escaped(texts: list[str]) -> list[str]:
    pieces = escaped(_BETWEEN.join(texts)).split(_BETWEEN) if texts else []
    # A text that holds the character between texts itself: one after the other then.
    return pieces if len(pieces) == len(texts) else [escaped(text) for text in texts]


def _flat(lists: Lists) -> Texts:
    return {f"{name}.{place}": item for name, items in lists.items() for place, item in enumerate(items)}


def _getter(places: list[int]) -> Callable[[list[str]], tuple[str, ...]]:
    if len(places) > 1:
        return itemgetter(*places)
    return lambda values: tuple(values[place] for place in places)
