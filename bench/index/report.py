"""The figures as Markdown."""

from __future__ import annotations

import os
from typing import Any

LISTS = ("postings", "positions", "terms")
MARKS = ("mean", "p50", "p95", "p99")


def tables(result: dict[str, Any]) -> str:
    parts = [part for part in (_builds(result["builds"]), _sizes(result["builds"])) if part] if result["builds"] else []
    for name, found in result["queries"].items():
        parts += [_kind(name, kind, rows) for kind, rows in found.items() if len(rows) > 1]
    return "\n\n".join([*parts, f"load at the end: {os.getloadavg()[0]:.1f}"])


def _kind(name: str, kind: str, rows: dict[str, Any]) -> str:
    ours = rows["periplus"]
    lines = [
        f"## {name}, {kind}: {rows['questions']} questions, CPU µs",
        "",
        "| engine | mean | p50 | p95 | p99 | mean, times ours | p50 | p95 | p99 |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for engine, row in rows.items():
        if engine != "questions":
            figures = [f"{row[mark]:.0f}" for mark in MARKS] + [f"{row[mark] / ours[mark]:.2f}" for mark in MARKS]
            lines.append(f"| {engine} | {' | '.join(figures)} |")
    return "\n".join(lines)


def _sizes(builds: dict[str, Any]) -> str:
    """Lists, positions and dictionary: of what all engines index (stems), and of all that we do."""
    ours, theirs = builds.get("periplus", {}), builds.get("tantivy", {})
    if "kinds" not in ours or "sizes" not in theirs:
        return ""
    peer = sum(theirs["sizes"].get(name, 0) for name in LISTS)
    whole = sum(ours["sizes"].get(name, 0) for name in LISTS)
    lines = [
        "## Lists, positions and dictionary",
        "",
        "| what | MB | times tantivy |",
        "|---|---|---|",
        f"| tantivy | {peer / 1e6:.1f} | 1.00 |",
    ]
    for name, size in [*ours["kinds"].items(), ("all", whole)]:
        lines.append(f"| periplus, {name} | {size / 1e6:.1f} | {size / peer:.2f} |")
    return "\n".join(lines)


def _builds(builds: dict[str, Any]) -> str:
    lines = [
        "## Building",
        "",
        "| engine | documents | CPU s | documents a CPU-second | wall s | peak MB (before) | size, MB |",
        "|---|---|---|---|---|---|---|",
    ]
    for engine, built in builds.items():
        if "failed" in built:
            lines.append(f"| {engine} | failed: {built['failed']} |" + " |" * 5)
            continue
        sizes = ", ".join(f"{name} {size / 1e6:.0f}" for name, size in sorted(built["sizes"].items()))
        lines.append(
            f"| {engine} | {built['documents']:,} | {built['cpu']:.1f} | {built['documents'] / built['cpu']:,.0f} "
            f"| {built['wall']:.1f} | {built['peak_mb']:.0f} ({built['held_mb']:.0f}) | {sizes} |"
        )
    return "\n".join(lines)
