"""The judged sets are built anew when the code that builds an index has changed."""

from __future__ import annotations

from bench.relevance import sets


def test_the_name_of_a_set_depends_on_what_builds_an_index(tmp_path, monkeypatch):
    for folder in sets.BUILDERS:
        (tmp_path / "src" / "periplus" / folder).mkdir(parents=True)
        (tmp_path / "src" / "periplus" / folder / "some.py").write_text("")
    own = sets._code()
    assert own == sets._code()
    monkeypatch.setattr(sets, "ROOT", tmp_path)
    first = sets._code()
    (tmp_path / "src" / "periplus" / sets.BUILDERS[-1] / "some.py").write_text("changed")
    assert len({own, first, sets._code()}) == 3
