"""Text that strangers wrote, on our terminal: titles, addresses, headers and rules may say anything but steer it.

Escape sequences can colour, overwrite, rename or worse; marks that turn the direction of writing can make an address
read as another one. Both are taken out of what is printed. Square brackets are text here, never rich's markup.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from rich.console import Console
from rich.segment import Segment

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import ConsoleOptions, RenderableType

_STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")  # tab and line feed may stay


def harmless(text: str) -> str:
    """``text`` without the characters that steer a terminal."""
    return _STEERING.sub("", text)


def escaped(json: str) -> str:
    """JSON in which characters that steer a terminal are spelt as escapes, so that nothing of it is lost."""
    return _STEERING.sub(lambda match: f"\\u{ord(match[0]):04x}", json)


class HarmlessConsole(Console):
    """A console that takes all text as it is, without what steers a terminal."""

    def __init__(self, *, stderr: bool = False, width: int | None = None) -> None:
        super().__init__(stderr=stderr, width=width, highlight=False, markup=False, emoji=False)

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            if segment.control or not _STEERING.search(segment.text):
                yield segment
            else:
                yield Segment(harmless(segment.text), segment.style)
