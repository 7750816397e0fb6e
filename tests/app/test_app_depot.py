"""Where a collection on many machines keeps its files."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from periplus.app import Collection
from periplus.errors import SettingError

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
