"""``periplus import``: take in what others made."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from periplus.cli import options as opt
from periplus.cli.output import messages, number, print_json
from periplus.cli.progress import step

if TYPE_CHECKING:
    from periplus.app.importing import ImportReport

_SHOWN = 10  # problems, and content types, that are printed; --json has more


def import_(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="WARC, WET, ARC, WACZ, .jsonl, Parquet, .mbox, MediaWiki .xml, .cdxj or .paths files, or folders",
            metavar="PATH",
        ),
    ],
    directory: opt.Folder = Path(opt.DEFAULT_FOLDER),
    base_url: Annotated[
        str, typer.Option("--base-url", help="address of a folder's pages, or of the archives that a list names")
    ] = "",
    strict: Annotated[bool, typer.Option("--strict", help="stop at the first record that cannot be read")] = False,
    json: opt.Json = False,
) -> None:
    """Import archives (WARC, WET, ARC, WACZ), .jsonl or Parquet (id, url, title, text), or folders of HTML files."""
    from periplus.app import Collection
    from periplus.app.importing import import_paths

    with Collection(directory) as collection, step("import") as bar:
        report = import_paths(collection, paths, base_url, progress=bar.at, strict=strict)
    if json:
        print_json(report)
    else:
        for line in lines_of(report):
            messages().print(line, soft_wrap=True, markup=False, highlight=False)
        if report.documents:
            messages().print(f"next: periplus index --dir {directory}", soft_wrap=True, markup=False)
    if not report.documents:
        raise typer.Exit(1)


def lines_of(report: ImportReport) -> list[str]:
    """A report for people."""
    if not report.records:
        return ["nothing was imported: there is no record in it"]
    read = "1 record" if report.records == 1 else f"{number(report.records)} records"
    kept = f"{read} read, {number(report.documents)} kept, {number(report.refused)} left out"
    lines = [f"{kept}, {report.seconds:.1f} s" if report.documents else f"nothing was imported: {kept}"]
    lines += [_reason(code, count, report) for code, count in report.left_out.items()]
    if report.repeated:
        lines.append(f"{number(report.repeated)} of those kept are replaced by a later one with the same id or address")
    if report.without_address:
        lines.append(f"{number(report.without_address)} are kept by their id alone: their url is no http address")
    if report.cut:
        lines.append(f"{number(report.cut)} are kept without all of their text, which is longer than the limit")
    lines += [f"! {problem}" for problem in report.problems[:_SHOWN]]
    further = len(report.problems) - _SHOWN + report.unnamed
    if further > 0:
        lines.append(f"! and {number(further)} further problems; --json names the first {len(report.problems)}")
    return lines


def _reason(code: str, count: int, report: ImportReport) -> str:
    from periplus.reasons import sentence

    line = f"{number(count):>9} {code}: {sentence(code)}"
    if code != "unsupported-type" or not report.types:
        return line
    return f"{line} ({', '.join(f'{kind} {number(n)}' for kind, n in list(report.types.items())[:_SHOWN])})"
