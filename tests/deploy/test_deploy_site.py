"""The documentation as a site: whole, with links that lead somewhere, and found by Periplus itself."""

from __future__ import annotations

import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urljoin, urlsplit

import pytest

from periplus.app import Collection
from periplus.app.importing import import_paths
from periplus.records import SearchRequest

ROOT = Path(__file__).resolve().parent.parent.parent
BASE = "https://docs.test/"


class Tags(HTMLParser):
    """The tags of a page with their attributes."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        self.ids = {attributes["id"] for _, attributes in self.tags if "id" in attributes}
        self.addresses = [
            attributes[name] for _, attributes in self.tags for name in ("href", "src") if name in attributes
        ]

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, ROOT / "scripts" / "site.py", folder, "--search", "http://127.0.0.1:8080/"]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def parsed(site):
    return {urljoin(BASE, path.relative_to(site).as_posix()): Tags(path.read_text()) for path in site.rglob("*.html")}


def test_every_page_of_the_docs_is_there(site):
    for source in (ROOT / "docs").rglob("*.md"):
        path = source.relative_to(ROOT)
        name = path.with_name("index.html") if path.name == "README.md" else path.with_suffix(".html")
        assert (site / name).exists() or "lab" in path.parts, name


def test_links_lead_to_pages_and_headings(site, parsed):
    lost = []
    for address, page in parsed.items():
        for target in page.addresses:
            whole, fragment = urldefrag(urljoin(address, target))
            if not whole.startswith(BASE):
                continue
            if not (site / unquote(urlsplit(whole).path).lstrip("/")).is_file():
                lost.append((address, whole))
            elif fragment and fragment not in parsed[whole].ids:
                lost.append((address, whole, fragment))
    assert lost == []


def test_nothing_is_loaded_from_elsewhere(parsed):
    for page in parsed.values():
        loaded = [(tag, attributes) for tag, attributes in page.tags if "src" in attributes or tag == "link"]
        assert not [tag for tag, _ in page.tags if tag in ("script", "iframe")]
        assert not [one for one in loaded if "//" in (one[1].get("src") or one[1].get("href") or "")]
        (form,) = [attributes for tag, attributes in page.tags if tag == "form"]
        assert form["action"] == "http://127.0.0.1:8080/search"


def test_the_site_is_found_by_periplus(site, tmp_path):
    with Collection(tmp_path / "collection") as collection:
        collection.create()
        import_paths(collection, [site], base_url=BASE)
        collection.index()
    with Collection.existing(tmp_path / "collection") as collection:
        first = collection.engine.search(SearchRequest("restore a backup")).results[0]
    assert first.url == f"{BASE}docs/backups.html"
