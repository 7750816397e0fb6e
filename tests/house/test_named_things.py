"""What pages name exists, and what programs and operators may rely on stands in a page."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import typer
from documented_commands import ROOT
from starlette.routing import Route

from periplus import Collection, settings
from periplus.app.serving.backend import CollectionBackend
from periplus.cli.verbs import VERBS, application
from periplus.demo import DemoWeb
from periplus.reasons import REASONS
from periplus.web import create_app
from periplus.web.serving.metric_table import METRICS

DOCS = sorted((ROOT / "docs").glob("*.md"))
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS, ROOT / "deploy" / "README.md"]
SPANS_AND_FILES = {"search.understand", "search.shards", "search.rank", "search.spelling", "search.show", "crawl.slots"}
HISTORY = {"docs/benchmarks.md"}  # speaks of commits as they were
OTHERS_FLAGS = {  # of pip, useradd, systemctl and our soaks
    "--require-hashes",
    "--no-deps",
    "--system",
    "--home-dir",
    "--shell",
    "--now",
    "--seconds",
}


@cache
def text_of(page) -> str:
    return page.read_text(encoding="utf-8")


def everywhere(pattern: str, pages=PAGES) -> set[str]:
    return {found for page in pages for found in re.findall(pattern, text_of(page))}


def test_every_verb_flag_setting_reason_and_metric_stands_in_its_page():
    def page(name: str) -> str:
        return text_of(ROOT / "docs" / name)

    for verb in VERBS:
        assert f"## periplus {verb.name}\n" in page("command-line.md")
    for info in settings.catalogue():
        assert f"| `{info.name}` | `{info.variable}` |" in page("settings.md")
    for code in REASONS:
        assert f"| `{code}` |" in page("reasons.md")
    for metric in METRICS:
        assert re.search(rf"\| `{metric.name}(_total)?` \|", page("metrics.md")), metric.name


def test_settings_that_pages_name_exist():
    sections = {info.section for info in settings.catalogue()}
    named = everywhere(rf"`((?:{'|'.join(sorted(sections))})\.[a-z_]+)(?: = [^`]*)?`")
    known = {f"{info.section}.{info.name}" for info in settings.catalogue()} | SPANS_AND_FILES

    assert len(named) > 30
    assert {name for name in named if not name.endswith((".md", ".toml", ".py", ".xml"))} - known == set()


def test_variables_that_pages_name_exist():
    known = {info.variable for info in settings.catalogue()}
    variable = r"\b(PERIPLUS_[A-Z_]*[A-Z])\b"
    read = [*(ROOT / "src").rglob("*.py"), *(ROOT / "tests").rglob("*.py"), ROOT / "Makefile", ROOT / "periplus"]
    known |= everywhere(variable, [path for path in read if path != Path(__file__)])

    assert everywhere(variable) - known == set()


def test_metrics_that_pages_and_alarms_name_exist():
    names = {metric.name for metric in METRICS} | {f"{metric.name}_total" for metric in METRICS}
    names |= {f"{metric.name}_{part}" for metric in METRICS for part in ("bucket", "sum", "count")}
    monitoring = [path for path in (ROOT / "deploy" / "monitoring").rglob("*") if path.is_file()]
    named = everywhere(r"\b(periplus_[a-z_]+)\b", [*PAGES, *monitoring])

    assert len(named) > 20
    assert {name for name in named if name not in names and not name.startswith("periplus_export")} == set()


def test_flags_that_pages_name_exist():
    group = typer.main.get_command(application())
    known = {flag for command in group.commands.values() for one in command.params for flag in one.opts}
    known |= {flag for command in group.commands.values() for one in command.params for flag in one.secondary_opts}
    named = everywhere(r"`(--[a-z][a-z-]+)", [page for page in PAGES if str(page.relative_to(ROOT)) not in HISTORY])

    assert len(named) > 50
    assert named - known - {"--debug", "--version", "--help"} - OTHERS_FLAGS == set()


def test_targets_of_make_that_pages_name_exist():
    there = set(re.findall(r"^([a-z-]+):", text_of(ROOT / "Makefile"), re.MULTILINE))

    assert everywhere(r"(?:`|^)make ([a-z-]+)", [*PAGES, *(ROOT / "src").rglob("README.md")]) - there == set()


def test_every_route_stands_in_its_page_and_no_other(tmp_path):
    with Collection(tmp_path / "c") as collection:
        app = create_app(CollectionBackend(collection), collection.settings)
        routes = [route for route in app.routes if isinstance(route, Route)]
    there = {(method, route.path) for route in routes for method in route.methods or () if method != "HEAD"}
    rows = re.findall(r"^\| (GET|POST|DELETE) \| ([^|]+) \|", text_of(ROOT / "docs" / "routes.md"), re.MULTILINE)
    written = {(method, path) for method, paths in rows for path in re.findall(r"`([^`]+)`", paths)}

    assert len(there) > 70
    assert written == there


def test_the_example_in_python_does_what_it_says(tmp_path, monkeypatch, capsys):
    (code,) = re.findall(r"```python\n(.*?)```", text_of(ROOT / "README.md"), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    with DemoWeb() as web:
        for name, value in {"DELAY": "0", "ALLOW_PRIVATE": "true", "RESOLVE": web.resolve[0], "WORKERS": "1"}.items():
            monkeypatch.setenv(f"PERIPLUS_CRAWL_{name}", value)
        code = code.replace("https://example.org/", web.seeds()[1]).replace("500", "20").replace("tide tables", "tide")
        space: dict[str, object] = {}
        exec(compile(code, "README.md", "exec"), space)
        space["c"].close()

    assert "localhost" in capsys.readouterr().out


def test_each_row_of_the_formats_says_who_else_reads_or_writes_it():
    rows = [line.split(" | ") for line in text_of(ROOT / "docs" / "formats.md").splitlines() if line.startswith("| ")]

    assert len(rows) > 15
    assert [row for row in rows if not row[-1].rstrip(" |")] == []
