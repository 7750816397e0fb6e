"""Where a collection on many machines keeps its files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from periplus import addresses
from periplus.app import Collection
from periplus.app.doctor import examine
from periplus.documents import BatchLog
from periplus.errors import SettingError
from periplus.records import Document

if TYPE_CHECKING:
    from pathlib import Path


def test_a_collection_has_a_depot_where_its_settings_name_an_object_store(tmp_path: Path) -> None:
    folder = tmp_path / "c"
    flags = {"storage.files": f"file://{tmp_path}/store", "storage.database": "postgresql:///none"}
    depot = Collection(folder, flags=flags).depot
    assert depot is not None
    assert depot.files.root == folder.resolve()
    assert depot.objects.address == f"file://{tmp_path}/store"
    assert Collection(folder).depot is None


def test_an_object_store_needs_a_database_that_machines_share(tmp_path: Path) -> None:
    with pytest.raises(SettingError, match="set storage.database too"):
        _ = Collection(tmp_path, flags={"storage.files": f"file://{tmp_path}/store"}).depot
    flags = {"storage.files": "/a/folder", "storage.database": "postgresql:///none"}
    with pytest.raises(SettingError, match="write s3://bucket/prefix or file:///folder"):
        _ = Collection(tmp_path, flags=flags).depot


@pytest.mark.postgres
def test_what_one_machine_stored_is_indexed_and_searched_on_another(tmp_path: Path, postgres_address: str) -> None:
    flags = {"storage.files": f"file://{tmp_path}/store", "storage.database": postgres_address}
    document = Document(
        "https://a.test/", addresses.key("https://a.test/"), 1.0, title="Harbour", text="calm sea " * 20
    )
    with Collection(tmp_path / "one", flags=flags).create() as one:
        BatchLog(one.files, one.database, one.depot).append([document])
    with Collection(tmp_path / "two", flags=flags).create() as two:
        assert two.index().documents == 1
        assert [result.url for result in two.search("calm").results] == ["https://a.test/"]
        assert [finding.state for finding in examine(two) if finding.check == "objects"] == ["ok"]
        two.depot.objects.remove(two.depot.objects.names("links/")[0])
        found = [finding for finding in examine(two) if finding.check == "objects"]
        assert [finding.state for finding in found] == ["failed"]
        assert "is missing" in found[0].detail
