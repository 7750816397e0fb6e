"""What browser tests share. Importable without playwright, so that its absence is a skip with a reason."""

from __future__ import annotations

from pathlib import Path

import pytest

try:
    from playwright.sync_api import Error, expect

    expect.set_options(timeout=30_000)  # generous, for busy machines; a passing test never waits so long
except ModuleNotFoundError:
    Error, expect = Exception, None  # every test asks for a browser first and is skipped there

ROOT = Path(__file__).resolve().parent.parent.parent
CHROMIUM = Path("/usr/bin/chromium")
SCREENSHOTS = ROOT / "screenshots"
SIZES = {"wide": {"width": 1280, "height": 860}, "phone": {"width": 390, "height": 800}}
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
]

ATTEMPTS = 3

# Looks differ in colours and in nothing else: in the dark one, only the rules that look at colours are asked.
ASKED = {"light": {}, "dark": {"runOnly": {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}}}

__all__ = [
    "ARGUMENTS",
    "CHROMIUM",
    "ROOT",
    "SCREENSHOTS",
    "SIZES",
    "axe_violations",
    "expect",
    "open_details",
    "take_picture",
]


def open_details(page, which: str = "main details") -> None:
    """All at once: to find and open each of them by itself takes the browser longer than the page did."""
    page.evaluate("which => document.querySelectorAll(which).forEach(node => { node.open = true })", which)


def axe_violations(page, scheme: str) -> list[str]:
    """What axe finds on a page in one of its looks, with the first places."""
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    found = axe.run(page, options={"resultTypes": ["violations"], **ASKED[scheme]}).response["violations"]
    return [
        f"{one['id']} at {'; '.join(' '.join(map(str, node['target'])) for node in one['nodes'][:3])}" for one in found
    ]


def take_picture(page, name: str) -> None:
    """A picture for people to look at. On a very busy machine Chromium says now and then that it cannot take one."""
    SCREENSHOTS.mkdir(exist_ok=True)
    for attempt in range(ATTEMPTS):
        try:
            page.screenshot(path=SCREENSHOTS / f"{name}.png")
        except Error as error:
            if "Unable to capture screenshot" not in str(error) or attempt == ATTEMPTS - 1:
                raise
        else:
            return
