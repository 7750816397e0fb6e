"""The notebook for researchers gives the table of docs/relevance.md. PyTerrier is not among what other tests need:
``make research`` runs this in an environment of its own."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from periplus.ranking import PROFILES

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = ROOT / "integrations" / "pyterrier" / "relevance.ipynb"
COLUMNS = ["adi", "cranfield", "cacm", "med", "cisi", "mean"]


def published() -> dict[str, list[float]]:
    """The rows of the table "Every profile on every set"."""
    page = (ROOT / "docs" / "relevance.md").read_text(encoding="utf-8")
    section = page.partition("## Every profile on every set")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| `([\w-]+)` \|(.*)\|$", section, re.MULTILINE)
    return {name: [float(cell.strip(" ▲▼")) for cell in cells.split("|")] for name, cells in rows}


def cells() -> list[str]:
    read = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in read["cells"] if cell["cell_type"] == "code"]


def test_the_page_has_every_profile_and_the_notebook_can_be_read() -> None:
    assert set(published()) == set(PROFILES)
    assert all(compile(cell, str(NOTEBOOK), "exec") for cell in cells())


@pytest.mark.shared_data
@pytest.mark.filterwarnings("ignore")  # theirs, of pandas
def test_the_notebook_gives_our_relevance_table(shared_data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("pyterrier", reason="PyTerrier is not installed; make research runs this")
    monkeypatch.setitem(os.environ, "PERIPLUS_SHARED_DATA", str(shared_data))
    names: dict[str, object] = {}
    for cell in cells():
        exec(cell, names)
    table = names["table"]
    measured = {name: [round(float(table.loc[name, column]), 3) for column in COLUMNS] for name in table.index}
    assert measured == published()
