"""Edge lists: numbers and names, comments, gzip, and what is wrong with which line."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from periplus.errors import Corrupt, NotFound, Truncated, UsageError
from periplus.graph import edge_list, read_edges


def edges_of(found) -> set:
    names = found.names
    return {(names[s], names[t]) for s, t in zip(found.graph.sources, found.graph.targets, strict=True)}


def written(folder: Path, text: str | bytes) -> Path:
    path = folder / "edges"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@given(
    edges=st.lists(st.tuples(st.integers(0, 10**15), st.integers(0, 30)), max_size=30),
    blanks=st.sampled_from([" ", "\t", "  \t "]),
    end=st.sampled_from(["\n", "\r\n"]),
    comment=st.sampled_from(["", "# a comment", "   # another", "\t"]),
    packed=st.booleans(),
    block=st.sampled_from([7, 40, 10_000]),
)
@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_list_of_numbers(tmp_path: Path, monkeypatch, edges, blanks, end, comment, packed, block) -> None:
    monkeypatch.setattr(edge_list, "BLOCK", block)
    lines = [f"{source}{blanks}{target}" for source, target in edges]
    lines[len(lines) // 2 : len(lines) // 2] = [comment] * 2
    data = end.join(lines).encode()
    found = read_edges(written(tmp_path, gzip.compress(data) if packed else data))
    assert edges_of(found) == set(edges)
    assert list(found.names) == sorted({vertex for edge in edges for vertex in edge})


def test_nodes_exist_without_a_link(tmp_path: Path) -> None:
    found = read_edges(written(tmp_path, "1 9\n"), nodes=4)
    assert list(found.names) == [0, 1, 2, 3, 9]
    assert found.graph.vertices == 5
    assert read_edges(written(tmp_path, ""), nodes=2).graph.vertices == 2


def test_names(tmp_path: Path) -> None:
    found = read_edges(written(tmp_path, "# hosts\nexample.org b\u00fccher.de\nb\u00fccher.de 17\n"))
    assert edges_of(found) == {("example.org", "b\u00fccher.de"), ("b\u00fccher.de", "17")}
    with pytest.raises(UsageError, match="numbers"):
        read_edges(written(tmp_path, "a b\n"), nodes=3)


@pytest.mark.parametrize("text", ["", "\n\n", "# nothing\n"])
def test_an_empty_list(tmp_path: Path, text: str) -> None:
    assert read_edges(written(tmp_path, text)).graph.vertices == 0


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("1 2\n3\n", 2),
        ("# c\n\n1 2\n1 2 3\n", 4),
        ("1 2\n2 x\n", 2),
        ("1 2\n-1 2\n", 2),
        ("1 2\n1.5 2\n", 2),
        ("1 2\n" * 1000 + "1234567890123456789012 3\n", 1001),
        ("a b\nc\n", 2),
        ("1 2\n3 4\n5", 3),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, text: str, line: int) -> None:
    with pytest.raises(UsageError, match=f"line {line}:"):
        read_edges(written(tmp_path, text))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    packed = gzip.compress(np.random.default_rng(1).bytes(5000).hex().encode())
    with pytest.raises(NotFound):
        read_edges(tmp_path / "absent")
    with pytest.raises(Truncated):
        read_edges(written(tmp_path, gzip.compress(b"1 2\n" * 10_000)[:-20]))
    with pytest.raises(Corrupt):
        read_edges(written(tmp_path, packed[:60] + b"\x00" * 30 + packed[90:]))
    with pytest.raises(UsageError, match="longer"):
        read_edges(written(tmp_path, b"1" * 200_000))
    with pytest.raises(UsageError):
        read_edges(written(tmp_path, "1 2\n"), nodes=-1)
