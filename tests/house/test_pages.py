"""The pages that explain the house: what they name exists, rooms are entered by their doors, a name means one thing."""

from __future__ import annotations

import ast
import builtins
import importlib
import re
import subprocess
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
PACKAGE = ROOT / "src" / "periplus"
ROOMS = sorted(path.parent.name for path in PACKAGE.glob("*/__init__.py"))
PAGES = [ROOT / "README.md", ROOT / "ARCHITECTURE.md", ROOT / "CONTRIBUTING.md", ROOT / "docs" / "glossary.md"]
PAGES += [PACKAGE / room / "README.md" for room in ROOMS]

# Each of these may only fall: lower it when there are fewer.
PAST_DOORS = 76  # imports of another room's inner modules
SHARED_CLASS_NAMES = 0
SHARED_FILE_NAMES = 0  # within a room
LEANING_DOCSTRINGS = 17  # that begin with "The same"
DECISION_LINES = 45
WIDE_FUNCTIONS = 0  # of compiled code, with more than so many arguments
MOST_ARGUMENTS = 12
LONGEST_KERNEL = 65  # lines

BESIDE_ROOMS = {
    "cluster_ray",
    "browser",
    "compat",
    "damage",
    "deploy",
    "faults",
    "house",
    "mockweb",
    "support",
    "bench",
}  # folders of tests that are no room's
NAMED_FILE = re.compile(r"`([a-z0-9_./-]+\.(?:py|md))`")
NAMED_CLASS = re.compile(r"`([A-Z][a-z]+(?:[A-Z][a-z]+)+|[A-Z][a-z]{3,})(?:[(.:][^`]*)?`")
OTHERS_NAMES = {"Authorization", "Starlette", "Upgrade"}
LINK = re.compile(r"\]\((?!https?:|#|mailto:)([^)#\s]+)(?:#[^)]*)?\)")


@cache
def tracked() -> list[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, text=True)
    return [ROOT / name for name in listed.stdout.split("\0") if name]


@cache
def modules() -> dict[Path, ast.Module]:
    return {path: ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")}


@cache
def top_level_names() -> set[str]:
    found = {name.id for tree in modules().values() for node in tree.body for name in _assigned(node)}
    return found | set(class_names())


def _assigned(node: ast.stmt) -> list[ast.Name]:
    targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
    return [target for target in targets if isinstance(target, ast.Name)]


def room_of(path: Path) -> str:
    parts = path.relative_to(PACKAGE).parts
    return parts[0] if len(parts) > 1 else ""


def page_id(page: Path) -> str:
    return str(page.relative_to(ROOT))


def test_no_page_or_source_holds_marks_of_a_merge():
    marked = [
        page_id(path)
        for path in tracked()
        if path.suffix in {".md", ".py", ".toml", ".sql", ".html"}
        and path.is_file()
        and re.search(r"^(<{7} |>{7} )", path.read_text(encoding="utf-8", errors="replace"), re.MULTILINE)
    ]

    assert not marked


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_files_that_a_page_names_exist(page):
    named = set(NAMED_FILE.findall(page.read_text(encoding="utf-8")))
    room = page.parent if page.is_relative_to(PACKAGE) else None

    missing = {name for name in named if not (ROOT / name).exists() and not (PACKAGE / name).exists()}

    assert {name for name in missing if room is None or not any(room.rglob(name))} == set()


@pytest.mark.parametrize("picture", sorted((ROOT / "docs" / "images").glob("*.svg")), ids=page_id)
def test_files_that_a_picture_names_exist(picture):
    named = re.findall(r"[a-z_]+(?:/[a-z_]+)+\.py", picture.read_text(encoding="utf-8"))

    assert named
    assert {name for name in named if not (PACKAGE / name).exists()} == set()


def test_the_packages_of_kernels_are_listed_with_their_files():
    page = (PACKAGE / "core" / "README.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `([a-z]+)/` \| (.*)$", page, re.MULTILINE))
    kernels = {path.parent.name for path in (PACKAGE / "core").glob("*/*.py")} - {"compiler"}

    assert set(listed) == kernels | {"compiler"}
    for package in sorted(kernels):
        there = {path.stem for path in (PACKAGE / "core" / package).glob("*.py")} - {"__init__"}
        assert there == set(re.findall(r"`([a-z_]+)`", listed[package]))


@pytest.mark.parametrize("room", ["crawl", "index", "search", "web"])
def test_the_subrooms_of_a_room_are_listed_with_their_files(room):
    page = (PACKAGE / room / "README.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^### ([a-z]+)$(.*?)(?=^##)", page, re.MULTILINE | re.DOTALL))
    there = defaultdict(set)
    for path in (PACKAGE / room).glob("*/*.py"):
        if path.name != "__init__.py":
            there[path.parent.name].add(path.name)

    files = {name: re.findall(r"^\| (`.*?) \|", table, re.MULTILINE) for name, table in listed.items()}
    assert {name: set(re.findall(r"`([a-z_]+\.py)`", " ".join(cells))) for name, cells in files.items()} == there


@pytest.mark.parametrize("page", PAGES, ids=page_id)
def test_classes_that_a_page_names_exist(page):
    named = set(NAMED_CLASS.findall(page.read_text(encoding="utf-8")))

    assert named - top_level_names() - vars(builtins).keys() - OTHERS_NAMES == set()


@pytest.mark.parametrize(
    "page", [path for path in tracked() if path.suffix == ".md" and "sites" not in path.parts], ids=page_id
)
def test_links_of_a_page_lead_somewhere(page):
    if not page.exists():
        pytest.skip("removed, and not yet committed")
    broken = [link for link in LINK.findall(page.read_text(encoding="utf-8")) if not (page.parent / link).exists()]

    assert not broken


def test_names_that_pass_between_rooms_are_given_by_their_doors():
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    fence = text.split("## The names that pass between rooms")[1].split("```")[1]
    missing, rooms = [], []
    for line in fence.splitlines()[1:]:
        if line.startswith("# "):
            rooms = [importlib.import_module(f"periplus.{name.strip()}") for name in line[2:].split(",")]
        elif line and not line.startswith(" "):
            for part in re.split(" · ", line.split("#")[0]):
                name = re.match(r"\w+", part.strip())
                if name and not any(hasattr(room, name[0]) for room in rooms):
                    missing.append(name[0])

    assert not missing


def test_every_decision_is_in_the_list_and_fits_a_screen():
    folder = ROOT / "docs" / "decisions"
    listed = (folder / "README.md").read_text(encoding="utf-8")
    pages = sorted(path for path in folder.glob("[0-9]*.md"))

    assert [page.name for page in pages if f"]({page.name})" not in listed] == []
    assert [page.name for page in pages if len(page.read_text(encoding="utf-8").splitlines()) > DECISION_LINES] == []


def test_folders_of_tests_have_the_names_of_rooms():
    folders = {path.name for path in (ROOT / "tests").iterdir() if any(path.glob("*.py"))}

    assert folders - BESIDE_ROOMS - set(ROOMS) == set()


def test_imports_past_the_doors_of_rooms_do_not_grow():
    past = Counter(inner for path, tree in modules().items() for inner in inner_imports(tree, room_of(path)))
    past = Counter({inner: count for inner, count in past.items() if not inner.startswith("periplus.core.")})

    assert past.total() <= PAST_DOORS, past.most_common(20)


def test_compiled_code_is_entered_by_the_doors_of_its_packages():
    """Beside these only the layout of memory is open to other rooms: each of its modules is a record or two."""
    inner = {inner for path, tree in modules().items() for inner in inner_imports(tree, room_of(path))}
    into = {name for name in inner if name.startswith("periplus.core.")}

    assert into
    assert {name for name in into if name.count(".") > 2 and not name.startswith("periplus.core.layout.")} == set()


def test_functions_of_compiled_code_are_short_and_take_few_arguments():
    functions = [
        (path.stem, node)
        for path, tree in modules().items()
        if room_of(path) == "core"
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
    ]
    wide = {f"{stem}.{node.name}" for stem, node in functions if len(node.args.args) > MOST_ARGUMENTS}
    long = {f"{stem}.{node.name}" for stem, node in functions if node.end_lineno - node.lineno >= LONGEST_KERNEL}

    assert len(functions) > 300
    assert len(wide) <= WIDE_FUNCTIONS, wide
    assert long == set()


def inner_imports(tree: ast.Module, own: str) -> list[str]:
    named: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            named.append(node.module)
        elif isinstance(node, ast.Import):
            named += [alias.name for alias in node.names]
    parts = [name.split(".") for name in named]
    return [
        ".".join(one) for one in parts if one[0] == "periplus" and len(one) > 2 and one[1] in ROOMS and one[1] != own
    ]


@cache
def class_names() -> dict[str, list[str]]:
    found = defaultdict(list)
    for path, tree in modules().items():
        for node in ast.walk(tree):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(str(path.relative_to(PACKAGE)))
    return dict(found)


def test_class_names_that_several_rooms_share_do_not_grow():
    shared = {name: paths for name, paths in class_names().items() if len(paths) > 1}

    assert len(shared) <= SHARED_CLASS_NAMES, shared


def test_file_names_that_a_room_has_twice_do_not_grow():
    names = Counter((room_of(path), path.name) for path in modules() if path.name != "__init__.py")
    twice = [name for name, count in names.items() if count > 1]

    assert len(twice) <= SHARED_FILE_NAMES, twice


def test_docstrings_that_lean_on_their_neighbours_do_not_grow():
    kinds = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    leaning = [
        f"{path.relative_to(PACKAGE)}: {text.splitlines()[0]}"
        for path, tree in modules().items()
        for node in ast.walk(tree)
        if isinstance(node, kinds)
        and (text := ast.get_docstring(node))
        and re.match(r"(the )?same\b", text, re.IGNORECASE)
    ]

    assert len(leaning) <= LEANING_DOCSTRINGS, leaning
