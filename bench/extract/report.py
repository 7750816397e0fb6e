"""Tables of the extraction benchmark as Markdown."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from bench.extract.contenders import OURS, TIMED
from bench.extract.scoring import difference, mean_score

if TYPE_CHECKING:
    from bench.extract.scoring import Result

GOOD = 0.95


def quality(results: list[Result], seconds: dict[str, list[float]]) -> str:
    names = sorted(results[0].scores, key=lambda name: -mean_score(results, name).f1)
    lines = [
        f"| extractor | precision | recall | F1 | pages of F1 {GOOD} up | Periplus' F1 is higher by | CPU ms a page |",
        "|---|---|---|---|---|---|---|",
    ]
    for name in names:
        mean = mean_score(results, name)
        good = sum(result.scores[name].f1 >= GOOD for result in results)
        gain = difference(results, OURS, name) if OURS in names and name != OURS else None
        lead = f"{gain.mean:+.3f} ({gain.low:+.3f} to {gain.high:+.3f})" if gain else ""
        cost = f"{1000 * fmean(seconds[name]):.2f}" if seconds.get(name) else ""
        lines.append(
            f"| {name} | {mean.precision:.3f} | {mean.recall:.3f} | {mean.f1:.3f} "
            f"| {good} of {len(results)} | {lead} | {cost} |"
        )
    lines += [f"| {name} | | | | | | {1000 * fmean(seconds[name]):.2f} |" for name in TIMED if seconds.get(name)]
    return "\n".join(lines)


def kinds(results: list[Result]) -> str:
    """F1 by kind of page, so that one kind cannot hide behind another."""
    groups = {
        "demo web": lambda label: label.package == "demo",
        "documentation, English": lambda label: label.package != "demo" and label.language == "en",
        "documentation, other languages": lambda label: label.package != "demo" and label.language != "en",
        "main text under 100 words": lambda label: label.words < 100,
        "main text of 500 words or more": lambda label: label.words >= 500,
    }
    names = list(results[0].scores)
    lines = [f"| F1 on | pages | {' | '.join(names)} |", "|---|---|" + "---|" * len(names)]
    for title, belongs in groups.items():
        chosen = [result for result in results if belongs(result.page.label)]
        if chosen:
            figures = " | ".join(f"{mean_score(chosen, name).f1:.3f}" for name in names)
            lines.append(f"| {title} | {len(chosen)} | {figures} |")
    return "\n".join(lines)


def worst(results: list[Result], count: int) -> str:
    """The pages on which Periplus does worst, with the best of the others beside it."""
    lines = ["| page | precision | recall | F1 | best other |", "|---|---|---|---|---|"]
    for result in sorted(results, key=lambda result: result.scores[OURS].f1)[:count]:
        ours = result.scores[OURS]
        others = {name: found.f1 for name, found in result.scores.items() if name != OURS}
        best = max(others, key=lambda name: others[name])
        lines.append(
            f"| {result.page.label.name} | {ours.precision:.2f} | {ours.recall:.2f} | {ours.f1:.2f} "
            f"| {best} {others[best]:.2f} |"
        )
    return "\n".join(lines)
