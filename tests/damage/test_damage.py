"""Damage of every kind of file: one clear line, no signal, no other answer in silence, and what can be made again is.

``make soak-damage`` tries thousands; here is one of each kind of file and way, in turn.
"""

from __future__ import annotations

import pytest

from damage.specimen import build
from damage.trials import MENDABLE, WAYS, Judge, Mutation

SEED = 18
TRIED = 30


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    home = tmp_path_factory.mktemp("damage")
    build(home / "sound", home / "before", pages=16)
    (home / "work").mkdir()
    return Judge(home / "sound", home / "before", home / "work")


def test_the_collection_has_every_kind_of_file(judge):
    assert [kind for kind, files in judge.kinds.items() if not files] == []
    assert not judge.whole.errors
    assert not judge.whole.damage


def test_damage_is_met_with_one_clear_line(judge):
    met = {str(mutation): judge.try_one(mutation, mend=False) for mutation in judge.mutations(TRIED, SEED)}
    assert {mutation: wrong for mutation, wrong in met.items() if wrong} == {}


@pytest.mark.parametrize("kind", ["manifest", "postings", "rank columns", "documents", "links"])
def test_what_can_be_made_again_is_mended(judge, kind):
    assert kind in MENDABLE
    mutation = Mutation(kind, judge.kinds[kind][-1], WAYS[SEED % 2], SEED)
    assert judge.try_one(mutation) == []
