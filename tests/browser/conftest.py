"""A real Chromium against a served app. Pages may reach nothing but the server under test."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

# The fake backend lives with the tests of the pages.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "web"))

from browser_tools import ARGUMENTS, CHROMIUM, ROOT, SIZES, expect
from fake_backend import FakeBackend

from periplus.settings import Settings
from periplus.web import WebServer, create_app

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, BrowserContext, Page


@pytest.fixture(scope="session")
def browser_present(pytestconfig: pytest.Config) -> None:
    # Several folders have a conftest.py; the plugin manager knows which one is meant.
    shared = pytestconfig.pluginmanager.get_plugin(str(ROOT / "tests" / "conftest.py"))
    if not CHROMIUM.exists():
        shared.missing("Chromium")
    if expect is None:
        shared.missing("playwright")


@pytest.fixture(scope="module")
def chromium(browser_present: None) -> Iterator[Browser]:
    """One browser a file: the driver holds the thread's event loop, which tests of other rooms want for themselves."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=str(CHROMIUM), args=ARGUMENTS)
        yield browser
        browser.close()


@pytest.fixture
def backend() -> FakeBackend:
    return FakeBackend()


@pytest.fixture
def address(backend: FakeBackend) -> Iterator[str]:
    with WebServer(create_app(backend, Settings())) as server:
        yield server.address.rstrip("/")


@pytest.fixture
def open_context(chromium: Browser, address: str) -> Iterator[Callable[..., BrowserContext]]:
    """Makes browser contexts whose pages fail the test on a script error, a policy violation or a foreign request."""
    made: list[BrowserContext] = []
    wrong: list[str] = []

    def make(*, also: str = "", **options: object) -> BrowserContext:
        """``also`` is the beginning of addresses that may be asked for besides the server's own."""
        context = chromium.new_context(**{"viewport": SIZES["wide"], "base_url": address, **options})
        context.set_default_timeout(30_000)
        allowed = (address, also) if also else (address,)
        context.on("request", lambda request: request.url.startswith(allowed) or wrong.append(request.url))
        context.on("weberror", lambda error: wrong.append(str(error.error)))
        context.on("console", lambda message: message.type == "error" and wrong.append(message.text))
        made.append(context)
        return context

    yield make
    for context in made:
        context.close()
    assert wrong == []


@pytest.fixture
def page(open_context: Callable[..., BrowserContext]) -> Page:
    return open_context().new_page()


@pytest.fixture
def plain_page(open_context: Callable[..., BrowserContext]) -> Page:
    """The same browser with JavaScript off."""
    return open_context(java_script_enabled=False).new_page()
