"""One rule for exit codes: 2 when the command line itself is wrong, 1 for everything else that fails."""

from __future__ import annotations

import pytest

from periplus.app import Collection
from periplus.cli.main import run
from periplus.cli.verbs import VERBS

# What nobody can type rightly, whatever is in the folder: verb, flag, a missing argument, a value a flag cannot take.
WRONG = [
    "voyage",
    "demo --port many",
    "up https://a.test/ --scope wide",
    "up nonsense://a.test/",
    "up https://a.test/ --port 99999",
    "crawl https://a.test/ --scope wide",
    "crawl https://a.test/ --tls perhaps",
    "crawl https://a.test/ --documents never",
    "crawl https://a.test/ --include (",
    "crawl https://a.test/ --exclude (",
    "crawl https://a.test/ --hours 25-99",
    "crawl https://a.test/ --resolve nonsense",
    "crawl https://a.test/ --header nonsense",
    "crawl https://a.test/ --auth nonsense",
    "crawl https://a.test/ --proxy nonsense",
    "crawl https://a.test/ --max-bandwidth lots",
    "crawl https://a.test/ --max-pages -1",
    "crawl https://a.test/ --for -1",
    "crawl ftp://a.test/",
    "crawl --dir {empty}",
    "import",
    "index --memory lots",
    "index --workers -1",
    "rank --graph tree",
    "serve --port 99999",
    "serve --workers 0",
    "search",
    "search tides -k many",
    "suggest",
    "suggest ti --limit 0",
    "explain tides",
    "status --colour",
    "inspect",
    "inspect nonsense --dir {empty}",
    "politeness --host a.test",
    "pause now",
    "resume now",
    "stop now",
    "restart",
    "restart leader",
    "reshard",
    "reshard many",
    "reshard 0 --dir {empty}",
    "reshard 1025 --dir {empty}",
    "move --dir {empty}",
    "move --to s3://bucket/prefix --dir {empty}",
    "move --to elsewhere --dir {empty}",
    "move --to ftp://there postgresql:///x --dir {empty}",
    "shard --dir {empty}",
    "shard --number first --dir {empty}",
    "shard --number -1 --dir {empty}",
    "shard --number 0 --dir {empty} --host 192.0.2.1",
    "remove",
    "remove a/b/c --dir {empty}",
    "keys paint --dir {empty}",
    "keys create --dir {empty}",
    "keys create name --scope everything --dir {empty}",
    "backup",
    "backup ftp://a.test/ --dir {empty}",
    "backup {missing} --keep 0 --dir {empty}",
    "backup {empty}/copies --dir {empty}",
    "restore",
    "restore {missing} --number first",
    "verify --mend",
    "doctor --mend",
    "mcp --paint",
    "cluster paint --dir {empty}",
    "cluster join --dir {empty}",
    "analyze",
    "fetch",
    "fetch nonsense",
    "parse",
    "parse {file} --base-url nonsense",
    "pagerank",
    "pagerank {edges} --damping 2",
    "pagerank {edges} --tolerance 0",
    "pagerank {edges} --nodes -1",
    "pagerank {edges} --nodes 99999999999999",
    "export paintings --dir {empty}",
    "export pages --dir {empty} --format stone",
    "export run --dir {empty}",
    "evaluate",
    "warm --up",
]
# What is typed rightly and cannot be done: something is missing, damaged, taken, or in another state.
FAILED = [
    "demo --dir {empty} --port 0",
    "up --dir {missing}",
    "up https://a.test/ --dir {damaged}",
    "crawl --dir {missing}",
    "crawl --dir {damaged}",
    "crawl --dir {odd}",
    "crawl https://a.test/ --dir {pattern}",
    "crawl --seeds {missing} --dir {empty}",
    "crawl --seeds {file} --dir {empty}",
    "crawl https://a.test/ --auth a.test=me:{missing} --dir {empty}",
    "import {missing} --dir {empty}",
    "import {odd_file} --dir {empty}",
    "index --dir {missing}",
    "rank --dir {missing}",
    "serve --dir {missing}",
    "serve --dir {empty} --tls-cert {missing}",
    "serve --dir {empty} --host 192.0.2.1 --port 0",
    "search tides --dir {missing}",
    "search tides --dir {empty}",
    "suggest ti --dir {missing}",
    "explain tides https://a.test/ --dir {missing}",
    "status --dir {missing}",
    "status --dir {damaged}",
    "inspect https://a.test/ --dir {missing}",
    "politeness --dir {missing}",
    "pause --dir {empty}",
    "resume --dir {empty}",
    "stop --dir {empty}",
    "restart 7 --dir {empty}",
    "reshard 2 --dir {missing}",
    "reshard 2 --dir {empty}",
    "move --to file:///tmp/none postgresql:///none --dir {missing}",
    "shard --number 0 --dir {missing}",
    "remove https://a.test/ --dir {missing}",
    "remove https://a.test/ --dir {empty}",
    "keys revoke nobody --dir {empty}",
    "keys --dir {missing}",
    "backup {empty} --dir {missing}",
    "restore {empty} --dir {missing}",
    "verify {empty}",
    "verify --dir {missing}",
    "doctor --dir {missing}",
    "mcp --dir {missing}",
    "cluster status --dir {missing}",
    "fetch http://127.0.0.1:9/",
    "parse {missing}",
    "pagerank {missing}",
    "pagerank {file}",
    "pagerank {edges} --trusted 77",
    "export pages --dir {missing}",
    "evaluate --queries {missing} --qrels {missing} --dir {empty}",
    "evaluate --queries {file} --qrels {file} --dir {empty}",
]


@pytest.fixture(scope="module")
def places(tmp_path_factory):
    folder = tmp_path_factory.mktemp("places")
    with Collection(folder / "empty") as made:
        made.create()
        made.database  # noqa: B018 - opened, so that there is one
    for name, text in (
        ("damaged", "[crawl\n"),
        ("odd", "[crawl]\ndelay = -1\n"),
        ("pattern", "[crawl]\ninclude = ['(']\n"),
    ):
        (folder / name).mkdir()
        (folder / name / "periplus.toml").write_text(text, encoding="utf-8")
    (folder / "file").write_text("ftp://a.test/ a b c\n", encoding="utf-8")
    (folder / "odd_file").write_text("what is this", encoding="utf-8")
    (folder / "edges").write_text("0 1\n1 0\n", encoding="utf-8")
    names = ("empty", "missing", "damaged", "odd", "pattern", "file", "odd_file", "edges")
    return {name: folder / name for name in names}


def said(capsys, places, line: str) -> tuple[int, str]:
    words = [word.format(**places) for word in line.split()]
    if "--dir" not in words and words[0] not in ("fetch", "parse", "pagerank", "analyze", "voyage", "warm"):
        words += ["--dir", str(places["missing"])]
    code = run(words)
    return code, capsys.readouterr().err


@pytest.mark.parametrize("line", WRONG)
def test_a_wrong_command_line_is_exit_code_2(capsys, places, line):
    code, error = said(capsys, places, line)

    assert code == 2, error
    assert error.startswith("periplus: ")
    assert error.count("\n") == 1
    assert not places["missing"].exists()


@pytest.mark.parametrize("line", FAILED)
def test_what_cannot_be_done_is_exit_code_1(capsys, places, line):
    code, error = said(capsys, places, line)

    assert code == 1, error
    assert error.splitlines()[-1].startswith("periplus: ")
    assert "this should not have happened" not in error
    assert "Traceback" not in error


def test_every_verb_is_in_both_tables_where_it_can_fail():
    cannot_fail = {"analyze", "warm"}
    assert {verb.name for verb in VERBS} == {line.split()[0] for line in WRONG} - {"voyage"}
    assert {verb.name for verb in VERBS} - cannot_fail == {line.split()[0] for line in FAILED}
