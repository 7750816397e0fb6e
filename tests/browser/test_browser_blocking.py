"""A host is blocked in the console of a real collection: out of results at once, back when it is unblocked."""

from __future__ import annotations

import json

import pytest
from browser_tools import SIZES, expect, take_picture

from periplus import Collection, addresses
from periplus.app.importing import import_paths
from periplus.app.serving.server import operator_key, web_server

pytestmark = pytest.mark.browser

HOSTS = ("a.test", "b.test")


@pytest.fixture
def collection(tmp_path):
    lines = [
        json.dumps({"id": f"http://{host}/{page}", "url": f"http://{host}/{page}", "title": f"Tide {page} of {host}",
                    "text": f"The tide at the quay {page} of {host} turns at six."})
        for host in HOSTS
        for page in range(3)
    ]  # fmt: skip
    (tmp_path / "pages.jsonl").write_text("\n".join(lines))
    with Collection(tmp_path / "c", flags={"serve.port": 0}) as made:
        made.create()
        import_paths(made, [tmp_path / "pages.jsonl"])
        made.index()
        with made.database.write() as tx:
            for name in HOSTS:
                sql = "INSERT INTO hosts (key, name, site, part, level, next_at) VALUES (?, ?, ?, 0, 2, 1e15)"
                tx.execute(sql, (addresses.host_key(name), name, name))
        yield made


@pytest.fixture
def address(collection):
    with web_server(collection) as server:
        yield server.address.rstrip("/")


@pytest.fixture(params=["with scripts", "without scripts"])
def page(request, open_context):
    return open_context(java_script_enabled=request.param == "with scripts").new_page()


def hosts_found(page):
    page.goto("/search?q=tide")
    links = page.locator(".result h2 a, .result h3 a").evaluate_all("links => links.map(link => link.host)")
    return set(links)


def test_a_block_is_asked_about_holds_at_once_and_is_undone(page, collection):
    assert hosts_found(page) == {"a.test", "b.test"}
    page.goto(f"/console/hosts?key={operator_key(collection)}")
    page.goto("/console/hosts")
    row = page.locator("tr", has_text="a.test")
    row.locator(".acts > summary").click()
    expect(page.get_by_role("button", name="Block: a.test")).to_be_hidden()
    row.locator(".sure > summary").click()
    take_picture(page, "block-asks")
    page.set_viewport_size(SIZES["phone"])
    take_picture(page, "block-asks-phone")
    page.set_viewport_size(SIZES["wide"])
    page.get_by_role("button", name="Block: a.test").click()
    expect(page.get_by_role("status")).to_contain_text("hidden from results")
    expect(page.locator("tr", has_text="a.test")).to_contain_text("blocked")
    take_picture(page, "blocked")
    assert hosts_found(page) == {"b.test"}

    page.goto("/console/hosts")
    page.locator("tr", has_text="a.test").locator(".acts > summary").click()
    page.get_by_role("button", name="Unblock: a.test").click()
    expect(page.get_by_role("status")).to_contain_text("in results again")
    assert hosts_found(page) == {"a.test", "b.test"}
