"""The console in a real browser: it keeps itself fresh, and its forms work without scripts."""

from __future__ import annotations

import pytest
from browser_tools import expect

pytestmark = pytest.mark.browser


def test_the_overview_refreshes_itself(page, backend):
    page.goto("/console")
    expect(page.locator(".figures")).to_contain_text("1\u202f234")
    status = backend.status()
    backend.status = lambda: {**status, "crawl": {**status["crawl"], "pages": 9_876}}

    expect(page.locator(".figures")).to_contain_text("9\u202f876")


def test_results_are_judged_without_scripts(plain_page, backend):
    page = plain_page
    page.goto("/console")
    page.get_by_role("link", name="Queries").click()
    page.get_by_label("Query", exact=True).fill("tide")
    page.get_by_label("beside").select_option("bm25")
    page.get_by_role("button", name="Take apart").click()
    expect(page.locator(".beside section")).to_have_count(2)
    page.locator(".judged select").first.select_option("3")
    page.get_by_role("button", name="Keep these judgements").click()

    expect(page.locator(".judged select").first).to_have_value("3")
    assert list(backend.panels.judged["tide"].values()) == [3]
    expect(page.get_by_text("1 query is judged")).to_be_visible()


def test_hostile_addresses_run_no_script_in_the_console(page):
    for path in ("/console/errors", "/console/hosts", "/console/queries?text=hostile&beside=bm25"):
        page.goto(path)
        page.locator("main").hover()
        assert page.title() != "pwned"
        assert page.locator('main a[href^="javascript:"]').count() == 0
