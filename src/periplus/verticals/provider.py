"""What a provider of panels is: something that answers a question about one kind of thing with cards.

``ServiceFailed`` is every way in which an outside service does not answer. What happens then (waiting, giving up for a
while) is decided by ``guard.py``, alike for all of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from msgspec import Struct

from periplus.verticals.positions import Position

if TYPE_CHECKING:
    from periplus.records import PanelCard

KINDS = ("weather", "places", "news", "products", "images")
HOUR = 3_600.0


class Question(Struct, frozen=True):
    """What a panel is asked."""

    kind: str
    query: str
    subject: str  # the query without the words that asked for this kind
    position: Position | None = None  # where the visitor is, as far as that is known
    language: str = ""  # of the reader


class ServiceFailed(Exception):
    """``wait`` is how many seconds the service wants to be left alone; ``is_refusal`` when the key is no good."""

    def __init__(self, text: str, wait: float = 0.0, *, is_refusal: bool = False) -> None:
        super().__init__(text)
        self.wait = wait
        self.is_refusal = is_refusal


class Provider(Protocol):
    """An outside service. ``ask`` blocks, and may be called from several threads at once."""

    @property
    def name(self) -> str: ...
    @property
    def kind(self) -> str: ...
    @property
    def home(self) -> str: ...  # where it wants to be named
    @property
    def keeps(self) -> float: ...  # seconds that an answer is good for
    @property
    def hourly(self) -> int: ...  # requests an hour, at most
    @property
    def picture_hosts(self) -> tuple[str, ...]: ...  # https hosts whose pictures we may pass on

    def key(self, question: Question) -> tuple[object, ...] | None: ...  # what its answer depends on; None: cannot tell
    def ask(self, question: Question, deadline: float) -> tuple[PanelCard, ...]: ...  # deadline: of time.monotonic
