"""The snippets for browsers on the page of the API run in one."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.browser


def test_the_javascript_snippet_gives_an_answer(page):
    page.goto("/api")
    snippet = page.locator('#search pre[aria-label="search: JavaScript"]').text_content()
    with page.expect_console_message() as said:
        page.evaluate(f"async () => {{ {snippet} }}")

    assert said.value.args[0].json_value()["query"]["text"] == "spring tide"
