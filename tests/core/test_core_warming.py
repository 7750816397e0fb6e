"""Kernels are compiled by several processes into one cache."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import periplus
from periplus.core.compiler import every_kernel
from periplus.core.compiler.warming import LONGEST

KERNEL = re.compile(r"^@(bare_)?kernel\(", re.MULTILINE)

SHORT = (  # kernels that compile in under a second
    "periplus.core.build.spellings.sort_ties",
    "periplus.core.build.merging.fold_again",
    "periplus.core.build.spellings.leading_bytes",
)
COMPILE = """
import sys
from periplus.app.warming import compile_apart
from periplus.core.compiler import cold
if __name__ == "__main__":
    before = cold()
    seen = []
    compile_apart(sys.argv[1:], 2, lambda done, total, name: seen.append((done, total)))
    print(len(before) - len(cold()), seen)
"""
SHIPPED = """
import sys
from pathlib import Path
from periplus.core.compiler import every_kernel, shipped
shipped.HOME = Path(sys.argv[1])
(found,) = [kernel for kernel in every_kernel() if kernel.full_name == sys.argv[2]]
print(found.is_kept)
found.keep()
"""


def run(cache: Path, *arguments: str, processor: str = "") -> str:
    environment = os.environ | {"PERIPLUS_CACHE": str(cache), "PERIPLUS_PROCESSOR": processor}
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
    assert run(blocked, "-c", "from periplus.core.compiler import cold; print(cold())") == "[]"


def test_kernels_that_came_with_the_package_need_no_compiler(tmp_path: Path) -> None:
    keep = f"from periplus.core.compiler import keep_one; keep_one({SHORT[0]!r})"
    run(tmp_path / "made", "-c", keep, processor="x86-64-v3")
    made = tmp_path / "made" / "kernels"

    assert run(tmp_path / "own", "-c", SHIPPED, str(made), SHORT[0]) == "True"
    assert [*(tmp_path / "own").rglob("*.kernel")] == []
    # Who asks for a plain processor gets code for that one.
    assert run(tmp_path / "plain", "-c", SHIPPED, str(made), SHORT[0], processor="x86-64") == "False"
    assert len([*(tmp_path / "plain").rglob("*.kernel")]) == 1


def test_a_kernel_that_came_damaged_is_compiled(tmp_path: Path) -> None:
    keep = f"from periplus.core.compiler import keep_one; keep_one({SHORT[0]!r})"
    run(tmp_path / "made", "-c", keep, processor="x86-64-v3")
    (file,) = (tmp_path / "made").rglob("*.kernel")
    file.write_bytes(file.read_bytes()[:-40] + bytes(40))

    assert run(tmp_path / "own", "-c", SHIPPED, str(tmp_path / "made" / "kernels"), SHORT[0]) == "False"
    assert len([*(tmp_path / "own").rglob("*.kernel")]) == 1


def test_every_module_with_kernels_is_known(tmp_path: Path) -> None:
    """Those that are not would be compiled at the first query that needs them."""
    root = Path(periplus.__file__).parent
    having = {
        ".".join(("periplus", *path.relative_to(root).with_suffix("").parts))
        for path in root.rglob("*.py")
        if KERNEL.search(path.read_text())
    }
    gather = "import sys; from periplus.core.compiler import all_are_kept; all_are_kept(); print(*sys.modules)"
    assert len(having) > 10
    assert having - set(run(tmp_path, "-c", gather).split()) == set()


def test_a_note_says_that_all_kernels_are_there(tmp_path: Path) -> None:
    ask = "from periplus.core.compiler import all_are_kept, ready_note\nprint(all_are_kept(), ready_note())"
    warm, note = run(tmp_path, "-c", ask).split()
    assert (warm, Path(note).exists()) == ("False", False)
    Path(note).touch()
    assert run(tmp_path, "-c", ask) == f"True {note}"


def test_what_is_compiled_first_is_a_kernel() -> None:
    assert set(LONGEST) <= {kernel.name for kernel in every_kernel()}


def test_kernels_have_names_of_their_own() -> None:
    names = [kernel.full_name for kernel in every_kernel()]
    assert len(names) == len(set(names)) > 20


COPIED = """
import sys
sys.path.insert(0, sys.argv[1])
sys.dont_write_bytecode = True
from room.kernels.entry import entry
known = entry.is_kept
print(known, entry(7), "numba" in sys.modules)
"""


def test_another_copy_of_the_same_sources_takes_what_is_kept(tmp_path: Path) -> None:
    """A second clone, or one that was moved; numba alone would look by the path of the file."""
    answers = []
    for copy in ("first", "second"):
        room = tmp_path / copy / "room" / "kernels"
        room.mkdir(parents=True)
        (room / "__init__.py").touch()
        (room / "entry.py").write_text(
            "from periplus.core.compiler import I64, kernel, signature\n\n"
            "@kernel(signature(I64, I64))\ndef entry(value):\n    return 2 * value\n"
        )
        answers.append(run(tmp_path / "cache", "-c", COPIED, str(tmp_path / copy)))
    assert answers == ["False 14 True", "True 14 False"]


def test_a_changed_helper_in_another_file_makes_kernels_anew(tmp_path: Path) -> None:
    """numba looks at the file of the kernel alone; a stale kernel would answer wrongly after an update."""
    room = tmp_path / "room" / "kernels"
    room.mkdir(parents=True)
    (room / "__init__.py").touch()
    (tmp_path / "room" / "__init__.py").touch()
    (room / "entry.py").write_text(
        "from periplus.core.compiler import I64, kernel, signature\nfrom room.kernels.other import double\n\n"
        "@kernel(signature(I64, I64))\ndef entry(value):\n    return double(value)\n"
    )
    answers = []
    for factor in (2, 3):
        (room / "other.py").write_text(
            f"from periplus.core.compiler import helper\n\n@helper\ndef double(value):\n    return {factor} * value\n"
        )
        script = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); sys.dont_write_bytecode = True\n"
        answers.append(run(tmp_path / "cache", "-c", script + "from room.kernels.entry import entry; print(entry(7))"))
    assert answers == ["14", "21"]
