"""Ranks as a picture: how they are distributed, how the computation converged, and the best hosts. Plain SVG."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

    from periplus.graph.pagerank import Convergence
    from periplus.graph.ranks import RankTable

    Floats = NDArray[np.float64]

WIDTH, HEIGHT = 960, 400
PAGES, HOSTS = "#1f5f8b", "#c2571a"  # lines of pages and of hosts
INK, FAINT = "#22303c", "#d5dde3"
SHOWN_HOSTS = 12
CURVE_POINTS = 160
MOST_LETTERS = 26  # of a name

_STYLE = f"text{{font:12px system-ui,sans-serif;fill:{INK}}}.h{{font-weight:600;font-size:14px}}.n{{fill:#5b6b78}}"


class Frame(NamedTuple):
    """A place for a chart, and the logarithmic or plain scales of its axes."""

    left: float
    top: float
    width: float
    height: float
    x: tuple[float, float]
    y: tuple[float, float]

    def at(self, x: float, y: float) -> tuple[float, float]:
        across = (x - self.x[0]) / ((self.x[1] - self.x[0]) or 1.0)
        up = (y - self.y[0]) / ((self.y[1] - self.y[0]) or 1.0)
        return self.left + across * self.width, self.top + (1 - up) * self.height


def rank_picture(table: RankTable) -> str:
    """The picture of a generation."""
    meta = table.meta
    title = f"PageRank of {meta.pages:,} pages on {meta.hosts:,} hosts, {meta.links:,} links"
    parts = [
        _text(24, 30, title, "h"),
        *_distribution(np.asarray(table.page_ranks), np.asarray(table.host_ranks)),
        *_convergence(meta.page_history, meta.host_history),
        *_bars([(top.name, top.rank) for top in meta.top_hosts[:SHOWN_HOSTS]]),
    ]
    head = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" viewBox="0 0 {WIDTH} {HEIGHT}"'
    label = f'role="img" aria-label="{escape(title)}"'
    ground = f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#ffffff"/>'
    return "\n".join([f"{head} {label}>", f"<style>{_STYLE}</style>", ground, *parts, "</svg>", ""])


def _distribution(pages: Floats, hosts: Floats) -> list[str]:
    """Share of pages, and of hosts, with at least a rank; both axes logarithmic; ranks relative to the mean."""
    curves = [(_tail(ranks), colour) for ranks, colour in ((pages, PAGES), (hosts, HOSTS)) if len(ranks)]
    if not curves:
        return [_text(24, 70, "no ranks", "n")]
    every = np.concatenate([points for points, _ in curves])
    frame = Frame(60, 78, 240, 250, _whole(every[:, 0]), (float(np.floor(every[:, 1].min())) or -1.0, 0.0))
    lines = [_curve(frame, points.tolist(), colour) for points, colour in curves]
    return [
        _text(24, 60, "Share with at least this rank"),
        *_grid(frame, "rank (mean = 1)"),
        *lines,
        *_legend(frame.left + 150, frame.top + 14),
    ]


def _convergence(pages: Sequence[Convergence], hosts: Sequence[Convergence]) -> list[str]:
    rows = [row for row in (*pages, *hosts) if row.difference > 0]
    if not rows:
        return []
    logs = np.log10([row.difference for row in rows])
    last = max(row.iteration for row in rows)
    frame = Frame(370, 78, 220, 250, (0.0, float(last)), (float(np.floor(logs.min())), float(np.ceil(logs.max()))))
    lines = []
    for history, colour in ((pages, PAGES), (hosts, HOSTS)):
        points = [(row.iteration, float(np.log10(row.difference))) for row in history if row.difference > 0]
        lines.append(_curve(frame, points, colour))
    return [_text(334, 60, "Change in an iteration"), *_grid(frame, "iteration", powers=False), *lines]


def _bars(hosts: list[tuple[str, float]]) -> list[str]:
    parts = [_text(640, 60, "Best hosts")]
    most = max((rank for _, rank in hosts), default=1.0)
    for place, (name, rank) in enumerate(hosts):
        top = 78 + place * 23
        width = max(1.0, 90 * rank / most)
        parts.append(f'<rect x="640" y="{top}" width="{width:.1f}" height="15" fill="{HOSTS}" opacity="0.8"/>')
        parts.append(_text(640 + width + 6, top + 12, f"{rank:.3g}  {_short(name)}"))
    return parts


def _tail(ranks: Floats) -> NDArray[np.float64]:
    """Points of the curve: logarithm of the rank, logarithm of the share of vertices with at least that rank."""
    ordered = np.sort(ranks[ranks > 0])[::-1]
    if not len(ordered):
        return np.zeros((1, 2))
    places = np.unique(np.geomspace(1, len(ordered), CURVE_POINTS).astype(np.int64))
    mean = ordered.sum() / len(ordered)
    return np.column_stack((np.log10(ordered[places - 1] / mean), np.log10(places / len(ordered))))


def _whole(logs: Floats) -> tuple[float, float]:
    return float(np.floor(logs.min())), float(max(np.ceil(logs.max()), np.floor(logs.min()) + 1))


def _grid(frame: Frame, name: str, *, powers: bool = True) -> list[str]:
    parts = []
    for tick in _ticks(*frame.y):
        (left, height), (right, _) = frame.at(frame.x[0], tick), frame.at(frame.x[1], tick)
        parts.append(f'<path d="M{left:.1f} {height:.1f}H{right:.1f}" stroke="{FAINT}"/>')
        parts.append(_text(left - 6, height + 4, _power(tick), "n", "end"))
    for tick in _ticks(*frame.x):
        across, bottom = frame.at(tick, frame.y[0])
        parts.append(f'<path d="M{across:.1f} {bottom:.1f}v-{frame.height}" stroke="{FAINT}"/>')
        parts.append(_text(across, bottom + 16, _power(tick) if powers else f"{tick:.0f}", "n", "middle"))
    middle, bottom = frame.at((frame.x[0] + frame.x[1]) / 2, frame.y[0])
    return [*parts, _text(middle, bottom + 34, name, "n", "middle")]


def _ticks(low: float, high: float) -> Iterable[float]:
    """Whole numbers, about six of them."""
    step = max(1, int(np.ceil((high - low) / 6)))
    return np.arange(np.ceil(low), high + 1e-9, step).tolist()


def _power(exponent: float) -> str:
    return f"{10.0**exponent:g}" if -3 <= exponent <= 3 else f"1e{exponent:.0f}"


def _curve(frame: Frame, points: Sequence[Sequence[float]], colour: str) -> str:
    path = " ".join("{:.1f},{:.1f}".format(*frame.at(*point)) for point in points)
    return f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'


def _legend(left: float, top: float) -> list[str]:
    parts = []
    for row, (name, colour) in enumerate((("pages", PAGES), ("hosts", HOSTS))):
        height = top + 18 * row
        parts.append(f'<path d="M{left} {height - 4}h18" stroke="{colour}" stroke-width="3"/>')
        parts.append(_text(left + 24, height, name))
    return parts


def _text(left: float, top: float, text: str, kind: str = "", anchor: str = "start") -> str:
    return f'<text x="{left:.1f}" y="{top:.1f}" class="{kind}" text-anchor="{anchor}">{escape(text)}</text>'


def _short(name: str) -> str:
    return name if len(name) <= MOST_LETTERS else name[: MOST_LETTERS - 1] + "…"
