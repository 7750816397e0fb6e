from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from periplus.errors import AlreadyThere, NotFound, StorageError, StorageFull, UsageError
from periplus.storage import LocalFiles, reserve


@pytest.fixture
def files(tmp_path):
    return LocalFiles(tmp_path / "collection")


def test_what_was_written_is_read_back(files):
    files.write("documents/00000001.parquet", b"first")
    files.write("documents/00000001.parquet", b"second, longer")
    assert files.read("documents/00000001.parquet") == b"second, longer"
    assert files.size("documents/00000001.parquet") == 14
    assert files.exists("documents/00000001.parquet")
    assert not files.exists("documents")
    assert files.path("documents/00000001.parquet").is_file()


def test_a_file_that_must_be_new_replaces_none(files):
    files.write("links/1", b"first", new=True)
    with pytest.raises(AlreadyThere, match=r"links/1 is there already .* periplus doctor"):
        files.write("links/1", b"second", new=True)
    assert files.read("links/1") == b"first"
    assert [path.name for path in files.path("links/1").parent.iterdir()] == ["1"]  # nothing temporary is left


def test_names_are_sorted_and_filtered_by_prefix(files):
    for name in ("links/2", "links/1", "links/deep/3", "linksfar", "other/1"):
        files.write(name, b"")
    assert files.names() == ["links/1", "links/2", "links/deep/3", "linksfar", "other/1"]
    assert files.names("links/") == ["links/1", "links/2", "links/deep/3"]
    assert files.names("link") == ["links/1", "links/2", "links/deep/3", "linksfar"]
    assert files.names("links/d") == ["links/deep/3"]
    assert files.names("absent/") == []


def test_names_of_a_root_that_does_not_exist_yet(files):
    assert files.names() == []
    assert files.sweep() == []


def test_remove(files):
    files.write("a/b", b"x")
    files.remove("a/b")
    assert not files.exists("a/b")
    with pytest.raises(NotFound):
        files.remove("a/b")


def test_missing_files(files):
    with pytest.raises(NotFound, match="absent does not exist"):
        files.read("absent")
    with pytest.raises(NotFound):
        files.size("absent")


@pytest.mark.parametrize("name", ["", ".", "..", "../x", "a/../../x", "/etc/passwd", "a/..", "a\0b"])
def test_names_that_lead_out_are_refused(files, name):
    for action in (files.path, files.read, files.remove, files.exists, lambda name: files.write(name, b"")):
        with pytest.raises(UsageError):
            action(name)


def test_symbolic_links_out_of_the_root_are_refused(files, tmp_path):
    files.write("a", b"")
    (tmp_path / "outside").mkdir()
    (files.root / "door").symlink_to(tmp_path / "outside")
    with pytest.raises(UsageError, match="symbolic link"):
        files.write("door/x", b"")


@given(name=st.text(st.characters(codec="utf-8"), max_size=30))
def test_no_name_escapes(tmp_path_factory, name):
    files = LocalFiles(tmp_path_factory.getbasetemp() / "escape")
    try:
        path = files.path(name)
    except UsageError:
        return
    assert path.is_relative_to(files.root)
    assert path != files.root


def test_a_writer_that_fails_leaves_the_old_file_and_no_rest(files):
    files.write("a/b", b"old")
    with pytest.raises(ZeroDivisionError), files.create("a/b") as temporary:
        temporary.write_bytes(b"half")
        1 / 0  # noqa: B018
    assert files.read("a/b") == b"old"
    assert [path.name for path in (files.root / "a").iterdir()] == ["b"]


def test_a_temporary_file_is_not_seen_until_it_is_whole(files):
    with files.create("a/b") as temporary:
        temporary.write_bytes(b"new")
        assert temporary.parent == files.path("a/b").parent
        assert files.names() == []
        assert files.sweep() == []  # a file under way belongs to a running process
    assert files.names() == ["a/b"]
    assert files.read("a/b") == b"new"


def test_a_temporary_file_that_is_gone_is_an_error(files):
    with pytest.raises(NotFound), files.create("a/b") as temporary:
        temporary.unlink()
    assert files.names() == []


def test_sweep_removes_what_dead_processes_left(files, start):
    files.write("a/b", b"kept")
    script = (
        "import sys\n"
        "from periplus.storage import LocalFiles, reserve\n"
        "with LocalFiles(sys.argv[1]).create('a/b') as temporary:\n"
        "    temporary.write_bytes(b'half')\n"
        "    print(temporary.name, flush=True)\n"
        "    sys.stdin.readline()\n"
    )
    process = start(script, str(files.root))
    name = process.stdout.readline().strip()
    assert files.sweep() == []  # its writer lives
    process.kill()
    process.wait()
    assert (files.root / "a" / name).read_bytes() == b"half"
    with files.create("c") as mine:
        mine.write_bytes(b"under way")
        assert files.sweep() == [f"a/{name}"]
    assert files.names() == ["a/b", "c"]
    assert files.read("a/b") == b"kept"


def test_a_folder_in_the_way(files):
    files.write("a/b", b"")
    with pytest.raises(StorageError, match="check the disk"):
        files.write("a", b"")
    with pytest.raises(StorageError):
        files.write("a/b/c", b"")


def test_full_disk_by_limit_of_file_size(files, start, tmp_path):
    """RLIMIT_FSIZE makes the kernel refuse a write as a full disk does, for ordinary users too."""
    files.write("big", b"old")
    script = (
        "import resource, signal, sys\n"
        "from periplus.errors import StorageFull\n"
        "from periplus.storage import LocalFiles, reserve\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "try: LocalFiles(sys.argv[1]).write('big', b'x' * 1_000_000)\n"
        "except StorageFull as error: print('full:', error)\n"
    )
    output, errors = start(script, str(files.root)).communicate()
    assert output.startswith("full: no space left for"), errors
    assert files.read("big") == b"old"
    assert [path.name for path in files.root.iterdir()] == ["big"]


def test_full_disk_by_dev_full(files):
    """/dev/full answers every write with ENOSPC, the real thing."""
    with pytest.raises(StorageFull, match="free some"), files.create("x"), Path("/dev/full").open("wb") as full:
        full.write(b"x")
    assert files.names() == []


def test_a_reserved_file_has_its_room_or_is_refused(files, start, tmp_path):
    """In a file that has only its length, a write to mapped memory on a full disk would end the process."""
    reserve(tmp_path / "mapped", 500_000)
    assert (tmp_path / "mapped").stat().st_blocks * 512 >= 500_000
    program = (
        "import resource, signal, sys\n"
        "from pathlib import Path\n"
        "from periplus.storage import reserve\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "reserve(Path(sys.argv[1]), 500_000)\n"
    )
    _, errors = start(program, str(tmp_path / "other")).communicate()
    assert "StorageFull: no space left for" in errors
