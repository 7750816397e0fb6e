"""Accessibility by axe: no serious violation on any page, in both looks."""

from __future__ import annotations

import pytest
from test_browser_look import PAGES

pytestmark = pytest.mark.browser

MORE_PAGES = {
    "arabic": "/search?q=tide&lang=ar",
    "bot": "/about-bot",
    "inspect-empty": "/inspect",
    "preferences-empty": "/preferences",
    "done": "/console/hosts?done=block&target=tides.test",
}


@pytest.fixture
def page_for_axe(open_context):
    """axe is injected by the browser's own debugger, past our policy, so that the policy stays as visitors get it."""
    return lambda scheme: open_context(color_scheme=scheme, bypass_csp=True).new_page()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_violation_on_any_page(page_for_axe, scheme):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    page = page_for_axe(scheme)
    wrong = []
    for name, path in {**PAGES, **MORE_PAGES}.items():
        page.goto(path)
        for details in page.locator("main details").all():
            details.evaluate("node => { node.open = true }")
        for violation in axe.run(page).response["violations"]:
            if violation["impact"] in ("serious", "critical"):
                where = "; ".join(" ".join(map(str, node["target"])) for node in violation["nodes"][:3])
                wrong.append(f"{name}: {violation['id']} at {where}")
    assert wrong == []
