"""The figures as Markdown."""

from __future__ import annotations

import os
from typing import Any

from bench.rank.contenders import CONTENDERS


def one_line(answer: dict[str, Any]) -> str:
    if "failed" in answer:
        return f"failed: {answer['failed']}"
    last = answer["tried"][-1]
    return (
        f"{last['wall']:.2f} s ({last['cpu']:.2f} CPU), error {last['error']:.1e} at {last['setting']:.0e}, "
        f"built in {answer['build']['wall']:.1f} s, peak {answer['peak_mb']:.0f} MB"
    )


def tables(results: dict[str, Any]) -> str:
    parts = [size_table(size, found) for size, found in results.items()]
    return "\n\n".join([*parts, growth_table(results), f"load at the end: {os.getloadavg()[0]:.1f}"])


def size_table(size: str, found: dict[str, Any]) -> str:
    rows = [
        f"## {size}: {found['vertices']:,} vertices, {found['edges']:,} edges",
        "",
        f"The long run's own error is at most {found['reference'].get('bound', float('nan')):.0e}.",
        "",
        "| contender | rank, s | CPU s | times ours | by CPU | error | setting | build, s | both, s | peak, MB |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    unknown = [{"wall": float("nan"), "cpu": float("nan")}]
    ours = found["contenders"].get("periplus", {}).get("tried", unknown)[-1]
    rows += [contender_row(name, answer, ours) for name, answer in found["contenders"].items()]
    return "\n".join(rows)


def contender_row(name: str, answer: dict[str, Any], ours: dict[str, float]) -> str:
    if "failed" in answer:
        return f"| {name} | failed: {answer['failed']} |" + " |" * 8
    last, build = answer["tried"][-1], answer["build"]["wall"]
    note = CONTENDERS[name].note if name in CONTENDERS else ""
    return (
        f"| {name} ({note}) | {last['wall']:.2f} | {last['cpu']:.2f} | {last['wall'] / ours['wall']:.1f} "
        f"| {last['cpu'] / ours['cpu']:.1f} | {last['error']:.0e} | {last['setting']:.0e} "
        f"| {build:.1f} | {build + last['wall']:.1f} | {answer['peak_mb']:.0f} |"
    )


def growth_table(results: dict[str, Any]) -> str:
    rows = [
        "## Growth, and the bound",
        "",
        "CPU includes what comes before the first iteration.",
        "",
        "| edges | threads | iterations | an iteration, ms | a bare gather, ms | ratio | ns an edge | CPU ratio |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for found in results.values():
        for name in ("periplus", "periplus-1"):
            answer = found["contenders"].get(name, {})
            if "gather" in answer:
                rows.append(growth_row(found["edges"], name, answer))
    return "\n".join(rows)


def growth_row(edges: int, name: str, answer: dict[str, Any]) -> str:
    ours, bare = answer["iteration"], answer["gather"]
    return (
        f"| {edges:,} | {CONTENDERS[name].note} | {answer['iterations']} | {ours['wall'] * 1e3:.1f} "
        f"| {bare['wall'] * 1e3:.1f} | {ours['wall'] / bare['wall']:.2f} | {ours['wall'] / edges * 1e9:.2f} "
        f"| {ours['cpu'] / bare['cpu']:.2f} |"
    )
