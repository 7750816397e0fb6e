"""The figures as Markdown tables and as JSON."""

from __future__ import annotations

import platform
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench.crawl.rounds import Run

COMPARISONS = (
    # title, ours, theirs, figure, target
    ("(a) links: pages a CPU-second, Periplus, documents later / Scrapy", "periplus-later", "scrapy-links", 8.0),
    ("    the same with complete documents / Scrapy", "periplus", "scrapy-links", None),
    ("(b) documents: pages a CPU-second, Periplus / Scrapy with selectors", "periplus", "scrapy-selectors", 6.0),
    ("(b) the same parser: pages a CPU-second, Periplus / Scrapy", "periplus", "scrapy-parser", None),
)
TIMED, THEIR_TIMED = "periplus-timed", "scrapy-parser"


def by_name(runs: list[Run]) -> dict[str, list[Run]]:
    grouped: dict[str, list[Run]] = {}
    for run in sorted(runs, key=lambda run: run.round):
        grouped.setdefault(run.name, []).append(run)
    return grouped


def ratios(ours: list[Run], theirs: list[Run]) -> list[float]:
    """Pages a CPU-second, ours over theirs, round by round."""
    return [one.pages_a_cpu_second / other.pages_a_cpu_second for one, other in zip(ours, theirs, strict=True)]


def tables(runs: list[Run], starts: dict[str, float]) -> str:
    """Costs of all contenders, then the comparisons."""
    grouped = by_name(runs)
    return "\n\n".join(
        part
        for part in (_costs(grouped, starts), _served(grouped), _compared(grouped), _outside(grouped), _two(grouped))
        if part
    )


def _costs(grouped: dict[str, list[Run]], starts: dict[str, float]) -> str:
    lines = [
        "| contender | pages | pages/s | pages/CPU-s (min–max) | CPU ms/page | start | nginx ms/page | RSS MB | load |",
        "|---|--:|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, runs in grouped.items():
        rates = [run.pages_a_cpu_second for run in runs]
        start = f"{1000 * starts[name] / _mid(runs, 'pages'):.2f}" if name in starts else ""
        lines.append(
            f"| {name} | {_mid(runs, 'pages'):.0f} | {median(run.pages / run.wall for run in runs):.0f} "
            f"| {median(rates):.0f} ({min(rates):.0f}–{max(rates):.0f}) | {_mid(runs, 'milliseconds'):.2f} | {start} "
            f"| {median(1000 * run.server_cpu / run.pages for run in runs):.2f} | {_mid(runs, 'rss_mb'):.0f} "
            f"| {_mid(runs, 'load'):.1f} |"
        )
    return "\n".join(lines)


def _served(grouped: dict[str, list[Run]]) -> str:
    lines = [
        "What the server sent (medians):",
        "",
        "| contender | HTML pages | KB/page sent | same page again | other types | redirects | 4xx | robots.txt |",
        "|---|--:|--:|--:|--:|--:|--:|--:|",
    ]
    for name, runs in grouped.items():
        served = sorted(runs, key=lambda run: run.pages)[len(runs) // 2].served
        lines.append(
            f"| {name} | {served.pages} | {1000 * served.megabytes / served.pages:.1f} | {served.repeats} "
            f"| {served.others} | {served.redirects} | {served.missing} | {served.robots} |"
        )
    return "\n".join(lines)


def _compared(grouped: dict[str, list[Run]]) -> str:
    lines = ["| comparison | ratio a round | median | wanted |", "|---|---|--:|--:|"]
    for title, ours, theirs, wanted in COMPARISONS:
        if ours in grouped and theirs in grouped:
            found = ratios(grouped[ours], grouped[theirs])
            listed = ", ".join(f"{ratio:.2f}" for ratio in found)
            lines.append(f"| {title} | {listed} | {median(found):.2f} | {f'{wanted:g}' if wanted else ''} |")
    return "\n".join(lines) if len(lines) > 2 else ""


def _outside(grouped: dict[str, list[Run]]) -> str:
    """The cost around the parser, ours against Scrapy's around the same parser."""
    if TIMED not in grouped or THEIR_TIMED not in grouped:
        return ""
    lines = ["| CPU ms a page | in the parser | outside |", "|---|--:|--:|"]
    for name in (TIMED, THEIR_TIMED):
        runs = grouped[name]
        inside = median(1000 * run.parser_seconds / run.pages for run in runs)
        lines.append(f"| {name} | {inside:.2f} | {_mid(runs, 'outside_parser'):.2f} |")
    pairs = zip(grouped[TIMED], grouped[THEIR_TIMED], strict=True)
    found = [ours.outside_parser / theirs.outside_parser for ours, theirs in pairs]
    listed = ", ".join(f"{ratio:.2f}" for ratio in found)
    lines.append(f"| ours / theirs, a round: {listed}; wanted 0.33 | | {median(found):.2f} |")
    return "\n".join(lines)


def _two(grouped: dict[str, list[Run]]) -> str:
    """Two workers against one."""
    return "\n\n".join(filter(None, (_two_of(grouped, name) for name in ("periplus", "periplus-later"))))


def _two_of(grouped: dict[str, list[Run]], name: str) -> str:
    if f"{name}-2" not in grouped or name not in grouped:
        return ""
    pairs = list(zip(grouped[name], grouped[f"{name}-2"], strict=True))
    if max(two.processes for _, two in pairs) < 2:
        return f"{name}, two workers: only one process was seen, so there is nothing to compare."
    cpu = [two.milliseconds / one.milliseconds for one, two in pairs]
    wall = [(one.wall / one.pages) / (two.wall / two.pages) for one, two in pairs]
    return (
        f"{name}, two workers: CPU a page {median(cpu):.2f} times one worker's (wanted at most 1.20), "
        f"wall {median(wall):.2f} times faster (wanted 1.5); {max(two.processes for _, two in pairs)} processes."
    )


def split_table(shares: dict[str, float], milliseconds: float, functions: list[tuple[str, float]]) -> str:
    """Where the CPU of one page goes."""
    lines = ["| step | share | CPU ms/page |", "|---|--:|--:|"]
    lines += [f"| {step} | {100 * share:.1f} % | {share * milliseconds:.2f} |" for step, share in shares.items()]
    lines += ["", "| innermost function | share |", "|---|--:|"]
    lines += [f"| {name} | {100 * share:.1f} % |" for name, share in functions[:25]]
    return "\n".join(lines)


def as_json(
    runs: list[Run], starts: dict[str, float], shares: dict[str, dict[str, float]], pages: int
) -> dict[str, Any]:
    import msgspec

    return {
        "python": platform.python_version(),
        "machine": platform.platform(),
        "page_budget": pages,
        "start_cpu_seconds": starts,
        "runs": [msgspec.to_builtins(run) | {"pages_a_cpu_second": run.pages_a_cpu_second} for run in runs],
        "periplus_steps": shares,
    }


def _mid(runs: list[Run], name: str) -> float:
    return float(median(getattr(run, name) for run in runs))
