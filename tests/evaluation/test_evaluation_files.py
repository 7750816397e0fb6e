from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.errors import NotFound, StorageError, UsageError
from periplus.evaluation import read_collection, read_qrels, read_queries, read_run, write_qrels, write_run

NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Z", "C"]), min_size=1).filter(
    lambda name: len(name.split()) == 1 and not name.startswith("\ufeff")
)


@pytest.fixture
def file(tmp_path):
    def make(content):
        path = tmp_path / "file"
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return make


def test_queries(file):
    assert read_queries(file("1\tfirst query\r\n\n q2 \t with\ttab\n")) == {"1": "first query", "q2": "with\ttab"}
    assert read_queries(file(b"\xef\xbb\xbf1\tmark")) == {"1": "mark"}


@pytest.mark.parametrize("content", ["no tab", "\tno id", "1\ta\n1\tb"])
def test_bad_queries_name_their_line(file, content):
    with pytest.raises(UsageError, match="file line [12]: "):
        read_queries(file(content))


@pytest.mark.parametrize("content", ["1\td1\t2\n1\td2\t0\n2\td1\t1\n", "1 0 d1 2\n1 0 d2 0\n2\t0\td1\t1\n"])
def test_judgements_of_both_formats(file, content):
    assert read_qrels(file(content)) == {"1": {"d1": 2, "d2": 0}, "2": {"d1": 1}}


def test_the_highest_of_several_grades_counts(file):
    assert read_qrels(file("1 0 d 1\n1 0 d 3\n1 0 d 0\n1 0 e -1\n")) == {"1": {"d": 3, "e": -1}}


@pytest.mark.parametrize("content", ["1 d1", "1 0 d1 x", "1 0 d1 1 1", "1\td1\t1.5"])
def test_bad_judgements_name_their_line(file, content):
    with pytest.raises(UsageError, match="file line 2: .* is neither"):
        read_qrels(file("1 0 d0 1\n" + content))


def test_files_that_cannot_be_read(file, tmp_path):
    with pytest.raises(NotFound, match="absent does not exist"):
        read_queries(tmp_path / "absent")
    with pytest.raises(UsageError, match="cannot be read"):
        read_queries(tmp_path)
    with pytest.raises(UsageError, match="is not UTF-8"):
        read_queries(file(b"1\t\xff\xfe"))


@given(
    qrels=st.dictionaries(NAMES, st.dictionaries(NAMES, st.integers(0, 4), min_size=1)),
)
def test_judgements_round_trip(tmp_path_factory, qrels):
    path = tmp_path_factory.getbasetemp() / "qrels"
    write_qrels(path, qrels)
    assert read_qrels(path) == qrels


@given(run=st.dictionaries(NAMES, st.lists(NAMES, unique=True, min_size=1)))
def test_runs_round_trip(tmp_path_factory, run):
    path = tmp_path_factory.getbasetemp() / "run"
    write_run(path, run, "tag")
    assert read_run(path) == run


def test_a_run_is_in_the_order_of_its_scores(file):
    content = "1 Q0 a 1 0.5 t\n1 Q0 b 2 1.5 t\n1 Q0 d 3 0.5 t\n1 Q0 c 4 0.5 t\n2 Q0 a 1 -3e-2 t\n"
    assert read_run(file(content)) == {"1": ["b", "d", "c", "a"], "2": ["a"]}


@pytest.mark.parametrize("content", ["1 Q0 a 1 0.5", "1 Q0 a 1 x t", "1 Q0 a 1 nan t", "1 Q0 a 1 1 t\n1 Q0 a 2 1 t"])
def test_bad_runs(file, content):
    with pytest.raises(UsageError, match="file line"):
        read_run(file(content))


def test_writing_where_one_cannot(tmp_path):
    with pytest.raises(StorageError, match="cannot be written"):
        write_run(tmp_path / "absent" / "run", {"1": ["a"]})
    with pytest.raises(UsageError, match="spaces"):
        write_run(tmp_path / "run", {"1": ["a b"]})


def test_a_collection_in_a_folder(tmp_path):
    (tmp_path / "docs.jsonl").write_text('{"id": "d1", "title": "T", "text": "x"}\n\n{"id": "d2", "more": 1}\n')
    (tmp_path / "queries.tsv").write_text("1\tfirst\n")
    (tmp_path / "qrels.tsv").write_text("1\td1\t1\n")
    collection = read_collection(tmp_path)
    assert collection.queries == {"1": "first"}
    assert collection.qrels == {"1": {"d1": 1}}
    assert [(document.id, document.title, document.text) for document in collection.documents()] == [
        ("d1", "T", "x"),
        ("d2", "", ""),
    ]
    (tmp_path / "docs.jsonl").write_text('{"id": "d1"}\n{"title": "no id"}\n')
    with pytest.raises(UsageError, match="docs.jsonl line 2: "):
        list(collection.documents())


@pytest.mark.shared_data
@pytest.mark.parametrize(
    ("name", "documents", "queries", "judgements"),
    [("adi", 82, 35, 170), ("cacm", 3204, 64, 796), ("cranfield", 1400, 225, 1837), ("med", 1033, 30, 696)],
)
def test_the_classic_collections_are_read_whole(shared_data, name, documents, queries, judgements):
    collection = read_collection(shared_data / "relevance" / name)
    assert sum(1 for _ in collection.documents()) == documents
    assert len(collection.queries) == queries
    assert sum(len(grades) for grades in collection.qrels.values()) == judgements
