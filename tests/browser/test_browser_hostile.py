"""Real payloads wherever text of others is shown: nothing runs, nothing is asked of anybody, nothing breaks out."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from fake_backend import Note

pytestmark = pytest.mark.browser

RUN = "document.title='pwned'"
PAYLOADS = (
    f"<script>{RUN}</script>",
    f'"><img src=x onerror="{RUN}">',
    f"'><svg onload={RUN}>",
    f"</title></textarea></style><script>{RUN}</script>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f'<a href="javascript:{RUN}" autofocus onfocus={RUN}>x</a>',
    f"<math><mtext></p><style><img src=x onerror={RUN}></style>",
    f"<!--><script>{RUN}</script>-->",
    "<meta http-equiv=refresh content='0;url=http://evil.test/'>",
    "<base href=http://evil.test/><link rel=stylesheet href=//evil.test/a.css>",
    "<form action=http://evil.test/><button formaction=http://evil.test/>x",
    f"&lt;script&gt;{RUN}&lt;/script&gt;",
    f"{{{{ 7*7 }}}}{{% include '/etc/passwd' %}}${{{RUN}}}",
    f"\u202e\u2066<script>{RUN}</script>\u2028\u2029\x00",
)
URLS = (
    f"javascript:{RUN}",
    f"JaVaScRiPt:{RUN}//http://x.test/",
    f"data:text/html,<script>{RUN}</script>",
    f"vbscript:{RUN}",
    f'http://x.test/"onmouseover="{RUN}',
    f"http://x.test/<script>{RUN}</script>",
    f"http://user:pass@x.test/'><img src=x onerror={RUN}>",
)


BROUGHT_IN = "main script, iframe, math, base, main meta, main style, main link, svg[onload]"
WITH_HANDLER = (
    "() => [...document.querySelectorAll('*')].filter((e) => [...e.attributes].some((a) => /^on/.test(a.name)))"
)
LEADING_AWAY = """() => [...document.querySelectorAll("[href],[src],[action],[formaction]")]
  .map((e) => ["href", "src", "action", "formaction"].map((name) => e.getAttribute(name)).find(Boolean) ?? "/")
  .filter((address) => !/^(https?:|[/#?]|tel:[+0-9]*$)/.test(address))"""


def unharmed(page, elements):
    """Nothing ran, and the page has no element, handler or link that a payload brought."""
    assert page.title() != "pwned"
    assert page.locator(BROUGHT_IN).count() == 0
    assert page.evaluate(f"({WITH_HANDLER})().length") == 0
    assert page.evaluate(LEADING_AWAY) == []
    page.locator(elements).first.hover()
    assert page.title() != "pwned"


@pytest.fixture
def collection_of_payloads(backend):
    backend.notes = [
        *(
            Note(f"http://x.test/{number}", text, f"tide {text} tide", text, text)
            for number, text in enumerate(PAYLOADS)
        ),
        *(Note(url, f"tide {url}", f"tide {url}") for url in URLS),
    ]
    drawing = f"onload=\"{RUN}\"><script>{RUN}</script><rect width='9' height='9'/></svg>"
    backend.icons = {"x.test": f"<svg xmlns='http://www.w3.org/2000/svg' {drawing}".encode()}
    backend.corrections = PAYLOADS[:3]
    facts = [{"address": text, "telephone": text, "source": text} for text in PAYLOADS]
    backend.kinds = {"news": {f"http://x.test/{number}": told for number, told in enumerate(facts)}}
    return backend


def test_titles_addresses_snippets_types_and_languages(page, collection_of_payloads):
    for path in (
        "/search?q=tide",
        "/search?q=tide&page=2",
        "/search?q=tide&page=3",
        "/search?q=tide&tab=news",
        "/similar?url=http://x.test/1",
    ):
        page.goto(path)
        for details in page.locator("main details").all():
            details.evaluate("node => { node.open = true }")
        unharmed(page, ".result")
    page.goto("/search?q=tide&size=100")
    hrefs = page.locator(".hit").evaluate_all("links => links.map((link) => link.protocol)")
    assert set(hrefs) <= {"http:", "https:"}


@pytest.mark.parametrize("payload", PAYLOADS)
def test_cached_pages_sites_and_queries(page, collection_of_payloads, payload):
    number = PAYLOADS.index(payload)
    for path in (
        f"/cached?url=http://x.test/{number}&q={quote(payload)}",
        f"/search?q=tide+{quote(payload)}",
        f"/explain?q={quote(payload)}&url=http://x.test/{number}",
        f"/preferences?lens={quote(payload)}",
        f"/embed?site={quote(payload)}",
    ):
        page.goto(path)
        unharmed(page, "main")


def test_pictures_cannot_run_anything_even_when_opened(open_context, collection_of_payloads):
    page = open_context().new_page()
    page.goto("/icon/x.test")
    page.wait_for_timeout(0)

    assert page.evaluate("document.documentElement.getAttribute('onload')") is None
    assert page.evaluate("document.title") != "pwned"


def test_a_search_page_in_a_foreign_frame_stays_empty(open_context, address):
    page = open_context().new_page()
    answer = page.goto("/search?q=tide")

    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-frame-options"] == "DENY"
    assert "unsafe" not in answer.headers["content-security-policy"]


def test_the_weight_of_a_result_page(page):
    """All that is transferred for a first visit: page, style, scripts, mark and pictures."""
    sizes = []
    page.on("requestfinished", lambda request: sizes.append(request.sizes()["responseBodySize"]))
    page.goto("/search?q=tide")
    page.wait_for_load_state("networkidle")

    assert len(sizes) >= 6
    assert sum(sizes) < 60_000
