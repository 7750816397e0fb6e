"""Writes the generated reference pages: docs/settings.md, reasons.md, command-line.md, metrics.md.

``--check`` writes nothing and fails when a page differs from what the code says; the tests do the same.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import typer

from periplus import settings
from periplus.cli.verbs import VERBS, application
from periplus.reasons import REASONS
from periplus.web.serving.metric_table import METRICS

_HEAD = "| name | variable | default | meaning | changed on the console |"
DOCS = Path(__file__).resolve().parent.parent / "docs"


def settings_page() -> str:
    lines = [
        "# Settings",
        "",
        "In `COLLECTION/periplus.toml` as `[section]` and `name = value`; as a variable; or by the flag of a verb that",
        "has one. Lists in variables are parted by commas. Each of these wins over those before it:",
        "",
        "1. the default",
        "2. `periplus.toml`",
        "3. what a crawl of this collection was told before, by flag, option or form (remembered), or what the",
        "   console changed (console); of these the later wins",
        "4. a `PERIPLUS_*` variable",
        "5. a flag",
        "",
        "A setting of `[crawl]` that a crawl was told is remembered in the state database until a crawl is told",
        "otherwise; `--forget` drops all of it. If the file is edited to that setting later, the file wins, and the",
        "next crawl says so. Not remembered are secrets and one-time orders (`--header`, `--auth`, `--proxy`,",
        "`--allow-private`, `--for`, `--recrawl`); a crawl that goes on without one of the first four says so. `crawl`",
        "and `up` print what is in force, each with its origin; the console shows all settings.",
        "",
        "## Changed on the console",
        "",
        "The console's page of settings changes those that have a time in the last column. A change is a row of the",
        "state database, so all machines of a collection have it, and it outlives restarts. `periplus.toml` is not",
        "written; an edit of it to the same setting wins over a change from before the edit, and on a machine whose",
        "file says something else of that setting, the file wins. A variable wins always, and the page says so. A flag",
        "gives way to a change that is made while its process runs, and wins in a process that starts later.",
        "`--forget` drops what crawls were told, not what the console changed.",
        "",
        "The page lists the last changes: who, when, from what, to what. An undo goes back, and is a change as well.",
        "*Reset* goes back to what file and variables say. Every change is also an event; the last 200 are kept.",
        "",
        "| in force | means |",
        "|---|---|",
        "| at once | every server goes by it within a second or two; so it does by an edit of the file |",
        "| with the next crawl | where `up` runs, a crawl that is stopped and resumed begins anew |",
        "| with the next update of index or ranks | a step that is under way ends as it began |",
        "| when the server starts again | until then the page shows both values |",
        "",
        "Searches at the terminal and from Python open no database: they go by file, variables and flags.",
    ]
    section = ""
    for info in settings.catalogue():
        if info.section != section:
            section = info.section
            lines += ["", f"## [{section}]", "", _HEAD, "|---|---|---|---|---|"]
        changed = f"not there: {info.fixed}" if info.fixed else info.in_force
        lines.append(f"| `{info.name}` | `{info.variable}` | {_value(info.default)} | {info.help} | {changed} |")
    return "\n".join(lines) + "\n"


def reasons_page() -> str:
    lines = [
        "# Reason codes",
        "",
        "Why an address is where it is. `periplus inspect URL` shows the code of the stop that holds it up.",
        "",
        "| code | meaning | tried again | what to do |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| `{reason.code}` | {reason.sentence} | {'yes' if reason.retry else 'no'} | {reason.advice} |"
        for reason in REASONS.values()
    ]
    return "\n".join(lines) + "\n"


def command_line_page() -> str:
    lines = [
        "# The command line",
        "",
        "`periplus VERB [flags]`; from a clone, `./periplus VERB [flags]`. Data goes to standard output, progress and",
        "remarks to standard error. `--debug` shows where an error is from.",
        "",
        "| exit code | means |",
        "|---|---|",
        "| 0 | done; `up`, `serve` and `demo` are, when Ctrl-C ends them |",
        "| 1 | failed: missing, damaged, busy or out of reach; Ctrl-C before the end; a crawl without a page |",
        "| 2 | the command line is wrong: verb, flag, a missing argument, a value that a flag cannot take |",
    ]
    group = typer.main.get_command(application())
    for verb in VERBS:
        command = group.commands[verb.name]  # type: ignore[attr-defined]
        lines += ["", f"## periplus {verb.name}", "", _first_paragraph(command.help or "")]
        rows = [_row(parameter) for parameter in command.params if parameter.name != "help"]
        if rows:
            lines += ["", "| flag or argument | meaning | default |", "|---|---|---|", *rows]
    return "\n".join(lines) + "\n"


def metrics_page() -> str:
    lines = [
        "# Metrics",
        "",
        "`/metrics` answers in the text format of Prometheus. Where `serve.public_status` is false it wants a key with",
        "the scope `inspect`. With several server processes a scrape shows one of them (`periplus_http_process` says",
        "which): what is read from the collection is the same in all, what is counted is of that process. Figures of",
        "the collection are at most 5 s old, those of the disk 60 s. Names are stable, and no label holds what a",
        "visitor or a page wrote.",
        "`deploy/monitoring/` has a dashboard and alarms that use them; [the handbook](handbook.md) says what to do.",
        "",
        "| name | kind | meaning | labels |",
        "|---|---|---|---|",
    ]
    for metric in METRICS:
        name = f"{metric.name}_total" if metric.kind == "counter" else metric.name
        labels = ", ".join(f"`{label}`" for label in metric.labels) + (f": {metric.bound}" if metric.bound else "")
        lines.append(f"| `{name}` | {metric.kind} | {metric.help} | {labels} |")
    return "\n".join(lines) + "\n"


def pages() -> dict[str, str]:
    return {
        "settings.md": settings_page(),
        "reasons.md": reasons_page(),
        "command-line.md": command_line_page(),
        "metrics.md": metrics_page(),
    }


def _first_paragraph(text: str) -> str:
    return " ".join(text.strip().split("\n\n")[0].split())


def _row(parameter: Any) -> str:
    names = [name for name in parameter.opts if name.startswith("-")]
    label = ", ".join(f"`{name}`" for name in names) or f"`{parameter.metavar or parameter.name.upper()}`"
    text = (getattr(parameter, "help", "") or "").replace("|", "\\|")
    return f"| {label} | {text} | {_value(parameter.default)} |"


def _value(value: object) -> str:
    if value is None or value in ("", (), [], False):
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return f"`{value}`"


def main() -> int:
    stale = [name for name, text in pages().items() if not _same(name, text)]
    if "--check" in sys.argv:
        for name in stale:
            sys.stderr.write(f"docs/{name} is not what the code says; run: make docs\n")
        return 1 if stale else 0
    for name in stale:
        (DOCS / name).write_text(pages()[name], encoding="utf-8")
        sys.stdout.write(f"docs/{name} written\n")
    return 0


def _same(name: str, text: str) -> bool:
    path = DOCS / name
    return path.exists() and path.read_text(encoding="utf-8") == text


if __name__ == "__main__":
    sys.exit(main())
