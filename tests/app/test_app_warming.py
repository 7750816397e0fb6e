"""Kernels are compiled by several processes into one cache."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import periplus
from periplus.index import kernels_digest
from periplus.index.kernels import compiler

KERNEL = re.compile(r"compiler import .*\bkernel\b")

SHORT = ("sort_ties", "fold_again", "leading_bytes")  # kernels that compile in under a second
COMPILE = """
import sys
from periplus.app.warming import compile_apart
from periplus.index import cold
if __name__ == "__main__":
    before = cold()
    seen = []
    compile_apart(sys.argv[1:], 2, lambda done, total, name: seen.append((done, total)))
    print(len(before) - len(cold()), seen)
"""


def run(cache: Path, *arguments: str) -> str:
    environment = os.environ | {"PERIPLUS_CACHE": str(cache)}
    return subprocess.run(
        [sys.executable, *arguments], env=environment, capture_output=True, text=True, timeout=300, check=True
    ).stdout.strip()


def test_two_processes_fill_one_cache(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(COMPILE)
    assert run(tmp_path / "cache", str(script), *SHORT) == "3 [(0, 3), (1, 3), (2, 3), (3, 3)]"
    assert run(tmp_path / "cache", str(script), *SHORT).startswith("0 ")


def test_nothing_is_compiled_apart_where_nothing_can_be_kept(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.touch()  # a folder cannot be made below a file, not even by root
    assert run(blocked, "-c", "from periplus.index import cold; print(cold())") == "[]"


def test_every_module_with_kernels_is_known(tmp_path: Path) -> None:
    """Those that are not would be compiled at the first query that needs them."""
    root = Path(periplus.__file__).parent
    having = {
        ".".join(("periplus", *path.relative_to(root).with_suffix("").parts))
        for path in root.rglob("*.py")
        if KERNEL.search(path.read_text())
    }
    gather = "import sys; from periplus.app.warming import kernels_are_warm; kernels_are_warm(); print(*sys.modules)"
    assert len(having) > 10
    assert having - set(run(tmp_path, "-c", gather).split()) == set()


def test_a_note_says_that_all_kernels_of_numba_are_there(tmp_path: Path) -> None:
    """Those of pages are kept apart, and looked for by themselves."""
    ask = "from periplus.app.warming import kernels_are_warm, ready_note\nprint(kernels_are_warm(), ready_note())"
    warm, note = run(tmp_path, "-c", ask).split()
    assert (warm, Path(note).exists()) == ("False", False)
    Path(note).touch()
    assert run(tmp_path, "-c", ask) == f"False {note}"
    pages_are_there = "from periplus.app import quickening\nquickening.missing = list\n"
    assert run(tmp_path, "-c", pages_are_there + ask) == f"True {note}"


def test_a_changed_constant_of_another_room_makes_kernels_anew(tmp_path: Path, monkeypatch) -> None:
    """Kernels have the values of what they import compiled into them."""
    monkeypatch.setattr(compiler, "PACKAGE", tmp_path)
    (tmp_path / "index").mkdir()
    kernels = tmp_path / "kernels.py"
    kernels.write_text("from periplus.index.weights import UNIT\n")
    digests = set()
    for unit in ("UNIT = 1", "UNIT = 2", "UNIT = 1"):
        (tmp_path / "index" / "weights.py").write_text(unit)
        digests.add(kernels_digest([kernels]))
    assert len(digests) == 2


def test_what_kernels_import_imports_nothing_itself() -> None:
    """The digest knows what kernels import, and goes no further."""
    root = Path(periplus.__file__).parent
    imported, odd = set(), []
    for source in (*root.glob("*/kernels/*.py"), *root.glob("*/kernels.py")):
        if source.parent.parent.name == "documents":
            continue  # kept by another way, which knows all of its sources
        imported |= set(re.findall(r"^from (periplus\.[\w.]+) import", source.read_text(), re.MULTILINE))
        odd += re.findall(r"^import periplus.*", source.read_text(), re.MULTILINE)
    others = [root.joinpath(*name.split(".")[1:]).with_suffix(".py") for name in imported if ".kernels" not in name]
    odd += [path for path in others if re.search(r"^from periplus", path.read_text(), re.MULTILINE)]
    assert len(others) > 2
    assert odd == []


COPIED = """
import sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
from room.kernels.entry import entry
known = entry.cached
print(known, entry(7), sum(entry.compile().stats.cache_hits.values()))
"""


def test_another_copy_of_the_same_sources_takes_what_is_kept(tmp_path: Path) -> None:
    """A second clone, or one that was moved; numba alone would look by the path of the file."""
    answers = []
    for copy in ("first", "second"):
        room = tmp_path / copy / "room" / "kernels"
        room.mkdir(parents=True)
        (room / "__init__.py").touch()
        (room / "entry.py").write_text(
            "from periplus.index.kernels.compiler import kernel\n\n"
            "@kernel('int64(int64)')\ndef entry(value):\n    return 2 * value\n"
        )
        answers.append(run(tmp_path / "cache", "-c", COPIED, str(tmp_path / copy)))
    assert answers == ["False 14 0", "True 14 1"]


def test_a_changed_helper_in_another_file_makes_kernels_anew(tmp_path: Path) -> None:
    """numba looks at the file of the kernel alone; a stale kernel would answer wrongly after an update."""
    room = tmp_path / "room" / "kernels"
    room.mkdir(parents=True)
    (room / "__init__.py").touch()
    (tmp_path / "room" / "__init__.py").touch()
    (room / "entry.py").write_text(
        "from periplus.index.kernels.compiler import kernel\nfrom room.kernels.other import double\n\n"
        "@kernel('int64(int64)')\ndef entry(value):\n    return double(value)\n"
    )
    answers = []
    for factor in (2, 3):
        (room / "other.py").write_text(
            "from periplus.index.kernels.compiler import helper\n\n"
            f"@helper\ndef double(value):\n    return {factor} * value\n"
        )
        script = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); sys.dont_write_bytecode = True\n"
        answers.append(run(tmp_path / "cache", "-c", script + "from room.kernels.entry import entry; print(entry(7))"))
    assert answers == ["14", "21"]
