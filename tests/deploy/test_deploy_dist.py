"""What is released: a wheel that runs in a new environment, a source package that builds the same, a list of parts."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dist")
    said(sys.executable, "-m", "hatchling", "build", "-d", folder, cwd=ROOT)
    return folder


def said(*words, cwd) -> str:
    """What a program prints; one that fails fails the test with its own words."""
    done = subprocess.run(words, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_wheel_runs_in_a_new_environment(built, tmp_path):
    """Its packages are lent by this one: only Periplus itself is new there. `make dist` installs them all."""
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    python = tmp_path / "venv" / "bin" / "python"
    (wheel,) = built.glob("*.whl")
    pip = [python, "-m", "pip", "install", "-q", "--no-deps", "--no-index", "--disable-pip-version-check", wheel]
    subprocess.run(pip, check=True)
    own = said(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", cwd=tmp_path).strip()
    (Path(own) / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n")
    program = tmp_path / "venv" / "bin" / "periplus"

    where = said(python, "-c", "import periplus; print(periplus.__file__)", cwd=tmp_path)
    assert where.startswith(own)  # not the sources of this clone
    said(program, "demo", "--once", "--dir", tmp_path / "demo", cwd=tmp_path)
    found = said(program, "search", "tide", "--dir", tmp_path / "demo", "--json", cwd=tmp_path)
    assert json.loads(found)["results"]


def test_the_wheel_has_all_that_is_not_python_too(built):
    (wheel,) = built.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        str(path.relative_to(ROOT / "src"))
        for path in (ROOT / "src").rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }

    assert wanted - names == set()
    assert [name for name in names if name.startswith("tests")] == []


def test_the_source_package_is_enough_to_build_the_wheel(built, tmp_path):
    (source,) = built.glob("*.tar.gz")
    with tarfile.open(source) as packed:
        packed.extractall(tmp_path, filter="data")
    (folder,) = tmp_path.iterdir()
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path / "again"],
        cwd=folder, check=True, capture_output=True,
    )  # fmt: skip
    (first,), (second,) = built.glob("*.whl"), (tmp_path / "again").glob("*.whl")

    assert set(zipfile.ZipFile(first).namelist()) == set(zipfile.ZipFile(second).namelist())
    assert {"LICENSE", "SECURITY.md", "CHANGELOG.md", "deploy", "requirements"} <= {
        path.name for path in folder.iterdir()
    }
    assert not (folder / "tests").exists()


def test_the_list_of_parts_names_every_locked_package():
    done = subprocess.run([sys.executable, ROOT / "scripts" / "sbom.py"], capture_output=True, check=True)
    bill = json.loads(done.stdout)
    lock = (ROOT / "requirements" / "base.lock").read_text()

    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.6")
    listed = {(part["name"], part["version"]) for part in bill["components"]}
    assert listed == set(re.findall(r"^([a-z0-9._-]+)==([^\s;\\]+)", lock, re.MULTILINE))
    assert len(listed) > 30
    for part in bill["components"]:
        assert part["externalReferences"][0]["hashes"], part["name"]
    assert sum(len(part["externalReferences"][0]["hashes"]) for part in bill["components"]) == lock.count(
        "--hash=sha256:"
    )
    assert set(bill["dependencies"][0]["dependsOn"]) == {part["bom-ref"] for part in bill["components"]}
    assert sum("licenses" in part for part in bill["components"]) > 30


def test_every_package_is_pinned_with_hashes():
    for lock in (ROOT / "requirements").glob("*.lock"):
        text = lock.read_text()
        pins = re.findall(r"^[a-z0-9._-]+==", text, re.MULTILINE)
        blocks = re.split(r"^(?=[a-z0-9._-]+==)", text, flags=re.MULTILINE)[1:]
        assert len(pins) == len(blocks)
        assert [block.split()[0] for block in blocks if "--hash=sha256:" not in block] == []


def test_hooks_before_a_commit_run_what_lint_runs():
    config = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())
    hooks = [hook for repository in config["repos"] for hook in repository["hooks"]]
    makefile = (ROOT / "Makefile").read_text()

    assert {repository["repo"] for repository in config["repos"]} == {"local"}  # nothing is fetched
    for name in ("ruff", "mypy", "lint-imports"):
        assert any(name in hook["entry"] for hook in hooks)
        assert f"bin/{name}" in makefile


def test_the_version_is_said_once():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    from periplus import __version__

    assert __version__ == project["version"]
    assert f"## {project['version']}" in (ROOT / "CHANGELOG.md").read_text()
    assert f"periplus:{project['version']}" in (ROOT / "deploy" / "kubernetes" / "periplus.yml").read_text()
