"""Every command that the documentation shows is known to the command line; what needs no network is run for real."""

from __future__ import annotations

import bz2
import gzip
import json
import re
import shutil
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import typer
from documented_commands import ROOT, DocumentedCommand, all_commands
from typer.exceptions import TyperException

from periplus import Collection
from periplus.cli.main import run
from periplus.cli.verbs import VERBS, application
from periplus.demo import DEFAULT_PORT, DemoWeb

COMMANDS = all_commands()
FENCED = [command for command in COMMANDS if command.is_fenced]
# Complete commands of lines of text; what stands in a fence as well is run there.
INLINE = {command.text: command for command in COMMANDS if not command.is_fenced and not command.has_placeholders}


class LeftOut(NamedTuple):
    reason: str
    tests: str  # that run such a command
    mark: str  # what they say there


# By how they begin: commands that are not run here.
NOT_RUN = {
    "demo": LeftOut("until Ctrl-C", "cli/test_cli_interrupts.py", '"demo"'),
    "up": LeftOut("until Ctrl-C, over sites of the internet", "app/test_app_submissions.py", '"up"'),
    "serve": LeftOut("until Ctrl-C", "cli/test_cli_interrupts.py", '"serve"'),
    "shard": LeftOut("until Ctrl-C", "cluster/test_cluster_server.py", "ShardServer"),
    "mcp": LeftOut("until its client goes", "app/test_app_mcp.py", '"mcp"'),
    "crawl https://": LeftOut("over sites of the internet", "cli/test_cli_interrupts.py", '"crawl"'),
    "crawl --follow": LeftOut("until Ctrl-C, on many machines", "cluster/test_cluster_up.py", '"crawl"'),
    "index --follow": LeftOut("until Ctrl-C, on many machines", "cluster/test_cluster_up.py", '"index"'),
    "cluster": LeftOut("starts Ray, on several machines", "cluster/test_cluster_machines.py", '"cluster"'),
    "pause": LeftOut("a crawl that runs", "crawl/test_crawl_workers.py", '"pause"'),
    "backup /mnt/backups/moved --dir /srv/collection": LeftOut(
        "a collection that came back", "app/test_app_moving.py", '"move"'
    ),
    "backup s3://": LeftOut("an object store", "app/test_app_backups.py", "bucket"),
    "move": LeftOut("an object store and PostgreSQL", "app/test_app_moving.py", '"move"'),
    "import warc.paths.gz --base-url https://": LeftOut(
        "over HTTP", "app/test_app_import_listings.py", "warc.paths.gz"
    ),
    "import example.cdxj --base-url https://": LeftOut("over HTTP", "app/test_app_import_listings.py", ".cdxj"),
    "import build/site": LeftOut("a built site", "deploy/test_deploy_site.py", "import_paths"),
    "index --dir docs-collection": LeftOut("a built site", "deploy/test_deploy_site.py", "collection.index()"),
    "export --to postgresql://": LeftOut("PostgreSQL", "app/test_app_export_formats.py", '"--to"'),
}
FLAGS = {
    "crawl.delay": 0.0,
    "crawl.ip_delay": 0.0,
    "crawl.scope": "any",
    "crawl.allow_private": True,
    "crawl.workers": 1,
}
SOME_PAGES = 40  # of the demo's
ACTIONS = ("cluster", "keys", "export")  # verbs whose first argument is one of the words of its help
RECORD = {"id": "one", "title": "Bars", "text": "The bar breaks at low water.", "url": "http://r.test/bars"}
WIKI = (
    '<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11" xml:lang="en">'
    "<siteinfo><base>http://wiki.test/wiki/Main_Page</base></siteinfo>"
    "<page><title>Tide</title><ns>0</ns><id>1</id><revision><text>The tide rises.</text></revision></page></mediawiki>"
)
MAIL = "From a@b.test Thu Jan  1 00:00:00 2026\nMessage-ID: <1@b.test>\nSubject: Bars\n\nThe bar breaks.\n\n"


def command_id(command: DocumentedCommand) -> str:
    return f"{command.page}:{command.line} {command.text}"


def left_out(command: DocumentedCommand) -> list[str]:
    return [start for start in NOT_RUN if f"{command.text} ".startswith(start if start.endswith("//") else f"{start} ")]


@cache
def verbs() -> dict[str, Any]:
    return dict(typer.main.get_command(application()).commands)


def misread(command: DocumentedCommand) -> str:
    """What the command line would say of it; arguments may be missing in a line of text, and names stand for values."""
    verb, *words = command.words
    known = verbs().get(verb)
    if known is None:
        return f"there is no verb {verb}"
    flags = {flag: one for one in known.params for flag in one.opts if flag.startswith("-")}
    if not command.is_fenced and words and words[-1] in flags and not flags[words[-1]].is_flag:
        words.append("1")  # a flag that is only named
    first = next((one for one in known.params if one.param_type_name == "argument"), None)
    if verb in ACTIONS and words and not words[0].startswith("-") and words[0] not in re.findall(r"\w+", first.help):
        return f"{verb} does not know {words[0]}"
    try:
        known.make_context(verb, ["x" if word == "…" else word.replace("%i", "1") for word in words])
    except TyperException as error:
        is_incomplete = "Missing" in error.format_message()
        return "" if is_incomplete and not command.is_fenced else error.format_message()
    return ""


def test_the_pages_show_commands():
    assert len(FENCED) > 60
    assert len({command.words[0] for command in COMMANDS}) > len(VERBS) // 2  # docs/command-line.md has each of them


def test_documented_commands_are_known_to_the_command_line():
    assert {command_id(command): wrong for command in COMMANDS if (wrong := misread(command))} == {}


def test_a_wrong_command_is_noticed():
    wrong = ["voyage", "search tides --loud", "cluster sink", "export everything", "serve --port many", "explain tides"]
    for text in wrong:
        assert misread(DocumentedCommand("x", 1, tuple(text.split()), (), is_fenced=True)), text


def test_what_is_not_run_has_a_reason_that_is_still_needed():
    used = {start for command in COMMANDS for start in left_out(command)}

    assert used == set(NOT_RUN)
    for start, one in NOT_RUN.items():
        assert one.mark in (ROOT / "tests" / one.tests).read_text(encoding="utf-8"), start


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a part of the demo's collection, and with the files that pages speak of."""
    folder = tmp_path_factory.mktemp("demo")
    with DemoWeb(public_port=DEFAULT_PORT) as web:
        flags = {**FLAGS, "crawl.resolve": list(web.resolve)}
        with Collection(folder / "collection", flags=flags) as collection:
            collection.crawl(web.seeds(), max_pages=SOME_PAGES)
            collection.rank()
            collection.index()
    _write_samples(folder)
    return folder


def _write_samples(folder: Path) -> None:
    archive = next((folder / "collection" / "archive").glob("*.warc.gz"))
    shutil.copy(archive, folder / "crawl.warc.gz")
    (folder / "pages").mkdir()
    (folder / "pages" / "index.html").write_text("<title>Bars</title><p>The bar breaks at low water.", "utf-8")
    (folder / "records.jsonl").write_text(json.dumps(RECORD) + "\n", "utf-8")
    pq.write_table(pa.Table.from_pylist([RECORD]), folder / "records.parquet")
    (folder / "list.mbox.gz").write_bytes(gzip.compress(MAIL.encode()))
    (folder / "enwiki-articles.xml.bz2").write_bytes(bz2.compress(WIKI.encode()))
    (folder / "archive").mkdir()
    shutil.copy(archive, folder / "archive")
    for words in (
        ["cdxj", "--out", str(folder / "archive" / "index.cdxj")],
        ["ranks", "--out", str(folder / "ranks.parquet")],
    ):
        assert run(["export", *words, "--dir", str(folder / "collection")]) == 0


def meant(text: str, folder: Path) -> str:
    """What stands for the reader's own: pages of the demo's web, and folders of this machine."""
    for shown, real in (
        ("/mnt/backups", str(folder / "backups")),
        ("https://www.example.org/page", "http://almanac.localhost:8640/"),
        ("old.example.org", "gazette.localhost:8640"),
    ):
        text = text.replace(shown, real)
    return text


def outcomes(commands: list[DocumentedCommand], demo: Path, folder: Path, monkeypatch) -> dict[str, int]:
    """Exit codes of those that are run, one after the other in a copy of the collection."""
    shutil.copytree(demo, folder, dirs_exist_ok=True)
    monkeypatch.chdir(folder)
    codes = {}
    for command in commands:
        if left_out(command):
            continue
        with monkeypatch.context() as patch:
            for name, value in command.variables:
                patch.setenv(name, value)
            codes[command_id(command)] = run([meant(word, folder) for word in command.words])
    return codes


RUN_PAGES = sorted({command.page for command in FENCED if not left_out(command)})


@pytest.mark.parametrize("page", RUN_PAGES)
def test_commands_of_a_page_do_what_they_say(page, demo, tmp_path, monkeypatch):
    codes = outcomes([command for command in FENCED if command.page == page], demo, tmp_path, monkeypatch)

    assert codes
    assert {name: code for name, code in codes.items() if code} == {}


def test_complete_commands_of_lines_of_text_do_what_they_say(demo, tmp_path, monkeypatch):
    fenced = {command.text for command in FENCED}
    complete = [one for text, one in INLINE.items() if text not in fenced and one.words[0] != "VERB"]
    complete = [one for one in complete if misread(one._replace(is_fenced=True)) == ""]
    codes = outcomes(complete, demo, tmp_path, monkeypatch)

    assert len(codes) > 5
    assert {name: code for name, code in codes.items() if code} == {}
