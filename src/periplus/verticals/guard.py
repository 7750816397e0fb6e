"""What stands between a visitor's question and an outside service: a cache, a limit, a circuit breaker.

1. An answer that is still good is given again, without asking.
2. More than ``hourly`` requests an hour are not made: the budget of a free key is soon spent by one eager visitor.
3. After ``MOST_FAILURES`` failures in a row the service is left alone, first for ``FIRST_REST`` seconds, then twice as
   long each time. A service that asks for a pause gets it. A refused key is not shown again for an hour.
"""

from __future__ import annotations

import logging
import threading
import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from msgspec import Struct

from periplus.verticals.provider import HOUR, ServiceFailed

if TYPE_CHECKING:
    from collections.abc import Callable

    from periplus.records import PanelCard
    from periplus.verticals.provider import Provider, Question

    Cards = tuple[PanelCard, ...]

MOST_KEPT = 512  # answers of one provider
MOST_FAILURES = 3  # in a row
FIRST_REST = 30.0  # seconds
LONGEST_REST = HOUR
EMPTY_FOR = 30.0  # seconds that a failure is answered with nothing, so that one page asks once

_logger = logging.getLogger(__name__)


class GuardState(Struct):
    """What an operator may see of it."""

    requests: int = 0
    answered: int = 0  # by the service
    kept: int = 0  # given again
    failures: int = 0
    limited: int = 0
    said: str = ""  # by its last failure


class Guard:
    """Thread-safe; one for each provider."""

    def __init__(self, provider: Provider, clock: Callable[[], float] = time.monotonic) -> None:
        self.provider = provider
        self.state = GuardState()
        self._clock = clock
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[object, ...], tuple[float, Cards]] = OrderedDict()
        self._in_a_row = 0
        self._closed_until = 0.0
        self._rest = FIRST_REST
        self._budget = float(provider.hourly)
        self._counted_at = clock()

    def kept(self, key: tuple[object, ...]) -> Cards | None:
        """An answer that is still good."""
        with self._lock:
            until, cards = self._kept.get(key, (0.0, ()))
            if until <= self._clock():
                return None
            self._kept.move_to_end(key)
            self.state.kept += 1
            return cards

    def admits(self) -> bool:
        """Whether it may be asked now; that is then counted."""
        with self._lock:
            now = self._clock()
            if now < self._closed_until:
                return False
            gained = (now - self._counted_at) / HOUR * self.provider.hourly
            self._budget, self._counted_at = min(float(self.provider.hourly), self._budget + gained), now
            if self._budget < 1:
                self.state.limited += 1
                return False
            self._budget -= 1
            self.state.requests += 1
            return True

    def ask(self, key: tuple[object, ...], question: Question, deadline: float) -> Cards:
        """What the service says; nothing where it fails, which is noted."""
        try:
            cards = self.provider.ask(question, deadline)
        except ServiceFailed as error:
            return self._failed(key, str(error), error.wait, is_refusal=error.is_refusal)
        except Exception as error:  # noqa: BLE001 - whatever a service sends, results are unharmed
            return self._failed(key, f"its answer was not understood: {type(error).__name__}", 0.0)
        with self._lock:
            self.state.answered += 1
            self._in_a_row, self._rest = 0, FIRST_REST
            self._keep(key, cards, self.provider.keeps)
        return cards

    def _keep(self, key: tuple[object, ...], cards: Cards, seconds: float) -> None:
        self._kept[key] = (self._clock() + seconds, cards)
        if len(self._kept) > MOST_KEPT:
            self._kept.popitem(last=False)

    def _failed(self, key: tuple[object, ...], said: str, wait: float, *, is_refusal: bool = False) -> Cards:
        with self._lock:
            self._keep(key, (), EMPTY_FOR)
            self.state.failures += 1
            self._in_a_row += 1
            rest = max(wait, HOUR if is_refusal else 0.0)
            if self._in_a_row >= MOST_FAILURES:
                rest = max(rest, self._rest)
                self._rest = min(2 * self._rest, LONGEST_REST)
            if rest:
                self._closed_until = max(self._closed_until, self._clock() + rest)
            is_news = said != self.state.said
            self.state.said = said
        if is_news:
            _logger.warning("%s: %s; its panel is left out", self.provider.name, said)
        return ()
