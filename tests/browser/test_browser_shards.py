"""A shard server is drained in the console: asked about first, then done."""

from __future__ import annotations

import pytest
from browser_tools import expect, take_picture

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("scripts", [True, False])
def test_a_drain_is_asked_about(open_context, backend, scripts):
    page = open_context(java_script_enabled=scripts).new_page()
    page.goto("/console/shards")
    row = page.locator("tr", has_text="127.0.0.1:8650")
    row.locator(".acts > summary").click()
    button = page.get_by_role("button", name="Drain: http://127.0.0.1:8650")
    expect(button).to_be_hidden()
    row.locator(".sure > summary").first.click()
    expect(row).to_contain_text("Answers lack its documents unless another server has them")
    take_picture(page, "drain-asks")
    assert backend.steered == []
    button.click()
    expect(page.get_by_role("status")).to_contain_text("finishes what it has and ends")
    assert backend.steered == [("drain", "http://127.0.0.1:8650")]
