"""What a command loads: nothing that it does not need, since people wait for it."""

from __future__ import annotations

import importlib
import inspect
import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from periplus.cli.verbs import VERBS, application

if TYPE_CHECKING:
    from pathlib import Path

RUN = """
import sys
from periplus.cli.main import run
code = run(sys.argv[1:])
print("loaded:", *sys.modules)
sys.exit(code)
"""


def run(*words: str) -> tuple[str, set[str]]:
    """What a command printed, and which modules it loaded."""
    script = [sys.executable, "-c", RUN, *words]
    printed = subprocess.run(script, capture_output=True, text=True, check=True).stdout
    said, _, loaded = printed.rpartition("loaded:")
    return said, set(loaded.split())


@pytest.fixture(scope="module")
def collection(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("imports")
    records = [
        {"id": f"d{number}", "url": f"http://harbour.test/{number}", "title": title, "text": f"{title} at noon. " * 9}
        for number, title in enumerate(("High water", "Low water", "Spring tide", "Neap tide"))
    ]
    (folder / "pages.jsonl").write_text("\n".join(map(json.dumps, records)))
    home = folder / "collection"
    run("import", str(folder / "pages.jsonl"), "--dir", str(home))
    run("index", "--dir", str(home))
    return home


def test_help_loads_neither_arrays_nor_verbs() -> None:
    said, loaded = run("--help")
    assert not {"numpy", "pyarrow", "numba", "llvmlite", "sqlite3", "rich.markdown", "periplus.app"} & loaded
    assert not [name for name in loaded if name.endswith("_verb")]
    assert all(verb.name in said for verb in VERBS)


@pytest.mark.parametrize("words", [["search", "spring tide"], ["search", "sprng tide", "--json"], ["suggest", "ti"]])
def test_a_search_loads_no_compiler_and_no_server(collection: Path, words: list[str]) -> None:
    said, loaded = run(*words, "--dir", str(collection))
    assert "tide" in said
    assert not {"numba", "starlette", "uvicorn", "jinja2", "turbohtml", "rich.markdown"} & loaded


def test_a_verb_loads_no_other() -> None:
    _, loaded = run("analyze", "high water")
    assert [name for name in loaded if name.endswith("_verb")] == ["periplus.cli.analyze_verb"]


def test_the_list_of_verbs_says_what_they_say_themselves() -> None:
    for verb in VERBS:
        module = importlib.import_module(f"periplus.cli.{verb.name}_verb")
        function = getattr(module, verb.name, None) or getattr(module, f"{verb.name}_")
        said = (inspect.getdoc(function) or "").split("\n\n")[0]
        assert " ".join(said.split()) == verb.summary


def test_all_verbs_are_there_for_who_asks_for_all() -> None:
    names = [command.name for command in application().registered_commands]
    assert names == [verb.name for verb in VERBS]
    assert all(command.callback.__module__.endswith("_verb") for command in application().registered_commands)
