"""The table of a run: a row for each size, and how much more that is than the first."""

from __future__ import annotations

Figures = dict[str, float]

COLUMNS = {
    "import_rate": ("import, documents/CPU-s", "{:,.0f}"),
    "import_peak": ("import, peak MB", "{:,.0f}"),
    "index_rate": ("index, documents/CPU-s", "{:,.0f}"),
    "index_seconds": ("index, s", "{:,.0f}"),
    "index_peak": ("index, peak MB", "{:,.0f}"),
    "documents_disk": ("documents, GB", "{:.2f}"),
    "index_disk": ("index, GB", "{:.2f}"),
    "segments": ("segments", "{:.0f}"),
    "search_p50": ("search p50, ms", "{:.2f}"),
    "search_p95": ("p95", "{:.2f}"),
    "search_p99": ("p99", "{:.2f}"),
    "search_memory": ("search, MB", "{:,.0f}"),
}


def table(rows: list[Figures]) -> str:
    """Markdown; growth is a multiple of the first row."""
    names = [name for name, _ in COLUMNS.values()]
    lines = [f"| documents | {' | '.join(names)} |", f"|--:|{'--:|' * len(names)}"]
    for place, row in enumerate(rows):
        shown = [form.format(row[name]) for name, (_, form) in COLUMNS.items()]
        lines.append(f"| {row['documents']:,.0f} | {' | '.join(shown)} |")
        if place:
            lines.append(f"| {_growth(row, rows[0], 'documents')} | {_growths(row, rows[0])} |")
    return "\n".join(lines)


def _growths(row: Figures, first: Figures) -> str:
    return " | ".join(_growth(row, first, name) for name in COLUMNS)


def _growth(row: Figures, first: Figures, name: str) -> str:
    return f"×{row[name] / first[name]:.2f}" if first[name] else ""
