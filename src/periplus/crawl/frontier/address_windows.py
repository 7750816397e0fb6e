"""The gap between requests to one IP address, kept by workers on many machines.

An address falls into one of 65,536 slots by its hash; two that share one wait for each other, which is slower and never
impolite. A slot belongs to one worker at a time: it reserves windows of a few seconds, one behind the other, in the
table ``ip_slots``. Inside its window a worker keeps the gap by itself, and the last gap of a window stays unused, so
that the next holder keeps it too. An address that is asked all the time needs one row in a few seconds.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from periplus.crawl.frontier.address_slots import AddressSlots, slot_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from periplus.storage import Transaction

WINDOW = 5.0  # seconds of a reservation
EARLY = 2.5  # one that is used is followed by another when less than this is left
MOST_AHEAD = 60.0  # seconds for which windows of a slot may be given away
UNSURE = 0.05  # seconds by which the clocks of two workers may differ
ASK_AGAIN = 0.1  # seconds until an address without a window is tried again
_RESERVE = (
    "INSERT INTO ip_slots (slot, free_at) VALUES (?, ?) ON CONFLICT (slot) DO UPDATE SET free_at ="
    " CASE WHEN ip_slots.free_at < ? OR ip_slots.free_at > ? THEN ? ELSE ip_slots.free_at END + ?"
    " WHERE ip_slots.free_at < ? OR ip_slots.free_at > ? RETURNING slot, free_at"
)


class Window(NamedTuple):
    """When a slot is ours, by the clock of the database."""

    start: float
    end: float


class AddressWindows(AddressSlots):
    """One worker's windows; asked and answered as ``AddressSlots`` are."""

    def __init__(self, gap: float) -> None:
        super().__init__(gap)
        self._windows: dict[int, list[Window]] = {}
        self._wanted: set[int] = set()
        self._under_way: set[int] = set()  # wishes that are being fulfilled

    @property
    def hungry(self) -> bool:
        """Whether an address waits for a window."""
        return bool(self._wanted)

    def ask(self, ip: str, host: int, now: float) -> float:
        """When ``host`` may send a request to ``ip``; the slot is taken when that is now."""
        if not self.gap:
            return now
        slot = slot_of(ip)
        window = self._window(slot, now)
        if window is None or window.end - now < EARLY:
            self._want(slot)
        if window is None:
            return now + ASK_AGAIN
        if window.start > now:
            return window.start
        return super().ask(ip, host, now)

    def wishes(self) -> list[int]:
        """Slots for which a window is to be reserved now."""
        self._under_way, self._wanted = self._wanted, set()
        return sorted(self._under_way)

    def grant(self, windows: Iterable[tuple[int, float]]) -> None:
        """These slots are reserved up to these times."""
        for slot, end in windows:
            self._windows.setdefault(slot, []).append(Window(end - WINDOW, end))
        self._under_way = set()

    def ends(self) -> list[tuple[int, float]]:
        """What was reserved last of each slot."""
        return [(slot, windows[-1].end) for slot, windows in sorted(self._windows.items()) if windows]

    def _want(self, slot: int) -> None:
        if slot not in self._under_way:
            self._wanted.add(slot)

    def _window(self, slot: int, now: float) -> Window | None:
        """The one that we are in, else the next; two that follow each other are one."""
        if len(self._windows) >= self.CLEAN_AT:
            self._windows = {one: kept for one, kept in self._windows.items() if kept and kept[-1].end > now}
        kept = self._windows.get(slot, [])
        while kept and (len(kept) > 1 and kept[1].start == kept[0].end):
            kept[:2] = [Window(kept[0].start, kept[1].end)]
        while kept and now > kept[0].end - self.gap - UNSURE:
            kept.pop(0)
        return kept[0] if kept else None


def reserve(tx: Transaction, slots: Sequence[int], now: float) -> list[tuple[int, float]]:
    """A window for each of ``slots`` (in order) behind those that were given away; the slots with their new ends.

    None while too many are; a time farther ahead than that comes from a clock that was set back.
    """
    full, wrong = now + MOST_AHEAD, now + MOST_AHEAD + 2 * WINDOW
    values = [(slot, now + WINDOW, now, wrong, now, WINDOW, full, wrong) for slot in slots]
    return [(int(slot), float(end)) for rows in tx.each(_RESERVE, values) for slot, end in rows]


def give_back(tx: Transaction, ends: Sequence[tuple[int, float]], now: float) -> None:
    """Windows that nobody reserved behind end after one gap more; the worker that had them sends nothing any more."""
    sql = "UPDATE ip_slots SET free_at = ? WHERE slot = ? AND free_at = ? AND free_at > ?"
    tx.executemany(sql, [(now, slot, end, now) for slot, end in ends])
