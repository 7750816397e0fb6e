"""``Verticals``: the panels beside a result list. Results never wait for it.

1. ``rules.choose`` says which kinds a query asks for.
2. Our own index answers for kinds that it has pages of, at once.
3. Where it has fewer than ``ENOUGH`` things, the services of that kind are asked as well, each in a thread, with one
   deadline. What is still known from before is given at once.
4. ``PendingPanels`` holds what is there and what is on its way.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import partial
from typing import TYPE_CHECKING

from msgspec import Struct

from periplus.errors import PeriplusError
from periplus.records import SidePanel
from periplus.verticals.guard import Guard
from periplus.verticals.provider import Provider, Question
from periplus.verticals.rules import ChosenPanel, choose

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from periplus.records import PanelCard
    from periplus.verticals.own_index import OwnIndex
    from periplus.verticals.positions import Position

    Cards = tuple[PanelCard, ...]

SECONDS = 1.5  # that a service has
ENOUGH = 3  # things of our own, with which no service is asked
THREADS = 8
MOST_UNDER_WAY = 64  # requests to services at once, waiting ones included


class PendingPanel(Struct):
    """A panel that a service is being asked for."""

    chosen: ChosenPanel
    provider: Provider
    future: Future[Cards]

    def panel(self) -> SidePanel | None:
        """What came; nothing as long as nothing did."""
        return _panel(self.chosen, self.future.result(), self.provider) if self.future.done() else None


class PendingPanels(Struct):
    """What is there of panels, and what is on its way."""

    ready: list[SidePanel] = []
    coming: list[PendingPanel] = []

    def __bool__(self) -> bool:
        return bool(self.ready or self.coming)

    @property
    def futures(self) -> list[Future[Cards]]:
        return [one.future for one in self.coming]

    def now(self) -> tuple[SidePanel, ...]:
        """All that came so far, the surest first."""
        came = [panel for one in self.coming if (panel := one.panel()) is not None]
        return tuple(sorted((*self.ready, *came), key=lambda panel: -panel.score))

    def within(self, seconds: float = SECONDS) -> tuple[SidePanel, ...]:
        """All that comes in so many seconds; blocks."""
        if self.coming:
            wait(self.futures, seconds)
        return self.now()

    def when_known(self, say: Callable[[bool], None]) -> None:
        """Say whether there is any panel, once: as soon as there is one, or when none comes any more."""
        if self.ready or not self.coming:
            say(bool(self.ready))
            return
        _Watch(self.futures, say)

    @property
    def awaited(self) -> tuple[str, ...]:
        """Names of the services that have not answered yet."""
        return tuple(dict.fromkeys(one.provider.name for one in self.coming if not one.future.done()))


class _Watch:
    """Waits for the first of some requests that brings cards, or for the end of all."""

    def __init__(self, futures: list[Future[Cards]], say: Callable[[bool], None]) -> None:
        self._lock, self._left, self._say = threading.Lock(), len(futures), say
        for future in futures:
            future.add_done_callback(self._came)

    def _came(self, future: Future[Cards]) -> None:
        brought = not future.cancelled() and not future.exception() and bool(future.result())
        with self._lock:
            if self._left <= 0:
                return
            self._left = 0 if brought else self._left - 1
            if self._left:
                return
        self._say(brought)


class Verticals:
    """Thread-safe. Without providers only our own index is asked."""

    def __init__(self, own: OwnIndex | None = None, providers: Sequence[Provider] = ()) -> None:
        self._own = own
        self.guards = tuple(Guard(provider) for provider in providers)
        self._lock = threading.Lock()
        self._under_way: dict[tuple[object, ...], Future[Cards]] = {}
        self._threads: ThreadPoolExecutor | None = None

    @property
    def picture_hosts(self) -> frozenset[str]:
        return frozenset(host for guard in self.guards for host in guard.provider.picture_hosts)

    def begin(
        self,
        query: str,
        found: Mapping[str, int],
        tabs: Collection[str],
        position: Position | None = None,
        language: str = "",
    ) -> PendingPanels:
        """``found`` says how many of the top results are of a kind, ``tabs`` which kinds our index has pages of."""
        pending = PendingPanels([], [])
        for chosen in choose(query, found):
            question = Question(chosen.kind, query, chosen.subject, position, language)
            own = self._own_cards(question) if chosen.kind in tabs else ()
            if own:
                pending.ready.append(_own_panel(chosen, own))
            if len(own) < ENOUGH:
                self._ask_services(chosen, question, pending)
        return pending

    def close(self) -> None:
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)

    def _own_cards(self, question: Question) -> Cards:
        if self._own is None:
            return ()
        try:
            return self._own.cards(question)
        except PeriplusError:  # the results say what is wrong
            return ()

    def _ask_services(self, chosen: ChosenPanel, question: Question, pending: PendingPanels) -> None:
        for guard in self.guards:
            key = guard.provider.key(question) if guard.provider.kind == question.kind else None
            if key is None:
                continue
            known = guard.kept(key)
            if known is not None:
                panel = _panel(chosen, known, guard.provider)
                pending.ready += [panel] if panel else []
                continue
            future = self._future(guard, key, question)
            if future is not None:
                pending.coming.append(PendingPanel(chosen, guard.provider, future))

    def _future(self, guard: Guard, key: tuple[object, ...], question: Question) -> Future[Cards] | None:
        """The request that is under way for this already, else a new one; none where none may be made."""
        whole = (guard.provider.name, *key)
        with self._lock:
            known = self._under_way.get(whole)
            if known is not None:
                return known
            if len(self._under_way) >= MOST_UNDER_WAY or not guard.admits():
                return None
            if self._threads is None:
                self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="panel")
            future = self._threads.submit(guard.ask, key, question, time.monotonic() + SECONDS)
            self._under_way[whole] = future
        future.add_done_callback(partial(self._came, whole))
        return future

    def _came(self, whole: tuple[object, ...], _: Future[Cards]) -> None:
        with self._lock:
            self._under_way.pop(whole, None)


def _own_panel(chosen: ChosenPanel, cards: Cards) -> SidePanel:
    return SidePanel(chosen.kind, "", cards, more=chosen.kind, score=chosen.score, explain=chosen.explain)


def _panel(chosen: ChosenPanel, cards: Cards, provider: Provider) -> SidePanel | None:
    """Nothing where there is nothing to show."""
    if not cards:
        return None
    return SidePanel(chosen.kind, provider.name, cards, provider.home, score=chosen.score, explain=chosen.explain)
