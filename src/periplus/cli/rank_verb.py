"""``periplus rank``: link graph and PageRank."""

from __future__ import annotations

from pathlib import Path

from periplus.cli import options as opt
from periplus.cli.output import facts, messages, number, print_json
from periplus.cli.progress import step


def rank(directory: opt.Folder = Path(opt.DEFAULT_FOLDER), json: opt.Json = False) -> None:
    """Compute PageRank of pages and hosts from the stored links."""
    from periplus.app import Collection

    with Collection.existing(directory) as collection, step("rank") as bar:
        summary = collection.rank(progress=lambda done, change: bar.at(done, note=f"change {change:.1e}"))
    if json:
        print_json(summary)
        return
    messages().print(
        facts(
            [
                ("pages", number(summary.pages)),
                ("hosts", number(summary.hosts)),
                ("links", number(summary.links)),
                ("iterations", f"{summary.iterations} (last change {summary.difference:.1e})"),
                ("seconds", f"{summary.seconds:.2f}"),
            ]
        )
    )
    for line in summary.top:
        messages().print(f"  {line.rank:.5f}  {line.name}", soft_wrap=True)
