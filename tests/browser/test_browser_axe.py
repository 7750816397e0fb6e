"""Accessibility by axe: no violation on any page, however small, in both looks."""

from __future__ import annotations

import pytest
from browser_tools import axe_violations, open_details
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
def test_no_violation_on_any_page(page_for_axe, scheme):
    page = page_for_axe(scheme)
    wrong = []
    for name, path in {**PAGES, **MORE_PAGES}.items():
        page.goto(path)
        open_details(page)
        wrong += [f"{name}: {violation}" for violation in axe_violations(page, scheme)]
    assert wrong == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pale_letters_are_a_violation_in_both_looks(page_for_axe, scheme):
    page = page_for_axe(scheme)
    page.goto("/")
    page.add_style_tag(content="body, main * { color: #777 !important; background: #808080 !important }")
    assert [one for one in axe_violations(page, scheme) if one.startswith("color-contrast")]
